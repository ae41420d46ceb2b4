/* batch.c - one operation for many ids: what batches there are, how far they are, what has failed
 * (rules §17). */
#include "cli/verb/jobs/batch.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/list.h"
#include "cli/operate.h"
#include "cli/setup.h"
#include "cli/shown/output.h"
#include "cli/shown/table.h"
#include "job/command.h"

#define FAILURES_SHOWN 20 /* of one batch, by `show` */
#define FAILURES_MAX 1000000
#define PAGE 100

static const struct flag list_flags[] = {LIST_PAGE_FLAGS, FILTERS_OF(ASK_BATCHES), {0}};

static const struct flag show_flags[] = {BATCH_WAIT_FLAG, {0}};

static const struct flag act_flags[] = {DRY_RUN_FLAG, {0}};

static const struct flag delete_flags[] = {
    DRY_RUN_FLAG,
    {"--history", NULL, "keep nothing of it; also of one that has ended", FLAG_MEMBER},
    {0},
};

static const struct flag suspend_flags[] = {
    DRY_RUN_FLAG,
    {"--jobs-only", NULL, "its execution jobs alone: its seed and its monitor go on", FLAG_MEMBER},
    {0},
};

static const struct flag retry_flags[] = {DRY_RUN_FLAG, BATCH_WAIT_FLAG, {0}};

static const struct flag failed_flags[] = {
    {"--limit", "N", "ids at most (1000)"},
    {0},
};

static const struct column failed_columns[] = {
    {"id", "FAILED", COLUMN_CUT},
    {"job", "JOB", COLUMN_RIGHT},
    {"message", "REASON", COLUMN_CUT | COLUMN_REST},
    {0},
};

/* ---- list ---- */

static const struct listing listing = {ASK_BATCHES, "batches"};

/* ---- what has failed ---- */

static bool failures_add(json_t *list, const json_t *job, size_t limit) {
    size_t i;
    json_t *id;
    json_t *ids = json_object_get(json_object_get(job, "payload"), "ids");
    json_array_foreach(ids, i, id) {
        if (json_array_size(list) == limit)
            return true;
        json_t *failure = json_pack("{sO, sO, sO}", "id", id, "job", json_object_get(job, "id"),
                                    "message", json_object_get(job, "message"));
        if (!failure || json_array_append_new(list, failure) != 0)
            return false;
    }
    return true;
}

/* The next page of dead jobs; *after: 0 if it was the last. */
static bool failures_page(struct engine *engine, const json_t *filters, int64_t *after,
                          json_t *list, size_t limit, struct error *error) {
    size_t i;
    json_t *question =
        json_pack("{sO,sI,si}", "filters", filters, "after", (json_int_t)*after, "limit", PAGE);
    json_t *job, *jobs = engine_ask_of(engine, ASK_JOBS, question, error);
    if (!jobs)
        return false;
    bool fine = true;
    json_array_foreach(jobs, i, job) {
        fine = fine && failures_add(list, job, limit);
        *after = json_integer_value(json_object_get(job, "id"));
    }
    if (json_array_size(jobs) < PAGE || json_array_size(list) == limit)
        *after = 0;
    json_decref(jobs);
    return fine || error_no_memory(error);
}

/* At most `limit` ids that have failed for good: [{ id, job, message }]. A new reference or NULL.
 */
static json_t *batch_failures(struct engine *engine, const json_t *batch, size_t limit,
                              struct error *error) {
    const char *type = json_string_value(json_object_get(batch, "type"));
    json_t *list = json_array();
    json_t *filters = json_pack("{sO, ss+, sb}", "batch", json_object_get(batch, "id"), "handler",
                                BATCH_HANDLERS, type ? type : "", "no_retries_left", 1);
    int64_t after = 0;
    bool fine = (list && filters) || error_no_memory(error);
    do
        fine = fine && failures_page(engine, filters, &after, list, limit, error);
    while (fine && after);
    json_decref(filters);
    return json_kept(list, fine);
}

static bool id_read(const struct flags *flags, int64_t *id, struct error *error) {
    return flags_number("batch", flags->words[0], 1, INT64_MAX, id, error);
}

static bool failed_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id, limit = 1000;
    struct engine *engine = NULL;
    json_t *batch = NULL, *rows = NULL;
    if (id_read(flags, &id, error) &&
        flags_integer(flags, "--limit", 1, FAILURES_MAX, &limit, error) &&
        (engine = setup_reader(cli, flags, error)))
        batch = engine_ask_id(engine, ASK_BATCH, id, error);
    if (batch)
        rows = batch_failures(engine, batch, (size_t)limit, error);
    json_decref(batch);
    engine_close(engine);
    if (!rows || cli->json)
        return rows && output_json(rows, error);
    bool fine = table_print(failed_columns, rows, output_width(), error);
    if (fine && json_array_size(rows) == 0)
        output_note("no failed ids");
    json_decref(rows);
    return fine;
}

/* ---- show ---- */

static bool failures_print(const json_t *failures, int64_t batch, struct error *error) {
    output_add("\n");
    if (!table_print(failed_columns, failures, output_width(), error))
        return false;
    if (json_array_size(failures) == FAILURES_SHOWN)
        output_add("all of them: moonshift batch failed %lld\n", (long long)batch);
    return true;
}

static bool batch_print(const struct cli *cli, struct engine *engine, int64_t id,
                        struct error *error) {
    json_t *batch = engine_ask_id(engine, ASK_BATCH, id, error);
    json_t *failures = batch ? batch_failures(engine, batch, FAILURES_SHOWN, error) : NULL;
    bool fine = failures != NULL;
    if (fine && cli->json) {
        json_put(batch, "failures", json_incref(failures));
        fine = output_json(json_incref(batch), error);
    } else if (fine) {
        output_fields(batch);
        fine = json_array_size(failures) == 0 || failures_print(failures, id, error);
    }
    json_decref(failures);
    json_decref(batch);
    return fine;
}

/* Whatever it has come to is shown, also when it has failed. */
static bool batch_show_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id;
    struct engine *engine = NULL;
    struct error late = {0};
    if (!id_read(flags, &id, error) || !(engine = setup_reader(cli, flags, error)))
        return false;
    bool waits = flags_has(flags, "--wait");
    bool done = !waits || batch_wait(engine, id, cli->interactive, error);
    bool fine = (done || error->code == ERROR_FAILED) && batch_print(cli, engine, id, &late);
    engine_close(engine);
    if (done && !fine)
        return error_set(error, late.code, "%s", late.text);
    return done && fine;
}

const struct cli_command batch_commands[] = {
    {"batch create", "TYPE --ids ID,… | --ids-from FILE | FILTERS …", "do one thing to many ids",
     "TYPE is a stock one (set-job-retries, set-external-retries, set-job-priority, set-due-date,\n"
     "recalculate-due-date, set-cycle, suspend, activate, delete-jobs, cancel-jobs, dead-letter, "
     "set-removal-time,\n"
     "delete-history, enqueue), one of instances (set-variables, modify, migrate, "
     "cancel-instances,\n"
     "restart, suspend-instances, activate-instances, correlate, delete-instances) or a file\n"
     "batches/TYPE.lua.\n"
     "FILTERS are those of job list, or of instance list for instances. FILE (- is standard input) "
     "has one id a line, for enqueue a\n"
     "payload. Prints the batch's id.",
     batch_create_flags, 1, 1, false, false, batch_create_run},
    {"batch list", "[--type TYPE] [--state STATE] …", "list batches", "", list_flags, 0, 0, false,
     false, list_run, &listing},
    {"batch show", "ID [--wait]", "show one batch: counts, and what has failed", "", show_flags, 1,
     1, false, false, batch_show_run},
    {"batch failed", "ID", "list the ids that have failed, with reasons", "", failed_flags, 1, 1,
     false, false, failed_run},
    {"batch suspend", "ID [--jobs-only]", "keep its jobs from being run, and later ones", "",
     suspend_flags, 1, 1, false, false, operate_run},
    {"batch priority", "ID N", "give its jobs a priority, and later ones", "", act_flags, 2, 2,
     false, false, operate_run},
    {"batch removal-time", "ID TIME|never|computed", "say when a batch that has ended goes",
     "computed: from its end and its time to live.", act_flags, 2, 2, false, false, operate_run},
    {"batch activate", "ID", "let its jobs run again", "", act_flags, 1, 1, false, false,
     operate_run},
    {"batch retry-failed", "ID [--wait]", "give its failed jobs runs again", "", retry_flags, 1, 1,
     false, false, operate_run},
    {"batch delete", "ID [--history]", "delete its jobs",
     "It stays in the list as deleted, unless nothing of it is kept.", delete_flags, 1, 1, false,
     false, operate_run},
    {0},
};
