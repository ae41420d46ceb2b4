/* batch.c - one operation for many ids: what batches there are, how far they are, what has failed
 * (rules §17). */
#include "cli/batch.h"
#include "base/json.h"
#include "base/order.h"
#include "cli/list.h"
#include "cli/operate.h"
#include "cli/output.h"
#include "cli/setup.h"
#include "cli/table.h"
#include <string.h>

#define FAILURES_SHOWN 20 /* of one batch, by `show` */
#define FAILURES_MAX 1000000
#define PAGE 100

static const struct flag list_flags[] = {
    LIST_PAGE_FLAGS,
    {"--id", "ID,…", "these batches"},
    {"--type", "NAME,…", "of these types"},
    {"--name", "NAME,…", "of these names"},
    {"--state", "NAME,…", "filling, active, suspended, deleting, completed, deleted"},
    {"--running", "[BOOL]", "that have not ended"},
    {"--finished", "[BOOL]", "that have ended"},
    {0},
};
#define LIST_FILTERS (list_flags + 3)

static const struct flag show_flags[] = {BATCH_WAIT_FLAG, {0}};

static const struct flag act_flags[] = {DRY_RUN_FLAG, {0}};

static const struct flag delete_flags[] = {
    DRY_RUN_FLAG,
    {"--history", NULL, "keep nothing of it; also of one that has ended"},
    {0},
};

static const struct flag retry_flags[] = {DRY_RUN_FLAG, BATCH_WAIT_FLAG, {0}};

static const struct flag failed_flags[] = {
    {"--limit", "N", "ids at most (1000)"},
    {0},
};

static const struct column list_columns[] = {
    {"id", "ID", COLUMN_RIGHT},
    {"type", "TYPE", COLUMN_CUT},
    {"name", "NAME", COLUMN_CUT | COLUMN_OPTIONAL},
    {"state", "STATE", COLUMN_STATE},
    {"percent", "%", COLUMN_RIGHT},
    {"completed", "DONE", COLUMN_RIGHT},
    {"total", "JOBS", COLUMN_RIGHT},
    {"failed", "FAILED", COLUMN_RIGHT},
    {"ids", "IDS", COLUMN_RIGHT},
    {"start", "START", COLUMN_TIME},
    {"end", "END", COLUMN_TIME | COLUMN_OPTIONAL},
    {0},
};

static const struct column failed_columns[] = {
    {"id", "FAILED", COLUMN_CUT},
    {"job", "JOB", COLUMN_RIGHT},
    {"message", "REASON", COLUMN_CUT | COLUMN_REST},
    {0},
};

static bool no_memory(struct error *error) {
    return error_set(error, ERROR_FAILED, "out of memory");
}

/* ---- list ---- */

static bool list_run(struct cli *cli, const struct flags *flags, struct error *error) {
    struct list list;
    struct store *store = NULL;
    json_t *rows = NULL, *row;
    size_t i;
    bool fine = list_read(&list, flags, LIST_FILTERS, error) &&
                (store = setup_store(cli, flags, STORE_READ, error)) &&
                (rows = store_batches(store, list.filters, &list.page, error));
    json_array_foreach(rows, i, row) {
        if (fine && !json_put(row, "percent", json_integer(batch_percent(row))))
            fine = no_memory(error);
    }
    if (fine)
        fine = list_print_page(cli, &list, list_columns, rows, 0, "batches", error);
    else
        json_decref(rows);
    store_close(store);
    list_clear(&list);
    return fine;
}

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
static bool failures_page(struct store *store, const json_t *filters, int64_t *after, json_t *list,
                          size_t limit, struct error *error) {
    const struct store_page page = {.after = *after, .limit = PAGE};
    size_t i;
    json_t *job, *jobs = store_jobs(store, filters, &page, clock_now(clock_system()), error);
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
    return fine || no_memory(error);
}

/* At most `limit` ids that have failed for good: [{ id, job, message }]. A new reference or NULL.
 */
static json_t *batch_failures(struct store *store, const json_t *batch, size_t limit,
                              struct error *error) {
    const char *type = json_string_value(json_object_get(batch, "type"));
    json_t *list = json_array();
    json_t *filters = json_pack("{sO, ss+, sb}", "batch", json_object_get(batch, "id"), "handler",
                                BATCH_HANDLERS, type ? type : "", "no_retries_left", 1);
    int64_t after = 0;
    bool fine = (list && filters) || no_memory(error);
    do
        fine = fine && failures_page(store, filters, &after, list, limit, error);
    while (fine && after);
    json_decref(filters);
    if (fine)
        return list;
    json_decref(list);
    return NULL;
}

static bool id_read(const struct flags *flags, int64_t *id, struct error *error) {
    return flags_number("batch", flags->words[0], 1, INT64_MAX, id, error);
}

static bool failed_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id, limit = 1000;
    struct store *store = NULL;
    json_t *batch = NULL, *rows = NULL;
    if (id_read(flags, &id, error) &&
        flags_integer(flags, "--limit", 1, FAILURES_MAX, &limit, error) &&
        (store = setup_store(cli, flags, STORE_READ, error)) &&
        (batch = store_batch(store, id, error)))
        rows = batch_failures(store, batch, (size_t)limit, error);
    json_decref(batch);
    store_close(store);
    return list_print(cli, failed_columns, rows, "failed ids", error);
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

static bool batch_print(const struct cli *cli, struct store *store, int64_t id,
                        struct error *error) {
    json_t *batch = store_batch(store, id, error);
    json_t *failures = batch ? batch_failures(store, batch, FAILURES_SHOWN, error) : NULL;
    bool fine = failures && (json_put(batch, "percent", json_integer(batch_percent(batch))) ||
                             no_memory(error));
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
static bool show_run(struct cli *cli, const struct flags *flags, struct error *error) {
    int64_t id;
    struct store *store = NULL;
    struct error late = {0};
    if (!id_read(flags, &id, error) || !(store = setup_store(cli, flags, STORE_READ, error)))
        return false;
    bool waits = flags_has(flags, "--wait");
    bool done = !waits || batch_wait(cli, store, id, error);
    bool fine = (done || error->code == ERROR_FAILED) && batch_print(cli, store, id, &late);
    store_close(store);
    if (done && !fine)
        return error_set(error, late.code, "%s", late.text);
    return done && fine;
}

/* ---- verbs ---- */

static const struct act {
    const char *name, *verb, *done;
} acts[] = {
    {"batch suspend", "suspend_batch", "suspended"},
    {"batch activate", "activate_batch", "activated"},
    {"batch delete", "delete_batch", "deleted"},
    {"batch retry-failed", "retry_failed", "retried"},
};

static bool act_run(struct cli *cli, const struct flags *flags, struct error *error) {
    const struct act *act = acts;
    int64_t id;
    while (strcmp(act->name, flags->command->name) != 0)
        act++;
    if (!id_read(flags, &id, error))
        return false;
    json_t *order = json_pack("{ss, sI}", "verb", act->verb, "batch", (json_int_t)id);
    if (order && flags_has(flags, "--history"))
        json_put(order, "history", json_true());
    return operate_run(cli, flags, order, act->done, error);
}

const struct cli_command batch_commands[] = {
    {"batch create", "TYPE --ids ID,… | --ids-from FILE | FILTERS …", "do one thing to many ids",
     "TYPE is a stock one (set-job-retries, set-job-priority, set-due-date, recalculate-due-date,\n"
     "set-cycle, suspend, activate, delete-jobs, cancel-jobs, dead-letter, set-removal-time,\n"
     "delete-history, enqueue) or a file batches/TYPE.lua.\n"
     "FILTERS are those of job list. FILE (- is standard input) has one id a line, for enqueue a\n"
     "payload. Prints the batch's id.",
     batch_create_flags, 1, 1, false, false, batch_create_run},
    {"batch list", "[--type TYPE] [--state STATE] …", "list batches", "", list_flags, 0, 0, false,
     false, list_run},
    {"batch show", "ID [--wait]", "show one batch: counts, and what has failed", "", show_flags, 1,
     1, false, false, show_run},
    {"batch failed", "ID", "list the ids that have failed, with reasons", "", failed_flags, 1, 1,
     false, false, failed_run},
    {"batch suspend", "ID", "keep its jobs from being run, and later ones", "", act_flags, 1, 1,
     false, false, act_run},
    {"batch activate", "ID", "let its jobs run again", "", act_flags, 1, 1, false, false, act_run},
    {"batch retry-failed", "ID [--wait]", "give its failed jobs runs again", "", retry_flags, 1, 1,
     false, false, act_run},
    {"batch delete", "ID [--history]", "delete its jobs",
     "It stays in the list as deleted, unless nothing of it is kept.", delete_flags, 1, 1, false,
     false, act_run},
    {0},
};
