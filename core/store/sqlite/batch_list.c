/* batch_list.c - questions about batches (rules §17): what is shown of one, and which match. */
#include "base/json.h"
#include "store/batch.h"
#include "store/sqlite/batch.h"
#include "store/sqlite/query.h"
#include <string.h>

static bool list_state(struct query *query, const struct filter *filter, const json_t *value,
                       struct error *error) {
    json_t *numbers = json_array();
    size_t count = json_is_array(value) ? json_array_size(value) : 1;
    for (size_t i = 0; i < count; i++) {
        const char *name =
            json_string_value(json_is_array(value) ? json_array_get(value, i) : value);
        int state = 0;
        while (state < BATCH_STATES && (!name || strcmp(batch_state_name(state), name) != 0))
            state++;
        if (state == BATCH_STATES) {
            json_decref(numbers);
            return error_set(error, ERROR_INVALID,
                             "filter \"state\": \"%s\" (expected filling, active, suspended, "
                             "deleting, completed or deleted)",
                             name ? name : "?");
        }
        json_array_append_new(numbers, json_integer(state));
    }
    query_add(query, filter->sql);
    query_add(query, " IN (-1");
    for (size_t i = 0; i < count; i++) {
        query_add(query, ", ");
        query_bind_new(query, json_incref(json_array_get(numbers, i)));
    }
    query_add(query, ")");
    json_decref(numbers);
    return true;
}

static const struct filter filters[] = {
    {"id", filter_numbers, "b.id", NULL},
    {"type", filter_texts, "b.type", NULL},
    {"name", filter_texts, "b.name", NULL},
    {"state", list_state, "b.state", NULL},
    {"running", filter_flag, "b.ended IS NULL", NULL},
    {"finished", filter_flag, "b.ended IS NOT NULL", NULL},
    {NULL, NULL, NULL, NULL},
};

static const char *const sorts[] = {
    "id",    "b.id",    "type",  "b.type",    "name", "b.name",  "state", "b.state",
    "total", "b.total", "start", "b.created", "end",  "b.ended", NULL,
};

static json_t *list_config(sqlite3_stmt *row, int column) {
    const char *text = db_column_text(row, column);
    return text ? json_read(text, strlen(text), "config", NULL) : NULL;
}

static bool list_counts(json_t *object, sqlite3_stmt *row) {
    int64_t total = sqlite3_column_int64(row, 4), made = sqlite3_column_int64(row, 5);
    int64_t open = sqlite3_column_int64(row, 6);
    return json_put(object, "total", json_integer(total)) &&
           json_put(object, "created", json_integer(made)) &&
           json_put(object, "completed", json_integer(made - open)) &&
           json_put(object, "remaining", json_integer(open + total - made)) &&
           json_put(object, "failed", query_column(row, 7));
}

static json_t *list_read(struct store *store, sqlite3_stmt *row, struct error *error) {
    static const char *const rest[] = {"ids",     "jobs_per_seed", "invocations",
                                       "retries", "priority",      "on_complete",
                                       "who",     "seed",          "monitor"};
    json_t *object = json_object();
    bool done = json_put(object, "id", query_column(row, 0)) &&
                json_put(object, "type", query_column(row, 1)) &&
                json_put(object, "name", query_column(row, 2)) &&
                json_put_text(object, "state", batch_state_name(sqlite3_column_int(row, 3))) &&
                list_counts(object, row) && query_put_time(object, "start", row, 8) &&
                query_put_time(object, "execution_start", row, 9) &&
                query_put_time(object, "end", row, 10) &&
                json_put(object, "config", list_config(row, 11));
    for (int i = 0; done && i < (int)(sizeof rest / sizeof *rest); i++)
        done = json_put(object, rest[i], query_column(row, 12 + i));
    if (done)
        return object;
    json_decref(object);
    error_set(error, ERROR_FAILED, "store \"%s\": out of memory", store->db.name);
    return NULL;
}

json_t *store_batches(struct store *store, const json_t *wanted, const struct store_page *page,
                      struct error *error) {
    struct query query = {0};
    json_t *batches = NULL;
    if (store->writing && !batch_settle(store, error))
        return NULL;
    query_add(&query, "SELECT b.id, b.type, b.name, b.state, b.total, b.made, b.open, b.failed,"
                      " b.created, b.started, b.ended, c.config, b.ids, b.jobs_per_seed,"
                      " b.invocations, nullif(b.retries, 0), b.priority, b.on_complete, b.who,"
                      " b.seed, b.monitor FROM batch b LEFT JOIN batch_config c ON c.batch=b.id");
    bool asked = query_where(&query, wanted, filters, error);
    if (asked && page && page->after) {
        query_add(&query, json_object_size(wanted) ? " AND b.id>" : " WHERE b.id>");
        query_bind_new(&query, json_integer(page->after));
    }
    if (asked && query_page(&query, page, sorts, error))
        batches = query_rows(&query, store, "batches", list_read, error);
    query_clear(&query);
    return batches;
}

json_t *store_batch(struct store *store, int64_t id, struct error *error) {
    json_t *wanted = json_pack("{s:I}", "id", (json_int_t)id);
    json_t *batches = store_batches(store, wanted, NULL, error);
    json_t *batch = json_incref(json_array_get(batches, 0));
    json_decref(wanted);
    if (batches && !batch)
        error_set(error, ERROR_NOT_FOUND, "no batch %lld", (long long)id);
    json_decref(batches);
    return batch;
}
