#include "store/sqlite/entry.h"
#include "base/json.h"
#include "base/outcome.h"
#include "store/sqlite/query.h"
#include <string.h>

static json_t *entry_executor(sqlite3_stmt *row) {
    const char *name = db_column_text(row, ENTRY_EXECUTOR);
    if (sqlite3_column_type(row, 3) == SQLITE_NULL)
        return NULL;
    return json_sprintf("%s/%lld", name ? name : "?", (long long)sqlite3_column_int64(row, 3));
}

static json_t *entry_duration(sqlite3_stmt *row) {
    time_ms started = db_column_time(row, 4);
    return started == TIME_NONE
               ? NULL
               : json_real((double)(sqlite3_column_int64(row, 2) - started) / 1000);
}

static const char *entry_reason(sqlite3_stmt *row) {
    int reason = sqlite3_column_int(row, 9);
    if (sqlite3_column_type(row, 9) == SQLITE_NULL || reason < 0 || reason > REASON_WORKER_DIED)
        return NULL;
    return failure_reason_name((enum failure_reason)reason);
}

/* What the handler returned, as JSON. */
static json_t *entry_result(sqlite3_stmt *row) {
    const char *text = db_column_text(row, 11);
    return text ? json_read(text, strlen(text), "result", NULL) : NULL;
}

/* NULL where the run said nothing. */
static json_t *entry_lines(sqlite3_stmt *row) {
    const char *text = db_column_text(row, ENTRY_LINES);
    json_t *lines = text ? json_read(text, strlen(text), "lines", NULL) : NULL;
    if (json_array_size(lines) > 0)
        return lines;
    json_decref(lines);
    return NULL;
}

/* Of an end: when it goes, as far as that is known. */
static bool entry_put_removal(const struct store *store, json_t *object, sqlite3_stmt *row) {
    time_ms removal = db_column_time(row, 14), ttl = store->settings->history_ttl;
    if (sqlite3_column_int(row, ENTRY_RANK) != 3)
        return true;
    if (removal == TIME_NEVER)
        return json_put_text(object, "removal_time", "never");
    if (removal == TIME_NONE && ttl)
        removal = sqlite3_column_int64(row, 2) + ttl;
    return json_put_time(object, "removal_time", removal);
}

/* The number of the run; of a dead job that was deleted, which had no next, of its last. */
static json_t *entry_attempt(sqlite3_stmt *row) {
    bool dead = sqlite3_column_type(row, 6) != SQLITE_NULL && sqlite3_column_int(row, 6) == 0;
    bool ran = sqlite3_column_type(row, 4) != SQLITE_NULL;
    if (sqlite3_column_type(row, 5) == SQLITE_NULL)
        return NULL;
    bool next = sqlite3_column_int(row, ENTRY_RANK) == 3 && dead && !ran;
    return json_integer(sqlite3_column_int64(row, 5) - next);
}

/* The due date that the job had; of a snooze the one that it got. */
static bool entry_put_due(json_t *object, sqlite3_stmt *row) {
    bool snoozed = strcmp(db_column_text(row, 1), "snoozed") == 0;
    time_ms due = db_column_time(row, 7);
    return json_put_time(object, "due", snoozed ? TIME_NONE : due) &&
           (!snoozed || json_put_time(object, "until", due));
}

json_t *entry_read(struct store *store, sqlite3_stmt *row, struct error *error) {
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
        json_put(object, "batch", query_column(row, 13)) &&
        json_put(object, "definition", query_column(row, ENTRY_DEFINITION)) &&
        json_put(object, "handler", query_column(row, ENTRY_HANDLER)) &&
        json_put(object, "deployment",
                 sqlite3_column_int64(row, ENTRY_DEPLOYMENT) ? query_column(row, ENTRY_DEPLOYMENT)
                                                             : NULL) &&
        entry_put_removal(store, object, row);
    if (done)
        return object;
    json_decref(object);
    error_set(error, ERROR_FAILED, "store \"%s\": out of memory", store->db.name);
    return NULL;
}
