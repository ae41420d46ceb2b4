/* lists.c - questions about incidents, operations and the log. */
#include "base/json.h"
#include "base/outcome.h"
#include "store/sqlite/history.h"
#include "store/sqlite/incident.h"
#include "store/sqlite/query.h"
#include <stdio.h>
#include <string.h>

static json_t *list_done(json_t *object, bool done, struct store *store, struct error *error) {
    if (done)
        return object;
    json_decref(object);
    error_set(error, ERROR_FAILED, "store \"%s\": out of memory", store->db.name);
    return NULL;
}

/* Runs `select` with filters and page. */
static json_t *list_rows(struct store *store, const char *select, const json_t *wanted,
                         const struct filter *filters, const struct store_page *page,
                         const char *const *sorts, query_read *read, struct error *error) {
    struct query query = {0};
    json_t *rows = NULL;
    query_add(&query, select);
    bool asked = query_where(&query, wanted, filters, error);
    if (asked && page && page->after) {
        query_add(&query, json_object_size(wanted) ? " AND " : " WHERE ");
        query_add(&query, sorts[1]);
        query_add(&query, ">");
        query_bind_new(&query, json_integer(page->after));
    }
    if (asked && query_page(&query, page, sorts, error))
        rows = query_rows(&query, store, read, error);
    query_clear(&query);
    return rows;
}

/* ---- incidents ---- */

static const struct filter incident_filters[] = {
    {"id", filter_numbers, "i.id", NULL},
    {"type", filter_texts, "i.type", NULL},
    {"job", filter_numbers, "i.job", NULL},
    {"definition", filter_numbers, "i.definition", NULL},
    {"handler", filter_texts, "d.name", NULL},
    {"open", filter_flag, "i.ended IS NULL", NULL},
    {NULL, NULL, NULL, NULL},
};

static const char *const incident_sorts[] = {
    "id",      "i.id",      "type",  "i.type",  "job", "i.job",
    "created", "i.created", "ended", "i.ended", NULL,
};

static json_t *incident_read(struct store *store, sqlite3_stmt *row, struct error *error) {
    int how = sqlite3_column_int(row, 12);
    json_t *object = json_object();
    bool done = json_put(object, "id", query_column(row, 0)) &&
                json_put(object, "type", query_column(row, 1)) &&
                json_put(object, "job", query_column(row, 2)) &&
                json_put(object, "definition", query_column(row, 3)) &&
                json_put(object, "handler", query_column(row, 4)) &&
                json_put(object, "activity", query_column(row, 5)) &&
                json_put(object, "failed_activity", query_column(row, 6)) &&
                json_put(object, "message", query_column(row, 7)) &&
                json_put(object, "cause", query_column(row, 8)) &&
                json_put(object, "root", query_column(row, 9)) &&
                query_put_time(object, "created", row, 10) &&
                query_put_time(object, "ended", row, 11) &&
                json_put_text(object, "how",
                              how == INCIDENT_RESOLVED  ? "resolved"
                              : how == INCIDENT_DELETED ? "deleted"
                                                        : NULL) &&
                json_put(object, "note", query_column(row, 13)) &&
                json_put(object, "open", json_boolean(how == 0));
    return list_done(object, done, store, error);
}

json_t *store_incidents(struct store *store, const json_t *filters, const struct store_page *page,
                        struct error *error) {
    return list_rows(store,
                     "SELECT i.id, i.type, i.job, i.definition, d.name, i.activity,"
                     " i.failed_activity, i.message, i.cause, i.root, i.created, i.ended, i.how,"
                     " i.note FROM incident i LEFT JOIN definition d ON d.id=i.definition",
                     filters, incident_filters, page, incident_sorts, incident_read, error);
}

/* ---- operations ---- */

static const struct filter operation_filters[] = {
    {"id", filter_numbers, "id", NULL},
    {"who", filter_texts, "who", NULL},
    {"verb", filter_texts, "verb", NULL},
    {"entity", filter_texts, "entity", NULL},
    {"after", filter_time, "at>=", NULL},
    {"before", filter_time, "at<", NULL},
    {NULL, NULL, NULL, NULL},
};

static const char *const operation_sorts[] = {"id",  "id",   "at",   "at", "who",
                                              "who", "verb", "verb", NULL};

static json_t *operation_read(struct store *store, sqlite3_stmt *row, struct error *error) {
    json_t *object = json_object();
    bool done = json_put(object, "id", query_column(row, 0)) &&
                query_put_time(object, "at", row, 1) &&
                json_put(object, "who", query_column(row, 2)) &&
                json_put(object, "verb", query_column(row, 3)) &&
                json_put(object, "entity", query_column(row, 4)) &&
                json_put(object, "count", query_column(row, 5)) &&
                json_put(object, "old", query_column(row, 6)) &&
                json_put(object, "new", query_column(row, 7));
    return list_done(object, done, store, error);
}

json_t *store_operations(struct store *store, const json_t *filters, const struct store_page *page,
                         struct error *error) {
    return list_rows(store, "SELECT id, at, who, verb, entity, count, old, new FROM operation",
                     filters, operation_filters, page, operation_sorts, operation_read, error);
}

/* ---- the log: failures, ends, and creations as the live rows tell them ---- */

/* What a run of the handler said, in order; a creation is no run. */
#define LOG_LINES                                                                                  \
    "(SELECT json_group_array(text) FROM (SELECT text FROM line"                                   \
    " WHERE job=g.job AND n=g.attempt AND g.outcome<>'created' ORDER BY seq))"

/* Found, sorted and cut first; names and lines are looked up for what is left. */
#define LOG_FROM                                                                                   \
    "SELECT g.*, d.id, d.name, s.deployment, e.name, " LOG_LINES " FROM (SELECT * FROM ("          \
    "SELECT job, 'created' AS outcome, at, NULL AS executor, NULL AS started, attempt, retries,"   \
    " due, priority, NULL AS reason, NULL AS message, NULL AS result, stream, batch FROM ("        \
    "SELECT j.id AS job, j.created AS at, 1 AS attempt, coalesce(a.retries, j.retries) AS "        \
    "retries,"                                                                                     \
    " CASE WHEN a.job IS NULL THEN j.due ELSE a.due END AS due,"                                   \
    " coalesce(a.priority, j.priority) AS priority, j.stream, j.batch"                             \
    " FROM job j LEFT JOIN attempt a ON a.job=j.id AND a.n=1)"                                     \
    " UNION ALL SELECT job, 'failed', at, executor, started, n, retries, due, priority, reason,"   \
    " message, NULL, stream, (SELECT batch FROM job WHERE id=attempt.job) FROM attempt"            \
    " UNION ALL SELECT job, CASE outcome WHEN 1 THEN 'successful' WHEN 2 THEN 'deleted'"           \
    " ELSE 'cancelled' END, at, executor, started, attempt, retries, NULL, NULL, NULL, message,"   \
    " result, stream, NULL FROM ended) g"

#define LOG_NAMES                                                                                  \
    ") g LEFT JOIN stream s ON s.id=g.stream LEFT JOIN definition d ON d.id=s.definition"          \
    " LEFT JOIN executor e ON e.id=g.executor"

#define LOG_STREAM                                                                                 \
    "g.stream IN (SELECT s.id FROM stream s JOIN definition d ON d.id=s.definition WHERE "

static const struct filter log_filters[] = {
    {"job", filter_numbers, "g.job", NULL},
    {"handler", filter_texts, LOG_STREAM "d.name", ")"},
    {"definition", filter_numbers, LOG_STREAM "d.id", ")"},
    {"batch", filter_numbers, "g.batch", NULL},
    {"outcome", filter_texts, "g.outcome", NULL},
    {"after", filter_time, "g.at>=", NULL},
    {"before", filter_time, "g.at<", NULL},
    {NULL, NULL, NULL, NULL},
};

static const char *const log_sorts[] = {"at", "g.at", "job", "g.job", NULL};

static json_t *log_executor(sqlite3_stmt *row) {
    const char *name = db_column_text(row, 17);
    if (sqlite3_column_type(row, 3) == SQLITE_NULL)
        return NULL;
    return json_sprintf("%s/%lld", name ? name : "?", (long long)sqlite3_column_int64(row, 3));
}

static json_t *log_duration(sqlite3_stmt *row) {
    time_ms started = db_column_time(row, 4);
    return started == TIME_NONE
               ? NULL
               : json_real((double)(sqlite3_column_int64(row, 2) - started) / 1000);
}

static const char *log_reason(sqlite3_stmt *row) {
    int reason = sqlite3_column_int(row, 9);
    if (sqlite3_column_type(row, 9) == SQLITE_NULL || reason < 0 || reason > REASON_WORKER_DIED)
        return NULL;
    return failure_reason_name((enum failure_reason)reason);
}

/* What the handler returned, as JSON. */
static json_t *log_result(sqlite3_stmt *row) {
    const char *text = db_column_text(row, 11);
    return text ? json_read(text, strlen(text), "result", NULL) : NULL;
}

/* NULL where the run said nothing. */
static json_t *log_lines(sqlite3_stmt *row) {
    const char *text = db_column_text(row, 18);
    json_t *lines = text ? json_read(text, strlen(text), "lines", NULL) : NULL;
    if (json_array_size(lines) > 0)
        return lines;
    json_decref(lines);
    return NULL;
}

static json_t *log_read(struct store *store, sqlite3_stmt *row, struct error *error) {
    json_t *object = json_object();
    bool done =
        json_put(object, "job", query_column(row, 0)) &&
        json_put(object, "outcome", query_column(row, 1)) && query_put_time(object, "at", row, 2) &&
        json_put(object, "executor", log_executor(row)) &&
        query_put_time(object, "started", row, 4) &&
        json_put(object, "duration", log_duration(row)) &&
        json_put(object, "attempt", query_column(row, 5)) &&
        json_put(object, "retries", query_column(row, 6)) &&
        query_put_time(object, "due", row, 7) &&
        json_put(object, "priority", query_column(row, 8)) &&
        json_put_text(object, "reason", log_reason(row)) &&
        json_put(object, "message", query_column(row, 10)) &&
        json_put(object, "result", log_result(row)) && json_put(object, "lines", log_lines(row)) &&
        json_put(object, "batch", query_column(row, 13)) &&
        json_put(object, "definition", query_column(row, 14)) &&
        json_put(object, "handler", query_column(row, 15)) &&
        json_put(object, "deployment",
                 sqlite3_column_int64(row, 16) ? query_column(row, 16) : NULL);
    return list_done(object, done, store, error);
}

json_t *store_log(struct store *store, const json_t *filters, const struct store_page *page,
                  struct error *error) {
    struct store_page newest = page ? *page : (struct store_page){.limit = 10000};
    struct store_page again = newest;
    struct query query = {0};
    json_t *rows = NULL;
    newest.descending = again.descending = newest.sort ? newest.descending : true;
    again.offset = 0;
    query_add(&query, LOG_FROM);
    if (query_where(&query, filters, log_filters, error) &&
        query_page(&query, &newest, log_sorts, error)) {
        query_add(&query, LOG_NAMES);
        query_page(&query, &again, log_sorts, error);
        rows = query_rows(&query, store, log_read, error);
    }
    query_clear(&query);
    return rows;
}
