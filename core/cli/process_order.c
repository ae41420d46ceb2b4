/* process_order.c - commands to instances of processes: each is walked here, by the handlers of the
 * script folder or of the store's deployment, and is written when the verb ends. */
#include "base/json.h"
#include "cli/output.h"
#include "cli/pair.h"
#include "cli/setup.h"
#include <string.h>

#define VARIABLES_FLAG                                                                             \
    { "--variables", "JSON", "an object with their values; name=value goes before it" }

/* ---- variables ---- */

static bool variable_add(json_t *variables, const char *word, struct error *error) {
    struct pair pair;
    bool fine = pair_read(&pair, word, "variable", "name=value", error) &&
                (json_object_set(variables, pair.name, pair.value) == 0 || error_no_memory(error));
    pair_clear(&pair);
    return fine;
}

static json_t *variables_begin(const struct flags *flags, struct error *error) {
    const char *text = flags_text(flags, "--variables");
    json_t *object = text ? json_read(text, strlen(text), "--variables", error) : json_object();
    if (!object || json_is_object(object))
        return object;
    json_refuse("--variables", object, "an object", error);
    json_decref(object);
    return NULL;
}

/* The words from `first` on, and the flag. */
static bool variables_put(json_t *command, const struct flags *flags, int first,
                          struct error *error) {
    json_t *variables = variables_begin(flags, error);
    bool fine = variables != NULL;
    for (int i = first; fine && i < flags->word_count; i++)
        fine = variable_add(variables, flags->words[i], error);
    if (fine)
        return json_put(command, "variables", variables) || error_no_memory(error);
    json_decref(variables);
    return false;
}

/* ---- the command ---- */

/* Only what may begin an instance makes a store, for the folder that it then deploys. */
static struct engine *order_engine(struct cli *cli, const struct flags *flags, bool begins,
                                   struct error *error) {
    if (!setup_settings(cli, flags, error))
        return NULL;
    return setup_open(cli, begins && cli->folder ? STORE_CREATE : STORE_WRITE, true, error);
}

/* The id of the instance, 0: none; -1: error. Takes the command over; NULL: error is filled. */
static int64_t order(struct cli *cli, const struct flags *flags, json_t *command, bool begins,
                     struct error *error) {
    json_t *answer = NULL;
    struct engine *engine = command ? order_engine(cli, flags, begins, error) : NULL;
    int64_t id =
        engine && engine_process(engine, command, &answer, error) ? json_integer_value(answer) : -1;
    engine_close(engine);
    json_decref(answer);
    json_decref(command);
    return id;
}

/* Says what was done, with the id of the instance in it; with --json, the id. */
static bool say(const struct cli *cli, int64_t id, const char *before, const char *after,
                struct error *error) {
    if (id >= 0 && cli->json)
        return output_json(json_pack("{sI}", "instance", (json_int_t)id), error);
    if (id >= 0)
        output_add("%s%lld%s\n", before, (long long)id, after);
    return id >= 0;
}

/* Adds the words from `first` on as variables. Takes the command over, NULL: a word is no text. */
static json_t *with_variables(json_t *command, const struct flags *flags, int first,
                              struct error *error) {
    if (!command)
        error_set(error, ERROR_INVALID, "%s: not valid UTF-8", flags->command->name);
    else if (variables_put(command, flags, first, error))
        return command;
    json_decref(command);
    return NULL;
}

/* Reads the first word as an id. */
static json_t *command_of(const char *kind, const char *member, const struct flags *flags,
                          int first, struct error *error) {
    int64_t id;
    if (!flags_number("id", flags->words[0], 1, INT64_MAX, &id, error))
        return NULL;
    return with_variables(json_pack("{ss,sI}", "kind", kind, member, (json_int_t)id), flags, first,
                          error);
}

/* ---- verbs ---- */

static bool start_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t version = 0;
    if (!flags_integer(flags, "--version", 1, INT64_MAX, &version, error))
        return false;
    json_t *command =
        json_pack("{ss,ss,ss*,so*}", "kind", "start", "process", flags->words[0], "key",
                  flags_text(flags, "--key"), "version", version ? json_integer(version) : NULL);
    command = with_variables(command, flags, 1, error);
    return say(cli, order(cli, flags, command, true, error), "", "", error);
}

static bool complete_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id = order(cli, flags, command_of("complete", "task", flags, 1, error), false, error);
    return say(cli, id, "task completed; instance ", " goes on", error);
}

static bool set_run(struct cli *cli, const struct flags *flags, struct error *error) {
    if (flags->word_count < 2 && !flags_has(flags, "--variables"))
        return error_set(error, ERROR_USAGE, "instance set: expected name=value");
    int64_t id = order(cli, flags, command_of("set", "instance", flags, 1, error), false, error);
    return say(cli, id, "instance ", " changed", error);
}

/* The second word is the activity, unless it is a variable. */
static bool trigger_run(struct cli *cli, const struct flags *flags, struct error *error) {
    bool named = flags->word_count > 1 && !strchr(flags->words[1], '=');
    json_t *command = command_of("trigger", "instance", flags, named ? 2 : 1, error);
    if (command && named && !json_put_text(command, "activity", flags->words[1])) {
        json_decref(command);
        return error_set(error, ERROR_INVALID, "ACTIVITY: not valid UTF-8");
    }
    return say(cli, order(cli, flags, command, false, error), "instance ", " goes on", error);
}

static bool cancel_run(struct cli *cli, const struct flags *flags, struct error *error) {
    const char *reason = flags_text(flags, "--reason");
    json_t *command = command_of("cancel", "instance", flags, 1, error);
    if (command && reason && !json_put_text(command, "reason", reason)) {
        json_decref(command);
        return error_set(error, ERROR_INVALID, "--reason: not valid UTF-8");
    }
    return say(cli, order(cli, flags, command, false, error), "instance ", " cancelled", error);
}

static bool message_run(struct cli *cli, const struct flags *flags, struct error *error) {
    json_t *command =
        json_pack("{ss,ss,ss*,ss*}", "kind", "message", "message", flags->words[0], "key",
                  flags_text(flags, "--key"), "keep", flags_text(flags, "--keep"));
    command = with_variables(command, flags, 1, error);
    int64_t id = order(cli, flags, command, true, error);
    if (id)
        return say(cli, id, "instance ", " has the message", error);
    if (cli->json)
        return output_json(json_pack("{sb}", "kept", 1), error);
    output_add("nothing waits for the message yet: it is kept\n");
    return true;
}

static const struct flag start_flags[] = {
    VARIABLES_FLAG,
    {"--key", "TEXT", "its business key"},
    {"--version", "N", "this version, not the newest"},
    {0},
};
static const struct flag variable_flags[] = {VARIABLES_FLAG, {0}};
static const struct flag cancel_flags[] = {{"--reason", "TEXT", "kept with its end"}, {0}};
static const struct flag message_flags[] = {
    VARIABLES_FLAG,
    {"--key", "TEXT", "what the receiver waits for with the name"},
    {"--keep", "SPAN", "so long, if nothing waits for it yet"},
    {0},
};

const struct cli_command process_order_commands[] = {
    {"process start", "KEY [name=value …] [--key TEXT] [--version N]",
     "start an instance of a process",
     "Runs it here until it waits, and prints its id. Its jobs run where \"run\" runs.\n"
     "A value is JSON if it reads as JSON, else a text.",
     start_flags, 1, -1, false, false, start_run},
    {"instance set", "ID name=value …", "set variables of an instance",
     "A value is JSON if it reads as JSON, else a text.", variable_flags, 1, -1, false, false,
     set_run},
    {"instance trigger", "ID [ACTIVITY] [name=value …]", "let a receive task go on",
     "Of one that waits for no message. Without ACTIVITY, the first that waits so.", variable_flags,
     1, -1, false, false, trigger_run},
    {"instance cancel", "ID [--reason TEXT]", "end an instance and all that it waits for", "",
     cancel_flags, 1, 1, false, false, cancel_run},
    {"task complete", "ID [name=value …]", "complete a task, with variables",
     "Runs the instance here until it waits. If a handler fails, the task stays open.",
     variable_flags, 1, -1, false, false, complete_run},
    {"message", "NAME [--key TEXT] [--keep SPAN] [name=value …]",
     "send a message to the one that waits for it",
     "A message that starts a process starts it. If none or several wait, nothing is sent; with\n"
     "--keep, the next that waits for it gets it.",
     message_flags, 1, -1, false, false, message_run},
    {0},
};
