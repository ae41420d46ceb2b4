/* lists.c - lists whose rows are read as their columns say: incidents, operations, suspended
 * instances. */
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"

/* ---- incidents ---- */

#define INCIDENT_TYPES                                                                             \
    "failedJob, businessError, workerDied, missingHandler, handlerStuck, refusedRow"
#define CAUSE "coalesce(i.cause, i.id)" /* one that nothing has caused is its own */

static const struct filter incident_filters[] = {
    {"id", "ID,…", "these incidents"},
    {"type", "NAME,…", INCIDENT_TYPES},
    {"job", "ID,…", "of these jobs"},
    {"handler", "NAME,…", "of jobs of these handlers"},
    {"schedule", "NAME,…", "of runs of these schedules"},
    {"definition", "NAME,…", "of these definitions, by name or id", filter_definition,
     "i.definition IN (SELECT d.id FROM definition d WHERE ", ")"},
    {"open", "[BOOL]", "not resolved yet", filter_flag, "i.ended IS NULL"},
    {"message", "TEXT", "whose message has this text", filter_text, "i.message"},
    {"instance", "KEY", "of jobs of this instance"},
    {"root_instance", "KEY", "of jobs of this root instance"},
    {"activity", "NAME,…", "of jobs of these activities"},
    {"tenant", "NAME,…", "of jobs of these tenants"},
    {"cause", "ID,…", "that these incidents have caused"},
    {"created_before", "TIME", "opened before this instant", filter_time, "i.created<"},
    {"created_after", "TIME", "opened after this instant", filter_time, "i.created>"},
    {0},
};

static const struct ask_column incident_columns[] = {
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
    {"schedule", ASK_TEXT, "i.schedule", ASK_FIND},
    {"count", ASK_INTEGER, "CASE WHEN i.schedule IS NOT NULL THEN i.count END", ASK_SORT},
    {"seen", ASK_TIME, "i.seen", ASK_SORT},
    {"removal_time", ASK_TIME, "i.removal", ASK_SHOW},
    {0},
};

const struct ask_table incident_table = {
    "incidents",
    incident_columns,
    incident_filters,
    .shown = "id,type=,job,handler?,schedule?,count?,created,seen?,ended?,message?+,note?",
    .from = " FROM incident i LEFT JOIN definition d ON d.id=i.definition",
    .asked = "incidents"};

/* ---- their causes ---- */

static const struct filter cause_filters[] = {
    {"type", "NAME,…", INCIDENT_TYPES},
    {"handler", "NAME,…", "of jobs of these handlers"},
    {"schedule", "NAME,…", "of runs of these schedules"},
    {"open", "[BOOL]", "not resolved yet", filter_flag, "i.ended IS NULL"},
    {"message", "TEXT", "whose message has this text", filter_text, "i.message"},
    {"activity", "NAME,…", "of jobs of these activities", filter_texts, "i.activity"},
    {"tenant", "NAME,…", "of jobs of these tenants", filter_texts, "i.tenant"},
    {"created_before", "TIME", "opened before this instant", filter_time, "i.created<"},
    {"created_after", "TIME", "opened after this instant", filter_time, "i.created>"},
    {0},
};

/* That of the highest id: behind 19 digits, which sort as the ids do. */
#define NEWEST(text) "substr(max(CAST(1000000000000000000+i.id AS TEXT)||" text "), 20)"
#define SUM(what) "CAST(sum(" what ") AS BIGINT)"

static const struct ask_column cause_columns[] = {
    {"id", ASK_INTEGER, "max(i.id)", ASK_SORT, "NEWEST"},
    {"type", ASK_TEXT, "i.type", ASK_BOTH},
    {"handler", ASK_TEXT, "d.name", ASK_BOTH},
    {"schedule", ASK_TEXT, "i.schedule", ASK_BOTH},
    {"count", ASK_INTEGER, SUM("i.count"), ASK_SORT},
    {"open", ASK_INTEGER, SUM("CASE WHEN i.ended IS NULL THEN 1 ELSE 0 END"), ASK_SORT},
    {"first", ASK_TIME, "min(i.created)", ASK_SORT},
    {"last", ASK_TIME, "max(coalesce(i.seen, i.created))", ASK_SORT},
    {"messages", ASK_INTEGER, "count(DISTINCT i.message)", ASK_SORT},
    {"message", ASK_TEXT, NEWEST("coalesce(i.message, '')"), ASK_SHOW},
    {0},
};

/* One incident led to those of its callers: it alone counts. */
const struct ask_table cause_table = {
    "incident_causes",
    cause_columns,
    cause_filters,
    .shown = "type=,handler=?,schedule=?,count,open,first,last,id,message?+",
    .from = " FROM (SELECT * FROM incident WHERE root_cause IS NULL) i"
            " LEFT JOIN definition d ON d.id=i.definition",
    .asked = "incidents",
    .group = "i.type, d.name, i.schedule",
    .order = SUM("i.count") " DESC, max(i.id)"};

/* ---- operations ---- */

static const struct filter operation_filters[] = {
    {"id", "ID,…", "these entries"},
    {"who", "NAME,…", "by these users"},
    {"verb", "NAME,…", "of these verbs"},
    {"entity", "NAME,…", "on these things"},
    {"instance", "ID,…", "on these instances of processes"},
    {"after", "TIME", "from this instant on", filter_time, "at>="},
    {"before", "TIME", "before this instant", filter_time, "at<"},
    {0},
};

static const struct ask_column operation_columns[] = {
    {"id", ASK_INTEGER, "id", ASK_BOTH},
    {"at", ASK_TIME, "at", ASK_SORT},
    {"who", ASK_TEXT, "who", ASK_BOTH},
    {"verb", ASK_TEXT, "verb", ASK_BOTH},
    {"entity", ASK_TEXT, "entity", ASK_FIND},
    {"count", ASK_INTEGER, "count", ASK_SHOW},
    {"old", ASK_TEXT, "old", ASK_SHOW},
    {"new", ASK_TEXT, "new", ASK_SHOW},
    {"query", ASK_OBJECT, "query", ASK_SHOW},
    {"jobs", ASK_LIST, "jobs", ASK_SHOW},
    {"batch", ASK_INTEGER, "batch", ASK_SHOW},
    {"instance", ASK_INTEGER, "instance", ASK_FIND},
    {0},
};

const struct ask_table operation_table = {"operations",
                                          operation_columns,
                                          operation_filters,
                                          .shown = "at,who=,verb=,entity,count,old?,new?",
                                          .from = " FROM operation",
                                          .asked = "operations"};

void store_set_budget(struct store *store, time_ms budget) {
    store->db.budget = budget;
}

/* ---- suspended instances ---- */

static const struct filter instance_filters[] = {
    {"instance", "NAME,…", "these, with --text"},
    {0},
};

static const struct ask_column instance_columns[] = {
    {"instance", ASK_TEXT, "instance", ASK_BOTH, "SUSPENDED INSTANCE"},
    {"since", ASK_TIME, "at", ASK_SORT},
    {0},
};

const struct ask_table instance_table = {"suspended_instances",
                                         instance_columns,
                                         instance_filters,
                                         .shown = "instance,since",
                                         .from = " FROM suspended_instance",
                                         .asked = "instances"};
