#include "store/rules/ask/jobs.h"
#include "base/json.h"
#include "store/rules/ask/payload.h"
#include "store/rules/ground/columns.h"
#include "store/rules/ground/query.h"
#include "store/rules/ground/row.h"
#include "time/cycle.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a job is; the order of the cases is the rule. */
#define JOBS_STATE                                                                                 \
    "CASE WHEN l.id IS NOT NULL THEN 'locked' WHEN j.retries=0 THEN 'dead'"                        \
    " WHEN j.suspended<>0 THEN 'suspended' WHEN j.due>n.now THEN 'scheduled'"                      \
    " WHEN j.lane IS NOT NULL AND (EXISTS(SELECT 1 FROM lane WHERE lane.id=j.lane)"                \
    " OR EXISTS(SELECT 1 FROM parked p WHERE p.lane=j.lane AND p.stream=j.stream"                  \
    " AND p.rank= ~j.priority AND p.place=j.place AND p.id=j.id)) THEN 'waiting' ELSE 'ready' END"

#define JOBS_FROM                                                                                  \
    " FROM live j LEFT JOIN locks l ON l.id=j.id LEFT JOIN executor e ON e.id=l.owner"             \
    " CROSS JOIN (SELECT "

static bool filter_state(struct query *query, const struct filter *filter, const json_t *value,
                         struct error *error) {
    static const char *const names[] = {"ready",     "scheduled", "locked", "waiting",
                                        "suspended", "dead",      NULL};
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

#define IS_SUSPECT "EXISTS(SELECT 1 FROM suspect x WHERE x.job=j.id)"

static const struct filter filters[] = {
    {"instance", filter_instance, NULL, NULL},
    STREAM_FILTERS("j"),
    {"state", filter_state, JOBS_STATE, NULL},
    {"executable", filter_flag,
     "j.retries>0 AND j.suspended=0 AND l.id IS NULL AND (j.due IS NULL OR j.due<=n.now)", NULL},
    {"retries_left", filter_flag, "j.retries>0", NULL},
    {"no_retries_left", filter_flag, "j.retries=0", NULL},
    {"locked", filter_flag, "l.id IS NOT NULL", NULL},
    {"owner", filter_executor, "l.owner", NULL},
    {"without_tenant", filter_flag, "j.tenant IS NULL", NULL},
    {"without_instance", filter_flag, "(j.instance IS NULL AND j.instance_id IS NULL)", NULL},
    {"suspended", filter_flag, "j.suspended<>0", NULL},
    {"suspended_by", filter_suspended_by, NULL, NULL},
    {"suspect", filter_flag, IS_SUSPECT, NULL},
    {"timer", filter_flag, IN_STREAM("j") "s.type=1)", NULL},
    {"message_job", filter_flag, IN_STREAM("j") "s.type=0)", NULL},
    {"with_exception", filter_flag, "j.message IS NOT NULL", NULL},
    {"exception", filter_text, "j.message", NULL},
    {"due_before", filter_time, "j.due<", NULL},
    {"due_after", filter_time, "j.due>", NULL},
    {"created_before", filter_time, "j.created<", NULL},
    {"created_after", filter_time, "j.created>", NULL},
    {"payload", payload_filter, NULL, NULL},
    {NULL, NULL, NULL, NULL},
};

#define OF_STREAM(column)                                                                          \
    "(SELECT " column " FROM stream s JOIN definition d ON d.id=s.definition WHERE s.id=j.stream)"

/* What sorts by a field that is no column of the job. */
#define BY_state JOBS_STATE
#define BY_handler OF_STREAM("d.name")
#define BY_type OF_STREAM("s.type")
#define BY_category OF_STREAM("nullif(s.category, '')")
#define BY_definition OF_STREAM("d.id")
#define BY_deployment OF_STREAM("nullif(s.deployment, 0)")
#define BY_payload "CAST(j.payload AS TEXT)"
#define BY_exclusive "j.lane IS NOT NULL"
#define BY_failed_activity                                                                         \
    "CASE WHEN j.message IS NOT NULL THEN coalesce(j.failed_activity, j.activity) END"
#define BY_token "l.token"
#define BY_lock_owner "e.name"
#define LOCKED_UNTIL "CASE WHEN l.until>e.lease THEN l.until ELSE e.lease END"
#define BY_lock_expiration "CASE WHEN l.id IS NOT NULL THEN " LOCKED_UNTIL " END"
#define BY_suspect IS_SUSPECT
#define BY_conflicts NULL
#define BY_stream NULL
#define BY_lane_id NULL
#define BY_owner NULL
#define BY_term NULL
#define BY_config NULL
#define BY_instance_id NULL
#define BY_execution NULL
#define BY_version NULL
#define BY_frame_rev NULL
#define BY_frame NULL
#define BY_parent NULL
#define BY_business_key NULL
#define BY_kept NULL
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
const struct ask_column job_columns[] = {
    {"suspended_by", ASK_LIST, NULL, ASK_SHOW}, {"progress", ASK_OBJECT, NULL, ASK_SHOW},
    {"zone", ASK_TEXT, NULL, ASK_SHOW},         {"misfire", ASK_TEXT, NULL, ASK_SHOW},
    {"schedule", ASK_TEXT, NULL, ASK_SHOW},     JOB_FIELDS(COLUMN){NULL, ASK_VALUE, NULL, ASK_SHOW},
};

static enum job_state jobs_state(const char *name) {
    for (int state = JOB_READY; state < JOB_DEAD; state++)
        if (strcmp(job_state_name((enum job_state)state), name) == 0)
            return (enum job_state)state;
    return JOB_DEAD;
}

/* { fraction, text, at } as the run said it last; NULL: nothing yet. */
static json_t *jobs_progress(struct store *store, int64_t id) {
    struct row *row =
        db_query(&store->db, NULL, "SELECT fraction, text, at FROM progress WHERE job=?1", "i", id);
    json_t *progress = NULL;
    if (db_step(&store->db, row, NULL) != YES)
        return NULL;
    if ((progress = json_object())) {
        json_put(progress, "fraction", query_column(row, 0));
        json_put(progress, "text", query_column(row, 1));
        query_put_time(progress, "at", row, 2);
    }
    row_done(row);
    return progress;
}

/* zone, misfire and schedule of a job that waits for a date of its cycle; else null. */
static bool jobs_put_cycle(struct store *store, json_t *object, const struct job *job) {
    struct row *row = NULL;
    if (job->repeat)
        row = db_query(&store->db, NULL, "SELECT zone, misfire, schedule FROM cycle WHERE job=?1",
                       "i", job->id);
    bool found = db_step(&store->db, row, NULL) == YES;
    const char *misfire = found ? misfire_name((enum misfire)row_int32(row, 1)) : NULL;
    bool done = json_put(object, "zone", found ? query_column(row, 0) : NULL) &&
                json_put_text(object, "misfire", misfire) &&
                json_put(object, "schedule", found ? query_column(row, 2) : NULL);
    if (found)
        row_done(row);
    return done;
}

static json_t *jobs_read(struct store *store, struct row *row, struct error *error) {
    struct job job;
    char owner[JOB_NAME_MAX + 32];
    const int at = ROW_COLUMN_COUNT;
    if (!row_read(store, row, &job, error))
        return NULL;
    job.suspect = row_int(row, at + 5); /* what the store knows in memory may be old */
    job.state = jobs_state(row_text(row, at));
    if (job.state == JOB_LOCKED) {
        const char *name = row_text(row, at + 3);
        job.token = row_int(row, at + 1);
        job.owner = row_int(row, at + 2);
        job.lock_expiration = row_time(row, at + 4);
        snprintf(owner, sizeof owner, "%s/%lld", name ? name : "?", (long long)job.owner);
        job.lock_owner = owner;
    }
    json_t *json = job_to_json(&job);
    if (json && !jobs_put_cycle(store, json, &job)) {
        json_decref(json);
        error_no_memory(error);
        return NULL;
    }
    if (json && job.state == JOB_LOCKED)
        json_put(json, "progress", jobs_progress(store, job.id));
    return json;
}

static bool jobs_question(struct query *query, const struct store *store, const char *columns,
                          const json_t *wanted, time_ms now, struct error *error) {
    query->engine = store->engine;
    query_add(query, "SELECT ");
    query_add(query, columns);
    query_add(query, JOBS_FROM);
    query_add(query, "CAST(");
    query_bind_new(query, json_integer(now));
    query_add(query, " AS BIGINT) AS now) n");
    return query_where(query, wanted, job_columns, filters, error);
}

json_t *store_jobs(struct store *store, const json_t *wanted, const struct store_page *page,
                   time_ms now, struct error *error) {
    struct query query = {0};
    json_t *jobs = NULL;
    bool asked = jobs_question(&query, store,
                               ROW_COLUMNS ", " JOBS_STATE ", l.token, l.owner, e.name,"
                                           " " LOCKED_UNTIL ", " IS_SUSPECT,
                               wanted, now, error) &&
                 store->engine->few(store, &query, wanted, error);
    if (asked && page && page->after) {
        query_add(&query, json_object_size(wanted) ? " AND j.id>" : " WHERE j.id>");
        query_bind_new(&query, json_integer(page->after));
    }
    if (asked && query_page(&query, page, job_columns, error))
        jobs = query_rows(&query, store, "jobs", jobs_read, error);
    query_clear(&query);
    return jobs;
}

bool store_passed_over(struct store *store) {
    bool some = store->passed_over;
    store->passed_over = false;
    return some;
}

static json_t *jobs_read_number(struct store *store, struct row *row, struct error *error) {
    (void)store;
    (void)error;
    return json_integer(row_int(row, 0));
}

bool store_jobs_count(struct store *store, const json_t *wanted, time_ms now, int64_t *count,
                      struct error *error) {
    struct query query = {0};
    json_t *rows = NULL;
    if (jobs_question(&query, store, "count(*)", wanted, now, error) &&
        store->engine->few(store, &query, wanted, error))
        rows = query_rows(&query, store, "the number of jobs", jobs_read_number, error);
    if (rows)
        *count = json_integer_value(json_array_get(rows, 0));
    json_decref(rows);
    query_clear(&query);
    return rows != NULL;
}

bool jobs_ids(struct store *store, const json_t *wanted, const struct jobs_range *range,
              time_ms now, int64_t *ids, size_t *count, struct error *error) {
    struct query query = {0};
    json_t *rows = NULL;
    if (jobs_question(&query, store, "j.id", wanted, now, error)) {
        query_add(&query, json_object_size(wanted) ? " AND j.id>" : " WHERE j.id>");
        query_bind_new(&query, json_integer(range->after));
        query_add(&query, " AND j.id<=");
        query_bind_new(&query, json_integer(range->upto));
        text_add(&query.sql, " ORDER BY j.id LIMIT %d", range->limit);
        rows = query_rows(&query, store, "the number of jobs", jobs_read_number, error);
    }
    *count = json_array_size(rows);
    for (size_t i = 0; i < *count; i++)
        ids[i] = json_integer_value(json_array_get(rows, i));
    json_decref(rows);
    query_clear(&query);
    return rows != NULL;
}

/* The text of the last failure, and how far the run is. */
static bool job_details(struct store *store, int64_t id, json_t *job, struct error *error) {
    struct row *row =
        db_query(&store->db, error,
                 "SELECT stack FROM attempt WHERE job=?1 ORDER BY n DESC LIMIT 1", "i", id);
    enum answer failed = db_step(&store->db, row, error);
    if (failed == FAILED)
        return false;
    bool done = json_put_text(job, "stack", failed == YES ? row_text(row, 0) : NULL) &&
                json_put(job, "progress", jobs_progress(store, id));
    if (failed == YES)
        row_done(row);
    return done || db_no_memory(&store->db, error);
}

json_t *store_job(struct store *store, int64_t id, time_ms now, struct error *error) {
    json_t *wanted = json_pack("{s:I}", "id", (json_int_t)id);
    json_t *jobs = store_jobs(store, wanted, NULL, now, error);
    json_t *job = json_incref(json_array_get(jobs, 0));
    json_decref(wanted);
    if (jobs && !job)
        error_set(error, ERROR_NOT_FOUND, "no job %lld", (long long)id);
    json_decref(jobs);
    if (job && !job_details(store, id, job, error)) {
        json_decref(job);
        return NULL;
    }
    return job;
}
