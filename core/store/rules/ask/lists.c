/* lists.c - lists whose rows are read as their columns say: incidents, operations, suspended
 * instances. */
#include "store/rules/ground/columns.h"
#include "store/rules/ground/query.h"

/* ---- incidents ---- */

#define CAUSE "coalesce(i.cause, i.id)" /* one that nothing has caused is its own */

static const struct filter incident_filters[] = {
    {"definition", filter_definition, "i.definition IN (SELECT d.id FROM definition d WHERE ", ")"},
    {"open", filter_flag, "i.ended IS NULL", NULL},
    {"message", filter_text, "i.message", NULL},
    {"created_before", filter_time, "i.created<", NULL},
    {"created_after", filter_time, "i.created>", NULL},
    {NULL, NULL, NULL, NULL},
};

const struct ask_column incident_columns[] = {
    {"id", ASK_INTEGER, "i.id", ASK_BOTH},
    {"type", ASK_TEXT, "i.type", ASK_BOTH},
    {"job", ASK_INTEGER, "i.job", ASK_BOTH},
    {"definition", ASK_INTEGER, "i.definition", ASK_SHOW},
    {"handler", ASK_TEXT, "d.name", ASK_FIND},
    {"activity", ASK_TEXT, "i.activity", ASK_FIND},
    {"failed_activity", ASK_TEXT, "i.failed_activity", ASK_SHOW},
    {"message", ASK_TEXT, "i.message", ASK_SHOW},
    {"cause", ASK_INTEGER, CAUSE, ASK_FIND},
    {"root_cause", ASK_INTEGER, "coalesce(i.root_cause, i.id)", ASK_SHOW},
    {"created", ASK_TIME, "i.created", ASK_SORT},
    {"ended", ASK_TIME, "i.ended", ASK_SORT},
    {"how", ASK_TEXT, "CASE i.how WHEN 1 THEN 'resolved' WHEN 2 THEN 'deleted' END", ASK_SHOW},
    {"note", ASK_TEXT, "i.note", ASK_SHOW},
    {"open", ASK_FLAG, "CASE WHEN coalesce(i.how, 0)=0 THEN 1 ELSE 0 END", ASK_SHOW},
    {"instance", ASK_TEXT, "i.instance", ASK_FIND},
    {"root_instance", ASK_TEXT, "i.root_instance", ASK_FIND},
    {"tenant", ASK_TEXT, "i.tenant", ASK_FIND},
    {"lane", ASK_TEXT, "i.lane_key", ASK_SHOW},
    {"removal_time", ASK_TIME, "i.removal", ASK_SHOW},
    {NULL, ASK_VALUE, NULL, ASK_SHOW},
};

json_t *store_incidents(struct store *store, const json_t *filters, const struct store_page *page,
                        struct error *error) {
    return query_list(store, "incidents", incident_columns,
                      " FROM incident i LEFT JOIN definition d ON d.id=i.definition",
                      incident_filters, filters, page, error);
}

/* ---- operations ---- */

static const struct filter operation_filters[] = {
    {"after", filter_time, "at>=", NULL},
    {"before", filter_time, "at<", NULL},
    {NULL, NULL, NULL, NULL},
};

const struct ask_column operation_columns[] = {
    {"id", ASK_INTEGER, "id", ASK_BOTH},       {"at", ASK_TIME, "at", ASK_SORT},
    {"who", ASK_TEXT, "who", ASK_BOTH},        {"verb", ASK_TEXT, "verb", ASK_BOTH},
    {"entity", ASK_TEXT, "entity", ASK_FIND},  {"count", ASK_INTEGER, "count", ASK_SHOW},
    {"old", ASK_TEXT, "old", ASK_SHOW},        {"new", ASK_TEXT, "new", ASK_SHOW},
    {"query", ASK_OBJECT, "query", ASK_SHOW},  {"jobs", ASK_LIST, "jobs", ASK_SHOW},
    {"batch", ASK_INTEGER, "batch", ASK_SHOW}, {"instance", ASK_INTEGER, "instance", ASK_FIND},
    {NULL, ASK_VALUE, NULL, ASK_SHOW},
};

json_t *store_operations(struct store *store, const json_t *filters, const struct store_page *page,
                         struct error *error) {
    return query_list(store, "operations", operation_columns, " FROM operation", operation_filters,
                      filters, page, error);
}

void store_set_budget(struct store *store, time_ms budget) {
    store->db.budget = budget;
}

/* ---- suspended instances ---- */

const struct ask_column instance_columns[] = {
    {"instance", ASK_TEXT, "instance", ASK_BOTH},
    {"since", ASK_TIME, "at", ASK_SORT},
    {NULL, ASK_VALUE, NULL, ASK_SHOW},
};

json_t *store_suspended_instances(struct store *store, const json_t *filters,
                                  const struct store_page *page, struct error *error) {
    return query_list(store, "instances", instance_columns, " FROM suspended_instance", NULL,
                      filters, page, error);
}
