/* places_hot.c - the places as a turn changes them: acquiring, settling, creating, lanes. */
#include "base/crash_point.h"
#include "store/rules/ground/capacity.h"
#include "store/rules/ground/unit_ahead.h"
#include "store/rules/place/limit.h"
#include "store/rules/place/occupancy.h"
#include "store/rules/place/parked_lanes.h"
#include "store/rules/place/places.h"

/* ---- ready, timer, parked ---- */

bool place_due(struct store *store, time_ms due, int64_t id, int *count, struct error *error) {
    if (!occupancy_due(store, due, id, error) ||
        !db_run(&store->db, error,
                "INSERT INTO ready(stream, rank, place, id, lane)"
                " SELECT stream, rank, due, id, lane FROM timer WHERE (due, id)<=(?1, ?2)",
                "ii", due, id))
        return false;
    *count = db_changes(&store->db);
    store->placed += *count;
    store->timer = TIME_NONE;
    return !*count || (CRASH_POINT("timers_copied") &&
                       db_run(&store->db, error, "DELETE FROM timer WHERE (due, id)<=(?1, ?2)",
                              "ii", due, id) &&
                       CRASH_POINT("timers_moved"));
}

static bool take_between(struct store *store, const struct place_key *first,
                         const struct place_key *last, int64_t *gone, struct error *error) {
    if (!db_run(&store->db, error,
                "DELETE FROM ready WHERE stream=?1 AND rank=?2 AND place=?3 AND id>=?4", "iiii",
                first->stream, first->rank, first->place, first->id))
        return false;
    *gone = db_changes(&store->db);
    if (!db_run(&store->db, error,
                "DELETE FROM ready WHERE stream=?1 AND rank=?2 AND place>?3 AND place<?4", "iiii",
                first->stream, first->rank, first->place, last->place))
        return false;
    *gone += db_changes(&store->db);
    if (!db_run(&store->db, error,
                "DELETE FROM ready WHERE stream=?1 AND rank=?2 AND place=?3 AND id<=?4", "iiii",
                first->stream, last->rank, last->place, last->id))
        return false;
    *gone += db_changes(&store->db);
    occupancy_move(store, OCCUPIED_READY, first->stream, -*gone);
    return true;
}

bool place_take_run(struct store *store, const struct place_key *first,
                    const struct place_key *last, int64_t *gone, struct error *error) {
    if (first->place != last->place)
        return take_between(store, first, last, gone, error);
    bool done = db_run(&store->db, error,
                       "DELETE FROM ready WHERE stream=?1 AND rank=?2 AND place=?3"
                       " AND id BETWEEN ?4 AND ?5",
                       "iiiii", first->stream, first->rank, first->place, first->id, last->id);
    *gone = db_changes(&store->db);
    occupancy_move(store, OCCUPIED_READY, first->stream, -*gone);
    return done;
}

bool place_take_parked_run(struct store *store, const struct place_key *first,
                           const struct place_key *last, int64_t *gone, struct error *error) {
    bool done = db_run(&store->db, error,
                       "DELETE FROM parked WHERE lane=?1 AND stream=?2 AND rank=?3"
                       " AND (place, id)>=(?4, ?5) AND (place, id)<=(?6, ?7)",
                       "iiiiiii", first->lane, first->stream, first->rank, first->place, first->id,
                       last->place, last->id);
    *gone = db_changes(&store->db);
    occupancy_move(store, OCCUPIED_PARKED, first->stream, -*gone);
    return done;
}

bool place_park(struct store *store, const struct place_key *key, struct error *error) {
    if (!place_take(store, key, error))
        return false;
    CRASH_POINT("acquire_unparked");
    parked_lanes_add(store, key->lane);
    if (!db_changes(&store->db))
        return true; /* it is gone: another schedule's run has replaced it */
    occupancy_move(store, OCCUPIED_PARKED, key->stream, 1);
    return db_run(&store->db, error,
                  "INSERT INTO parked(lane, stream, rank, place, id) VALUES(?1, ?2, ?3, ?4, ?5)",
                  "iiiii", key->lane, key->stream, key->rank, key->place, key->id);
}

#define READY_RUN                                                                                  \
    " FROM ready WHERE stream=?1 AND rank=?2 AND (place, id)>=(?3, ?4) AND (place, id)<=(?5, ?6)"

bool place_park_run(struct store *store, const struct place_key *first,
                    const struct place_key *last, int64_t *gone, struct error *error) {
    bool done = db_run(&store->db, error,
                       "INSERT INTO parked(lane, stream, rank, place, id)"
                       " SELECT lane, stream, rank, place, id" READY_RUN,
                       "iiiiii", first->stream, first->rank, first->place, first->id, last->place,
                       last->id) &&
                CRASH_POINT("ready_parked") &&
                db_run(&store->db, error, "DELETE" READY_RUN, "iiiiii", first->stream, first->rank,
                       first->place, first->id, last->place, last->id);
    *gone = db_changes(&store->db);
    occupancy_move(store, OCCUPIED_READY, first->stream, -*gone);
    occupancy_move(store, OCCUPIED_PARKED, first->stream, *gone);
    return done;
}

/* ---- locked, limited ---- */

bool place_lock_row(struct db *db, const struct job *job, struct error *error) {
    return db_run(db, error,
                  "INSERT INTO locked(id, token, owner, stream, lane, until)"
                  " VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
                  "iiiizz", job->id, job->token, job->owner, job->stream, job->lane_id, job->until);
}

bool place_lock(struct store *store, const struct job *job, struct error *error) {
    return place_lock_row(&store->db, job, error) && CRASH_POINT("acquire_locked") &&
           place_count(store, job, error);
}

/* It has been asked, and nothing has changed it since. */
static bool lock_stands(const struct store *store, const struct job *job) {
    const struct asked_entry *lock = unit_ahead_find(store, ASKED_LOCK, job->id, job->token);
    return lock && lock->count && lock->value == job->owner;
}

static bool lock_remove(struct store *store, const struct job *job, struct error *error) {
    unit_ahead_forget(store, ASKED_LOCK, job->id);
    return unit_row(store, error, ROWS_LOCK_ENDS,
                    "DELETE FROM locked WHERE id=?1 AND owner=?2 AND token=?3", "iii", job->id,
                    job->owner, job->token);
}

bool place_unlock(struct store *store, const struct job *job, enum unlocked *how,
                  struct error *error) {
    *how = UNLOCKED;
    if (lock_stands(store, job))
        return lock_remove(store, job, error);
    if (!db_run(&store->db, error,
                "DELETE FROM locked WHERE id=?1 AND owner=?2 AND token=?3 AND edited=0", "iii",
                job->id, job->owner, job->token))
        return false;
    if (db_changes(&store->db))
        return true;
    if (!db_run(&store->db, error, "DELETE FROM locked WHERE id=?1 AND owner=?2 AND token=?3",
                "iii", job->id, job->owner, job->token))
        return false;
    *how = db_changes(&store->db) ? UNLOCKED_EDITED : UNLOCK_STALE;
    return true;
}

bool place_unlock_range(struct store *store, const struct place_range *range, struct error *error) {
    return db_run(&store->db, error,
                  "DELETE FROM locked WHERE id BETWEEN ?1 AND ?2 AND token BETWEEN ?3 AND ?4"
                  " AND owner=?5 AND edited=0",
                  "iiiii", range->id, range->last_id, range->token, range->last_token,
                  range->owner);
}

/* *counted false: it did not count. Where an answer is a wait, none is asked for. */
static bool uncount(struct store *store, int64_t definition, int64_t token, bool *counted,
                    struct error *error) {
    if (store->releases)
        return place_uncount_later(store, definition, token, error);
    bool done = db_run(&store->db, error, "DELETE FROM limited WHERE definition=?1 AND token=?2",
                       "ii", definition, token);
    *counted = done && db_changes(&store->db) > 0;
    return done;
}

bool place_uncount_run(struct store *store, int64_t stream, int64_t token, struct error *error) {
    const struct catalog_definition *of = limit_of(store, stream);
    bool counted = true;
    if (!of)
        return true;
    if (!uncount(store, of->id, token, &counted, error))
        return false;
    if (!counted)
        return true;
    capacity_blind(store);
    if (!store->open.capacity || of->cluster_limit) {
        ring_note(&store->ring, stream, INT64_MIN);
        ring_note(&store->ring, stream, INT64_MAX);
    }
    return true;
}
