#include "store/rules/batch/batch.h"
#include "base/crash_point.h"
#include "base/text.h"
#include "job/command.h"
#include "store/rules/ground/defined.h"
#include "store/rules/job/change.h"
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
    struct row *row = db_query(
        &store->db, error,
        "SELECT total, made, open, failed, state, jobs_per_seed, invocations, retries, priority,"
        " parts, part, reached, upto, ids, seed, monitor, type, held FROM batch WHERE id=?1",
        "i", id);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step == NO && error_set(error, ERROR_NOT_FOUND, "no batch %lld", (long long)id);
    *batch = (struct batch){
        .id = id,
        .total = row_int(row, 0),
        .made = row_int(row, 1),
        .open = row_int(row, 2),
        .failed = row_int(row, 3),
        .state = (enum batch_state)row_int32(row, 4),
        .jobs_per_seed = row_int(row, 5),
        .invocations = row_int(row, 6),
        .retries = row_int(row, 7),
        .priority = row_int(row, 8),
        .priority_given = !row_null(row, 8),
        .parts = row_int(row, 9),
        .part = row_int(row, 10),
        .reached = row_int(row, 11),
        .upto = row_int(row, 12),
        .ids = row_int(row, 13),
        .seed = row_int(row, 14),
        .monitor = row_int(row, 15),
        .held = row_int32(row, 17) != 0,
    };
    snprintf(batch->definition, sizeof batch->definition, BATCH_HANDLERS "%s", row_text(row, 16));
    row_done(row);
    return true;
}

/* ---- its jobs ---- */

static int64_t batch_priority(const struct store *store, const struct batch *batch) {
    if (batch->priority_given)
        return batch->priority;
    return store->rules->produce_priorities ? store->settings->batch_job_priority : 0;
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
    struct job_spec spec = {
        .job = {.handler = what->handler,
                .batch = batch->id,
                .priority = batch_priority(store, batch),
                .retries = (int32_t)batch->retries,
                .suspended = batch->state == BATCH_SUSPENDED || (batch->held && what->ids)
                                 ? SUSPENDED_BATCH
                                 : 0,
                .due = what->due,
                .payload = payload.data,
                .payload_size = payload.size},
        .priority_given = batch->priority_given};
    defined_apply(what->defined ? what->defined : &defined, store, &spec);
    bool done = payload.failed ? error_no_memory(error) : store_create(store, &spec, 0, now, error);
    text_clear(&payload);
    *id = spec.reply.id;
    return done;
}

/* ---- its end ---- */

/* By the time to live of its type; TIME_NONE: by that of all batches. */
static time_ms batch_removal(const struct store *store, const struct batch *batch, time_ms now) {
    const char *type = batch->definition + sizeof BATCH_HANDLERS - 1;
    const json_t *span = json_object_get(store->settings->history_ttl_by_type, type);
    time_ms ms = json_integer_value(span);
    if (!span)
        return TIME_NONE;
    return ms ? now + ms : TIME_NEVER;
}

bool batch_end(struct store *store, const struct batch *batch, enum batch_state state, time_ms now,
               struct error *error) {
    return db_run(&store->db, error,
                  "UPDATE batch SET state=?2, ended=?3, seed=NULL, monitor=NULL, removal=?4"
                  " WHERE id=?1",
                  "iniT", batch->id, (int)state, now, batch_removal(store, batch, now));
}

/* ---- its counters ---- */

static bool batch_counts(const struct store *store, const struct job_row *row) {
    const struct catalog_stream *stream =
        row->batch ? catalog_stream(&store->catalog, row->stream) : NULL;
    return stream &&
           strncmp(stream->definition->name, BATCH_HANDLERS, sizeof BATCH_HANDLERS - 1) == 0;
}

/* One that runs looks by itself once it ends. */
static bool batch_wake(struct store *store, int64_t monitor, time_ms now, struct error *error) {
    struct job_row row;
    enum answer found = row_load(store, monitor, &row, error);
    if (found != YES)
        return found == NO;
    struct job_row old = row;
    row.due = now;
    return row.token || old.due == TIME_NONE || old.due <= now ||
           change_move(store, &old, &row, now, error);
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

bool batch_write(struct store *store, struct error *error) {
    const struct tally tally = store->tally;
    int64_t monitor = 0;
    store->tally.batch = 0;
    return !tally.batch ||
           (db_value(&store->db, error, &monitor,
                     "UPDATE batch SET open=open-?2, failed=failed+?3,"
                     " started=coalesce(started, ?4) WHERE id=?1"
                     " RETURNING CASE WHEN open=0 AND made=total THEN monitor END",
                     "innT", tally.batch, tally.gone, tally.failed, tally.started) != FAILED &&
            CRASH_POINT("batch_counted") &&
            (!monitor || !tally.gone || batch_wake(store, monitor, tally.now, error)));
}

/* Ids of a part that was not written are given again. */
static void batch_rolled_back(struct store *store) {
    store->tally.batch = 0;
    store->filling.batch = 0;
}

const struct txn_hook batch_hook = {.before_commit = batch_write, .rolled_back = batch_rolled_back};

bool batch_gone(struct store *store, const struct job_row *row, time_ms started, time_ms now,
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

bool batch_retries(struct store *store, const struct job_row *old, const struct job_row *row,
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
        struct row *row = db_query(
            &store->db, error, "SELECT config FROM batch_config WHERE batch=?1", "i", job->batch);
        enum answer step = db_step(&store->db, row, error);
        if (step == FAILED)
            return false;
        free(held->text);
        held->batch = job->batch;
        held->text = step ? strdup(row_text(row, 0)) : NULL;
        if (step) {
            row_done(row);
            if (!held->text) {
                held->batch = 0;
                return db_no_memory(&store->db, error);
            }
        }
    }
    job->config = held->text;
    return true;
}
