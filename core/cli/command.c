#include "cli/command.h"
#include "base/json.h"
#include "cli/confirm.h"
#include "cli/list.h"
#include "cli/setup.h"
#include "cli/shown/batch_bar.h"
#include "cli/shown/output.h"
#include "cli/shown/progress.h"
#include "cli/words/moment.h"
#include <stdio.h>
#include <string.h>

struct teller {
    struct progress progress;
    const char *done;
    size_t of;
};

static void command_tell(void *arg, size_t touched) {
    struct teller *teller = arg;
    progress_show(&teller->progress, teller->done, (int64_t)touched, (int64_t)teller->of);
}

/* What the verb could not do, on standard error. */
static void stuck_say(const struct stuck_runs *stuck) {
    if (stuck->count == 1)
        fprintf(stderr,
                "moonshift: %s: could not be ended; it goes on until it ends by itself or its"
                " executor does\n",
                stuck->at);
    else if (stuck->count > 1)
        fprintf(stderr,
                "moonshift: %s, and %d more: could not be ended; they go on until they end by"
                " themselves or their executors do\n",
                stuck->at, stuck->count - 1);
}

static bool has_verb(const json_t *command, const char *verb) {
    return strcmp(json_string_value(json_object_get(command, "verb")), verb) == 0;
}

/* What the command counts; of batches there is always one. */
static const char *thing_of(const json_t *command) {
    static const char *const things[] = {"incident", "schedule", "deployment", "executor", "task"};
    for (size_t i = 0; i < sizeof things / sizeof *things; i++)
        if (json_object_get(command, things[i]))
            return things[i];
    return has_verb(command, "set_batch_removal_time") ? "batch" : "job";
}

static bool counted(const struct cli *cli, const json_t *command, const struct command_run *run,
                    const char *done, struct error *error) {
    const struct held *held = &run->held;
    size_t count = run->touched;
    int stuck = run->stuck.count;
    char stay[HELD_TEXT];
    stuck_say(&run->stuck);
    if (cli->json)
        return output_json(json_pack("{sI,so*,so*}", "count", (json_int_t)count, "held",
                                     held->jobs ? held_to_json(held) : NULL, "stuck",
                                     stuck ? json_integer(stuck) : NULL),
                           error);
    held_text(held, stay);
    output_add("%zu %s%s %s%s%s\n", count, thing_of(command), count == 1 ? "" : "s", done,
               held->jobs ? "; " : "", stay);
    return true;
}

static bool try(struct cli *cli, const struct flags *flags, json_t *command, const char *done,
                struct error *error) {
    struct command_run run = {.dry_run = true};
    struct engine *engine = setup_engine(cli, flags, STORE_READ, false, error);
    bool fine = engine && engine_command(engine, command, &run, error);
    if (fine)
        list_warn(engine);
    engine_close(engine);
    if (!fine)
        return false;
    size_t count = run.touched;
    if (cli->json)
        return output_json(json_pack("{sI,sb}", "count", (json_int_t)count, "dry_run", 1), error);
    output_add("%zu %s%s would be %s\n", count, thing_of(command), count == 1 ? "" : "s", done);
    return true;
}

/* A job does it: at the date of the verb, or where the listeners of a task can be called. */
static bool later(const struct cli *cli, const json_t *command, int64_t job, struct error *error) {
    const char *at = json_string_value(json_object_get(command, "at"));
    if (cli->json)
        return output_json(json_pack("{si,sI}", "count", 0, "job", (json_int_t)job), error);
    if (at)
        output_add("job %lld will do it at %s\n", (long long)job, at);
    else
        output_add("job %lld does it, on an executor with the process\n", (long long)job);
    return true;
}

/* What is too much for one transaction is done by a batch, or else the command was for one. */
static bool batched(const struct cli *cli, const struct flags *flags, struct engine *engine,
                    const struct command_run *run, struct error *error) {
    bool fine = true;
    if (flags_has(flags, "--wait"))
        fine = batch_wait(engine, run->batch, cli->interactive, error);
    else
        batch_note(engine, run->batch);
    if (!fine && error->code != ERROR_FAILED)
        return false;
    if (cli->json)
        return output_json(json_pack("{sI,sI}", "batch", (json_int_t)run->batch, "count",
                                     (json_int_t)run->touched),
                           fine ? error : NULL) &&
               fine;
    output_add("batch %lld: %zu jobs\n", (long long)run->batch, run->touched);
    return fine;
}

/* The command was for a batch: that is what can be waited for. */
static bool waited(const struct cli *cli, const struct flags *flags, struct engine *engine,
                   const json_t *command, struct error *error) {
    int64_t batch = json_integer_value(json_object_get(command, "batch"));
    return !batch || !flags_has(flags, "--wait") ||
           batch_wait(engine, batch, cli->interactive, error);
}

/* What was done to a definition or an instance itself, where no job was meant. NULL: jobs were. */
static const char *alone_text(const json_t *command) {
    static const struct {
        const char *verb, *with, *text;
    } verbs[] = {
        {"override_priority", "cascade", "has another priority for later jobs"},
        {"clear_override", "cascade", "has its own priority again"},
        {"override_limit", "cascade", "has another limit"},
        {"clear_limit", "cascade", "has its own limit again"},
        {"override_rate", "cascade", "has another rate"},
        {"clear_rate", "cascade", "has its own rate again"},
        {"suspend_definition", "include_jobs", "suspended"},
        {"activate_definition", "include_jobs", "activated"},
    };
    const char *verb = json_string_value(json_object_get(command, "verb"));
    for (size_t i = 0; verb && i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i].verb, verb) == 0)
            return json_is_true(json_object_get(command, verbs[i].with)) ? NULL : verbs[i].text;
    return NULL;
}

/* It was done to a batch itself; its jobs are not the point. */
static bool is_of_batch(const json_t *command) {
    return has_verb(command, "delete_batch") || has_verb(command, "set_batch_removal_time");
}

/* `process "order" suspended`, where it has no jobs; false: the command is about no such thing. */
static bool owner_say(const json_t *command, const char *kind, const char *done) {
    const char *name = json_string_value(json_object_get(command, kind));
    if (name)
        output_add("%s \"%s\" %s\n", kind, name, done);
    return name != NULL;
}

static bool done_say(const struct cli *cli, const struct flags *flags, struct engine *engine,
                     const json_t *command, const struct command_run *run, const char *done,
                     struct error *error) {
    if (run->batch)
        return batched(cli, flags, engine, run, error);
    if (run->made_count)
        return later(cli, command, run->made[0], error);
    if (!waited(cli, flags, engine, command, error))
        return false;
    if (!cli->json && run->touched == 0 && alone_text(command)) {
        output_add("definition \"%s\" %s\n",
                   json_string_value(json_object_get(command, "definition")), alone_text(command));
        return true;
    }
    if (!cli->json && run->touched == 0 &&
        (owner_say(command, "process", done) || owner_say(command, "instance", done)))
        return true;
    if (cli->json || !is_of_batch(command))
        return counted(cli, command, run, done, error);
    output_add("batch %lld %s\n", (long long)json_integer_value(json_object_get(command, "batch")),
               done);
    return true;
}

static bool act(struct cli *cli, const struct flags *flags, json_t *command, const char *done,
                struct error *error) {
    struct teller teller = {.progress = {.on = cli->interactive}, .done = done};
    struct command_run run = {.tell = command_tell, .arg = &teller}, ahead = {.dry_run = true};
    struct engine *engine = setup_engine(cli, flags, STORE_WRITE, false, error);
    if (engine && cli->interactive && engine_command(engine, command, &ahead, NULL))
        teller.of = ahead.touched;
    bool fine = engine && confirm(cli, flags, engine, command, error) &&
                engine_command(engine, command, &run, error);
    if (fine)
        list_warn(engine);
    progress_end(&teller.progress);
    fine = fine && done_say(cli, flags, engine, command, &run, done, error);
    engine_close(engine);
    return fine;
}

bool give_command(struct cli *cli, const struct flags *flags, json_t *command, const char *done,
                  struct error *error) {
    bool tries = flags_has(flags, "--dry-run"), fine = false;
    if (!command)
        return error_no_memory(error);
    fine = tries ? try(cli, flags, command, done, error) : act(cli, flags, command, done, error);
    json_decref(command);
    return fine;
}

bool command_date(json_t *command, const char *key, const char *text, struct error *error) {
    time_ms at;
    bool none = !text || strcmp(text, "none") == 0;
    if (!none && !moment_read(key, text, &at, error))
        return false;
    return (none ? json_put(command, key, json_null()) : json_put_time(command, key, at)) ||
           error_no_memory(error);
}

/* What is no text. */
static const struct member {
    const char *key;
    enum { MEMBER_NUMBER, MEMBER_DATE, MEMBER_REMOVAL, MEMBER_FLAG } type;
    int64_t min, max; /* of a number */
} members[] = {
    {"priority", MEMBER_NUMBER, INT64_MIN, INT64_MAX},
    {"retries", MEMBER_NUMBER, 0, INT32_MAX},
    {"version", MEMBER_NUMBER, 1, INT64_MAX},
    {"due", MEMBER_DATE},
    {"at", MEMBER_DATE},
    {"removal_time", MEMBER_REMOVAL},
    {"exclusive", MEMBER_FLAG},
};

static bool member_put(json_t *command, const struct member *member, const char *name,
                       const char *text, struct error *error) {
    int64_t number = 0;
    bool flag = false;
    json_t *value = NULL;
    switch (member->type) {
    case MEMBER_NUMBER:
        if (!flags_number(name, text, member->min, member->max, &number, error))
            return false;
        value = json_integer(number);
        break;
    case MEMBER_FLAG:
        if (!flags_boolean(name, text, &flag, error))
            return false;
        value = json_boolean(flag);
        break;
    case MEMBER_REMOVAL:
        if (strcmp(text, "never") != 0 && strcmp(text, "computed") != 0)
            return command_date(command, member->key, text, error);
        value = json_string(text);
        break;
    case MEMBER_DATE:
        return command_date(command, member->key, text, error);
    }
    return (value && json_put(command, member->key, value)) || error_no_memory(error);
}

bool command_put(json_t *command, const char *key, const char *name, const char *text,
                 struct error *error) {
    for (size_t i = 0; text && i < sizeof members / sizeof *members; i++)
        if (strcmp(members[i].key, key) == 0)
            return member_put(command, &members[i], name, text, error);
    json_t *value = text ? json_string(text) : json_true();
    return (value && json_put(command, key, value)) || error_no_memory(error);
}

bool command_members(json_t *command, const struct flags *flags, struct error *error) {
    for (const struct flag *flag = flags->command->flags; flag && flag->name; flag++) {
        char key[64];
        if (!(flag->form & FLAG_MEMBER) || !flags_has(flags, flag->name))
            continue;
        flags_key(flag->name, key, sizeof key);
        if (!command_put(command, key, flag->name, flags_text(flags, flag->name), error))
            return false;
    }
    return true;
}
