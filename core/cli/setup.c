#include "cli/setup.h"
#include "base/text.h"
#include "cli/shown/output.h"
#include "engine/config.h"
#include "engine/home.h"
#include "engine/stored_folder.h"
#include "job/store_url.h"
#include "script/folder.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool looks_like_folder(void) {
    struct stat info;
    return access("moonshift.lua", F_OK) == 0 ||
           (stat("handlers", &info) == 0 && S_ISDIR(info.st_mode)) ||
           (stat("processes", &info) == 0 && S_ISDIR(info.st_mode));
}

static bool directory_find(struct cli *cli, const struct flags *flags, struct error *error) {
    bool named = flags->command->takes_folder && flags->word_count > 0;
    const char *word = named ? flags->words[0] : NULL;
    const char *given = flags_text(flags, "-C"), *variable = getenv("MOONSHIFT_DIR");
    if (word && given)
        return error_set(error, ERROR_USAGE, "the folder is given twice (\"%s\" and -C \"%s\")",
                         word, given);
    if (word || given)
        cli->directory = word ? word : given;
    else if (variable && variable[0])
        cli->directory = variable;
    else
        cli->directory = looks_like_folder() ? "." : NULL;
    return true;
}

/* --store and, where the verb takes them, all other settings. A bad value is the user's. */
static bool flags_apply(struct cli *cli, const struct flags *flags, struct error *error) {
    for (size_t i = 0; i < flags->count; i++) {
        const struct flag_given *given = &flags->given[i];
        const char *name = given->value ? flags_setting(given->name) : NULL;
        if (!name || (!flags->command->takes_settings && strcmp(name, "store") != 0))
            continue;
        if (!settings_apply_text(&cli->settings, ORIGIN_FLAG, name, given->value, error)) {
            if (error->code != ERROR_FAILED) /* lack of memory is no mistake of the user */
                error->code = ERROR_USAGE;
            return false;
        }
    }
    return true;
}

static bool outside_apply(struct cli *cli, const struct flags *flags, struct error *error) {
    return settings_init(&cli->settings, error) && flags_apply(cli, flags, error) &&
           settings_apply_environment(&cli->settings, error);
}

bool setup_outside(struct cli *cli, const struct flags *flags, struct error *error) {
    return directory_find(cli, flags, error) && outside_apply(cli, flags, error);
}

bool setup_folder(struct cli *cli, struct error *error) {
    if (!cli->directory)
        return true;
    cli->folder = cli->handler ? folder_read_part(cli->directory, cli->handler, error)
                               : folder_read(&cli->directory, 1, error);
    return cli->folder != NULL;
}

bool setup_apply(struct settings *settings, const struct folder *folder, const char *directory,
                 struct error *error) {
    json_t *paths = directory ? json_pack("[s]", directory) : json_array();
    if (!paths && !directory)
        return error_no_memory(error);
    if (!paths && utf8_valid(directory, strlen(directory), NULL))
        return error_no_memory(error);
    bool fine = paths ? config_apply(settings, folder, paths, error)
                      : error_set(error, ERROR_INVALID, "folder: not valid UTF-8");
    json_decref(paths);
    return fine;
}

bool setup_file(struct cli *cli, struct error *error) {
    return (!cli->folder || setup_apply(&cli->settings, cli->folder, cli->directory, error)) &&
           settings_check(&cli->settings, error);
}

bool setup_settings(struct cli *cli, const struct flags *flags, struct error *error) {
    if (!setup_outside(cli, flags, error))
        return false;
    if (flags->command->takes_folder && !setup_needs_folder(cli, error))
        return false;
    return setup_folder(cli, error) && setup_file(cli, error);
}

bool setup_deployment(struct cli *cli, const struct flags *flags, const char *name,
                      struct error *error) {
    if (!outside_apply(cli, flags, error) || !setup_keeps(cli, error))
        return false;
    cli->deployment = name;
    cli->folder = stored_folder(&cli->settings, name, error);
    return cli->folder && setup_file(cli, error);
}

bool setup_directory(struct cli *cli, const struct flags *flags, const char *directory,
                     struct error *error) {
    cli->directory = directory;
    return outside_apply(cli, flags, error) && setup_folder(cli, error) && setup_file(cli, error);
}

bool setup_needs_folder(const struct cli *cli, struct error *error) {
    return cli->directory ||
           error_set(
               error, ERROR_USAGE,
               "no script folder here (expected DIR, -C DIR, MOONSHIFT_DIR, or moonshift.lua, "
               "handlers/ or processes/ in the working directory)");
}

bool setup_keeps(const struct cli *cli, struct error *error) {
    if (strcmp(cli->settings.store, "sqlite::memory:") != 0)
        return home_check(&cli->settings, error);
    return error_set(error, ERROR_USAGE,
                     "store \"%s\": would be gone with this command (expected sqlite:PATH)",
                     cli->settings.store);
}

struct engine *setup_open(struct cli *cli, enum store_mode mode, bool scripts,
                          struct error *error) {
    struct engine_options options = {
        .settings = &cli->settings,
        .mode = mode,
        .clock = clock_system(),
        .folder = scripts ? cli->folder : NULL,
        .claim = cli->takes_back ? CLAIM_ALWAYS : CLAIM_UNLESS_LIVE,
        .plain = cli->plain,
    };
    return setup_keeps(cli, error) ? engine_open(&options, error) : NULL;
}

struct engine *setup_engine(struct cli *cli, const struct flags *flags, enum store_mode mode,
                            bool scripts, struct error *error) {
    if (!setup_settings(cli, flags, error))
        return NULL;
    return setup_open(cli, mode, scripts, error);
}

struct engine *setup_reader(struct cli *cli, const struct flags *flags, struct error *error) {
    return setup_engine(cli, flags, STORE_READ, false, error);
}

/* The replica has the store in the same schema. Messages name what was asked. */
static bool replica_take(struct settings *settings) {
    size_t size = 0;
    const char *schema = store_url_schema(settings->store, &size);
    char *store = store_url_in(settings->read_url, schema, size);
    if (!store)
        return false;
    free(settings->read_url);
    settings->read_url = settings->store;
    settings->store = store;
    return true;
}

struct engine *setup_replica(struct cli *cli, const struct flags *flags, struct error *error) {
    struct settings *settings = &cli->settings;
    if (!setup_settings(cli, flags, error))
        return NULL;
    if (!settings->read_url || !store_url_server(settings->store))
        return setup_open(cli, STORE_READ, false, error);
    if (!replica_take(settings))
        return error_null(error_no_memory(error));
    struct engine *engine = setup_open(cli, STORE_READ, false, error);
    const time_ms lag = engine ? engine_lag(engine) : TIME_NONE;
    if (lag != TIME_NONE)
        output_note("asked of a replica, %.1f s behind", (double)lag / 1000);
    return engine;
}

void setup_clear(struct cli *cli) {
    folder_release(cli->folder);
    settings_clear(&cli->settings);
    cli->folder = NULL;
}

json_t *setup_ask(struct cli *cli, const struct flags *flags, enum ask_kind kind, json_t *question,
                  struct error *error) {
    struct engine *engine = setup_reader(cli, flags, error);
    json_t *answer = engine_ask_of(engine, kind, question, error);
    engine_close(engine);
    return answer;
}
