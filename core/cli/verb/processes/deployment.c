#include "cli/command.h"
#include "cli/list.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include <string.h>

static const struct flag list_flags[] = {COLUMNS_FLAG, {0}};

static const struct listing listing = {ASK_DEPLOYMENTS, "deployments"};

static bool registered_tell(const struct cli *cli, const char *executor, bool registered,
                            size_t changed, struct error *error) {
    if (cli->json)
        return output_json(json_pack("{sI}", "count", (json_int_t)changed), error);
    const char *how = registered ? "registered" : "unregistered";
    output_add(changed ? "1 deployment %s for %s\n" : "nothing to do: already %s for %s\n", how,
               executor);
    return true;
}

/* "register" and "unregister" differ in one word. */
static bool registered_run(struct cli *cli, const struct flags *flags, struct error *error) {
    bool registered = strcmp(flags->command->name, "deployment register") == 0;
    int64_t id;
    struct command_run run = {0};
    if (!flags_number("id", flags->words[0], 1, INT64_MAX, &id, error))
        return false;
    struct engine *engine = setup_engine(cli, flags, STORE_WRITE, false, error);
    const char *given = flags_text(flags, "--name");
    const char *name = given ? given : cli->settings.name;
    json_t *command = json_pack("{ss,sI,ss}", "verb", registered ? "register" : "unregister",
                                "deployment", (json_int_t)id, "executor", name);
    bool fine = engine && engine_command(engine, command, &run, error);
    json_decref(command);
    engine_close(engine);
    return fine && registered_tell(cli, name, registered, run.touched, error);
}

static bool delete_run(struct cli *cli, const struct flags *flags, struct error *error) {
    json_t *ids = json_array();
    for (int i = 0; i < flags->word_count; i++) {
        int64_t id = 0;
        if (!flags_number("id", flags->words[i], 1, INT64_MAX, &id, error)) {
            json_decref(ids);
            return false;
        }
        json_array_append_new(ids, json_integer(id));
    }
    json_t *command = json_pack("{ss,so}", "verb", "delete_deployment", "deployment", ids);
    return give_command(cli, flags, command, "deleted", error);
}

static bool rename_run(struct cli *cli, const struct flags *flags, struct error *error) {
    json_t *command = json_pack("{ss,ss,ss}", "verb", "rename_deployment", "deployment",
                                flags->words[0], "name", flags->words[1]);
    return give_command(cli, flags, command, "renamed", error);
}

static const struct flag delete_flags[] = {
    {"--dry-run", NULL, "say how many it would delete, change nothing"},
    {0},
};

static const struct flag register_flags[] = {
    {"--name", "NODE", "the executor's name (else the setting name)"},
    {0},
};

const struct cli_command deployment_commands[] = {
    {"deployment list", "[--columns NAME,…]", "list the script folders that were loaded",
     "With the names of the executors that each is registered for.", list_flags, 0, 0, false, false,
     list_run, &listing},
    {"deployment register", "ID [--name NODE]",
     "let deployment-aware executors of a name run its jobs",
     "Loading a folder registers it; an executor that runs notices at once.", register_flags, 1, 1,
     false, false, registered_run},
    {"deployment unregister", "ID [--name NODE]",
     "keep deployment-aware executors of a name from its jobs",
     "The next start of an executor that loads this folder registers it again.", register_flags, 1,
     1, false, false, registered_run},
    {"deployment delete", "ID… [--dry-run]",
     "remove deployments that nobody needs, with their files",
     "Refused while jobs or executors need one, and for the newest of each name. What became of "
     "their jobs stays in the log.",
     delete_flags, 1, -1, false, false, delete_run},
    {"deployment rename", "OLD NEW", "give the deployments of a folder another name",
     "Their schedules and processes go with them. Refused while a live executor has one of them.",
     NULL, 2, 2, false, false, rename_run},
    {0},
};
