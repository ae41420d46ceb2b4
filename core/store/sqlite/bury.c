/* bury.c - executors that are dead or overdue: their locks and lanes go on without them
 * (rules §4). */
#include "base/crash_point.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/locks.h"
#include "store/sqlite/stuck.h"
#include "store/sqlite/sweep.h"
#include <stdlib.h>

static bool bury_files(struct store *store, int64_t id) {
    int64_t *gone = realloc(store->gone, (store->gone_count + 1) * sizeof *gone);
    if (!gone)
        return false;
    store->gone = gone;
    gone[store->gone_count++] = id;
    return true;
}

/* Its byte in the gate is free: the process is proven dead. */
static bool bury_dead(struct store *store, int64_t id, time_ms now, struct store_buried *buried,
                      struct error *error) {
    struct slots_found slots = {0};
    if (!bury_files(store, id) || (store->path && !slots_read(&slots, store->path, id)))
        return error_set(error, ERROR_FAILED, "store \"%s\": out of memory", store->db.name);
    CRASH_POINT("bury_begun");
    struct locks_free all = {.owner = id, .slots = &slots, .now = now, .buried = buried};
    bool done = locks_free(store, &all, error) && stuck_gone(store, id, now, error) &&
                sweep_inherit(store, id, error) &&
                db_run(&store->db, error, "UPDATE executor SET state=?2 WHERE id=?1", "in", id,
                       (int)EXECUTOR_GONE) &&
                CRASH_POINT("bury_marked");
    slots_found_clear(&slots);
    return done;
}

/* It lives but has not renewed its lease: stopped, or very slow. It may come back. Locks that were
 * extended further keep it under watch until the first of them ends. */
static bool bury_overdue(struct store *store, int64_t id, time_ms now, struct store_buried *buried,
                         struct error *error) {
    struct locks_free expired = {.owner = id, .expired_only = true, .now = now, .buried = buried};
    return locks_free(store, &expired, error) &&
           db_run(&store->db, error,
                  "UPDATE executor SET state=CASE WHEN l.until IS NULL THEN ?2 ELSE state END,"
                  " lease=coalesce(l.until, lease),"
                  " lease_boot=CASE WHEN boot=?5 AND l.until NOT NULL THEN ?3+l.until-?4"
                  " ELSE lease_boot END"
                  " FROM (SELECT min(until) AS until FROM locked WHERE owner=?1) l WHERE id=?1",
                  "iniit", id, (int)EXECUTOR_OVERDUE, clock_since_boot(), now, store_boot(store));
}

/* *changed: an executor was buried. The lease in memory may be older than the one in the store. */
static bool bury_all(struct store *store, time_ms now, struct store_buried *buried, bool *changed,
                     struct error *error) {
    store->peers.version = 0;
    if (!peers_refresh(store, store->meta.executors, error))
        return false;
    for (size_t i = 0; i < store->peers.count; i++) {
        const struct peer *peer = &store->peers.list[i];
        bool dead = gate_free(&store->gate, GATE_EXECUTORS + peer->id);
        bool overdue =
            peer->state == EXECUTOR_LIVE && lease_left(peer->lease, peer->lease_boot, now) <= 0;
        if (!dead && !overdue)
            continue;
        *changed = true;
        if (dead ? !bury_dead(store, peer->id, now, buried, error)
                 : !bury_overdue(store, peer->id, now, buried, error))
            return false;
    }
    return true;
}

bool store_bury(struct store *store, time_ms now, struct store_buried *buried,
                struct error *error) {
    bool own = false, changed = false;
    *buried = (struct store_buried){0};
    if (!unit_begin(store, &own, error))
        return false;
    bool done = bury_all(store, now, buried, &changed, error);
    if (done && changed) {
        store->meta.executors++;
        done = peers_refresh(store, store->meta.executors, error);
    }
    if (unit_end(store, own, done, error))
        return true;
    job_free_list(buried->worker_died);
    *buried = (struct store_buried){0};
    return false;
}
