#include "store/rules/ask/entry.h"
#include "base/json.h"
#include "job/outcome.h"
#include "store/rules/ground/query.h"
#include <string.h>

static json_t *entry_executor(struct row *row) {
    const char *name = row_text(row, ENTRY_EXECUTOR);
    if (row_null(row, 3))
        return NULL;
    return json_sprintf("%s/%lld", name ? name : "?", (long long)row_int(row, 3));
}

static json_t *entry_duration(struct row *row) {
    time_ms started = row_time(row, 4);
    return started == TIME_NONE ? NULL : json_real((double)(row_int(row, 2) - started) / 1000);
}

static const char *entry_reason(struct row *row) {
    int reason = row_int32(row, 9);
    if (row_null(row, 9) || reason < 0 || reason > REASON_BUSINESS_ERROR)
        return NULL;
    return failure_reason_name((enum failure_reason)reason);
}

/* What the handler returned, as JSON. */
static json_t *entry_result(struct row *row) {
    const char *text = row_text(row, 11);
    return text ? json_read(text, strlen(text), "result", NULL) : NULL;
}

/* The runs of an attempt have a text each, which is an array of lines. */
static json_t *lines_of(const char *text) {
    json_t *runs = json_read(text, strlen(text), "lines", NULL), *lines = json_array(), *run;
    size_t i;
    json_array_foreach(runs, i, run) {
        const char *said = json_string_value(run);
        json_t *some = said ? json_read(said, strlen(said), "lines", NULL) : NULL;
        json_array_extend(lines, some);
        json_decref(some);
    }
    json_decref(runs);
    return lines;
}

/* NULL where the run said nothing. */
static json_t *entry_lines(struct row *row) {
    const char *text = row_text(row, ENTRY_LINES);
    json_t *lines = text ? lines_of(text) : NULL;
    return json_kept(lines, json_array_size(lines) > 0);
}

/* Of an end: when it goes, as far as that is known. */
static bool entry_put_removal(const struct store *store, json_t *object, struct row *row) {
    time_ms removal = row_time(row, 14), ttl = store->rules->history_ttl;
    if (row_int32(row, ENTRY_RANK) != 3)
        return true;
    if (removal == TIME_NONE && ttl)
        removal = row_int(row, 2) + ttl;
    return query_put_instant(object, "removal_time", removal);
}

/* The number of the run; of a dead job that was deleted, which had no next, of its last. */
static json_t *entry_attempt(struct row *row) {
    bool dead = !row_null(row, 6) && row_int32(row, 6) == 0;
    bool ran = !row_null(row, 4);
    if (row_null(row, 5))
        return NULL;
    bool next = row_int32(row, ENTRY_RANK) == 3 && dead && !ran;
    return json_integer(row_int(row, 5) - next);
}

/* The due date that the job had; of a snooze the one that it got. */
static bool entry_put_due(json_t *object, struct row *row) {
    bool snoozed = strcmp(row_text(row, 1), "snoozed") == 0;
    time_ms due = row_time(row, 7);
    return json_put_time(object, "due", snoozed ? TIME_NONE : due) &&
           (!snoozed || json_put_time(object, "until", due));
}

/* To what the job belonged. */
static bool entry_put_owner(json_t *object, struct row *row) {
    static const char *const keys[] = {"instance", "root", "activity",
                                       "tenant",   "lane", "schedule"};
    for (int i = 0; i < (int)(sizeof keys / sizeof *keys); i++)
        if (!json_put(object, keys[i], query_column(row, ENTRY_INSTANCE + i)))
            return false;
    return json_put(object, "category", query_column(row, ENTRY_CATEGORY));
}

json_t *entry_read(struct store *store, struct row *row, struct error *error) {
    json_t *object = json_object();
    bool done =
        json_put(object, "job", query_column(row, 0)) &&
        json_put(object, "outcome", query_column(row, 1)) && query_put_time(object, "at", row, 2) &&
        json_put(object, "executor", entry_executor(row)) &&
        query_put_time(object, "started", row, 4) &&
        json_put(object, "duration", entry_duration(row)) &&
        json_put(object, "attempt", entry_attempt(row)) &&
        json_put(object, "retries", query_column(row, 6)) && entry_put_due(object, row) &&
        json_put(object, "priority", query_column(row, 8)) &&
        json_put_text(object, "reason", entry_reason(row)) &&
        json_put(object, "message", query_column(row, 10)) &&
        json_put(object, "result", entry_result(row)) &&
        json_put(object, "lines", entry_lines(row)) &&
        json_put(object, "batch", query_column(row, 13)) && entry_put_owner(object, row) &&
        json_put(object, "definition", query_column(row, ENTRY_DEFINITION)) &&
        json_put(object, "handler", query_column(row, ENTRY_HANDLER)) &&
        json_put(object, "deployment",
                 row_int(row, ENTRY_DEPLOYMENT) ? query_column(row, ENTRY_DEPLOYMENT) : NULL) &&
        entry_put_removal(store, object, row);
    if (done)
        return object;
    json_decref(object);
    return error_null(db_no_memory(&store->db, error));
}
