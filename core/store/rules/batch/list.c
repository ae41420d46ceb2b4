/* list.c - questions about batches (rules §17): what is shown of one, and which match. */
#include "store/batch.h"
#include "store/rules/ask/ask.h"
#include "store/rules/ask/query.h"
#include "store/rules/batch/batch.h"
#include <string.h>

static bool list_state(struct query *query, const struct filter *filter, const json_t *value,
                       struct error *error) {
    json_t *numbers = json_array();
    size_t count = filter_count(value);
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
    {"suspended", filter_flag, "b.state=2 OR b.held<>0", NULL},
    {"who", filter_texts, "b.who", NULL},
    {"started_before", filter_time, "b.created<", NULL},
    {"started_after", filter_time, "b.created>", NULL},
    {"with_failures", filter_flag, "b.failed>0", NULL},
    {NULL, NULL, NULL, NULL},
};

const struct ask_column batch_columns[] = {
    {"id", ASK_INTEGER, "b.id", "b.id"},
    {"type", ASK_TEXT, "b.type", "b.type"},
    {"name", ASK_TEXT, "b.name", "b.name"},
    {"state", ASK_TEXT,
     "CASE b.state WHEN 0 THEN 'filling' WHEN 1 THEN 'active' WHEN 2 THEN 'suspended'"
     " WHEN 3 THEN 'deleting' WHEN 4 THEN 'completed' WHEN 5 THEN 'deleted' END",
     "b.state"},
    {"total", ASK_INTEGER, "b.total", "b.total"},
    {"created", ASK_INTEGER, "b.made", NULL},
    {"completed", ASK_INTEGER, "b.made-b.open", NULL},
    {"remaining", ASK_INTEGER, "b.open+b.total-b.made", NULL},
    {"failed", ASK_INTEGER, "b.failed", NULL},
    {"start", ASK_TIME, "b.created", "b.created"},
    {"execution_start", ASK_TIME, "b.started", NULL},
    {"end", ASK_TIME, "b.ended", "b.ended"},
    {"config", ASK_VALUE, "c.config", NULL},
    {"ids", ASK_INTEGER, "b.ids", NULL},
    {"jobs_per_seed", ASK_INTEGER, "b.jobs_per_seed", NULL},
    {"invocations", ASK_INTEGER, "b.invocations", NULL},
    {"retries", ASK_INTEGER, "nullif(b.retries, 0)", NULL},
    {"priority", ASK_INTEGER, "b.priority", NULL},
    {"on_complete", ASK_TEXT, "b.on_complete", NULL},
    {"who", ASK_TEXT, "b.who", NULL},
    {"jobs_suspended", ASK_FLAG, "b.held", NULL},
    {"removal_time", ASK_TIME, "b.removal", NULL},
    {"seed", ASK_INTEGER, "b.seed", NULL},
    {"monitor", ASK_INTEGER, "b.monitor", NULL},
    {"percent", ASK_INTEGER, "CASE WHEN b.total>0 THEN (b.made-b.open)*100/b.total ELSE 0 END",
     NULL},
    {NULL, ASK_VALUE, NULL, NULL},
};

json_t *store_batches(struct store *store, const json_t *wanted, const struct store_page *page,
                      struct error *error) {
    if (store->writing && !batch_settle(store, error))
        return NULL;
    return query_list(store, "batches", batch_columns,
                      " FROM batch b LEFT JOIN batch_config c ON c.batch=b.id", filters, wanted,
                      page, error);
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
