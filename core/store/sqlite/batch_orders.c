/* batch_orders.c - what is done to a batch, by people and by its own jobs (rules §17). Its state
 * changes with the first step; its jobs follow in steps of at most 1 000. */
#include "store/sqlite/batch.h"
#include "store/sqlite/operation.h"
#include "store/sqlite/verbs.h"
#include <stdio.h>

#define PARTS 50 /* of one step: they may be large */

static bool orders_refuse(const struct order *order, const struct batch *batch,
                          struct error *error) {
    return error_set(error, ERROR_CONFLICT, "%s: batch %lld is %s", order->name,
                     (long long)batch->id, batch_state_name((int)batch->state));
}

static bool orders_state(struct store *store, struct batch *batch, enum batch_state state,
                         struct error *error) {
    batch->state = state;
    return db_run(&store->db, error, "UPDATE batch SET state=?2 WHERE id=?1", "in", batch->id,
                  (int)state);
}

/* The jobs of the next step: all, or those that `wanted` says. */
enum wanted { WANTED_ALL, WANTED_ACTIVE, WANTED_SUSPENDED, WANTED_DEAD };

static bool orders_jobs(struct store *store, struct step *step, struct order *order,
                        enum wanted wanted, struct error *error) {
    static const char *const sql[] = {
        "SELECT id FROM live WHERE batch=?1 AND id>?2 AND id<=?3 ORDER BY id LIMIT ?4",
        "SELECT id FROM live WHERE batch=?1 AND suspended&8=0 AND id>?2 AND id<=?3"
        " ORDER BY id LIMIT ?4",
        "SELECT id FROM live WHERE batch=?1 AND suspended&8<>0 AND id>?2 AND id<=?3"
        " ORDER BY id LIMIT ?4",
        "SELECT id FROM live WHERE batch=?1 AND retries=0 AND id>?2 AND id<=?3"
        " ORDER BY id LIMIT ?4"};
    return step_read(store, step, order,
                     db_query(&store->db, error, sql[wanted], "iiin", order->batch, order->after,
                              step_end(step, order), VERB_IDS + 1),
                     error);
}

static bool orders_log(struct store *store, const struct order *order, size_t count,
                       const char *before, const char *after, time_ms now, struct error *error) {
    char entity[64];
    snprintf(entity, sizeof entity, "batch %lld", (long long)order->batch);
    return operation_write(store, order->name, entity, (int)count, before, after, now, error);
}

/* ---- suspend, activate ---- */

/* Seed or monitor may have been deleted by hand: activating goes on without it. */
static bool orders_revive(struct store *store, struct batch *batch, time_ms now,
                          struct error *error) {
    int64_t one = 0;
    int found =
        db_value(&store->db, error, &one, "SELECT id FROM live WHERE id IN (?1, ?2) LIMIT 1", "ii",
                 batch->seed, batch->monitor);
    if (found)
        return found > 0;
    bool seeds = batch->made < batch->total;
    const struct batch_job job = {.handler = seeds ? BATCH_SEED : BATCH_MONITOR, .due = TIME_NONE};
    return batch_job(store, batch, &job, now, &one, error) &&
           db_run(&store->db, error, "UPDATE batch SET seed=?2, monitor=?3 WHERE id=?1", "izz",
                  batch->id, seeds ? one : 0, seeds ? 0 : one);
}

static bool orders_going(const struct order *order, const struct batch *batch,
                         struct error *error) {
    return batch->state == BATCH_ACTIVE || batch->state == BATCH_SUSPENDED ||
           orders_refuse(order, batch, error);
}

static bool orders_suspend(struct store *store, struct order *order, struct step *step,
                           struct batch *batch, time_ms now, struct error *error) {
    bool suspends = order->verb == ORDER_SUSPEND_BATCH;
    enum batch_state before = batch->state;
    if (!orders_going(order, batch, error))
        return false;
    return orders_state(store, batch, suspends ? BATCH_SUSPENDED : BATCH_ACTIVE, error) &&
           (suspends || orders_revive(store, batch, now, error)) &&
           orders_jobs(store, step, order, suspends ? WANTED_ACTIVE : WANTED_SUSPENDED, error) &&
           verbs_set_suspended(store, step->ids, SUSPENDED_BATCH, suspends, now, error) &&
           orders_log(store, order, step->ids.count, batch_state_name((int)before),
                      batch_state_name((int)batch->state), now, error);
}

/* ---- retry what has failed ---- */

static bool orders_retry(struct store *store, struct order *order, struct step *step,
                         struct batch *batch, time_ms now, struct error *error) {
    if (!orders_going(order, batch, error))
        return false;
    return orders_jobs(store, step, order, WANTED_DEAD, error) &&
           verbs_retry(store, step->ids, (int32_t)batch->retries, now, error) &&
           orders_log(store, order, step->ids.count, NULL, NULL, now, error);
}

/* ---- delete ---- */

static bool orders_ended(const struct batch *batch) {
    return batch->state == BATCH_COMPLETED || batch->state == BATCH_DELETED;
}

/* First what would make more jobs. */
static bool delete_makers(struct store *store, struct batch *batch, time_ms now,
                          struct error *error) {
    int64_t list[] = {batch->seed, batch->monitor};
    for (int i = 0; i < 2; i++)
        if (list[i] && !verbs_delete_known(store, list[i], now, error))
            return false;
    return db_run(&store->db, error, "UPDATE batch SET seed=NULL, monitor=NULL WHERE id=?1", "i",
                  batch->id) &&
           orders_state(store, batch, BATCH_DELETING, error);
}

static bool delete_parts(struct store *store, struct step *step, const struct batch *batch,
                         struct error *error) {
    if (!db_run(&store->db, error,
                "DELETE FROM batch_part WHERE batch=?1 AND n IN"
                " (SELECT n FROM batch_part WHERE batch=?1 ORDER BY n LIMIT ?2)",
                "in", batch->id, PARTS))
        return false;
    step->more = db_changes(&store->db) == PARTS;
    return true;
}

static bool delete_history(struct store *store, struct step *step, const struct batch *batch,
                           struct error *error) {
    int count = 0;
    if (!batch_forget(store, batch->id, VERB_IDS, &count, error))
        return false;
    step->more = count > 0;
    return step->more ||
           (db_run(&store->db, error, "DELETE FROM batch_config WHERE batch=?1", "i", batch->id) &&
            db_run(&store->db, error, "DELETE FROM batch WHERE id=?1", "i", batch->id));
}

/* Jobs, then parts, then history, as far as one step goes. */
static bool delete_step(struct store *store, struct order *order, struct step *step,
                        struct batch *batch, time_ms now, struct error *error) {
    if (!orders_jobs(store, step, order, WANTED_ALL, error) ||
        !verbs_delete(store, step->ids, now, error))
        return false;
    if (!step->more && !delete_parts(store, step, batch, error))
        return false;
    if (step->more)
        return true;
    if (order->history)
        return delete_history(store, step, batch, error);
    return db_run(&store->db, error, "UPDATE batch SET state=?2, ended=?3 WHERE id=?1", "ini",
                  batch->id, (int)BATCH_DELETED, now);
}

static bool orders_deletable(const struct order *order, const struct batch *batch,
                             struct error *error) {
    return !orders_ended(batch) || order->history ||
           error_set(error, ERROR_CONFLICT,
                     "delete_batch: batch %lld is %s (only its history can go)",
                     (long long)batch->id, batch_state_name((int)batch->state));
}

static bool orders_delete(struct store *store, struct order *order, struct step *step,
                          struct batch *batch, time_ms now, struct error *error) {
    enum batch_state before = batch->state;
    if (!orders_deletable(order, batch, error))
        return false;
    if (!orders_ended(batch) && !delete_makers(store, batch, now, error))
        return false;
    return delete_step(store, order, step, batch, now, error) &&
           orders_log(store, order, step->ids.count, batch_state_name((int)before),
                      order->history ? "without history" : NULL, now, error);
}

/* ---- its own jobs ---- */

static bool orders_own(struct store *store, const struct order *order, struct batch *batch,
                       time_ms now, struct error *error) {
    bool seeds = order->verb == ORDER_BATCH_SEED;
    int64_t job = seeds ? batch->seed : batch->monitor;
    if (!job || store->journal.job != job)
        return error_set(error, ERROR_INVALID, "%s: only the %s of batch %lld can do that",
                         order->name, seeds ? "seed" : "monitor", (long long)batch->id);
    return seeds ? batch_seed(store, batch, now, error)
                 : batch_monitor(store, batch, order->ended, now, error);
}

bool batch_operate(struct store *store, struct order *order, struct step *step, time_ms now,
                   struct error *error) {
    struct batch batch;
    step->ids = (struct ids){step->list, 0};
    if (!batch_load(store, order->batch, &batch, error))
        return false;
    switch (order->verb) {
    case ORDER_BATCH_SEED:
    case ORDER_BATCH_MONITOR:
        return orders_own(store, order, &batch, now, error);
    case ORDER_DELETE_BATCH:
        return orders_delete(store, order, step, &batch, now, error);
    case ORDER_RETRY_FAILED:
        return orders_retry(store, order, step, &batch, now, error);
    default:
        return orders_suspend(store, order, step, &batch, now, error);
    }
}

bool batch_preview(struct store *store, const struct order *order, int64_t *count,
                   struct error *error) {
    static const char *const all = "SELECT count(*) FROM live WHERE batch=?1";
    const char *sql = all;
    struct batch batch;
    if (!batch_load(store, order->batch, &batch, error))
        return false;
    bool may = order->verb == ORDER_DELETE_BATCH ? orders_deletable(order, &batch, error)
                                                 : orders_going(order, &batch, error);
    if (order->verb == ORDER_SUSPEND_BATCH)
        sql = "SELECT count(*) FROM live WHERE batch=?1 AND suspended&8=0";
    else if (order->verb == ORDER_ACTIVATE_BATCH)
        sql = "SELECT count(*) FROM live WHERE batch=?1 AND suspended&8<>0";
    else if (order->verb == ORDER_RETRY_FAILED)
        sql = "SELECT count(*) FROM live WHERE batch=?1 AND retries=0";
    return may && db_value(&store->db, error, count, sql, "i", order->batch) >= 0;
}
