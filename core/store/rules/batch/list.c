/* list.c - questions about batches (rules §17): what is shown of one, and which match. */
#include "store/batch.h"
#include "store/rules/batch/batch.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"

static bool list_state(struct query *query, const struct filter *filter, const json_t *value,
                       struct error *error) {
    const char *names[BATCH_STATES + 1] = {NULL};
    for (int state = 0; state < BATCH_STATES; state++)
        names[state] = batch_state_name(state);
    return filter_names(query, filter, value, names, true, error);
}

static const struct filter batch_filters[] = {
    {"id", "ID,…", "these batches"},
    {"type", "NAME,…", "of these types"},
    {"name", "NAME,…", "of these names"},
    {"state", "NAME,…", "filling, active, suspended, deleting, completed, deleted", list_state,
     "b.state"},
    {"running", "[BOOL]", "that have not ended", filter_flag, "b.ended IS NULL"},
    {"finished", "[BOOL]", "that have ended", filter_flag, "b.ended IS NOT NULL"},
    {"suspended", "[BOOL]", "that are suspended, or whose jobs are", filter_flag,
     "b.state=2 OR b.held<>0"},
    {"who", "NAME,…", "begun by these users"},
    {"started_before", "TIME", "begun before this instant", filter_time, "b.created<"},
    {"started_after", "TIME", "begun after this instant", filter_time, "b.created>"},
    {"with_failures", "[BOOL]", "of which jobs have failed", filter_flag, "b.failed>0"},
    {0},
};

static const struct ask_column batch_columns[] = {
    {"id", ASK_INTEGER, "b.id", ASK_BOTH},
    {"type", ASK_TEXT, "b.type", ASK_BOTH},
    {"name", ASK_TEXT, "b.name", ASK_BOTH},
    {"state", ASK_TEXT,
     "CASE b.state WHEN 0 THEN 'filling' WHEN 1 THEN 'active' WHEN 2 THEN 'suspended'"
     " WHEN 3 THEN 'deleting' WHEN 4 THEN 'completed' WHEN 5 THEN 'deleted' END",
     ASK_SORT},
    {"total", ASK_INTEGER, "b.total", ASK_SORT, "JOBS"},
    {"created", ASK_INTEGER, "b.made", ASK_SHOW},
    {"completed", ASK_INTEGER, "b.made-b.open", ASK_SHOW, "DONE"},
    {"remaining", ASK_INTEGER, "b.open+b.total-b.made", ASK_SHOW},
    {"failed", ASK_INTEGER, "b.failed", ASK_SHOW},
    {"start", ASK_TIME, "b.created", ASK_SORT},
    {"execution_start", ASK_TIME, "b.started", ASK_SHOW},
    {"end", ASK_TIME, "b.ended", ASK_SORT},
    {"config", ASK_VALUE, "c.config", ASK_SHOW},
    {"ids", ASK_INTEGER, "b.ids", ASK_SHOW},
    {"jobs_per_seed", ASK_INTEGER, "b.jobs_per_seed", ASK_SHOW},
    {"invocations", ASK_INTEGER, "b.invocations", ASK_SHOW},
    {"retries", ASK_INTEGER, "nullif(b.retries, 0)", ASK_SHOW},
    {"priority", ASK_INTEGER, "b.priority", ASK_SHOW},
    {"on_complete", ASK_TEXT, "b.on_complete", ASK_SHOW},
    {"who", ASK_TEXT, "b.who", ASK_FIND},
    {"jobs_suspended", ASK_FLAG, "b.held", ASK_SHOW},
    {"removal_time", ASK_TIME, "b.removal", ASK_SHOW},
    {"seed", ASK_INTEGER, "b.seed", ASK_SHOW},
    {"monitor", ASK_INTEGER, "b.monitor", ASK_SHOW},
    {"percent", ASK_INTEGER, "CASE WHEN b.total>0 THEN (b.made-b.open)*100/b.total ELSE 0 END",
     ASK_SHOW, "%"},
    {0},
};

const struct ask_table batch_table = {
    "batches",
    batch_columns,
    batch_filters,
    .shown = "id,type,name?,state!,percent,completed,total,failed,ids,start,end?",
    .from = " FROM batch b LEFT JOIN batch_config c ON c.batch=b.id",
    .asked = "batches"};

json_t *store_batches(struct store *store, const json_t *wanted, const struct store_page *page,
                      struct error *error) {
    if (store->writing && !batch_settle(store, error))
        return NULL;
    return query_list(store, &batch_table, wanted, page, error);
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
