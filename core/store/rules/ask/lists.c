/* lists.c - lists whose rows are read as their columns say: incidents, operations, suspended
 * instances. */
#include "store/rules/ask/ask.h"
#include "store/rules/ask/query.h"

/* ---- incidents ---- */

#define CAUSE "coalesce(i.cause, i.id)" /* one that nothing has caused is its own */

static const struct filter incident_filters[] = {
    {"id", filter_numbers, "i.id", NULL},
    {"type", filter_texts, "i.type", NULL},
    {"job", filter_numbers, "i.job", NULL},
    {"definition", filter_definition, "i.definition IN (SELECT d.id FROM definition d WHERE ", ")"},
    {"handler", filter_texts, "d.name", NULL},
    {"open", filter_flag, "i.ended IS NULL", NULL},
    {"message", filter_text, "i.message", NULL},
    {"instance", filter_texts, "i.instance", NULL},
    {"root_instance", filter_texts, "i.root_instance", NULL},
    {"activity", filter_texts, "i.activity", NULL},
    {"tenant", filter_texts, "i.tenant", NULL},
    {"cause", filter_numbers, CAUSE, NULL},
    {"created_before", filter_time, "i.created<", NULL},
    {"created_after", filter_time, "i.created>", NULL},
    {NULL, NULL, NULL, NULL},
};

const struct ask_column incident_columns[] = {
    {"id", ASK_INTEGER, "i.id", "i.id"},
    {"type", ASK_TEXT, "i.type", "i.type"},
    {"job", ASK_INTEGER, "i.job", "i.job"},
    {"definition", ASK_INTEGER, "i.definition", NULL},
    {"handler", ASK_TEXT, "d.name", NULL},
    {"activity", ASK_TEXT, "i.activity", NULL},
    {"failed_activity", ASK_TEXT, "i.failed_activity", NULL},
    {"message", ASK_TEXT, "i.message", NULL},
    {"cause", ASK_INTEGER, CAUSE, NULL},
    {"root_cause", ASK_INTEGER, "coalesce(i.root_cause, i.id)", NULL},
    {"created", ASK_TIME, "i.created", "i.created"},
    {"ended", ASK_TIME, "i.ended", "i.ended"},
    {"how", ASK_TEXT, "CASE i.how WHEN 1 THEN 'resolved' WHEN 2 THEN 'deleted' END", NULL},
    {"note", ASK_TEXT, "i.note", NULL},
    {"open", ASK_FLAG, "CASE WHEN coalesce(i.how, 0)=0 THEN 1 ELSE 0 END", NULL},
    {"instance", ASK_TEXT, "i.instance", NULL},
    {"root_instance", ASK_TEXT, "i.root_instance", NULL},
    {"tenant", ASK_TEXT, "i.tenant", NULL},
    {"lane", ASK_TEXT, "i.lane_key", NULL},
    {"removal_time", ASK_TIME, "i.removal", NULL},
    {NULL, ASK_VALUE, NULL, NULL},
};

json_t *store_incidents(struct store *store, const json_t *filters, const struct store_page *page,
                        struct error *error) {
    return query_list(store, "incidents", incident_columns,
                      " FROM incident i LEFT JOIN definition d ON d.id=i.definition",
                      incident_filters, filters, page, error);
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

const struct ask_column operation_columns[] = {
    {"id", ASK_INTEGER, "id", "id"},       {"at", ASK_TIME, "at", "at"},
    {"who", ASK_TEXT, "who", "who"},       {"verb", ASK_TEXT, "verb", "verb"},
    {"entity", ASK_TEXT, "entity", NULL},  {"count", ASK_INTEGER, "count", NULL},
    {"old", ASK_TEXT, "old", NULL},        {"new", ASK_TEXT, "new", NULL},
    {"query", ASK_OBJECT, "query", NULL},  {"jobs", ASK_LIST, "jobs", NULL},
    {"batch", ASK_INTEGER, "batch", NULL}, {NULL, ASK_VALUE, NULL, NULL},
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

static const struct filter instance_filters[] = {
    {"instance", filter_texts, "instance", NULL},
    {NULL, NULL, NULL, NULL},
};

const struct ask_column instance_columns[] = {
    {"instance", ASK_TEXT, "instance", "instance"},
    {"since", ASK_TIME, "at", "at"},
    {NULL, ASK_VALUE, NULL, NULL},
};

json_t *store_suspended_instances(struct store *store, const json_t *filters,
                                  const struct store_page *page, struct error *error) {
    return query_list(store, "instances", instance_columns, " FROM suspended_instance",
                      instance_filters, filters, page, error);
}
