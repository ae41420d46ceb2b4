#include "store/rules/batch/batch.h"
#include "base/text.h"
#include "job/command.h"
#include "store/rules/ground/defined.h"
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
                .lane_id = what->lane,
                .exclusive = what->lane != 0,
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
