#include "base/json.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/row.h"
#include "store/rules/job/few.h"
#include "store/rules/job/question.h"
#include "store/rules/record/history.h"
#include "time/cycle.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* zone and misfire of a job that waits for a date of its cycle; else null. */
static bool jobs_put_cycle(struct store *store, json_t *object, const struct job *job) {
    struct row *row = NULL;
    if (job->repeat)
        row = db_query(&store->db, NULL, "SELECT zone, misfire FROM cycle WHERE job=?1", "i",
                       job->id);
    bool found = db_step(&store->db, row, NULL) == YES;
    const char *misfire = found ? misfire_name((enum misfire)row_int32(row, 1)) : NULL;
    bool done = json_put(object, "zone", found ? query_column(row, 0) : NULL) &&
                json_put_text(object, "misfire", misfire);
    if (found)
        row_done(row);
    return done;
}

static json_t *jobs_read(struct store *store, struct row *row, struct error *error) {
    struct job job;
    char owner[JOB_NAME_MAX + 32];
    const int at = ROW_COLUMN_COUNT;
    row_read_any(store, row, &job);
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
        return error_null(error_no_memory(error));
    }
    if (json && job.state == JOB_LOCKED)
        json_put(json, "progress", jobs_progress(store, job.id));
    return json;
}

json_t *store_jobs(struct store *store, const json_t *wanted, const struct store_page *page,
                   time_ms now, struct error *error) {
    struct query query = {0};
    json_t *jobs = NULL;
    bool asked = jobs_question(&query, store,
                               ROW_COLUMNS ", " JOBS_STATE ", l.token, l.owner, e.name,"
                                           " " LOCKED_UNTIL ", " IS_SUSPECT,
                               wanted, now, error) &&
                 jobs_few(store, &query, wanted, error);
    if (asked && page && page->after) {
        query_add(&query, json_object_size(wanted) ? " AND j.id>" : " WHERE j.id>");
        query_bind_new(&query, json_integer(page->after));
    }
    if (asked && query_page(&query, page, &job_table, error))
        jobs = query_rows(&query, store, "jobs", jobs_read, error);
    query_clear(&query);
    return jobs;
}

bool store_passed_over(struct store *store) {
    bool some = store->passed_over;
    store->passed_over = false;
    return some;
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
        history_missing(store, id, error);
    json_decref(jobs);
    return json_kept(job, !job || job_details(store, id, job, error));
}
