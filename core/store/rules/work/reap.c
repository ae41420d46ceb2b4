/* reap.c - executors that are dead or overdue: their locks and lanes go on without them
 * (rules §4). */
#include "base/crash_point.h"
#include "store/rules/ground/capacity.h"
#include "store/rules/job/locks.h"
#include "store/rules/job/stuck.h"
#include "store/rules/place/suspects.h"
#include "store/rules/process/lane.h"
#include "store/rules/work/work.h"
#include <stdlib.h>

/* Its process is proven dead. */
static bool reap_dead(struct store *store, int64_t id, time_ms now, struct store_reaped *reaped,
                      struct error *error) {
    struct running slots = {0};
    if (!store->engine->reaped(store, id) || !store->engine->running(store, id, &slots))
        return db_no_memory(&store->db, error);
    CRASH_POINT("bury_begun");
    int64_t blamed = 0;
    int rows = running_turn(&slots, &blamed);
    if (rows && (!reaped->turn || rows < reaped->turn))
        reaped->turn = rows;
    struct locks_free all = {.owner = id,
                             .slots = &slots,
                             .vanished = slots.vanished,
                             .counted = slots.vanished,
                             .blamed = blamed,
                             .now = now,
                             .reaped = reaped};
    bool done = locks_blame(store, &all, error) && locks_free(store, &all, error);
    done = done && stuck_gone(store, id, now, error) && store->engine->bequeath(store, id, error) &&
           db_run(&store->db, error, "UPDATE executor SET state=?2 WHERE id=?1", "in", id,
                  (int)EXECUTOR_GONE);
    CRASH_POINT("bury_marked");
    running_clear(&slots);
    return done;
}

/* A suspect that has begun counts only if the executor has had time to come back. Until then its
 * lock stays. */
static bool overdue_vanished(struct store *store, struct locks_free *expired, struct error *error) {
    struct running slots = {0};
    if (!store->engine->running(store, expired->owner, &slots))
        return db_no_memory(&store->db, error);
    expired->vanished = slots.vanished;
    expired->counted = slots.vanished && slots.missed;
    running_clear(&slots);
    return !expired->vanished || expired->counted ||
           suspects_spare(store, expired->owner, expired->now, error);
}

/* It lives but has not renewed its lease: stopped, or very slow. It may come back. Locks that were
 * extended further keep it under watch until the first of them ends. */
static bool reap_overdue(struct store *store, int64_t id, time_ms now, struct store_reaped *reaped,
                         struct error *error) {
    struct locks_free expired = {.owner = id, .expired_only = true, .now = now, .reaped = reaped};
    return overdue_vanished(store, &expired, error) && locks_free(store, &expired, error) &&
           db_run(&store->db, error,
                  "UPDATE executor SET state=CASE WHEN l.until IS NULL THEN ?2 ELSE state END,"
                  " lease=coalesce(l.until, lease),"
                  " lease_boot=CASE WHEN boot=?5 AND l.until IS NOT NULL THEN ?3+l.until-?4"
                  " ELSE lease_boot END"
                  " FROM (SELECT min(until) AS until FROM locked WHERE owner=?1) l WHERE id=?1",
                  "iniit", id, (int)EXECUTOR_OVERDUE, clock_since_boot(), now, store_boot(store));
}

/* *changed: an executor was reaped. The lease in memory may be older than the one in the store. */
static bool reap_all(struct store *store, time_ms now, struct store_reaped *reaped, bool *changed,
                     struct error *error) {
    store->peers.version = 0;
    if (!peers_refresh(store, error))
        return false;
    for (size_t i = 0; i < store->peers.count; i++) {
        const struct peer *peer = &store->peers.list[i];
        bool dead = store->engine->has_died(store, peer->id);
        bool overdue = peer->state == EXECUTOR_LIVE && peer_spared(store, peer, now) <= 0;
        if (!dead && !overdue)
            continue;
        *changed = true;
        if (dead ? !reap_dead(store, peer->id, now, reaped, error)
                 : !reap_overdue(store, peer->id, now, reaped, error))
            return false;
    }
    return true;
}

bool store_reap(struct store *store, time_ms now, struct store_reaped *reaped,
                struct error *error) {
    bool own = false, changed = false;
    *reaped = (struct store_reaped){0};
    if (!unit_begin(store, STORE_COMMAND, &own, error))
        return false;
    bool done = reap_all(store, now, reaped, &changed, error) &&
                work_expire_lanes(store, now, &changed, error) &&
                lanes_expire(store, now, &changed, error);
    if (done && changed) { /* a lane that is free shows what was parked, not what stood ready */
        store->ring.everybody = true;
        capacity_blind(store);
        store->meta.executors++;
        done = peers_refresh(store, error);
    }
    if (unit_end(store, own, done, error))
        return true;
    job_free_list(reaped->worker_died);
    *reaped = (struct store_reaped){0};
    return false;
}
