#include "store/sqlite/batch.h"
#include "base/crash_point.h"
#include "base/order.h"
#include "base/text.h"
#include "store/sqlite/defined.h"
#include "store/sqlite/verb.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *batch_state_name(int state) {
    static const char *const names[] = {"filling",  "active",    "suspended",
                                        "deleting", "completed", "deleted"};
    return state >= 0 && state < BATCH_STATES ? names[state] : "unknown";
}

bool batch_load(struct store *store, int64_t id, struct batch *batch, struct error *error) {
    if (!batch_settle(store, error))
        return false;
    sqlite3_stmt *row = db_query(
        &store->db, error,
        "SELECT total, made, open, failed, state, jobs_per_seed, invocations, retries, priority,"
        " parts, part, reached, upto, ids, seed, monitor, type FROM batch WHERE id=?1",
        "i", id);
    int step = row ? db_step(&store->db, row, error) : -1;
    if (step <= 0)
        return step == 0 && error_set(error, ERROR_NOT_FOUND, "no batch %lld", (long long)id);
    *batch = (struct batch){
        .id = id,
        .total = sqlite3_column_int64(row, 0),
        .made = sqlite3_column_int64(row, 1),
        .open = sqlite3_column_int64(row, 2),
        .failed = sqlite3_column_int64(row, 3),
        .state = (enum batch_state)sqlite3_column_int(row, 4),
        .jobs_per_seed = sqlite3_column_int64(row, 5),
        .invocations = sqlite3_column_int64(row, 6),
        .retries = sqlite3_column_int64(row, 7),
        .priority = sqlite3_column_int64(row, 8),
        .priority_given = sqlite3_column_type(row, 8) != SQLITE_NULL,
        .parts = sqlite3_column_int64(row, 9),
        .part = sqlite3_column_int64(row, 10),
        .reached = sqlite3_column_int64(row, 11),
        .upto = sqlite3_column_int64(row, 12),
        .ids = sqlite3_column_int64(row, 13),
        .seed = sqlite3_column_int64(row, 14),
        .monitor = sqlite3_column_int64(row, 15),
    };
    snprintf(batch->definition, sizeof batch->definition, BATCH_HANDLERS "%s",
             db_column_text(row, 16));
    sqlite3_reset(row);
    return true;
}

/* ---- its jobs ---- */

static int64_t batch_priority(const struct store *store, const struct batch *batch) {
    if (batch->priority_given)
        return batch->priority;
    return store->settings->produce_priorities ? store->settings->batch_job_priority : 0;
}

bool batch_job(struct store *store, const struct batch *batch, const struct batch_job *what,
               time_ms now, int64_t *id, struct error *error) {
    struct text payload = {0};
    struct defined defined;
    if (!what->defined && !defined_read(store, what->handler, &defined, error))
        return false;
    text_add(&payload, "{\"batch\":%lld%s", (long long)batch->id, what->ids ? ",\"ids\":[" : "");
    if (what->ids)
        text_append(&payload, what->ids, strlen(what->ids));
    text_add(&payload, "%s}", what->ids ? "]" : "");
    struct job job = {.handler = what->handler,
                      .batch = batch->id,
                      .priority = batch_priority(store, batch),
                      .priority_given = batch->priority_given,
                      .retries = (int32_t)batch->retries,
                      .suspended = batch->state == BATCH_SUSPENDED ? SUSPENDED_BATCH : 0,
                      .due = what->due,
                      .lock_expiration = TIME_NONE,
                      .payload = payload.data,
                      .payload_size = payload.size};
    defined_apply(what->defined ? what->defined : &defined, store, &job);
    bool done = payload.failed ? error_set(error, ERROR_FAILED, "out of memory")
                               : store_create(store, &job, 0, now, error);
    text_clear(&payload);
    *id = job.id;
    return done;
}

/* ---- its counters ---- */

static bool batch_counts(const struct store *store, const struct row *row) {
    const struct catalog_stream *stream =
        row->batch ? catalog_stream(&store->catalog, row->stream) : NULL;
    return stream &&
           strncmp(stream->definition->name, BATCH_HANDLERS, sizeof BATCH_HANDLERS - 1) == 0;
}

/* One that runs looks by itself once it ends. */
static bool batch_wake(struct store *store, int64_t monitor, time_ms now, struct error *error) {
    struct row row;
    int found = row_load(store, monitor, &row, error);
    if (found <= 0)
        return found == 0;
    struct row old = row;
    row.due = now;
    return row.token || old.due == TIME_NONE || old.due <= now ||
           verb_move(store, &old, &row, now, error);
}

/* What is noted of this batch; that of another one is written first. */
static struct tally *batch_tally(struct store *store, int64_t batch, struct error *error) {
    struct tally *tally = &store->tally;
    if (tally->batch != batch) {
        if (!batch_settle(store, error))
            return NULL;
        *tally = (struct tally){.batch = batch, .started = TIME_NONE, .now = TIME_NONE};
    }
    return tally;
}

bool batch_settle(struct store *store, struct error *error) {
    const struct tally tally = store->tally;
    int64_t monitor = 0;
    store->tally.batch = 0;
    return !tally.batch ||
           (db_value(&store->db, error, &monitor,
                     "UPDATE batch SET open=open-?2, failed=failed+?3,"
                     " started=coalesce(started, ?4) WHERE id=?1"
                     " RETURNING CASE WHEN open=0 AND made=total THEN monitor END",
                     "innT", tally.batch, tally.gone, tally.failed, tally.started) >= 0 &&
            CRASH_POINT("batch_counted") &&
            (!monitor || !tally.gone || batch_wake(store, monitor, tally.now, error)));
}

bool batch_gone(struct store *store, const struct row *row, time_ms started, time_ms now,
                struct error *error) {
    if (!batch_counts(store, row))
        return true;
    struct tally *tally = batch_tally(store, row->batch, error);
    if (!tally)
        return false;
    tally->gone++;
    tally->failed -= row->retries == 0;
    tally->started = tally->started == TIME_NONE ? started : tally->started;
    tally->now = now;
    return true;
}

bool batch_retries(struct store *store, const struct row *old, const struct row *row,
                   struct error *error) {
    int failed = (row->retries == 0) - (old->retries == 0);
    if (!failed || !batch_counts(store, row))
        return true;
    struct tally *tally = batch_tally(store, row->batch, error);
    if (!tally)
        return false;
    tally->failed += failed;
    return true;
}

/* ---- its config ---- */

bool batch_config(struct store *store, struct job *job, struct error *error) {
    struct held_config *held = &store->config;
    if (!job->batch)
        return true;
    if (held->batch != job->batch) {
        sqlite3_stmt *row = db_query(
            &store->db, error, "SELECT config FROM batch_config WHERE batch=?1", "i", job->batch);
        int step = row ? db_step(&store->db, row, error) : -1;
        if (step < 0)
            return false;
        free(held->text);
        held->batch = job->batch;
        held->text = step ? strdup(db_column_text(row, 0)) : NULL;
        if (step) {
            sqlite3_reset(row);
            if (!held->text) {
                held->batch = 0;
                return error_set(error, ERROR_FAILED, "store \"%s\": out of memory",
                                 store->db.name);
            }
        }
    }
    job->config = held->text;
    return true;
}
