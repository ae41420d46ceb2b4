#include "store/rules/job/question.h"
#include "base/json.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/payload.h"
#include "store/rules/ground/row.h"
#include <stdlib.h>
#include <string.h>

#define JOBS_FROM                                                                                  \
    " FROM live j LEFT JOIN locks l ON l.id=j.id LEFT JOIN executor e ON e.id=l.owner"             \
    " CROSS JOIN (SELECT "

/* A word of other systems, and where such jobs are found here. */
static bool state_known(const struct filter *filter, const char *state, struct error *error) {
    static const char *const others[][2] = {
        {"failed", "a job that waits for its retry is scheduled, one that has given up is dead;"
                   " the log has the failures: moonshift log --outcome failed"},
        {"retrying", "a job that waits for its retry is scheduled"},
        {"running", "a job that an executor has taken is locked"},
        {"active", "a job that an executor has taken is locked"},
        {"pending", "a job that may run is ready, one with a later date is scheduled"},
        {"queued", "a job that may run is ready, one with a later date is scheduled"},
        {"completed", "a job that has ended is in the log: moonshift log --outcome successful"},
        {"done", "a job that has ended is in the log: moonshift log --outcome successful"},
        {"ended", "a job that has ended is in the log: moonshift log"},
        {"successful", "a job that has ended is in the log: moonshift log --outcome successful"},
        {"cancelled", "a job that has ended is in the log: moonshift log --outcome cancelled"},
    };
    for (size_t i = 0; state && i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i][0], state) == 0)
            return error_set(error, ERROR_INVALID, "filter \"%s\": \"%s\" is no state (%s)",
                             filter->name, state, others[i][1]);
    return true;
}

static bool filter_state(struct query *query, const struct filter *filter, const json_t *value,
                         struct error *error) {
    static const char *const names[] = {"ready",     "scheduled", "locked", "waiting",
                                        "suspended", "dead",      NULL};
    for (size_t i = 0; i < filter_count(value); i++)
        if (!state_known(filter, json_string_value(filter_value(value, i)), error))
            return false;
    /* One state alone can be found through its index. */
    if (json_is_string(value) && strcmp(json_string_value(value), "dead") == 0)
        query_add(query, "j.retries=0 AND ");
    if (json_is_string(value) && strcmp(json_string_value(value), "suspended") == 0)
        query_add(query, "j.suspended<>0 AND ");
    if (json_is_string(value) && strcmp(json_string_value(value), "locked") == 0)
        query_add(query, "l.id IS NOT NULL AND ");
    return filter_names(query, filter, value, names, false, error);
}

/* Held by any of these reasons. */
static bool filter_suspended_by(struct query *query, const struct filter *filter,
                                const json_t *value, struct error *error) {
    size_t count = filter_count(value);
    int reasons = 0;
    (void)filter;
    for (size_t i = 0; i < count; i++) {
        const json_t *one = filter_value(value, i);
        int reason = suspension_find(json_string_value(one));
        reasons |= reason;
        if (!reason)
            return error_set(error, ERROR_INVALID,
                             "filter \"suspended_by\": \"%s\" (expected job, definition, "
                             "instance, batch, schedule or process)",
                             json_is_string(one) ? json_string_value(one) : "?");
    }
    query_add(query, "j.suspended<>0 AND j.suspended&");
    query_bind_new(query, json_integer(reasons));
    query_add(query, "<>0");
    return true;
}

/* Fields of the payload by their path; tables go deeper, a list is any of its values. */
/* The number of a process instance in the text `one`; 0: it is none. */
static int64_t instance_number(const json_t *one) {
    const char *text = json_string_value(one);
    char *end = NULL;
    long long number = text && *text >= '1' && *text <= '9' ? strtoll(text, &end, 10) : 0;
    return end && !*end ? number : json_integer_value(one);
}

/* A text of digits is the process instance, if there is or was one; else it is a text as any. */
static bool instance_one(struct query *query, const json_t *one, struct error *error) {
    int64_t number = instance_number(one);
    if (!json_is_string(one) && !json_is_integer(one))
        return error_set(error, ERROR_INVALID,
                         "filter \"instance\": expected a text or a list of texts");
    if (!number) {
        query_add(query, "j.instance=");
        query_bind(query, one);
        return true;
    }
    query_add(query, "j.instance_id=");
    query_bind_new(query, json_integer(number));
    query_add(query, " OR (j.instance=");
    query_bind_new(query, json_sprintf("%lld", (long long)number));
    query_add(query, " AND NOT EXISTS(SELECT 1 FROM instance y WHERE y.id=");
    query_bind_new(query, json_integer(number));
    query_add(query, ") AND NOT EXISTS(SELECT 1 FROM past y WHERE y.id=");
    query_bind_new(query, json_integer(number));
    query_add(query, "))");
    return true;
}

static bool filter_instance(struct query *query, const struct filter *filter, const json_t *value,
                            struct error *error) {
    size_t count = filter_count(value);
    (void)filter;
    if (json_is_null(value)) {
        query_add(query, "(j.instance IS NULL AND j.instance_id IS NULL)");
        return true;
    }
    query_add(query, count ? "(" : "j.instance IN (NULL");
    for (size_t i = 0; i < count; i++) {
        query_add(query, i ? " OR " : "");
        if (!instance_one(query, json_is_array(value) ? json_array_get(value, i) : value, error))
            return false;
    }
    query_add(query, ")");
    return true;
}

/* Executors are no workers outside. */
static bool filter_worker(struct query *query, const struct filter *filter, const json_t *value,
                          struct error *error) {
    query_add(query, "(EXISTS(SELECT 1 FROM executor e WHERE e.id=l.owner AND e.kind=1) AND ");
    bool done = filter_executor(query, filter, value, error);
    query_add(query, ")");
    return done;
}

static const struct filter job_filters[] = {
    {"id", "ID,…", "these jobs"},
    {"handler", "NAME,…", "of these handlers", filter_texts, IN_STREAM("j") "d.name", ")"},
    {"state", "NAME,…", "ready, scheduled, locked, waiting, suspended, dead", filter_state,
     JOBS_STATE},
    {"instance", "KEY", "of this instance", filter_instance},
    {"root", "KEY", "of this root instance"},
    {"without_instance", "[BOOL]", "that belong to no instance", filter_flag,
     "(j.instance IS NULL AND j.instance_id IS NULL)"},
    {"activity", "NAME,…", "of these activities"},
    {"unique", "KEY", "that hold this key"},
    {"lane", "KEY", "of this lane"},
    {"tenant", "NAME,…", "of these tenants"},
    {"without_tenant", "[BOOL]", "that have no tenant", filter_flag, "j.tenant IS NULL"},
    {"suspect", "[BOOL]", "that were locked on a machine that vanished", filter_flag, IS_SUSPECT},
    {"category", "NAME,…", "of these categories", filter_texts, OF_CATEGORY("j"), ")"},
    {"topic", "NAME,…", "of these topics", filter_texts, OF_TOPIC("j"), ")"},
    {"worker", "NAME,…", "locked by these workers outside, by name or name/id", filter_worker,
     "l.owner"},
    {"external", "[BOOL]", "that workers outside may ask for", filter_flag,
     IN_STREAM("j") "s.topic<>'')"},
    {"definition", "NAME,…", "of these definitions, by name or id", filter_definition,
     IN_STREAM("j"), ")"},
    {"deployment", "ID,…", "of these deployments", filter_numbers, OF_DEPLOYMENT("j"), ")"},
    {"batch", "ID,…", "of these batches"},
    {"schedule", "NAME,…", "runs of these schedules"},
    {"executable", "[BOOL]", "what an executor may take now", filter_flag,
     "j.retries>0 AND j.suspended=0 AND l.id IS NULL AND (j.due IS NULL OR j.due<=n.now)"},
    {"retries_left", "[BOOL]", "with runs left", filter_flag, "j.retries>0"},
    {"no_retries_left", "[BOOL]", "dead letters", filter_flag, "j.retries=0"},
    {"locked", "[BOOL]", "locked by an executor", filter_flag, "l.id IS NOT NULL"},
    {"owner", "NAME,…", "locked by these executors, by name or name/id", filter_executor,
     "l.owner"},
    {"suspended", "[BOOL]", "suspended", filter_flag, "j.suspended<>0"},
    {"suspended_by", "NAME,…", "job, definition, instance, batch, schedule", filter_suspended_by},
    {"timer", "[BOOL]", "timers", filter_flag, IN_STREAM("j") "s.type=1)"},
    {"message_job", "[BOOL]", "jobs that are no timers", filter_flag, IN_STREAM("j") "s.type=0)"},
    {"with_exception", "[BOOL]", "that have failed", filter_flag, "j.message IS NOT NULL"},
    {"exception", "TEXT", "that have failed with this message", filter_text, "j.message"},
    {"min_priority", "N", "of this priority or more", filter_number, "j.priority>="},
    {"max_priority", "N", "of this priority or less", filter_number, "j.priority<="},
    {"due_before", "TIME", "due before this instant", filter_time, "j.due<"},
    {"due_after", "TIME", "due after this instant", filter_time, "j.due>"},
    {"created_before", "TIME", "created before this instant", filter_time, "j.created<"},
    {"created_after", "TIME", "created after this instant", filter_time, "j.created>"},
    {"payload", "FIELD=VALUE", "with this member in the payload", payload_filter},
    {0},
};

#define OF_STREAM(column)                                                                          \
    "(SELECT " column " FROM stream s JOIN definition d ON d.id=s.definition WHERE s.id=j.stream)"

/* What sorts by a field that is no column of the job. */
#define BY_state JOBS_STATE
#define BY_handler OF_STREAM("d.name")
#define BY_type OF_STREAM("s.type")
#define BY_category OF_STREAM("nullif(s.category, '')")
#define BY_topic OF_STREAM("nullif(s.topic, '')")
#define BY_definition OF_STREAM("d.id")
#define BY_deployment OF_STREAM("nullif(s.deployment, 0)")
#define BY_payload "CAST(j.payload AS TEXT)"
#define BY_exclusive "j.lane IS NOT NULL"
#define BY_failed_activity                                                                         \
    "CASE WHEN j.message IS NOT NULL THEN coalesce(j.failed_activity, j.activity) END"
#define BY_token "l.token"
#define BY_lock_owner "e.name"
#define BY_lock_expiration "CASE WHEN l.id IS NOT NULL THEN " LOCKED_UNTIL " END"
#define BY_suspect IS_SUSPECT
#define BY_conflicts NULL
#define BY_stream NULL
#define BY_lane_id NULL
#define BY_owner NULL
#define BY_until NULL
#define BY_term NULL
#define BY_config NULL
#define BY_instance_id NULL
#define BY_execution NULL
#define BY_version NULL
#define BY_frame_rev NULL
#define BY_around NULL
#define BY_around_rev NULL
#define BY_body NULL
#define BY_body_token NULL
#define BY_body_seen NULL
#define BY_frame NULL
#define BY_parent NULL
#define BY_business_key NULL
#define BY_kept NULL
#define BY_printed NULL
#define BY_followed NULL
#define SORT_FIND(member, column) "j." #column
#define SORT_SORT(member, column) "j." #column
#define SORT_NEVER(member, column) BY_##member
#define USE_FIND ASK_BOTH
#define USE_SORT ASK_SORT
#define USE_NEVER ASK_SORT

#define TYPE_TEXT ASK_TEXT
#define TYPE_NUMBER ASK_INTEGER
#define TYPE_ID ASK_INTEGER
#define TYPE_COUNT ASK_INTEGER
#define TYPE_TIME ASK_TIME
#define TYPE_FLAG ASK_FLAG
#define TYPE_MASK ASK_FLAG
#define TYPE_KIND ASK_TEXT
#define TYPE_STATE ASK_TEXT
#define TYPE_BLOB ASK_VALUE
#define COLUMN(member, type, key, source, column, said, asked)                                     \
    {key, TYPE_##type, SORT_##asked(member, column), USE_##asked},

/* The fields without a key stand last, and so end the list. */
static const struct ask_column job_columns[] = {
    {"suspended_by", ASK_LIST, NULL, ASK_SHOW},
    {"progress", ASK_OBJECT, NULL, ASK_SHOW},
    {"zone", ASK_TEXT, NULL, ASK_SHOW},
    {"misfire", ASK_TEXT, NULL, ASK_SHOW},
    JOB_FIELDS(COLUMN){0},
};

const struct ask_table job_table = {
    "jobs", job_columns, job_filters,
    .shown = "id,handler,state!,priority,retries,due?,lane?,lock_owner?,progress?,message?+"};

bool jobs_question(struct query *query, const struct store *store, const char *columns,
                   const json_t *wanted, time_ms now, struct error *error) {
    query->engine = store->engine;
    query_add(query, "SELECT ");
    query_add(query, columns);
    query_add(query, JOBS_FROM);
    query_add(query, "CAST(");
    query_bind_new(query, json_integer(now));
    query_add(query, " AS BIGINT) AS now) n");
    return query_where(query, wanted, &job_table, error);
}
