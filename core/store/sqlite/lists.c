/* lists.c - questions about incidents and operations. */
#include "base/json.h"
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
static json_t *list_rows(struct store *store, const char *asked, const char *select,
                         const json_t *wanted, const struct filter *filters,
                         const struct store_page *page, const char *const *sorts, query_read *read,
                         struct error *error) {
    struct query query = {0};
    json_t *rows = NULL;
    query_add(&query, select);
    bool fine = query_where(&query, wanted, filters, error);
    if (fine && page && page->after) {
        query_add(&query, json_object_size(wanted) ? " AND " : " WHERE ");
        query_add(&query, sorts[1]);
        query_add(&query, ">");
        query_bind_new(&query, json_integer(page->after));
    }
    if (fine && query_page(&query, page, sorts, error))
        rows = query_rows(&query, store, asked, read, error);
    query_clear(&query);
    return rows;
}

/* ---- incidents ---- */

static const struct filter incident_filters[] = {
    {"id", filter_numbers, "i.id", NULL},
    {"type", filter_texts, "i.type", NULL},
    {"job", filter_numbers, "i.job", NULL},
    {"definition", filter_definition, "i.definition IN (SELECT d.id FROM definition d WHERE ", ")"},
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
    return list_rows(store, "incidents",
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

static json_t *operation_json(sqlite3_stmt *row, int column) {
    const char *text = db_column_text(row, column);
    return text ? json_read(text, strlen(text), "operation", NULL) : NULL;
}

static json_t *operation_read(struct store *store, sqlite3_stmt *row, struct error *error) {
    json_t *object = json_object();
    bool done = json_put(object, "id", query_column(row, 0)) &&
                query_put_time(object, "at", row, 1) &&
                json_put(object, "who", query_column(row, 2)) &&
                json_put(object, "verb", query_column(row, 3)) &&
                json_put(object, "entity", query_column(row, 4)) &&
                json_put(object, "count", query_column(row, 5)) &&
                json_put(object, "old", query_column(row, 6)) &&
                json_put(object, "new", query_column(row, 7)) &&
                json_put(object, "query", operation_json(row, 8)) &&
                json_put(object, "jobs", operation_json(row, 9)) &&
                json_put(object, "batch", query_column(row, 10));
    return list_done(object, done, store, error);
}

json_t *store_operations(struct store *store, const json_t *filters, const struct store_page *page,
                         struct error *error) {
    return list_rows(store, "operations",
                     "SELECT id, at, who, verb, entity, count, old, new, query, jobs, batch"
                     " FROM operation",
                     filters, operation_filters, page, operation_sorts, operation_read, error);
}

void store_set_budget(struct store *store, time_ms budget) {
    store->db.budget = budget;
}

/* ---- suspended instances ---- */

static const struct filter instance_filters[] = {
    {"instance", filter_texts, "instance", NULL},
    {NULL, NULL, NULL, NULL},
};

static const char *const instance_sorts[] = {"instance", "instance", "since", "at", NULL};

static json_t *instance_read(struct store *store, sqlite3_stmt *row, struct error *error) {
    json_t *object = json_object();
    bool done = json_put(object, "instance", query_column(row, 0)) &&
                query_put_time(object, "since", row, 1);
    return list_done(object, done, store, error);
}

json_t *store_suspended_instances(struct store *store, const json_t *filters,
                                  const struct store_page *page, struct error *error) {
    return list_rows(store, "instances", "SELECT instance, at FROM suspended_instance", filters,
                     instance_filters, page, instance_sorts, instance_read, error);
}
