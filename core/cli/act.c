/* act.c - what an operator does to one job or many (rules §11). */
#include "base/span.h"
#include "cli/output.h"
#include "cli/setup.h"
#include <stdlib.h>
#include <string.h>

#define IDS_MAX 1000

static bool ids_read(const struct flags *flags, int from, struct ids *ids, struct error *error) {
    size_t count = (size_t)(flags->word_count - from);
    if (count > IDS_MAX)
        return error_set(error, ERROR_USAGE, "%zu ids: at most %d at once", count, IDS_MAX);
    int64_t *list = calloc(count, sizeof *list);
    *ids = (struct ids){list, count};
    if (!list)
        return error_set(error, ERROR_FAILED, "out of memory");
    for (size_t i = 0; i < count; i++)
        if (!flags_number("id", flags->words[from + (int)i], 1, INT64_MAX, &list[i], error))
            return false;
    return true;
}

static bool done_print(const struct cli *cli, size_t count, const char *done, struct error *error) {
    if (cli->json)
        return output_json(json_pack("{sI}", "count", (json_int_t)count), error);
    output_add("%zu %s %s\n", count, count == 1 ? "job" : "jobs", done);
    return true;
}

/* "none" takes the due date away. */
static bool due_read(const char *text, time_ms *due, struct error *error) {
    *due = TIME_NONE;
    return !text || strcmp(text, "none") == 0 || time_parse(text, due, error);
}

static bool retry_act(struct engine *engine, struct ids ids, const struct flags *flags,
                      struct error *error) {
    int64_t retries = -1;
    time_ms due;
    const char *text = flags_text(flags, "--due");
    if (!flags_integer(flags, "--retries", 0, INT32_MAX, &retries, error) ||
        !due_read(text, &due, error))
        return false;
    if (retries >= 0)
        return engine_set_retries(engine, ids, (int32_t)retries, text != NULL, due, error);
    /* the date first: a job that got its retries back may run at once */
    return (!text || engine_set_due(engine, ids, due, false, error)) &&
           engine_retry(engine, ids, error);
}

static bool delete_act(struct engine *engine, struct ids ids, const struct flags *flags,
                       struct error *error) {
    (void)flags;
    return engine_delete(engine, ids, error);
}

static bool cancel_act(struct engine *engine, struct ids ids, const struct flags *flags,
                       struct error *error) {
    (void)flags;
    return engine_cancel(engine, ids, error);
}

static bool suspend_act(struct engine *engine, struct ids ids, const struct flags *flags,
                        struct error *error) {
    (void)flags;
    return engine_set_suspended(engine, ids, true, error);
}

static bool activate_act(struct engine *engine, struct ids ids, const struct flags *flags,
                         struct error *error) {
    (void)flags;
    return engine_set_suspended(engine, ids, false, error);
}

static bool priority_act(struct engine *engine, struct ids ids, const struct flags *flags,
                         struct error *error) {
    int64_t priority;
    return flags_number("priority", flags->words[0], INT64_MIN, INT64_MAX, &priority, error) &&
           engine_set_priority(engine, ids, priority, error);
}

static bool due_act(struct engine *engine, struct ids ids, const struct flags *flags,
                    struct error *error) {
    time_ms due;
    return due_read(flags->words[0], &due, error) &&
           engine_set_due(engine, ids, due, flags_has(flags, "--cascade"), error);
}

static bool recalculate_act(struct engine *engine, struct ids ids, const struct flags *flags,
                            struct error *error) {
    return engine_recalculate_due(engine, ids, flags_has(flags, "--from-creation"), error);
}

static const struct verb {
    const char *name;
    const char *done; /* "3 jobs …" */
    int own;          /* words before the ids */
    bool (*act)(struct engine *engine, struct ids ids, const struct flags *flags,
                struct error *error);
} verbs[] = {
    {"job retry", "retried", 0, retry_act},
    {"job delete", "deleted", 0, delete_act},
    {"job cancel", "cancelled", 0, cancel_act},
    {"job suspend", "suspended", 0, suspend_act},
    {"job activate", "activated", 0, activate_act},
    {"job priority", "changed", 1, priority_act},
    {"job due", "changed", 1, due_act},
    {"job recalculate", "changed", 0, recalculate_act},
};

static const struct verb *verb_find(const char *name) {
    const struct verb *verb = verbs;
    while (strcmp(verb->name, name) != 0)
        verb++;
    return verb;
}

static bool verb_run(struct cli *cli, const struct flags *flags, struct error *error) {
    const struct verb *verb = verb_find(flags->command->name);
    struct ids ids = {0};
    struct engine *engine = NULL;
    bool fine = ids_read(flags, verb->own, &ids, error) &&
                (engine = setup_engine(cli, flags, STORE_WRITE, false, error)) &&
                verb->act(engine, ids, flags, error) &&
                done_print(cli, ids.count, verb->done, error);
    engine_close(engine);
    free((void *)ids.list);
    return fine;
}

static const struct flag retry_flags[] = {
    {"--retries", "N", "runs left (else the configured number)"},
    {"--due", "ISO", "not before this instant; none: at once"},
    {0},
};

static const struct flag due_flags[] = {
    {"--cascade", NULL, "move the later occurrences of a repeating job by the same span"},
    {0},
};

static const struct flag recalculate_flags[] = {
    {"--from-creation", NULL, "count from the creation, not from now"},
    {0},
};

const struct cli_command act_commands[] = {
    {"job retry", "ID… [--retries N] [--due ISO]", "give dead jobs runs again",
     "Their incidents are resolved. All of the jobs, or none.", retry_flags, 1, -1, false, false,
     verb_run},
    {"job delete", "ID…", "delete jobs that do not run", "All of the jobs, or none.", NULL, 1, -1,
     false, false, verb_run},
    {"job cancel", "ID…", "cancel jobs, waiting or running", "", NULL, 1, -1, false, false,
     verb_run},
    {"job suspend", "ID…", "keep jobs from being run", "", NULL, 1, -1, false, false, verb_run},
    {"job activate", "ID…", "let suspended jobs run again", "", NULL, 1, -1, false, false,
     verb_run},
    {"job priority", "N ID…", "set the priority of jobs", "", NULL, 2, -1, false, false, verb_run},
    {"job due", "ISO|none ID… [--cascade]", "set the due date of jobs", "", due_flags, 2, -1, false,
     false, verb_run},
    {"job recalculate", "ID… [--from-creation]", "count the due date of timers anew",
     "From the date or duration they were created with; a repeating job gets its cycle's next "
     "date.",
     recalculate_flags, 1, -1, false, false, verb_run},
    {0},
};
