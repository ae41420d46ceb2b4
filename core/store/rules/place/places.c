#include "store/rules/place/places.h"
#include "base/crash_point.h"
#include "store/rules/ground/capacity.h"
#include "store/rules/ground/unit_ahead.h"
#include "store/rules/place/limit.h"
#include "store/rules/place/occupancy.h"
#include "store/rules/place/parked_lanes.h"
#include "store/rules/place/spared.h"

enum { FEW = 32 }; /* parts of `ready` */

/* ---- ready, timer, parked ---- */

void place_ready_later(struct store *store, const struct place_key *key) {
    ring_note(&store->ring, key->stream, ~key->rank);
    capacity_ready(store, key->stream, ~key->rank, key->place, key->id);
    store->placed++;
}

static struct place_key row_key(const struct job_row *row) {
    return (struct place_key){row->stream, ~row->priority, row->place, row->id, row->lane};
}

static bool place_ready(struct store *store, const struct job_row *row, struct error *error) {
    const struct place_key key = row_key(row);
    place_ready_later(store, &key);
    occupancy_move(store, OCCUPIED_READY, key.stream, 1);
    return db_run(&store->db, error,
                  "INSERT INTO ready(stream, rank, place, id, lane, plain)"
                  " VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
                  "iiiizz", key.stream, key.rank, key.place, key.id, key.lane, row->plain);
}

static bool place_timer(struct store *store, const struct job_row *row, struct error *error) {
    ring_note(&store->ring, row->stream, row->priority);
    store->timer = TIME_NONE;
    occupancy_move(store, OCCUPIED_TIMER, row->stream, 1);
    return db_run(&store->db, error,
                  "INSERT INTO timer(due, id, stream, rank, lane) VALUES(?1, ?2, ?3, ?4, ?5)",
                  "iiiiz", row->due, row->id, row->stream, ~row->priority, row->lane);
}

bool place_take(struct store *store, const struct place_key *key, struct error *error) {
    if (!db_run(&store->db, error,
                "DELETE FROM ready WHERE stream=?1 AND rank=?2 AND place=?3 AND id=?4", "iiii",
                key->stream, key->rank, key->place, key->id))
        return false;
    occupancy_changed(store, OCCUPIED_READY, key->stream, -1);
    return true;
}

bool place_take_parked(struct store *store, const struct place_key *key, struct error *error) {
    if (!db_run(&store->db, error,
                "DELETE FROM parked WHERE lane=?1 AND stream=?2 AND rank=?3 AND place=?4"
                " AND id=?5",
                "iiiii", key->lane, key->stream, key->rank, key->place, key->id))
        return false;
    occupancy_changed(store, OCCUPIED_PARKED, key->stream, -1);
    return true;
}

static bool row_waits(const struct job_row *row, time_ms now) {
    return row->due != TIME_NONE && row->due > now;
}

bool place_row(struct store *store, const struct job_row *row, time_ms now, struct error *error) {
    if (row->retries <= 0)
        return true;
    if (row->suspended)
        return true;
    if (row_waits(row, now))
        return place_timer(store, row, error);
    return place_ready(store, row, error);
}

bool place_row_later(struct store *store, const struct job_row *row, time_ms now) {
    const struct place_key key = row_key(row);
    bool waits = row_waits(row, now);
    store->timer = TIME_NONE;
    if (waits)
        ring_note(&store->ring, row->stream, row->priority);
    else
        place_ready_later(store, &key);
    return waits;
}

void place_back_later(struct store *store, const struct job_row *row) {
    ring_note(&store->ring, row->stream, row->priority);
    capacity_blind(store);
    store->placed++;
}

static bool timer_delete(struct store *store, const struct job_row *row, struct error *error) {
    store->timer = TIME_NONE;
    if (!db_run(&store->db, error, "DELETE FROM timer WHERE due=?1 AND id=?2", "ii", row->due,
                row->id))
        return false;
    occupancy_changed(store, OCCUPIED_TIMER, row->stream, -1);
    return true;
}

bool place_remove(struct store *store, const struct job_row *row, struct error *error) {
    const struct place_key key = row_key(row);
    if (!place_take(store, &key, error))
        return false;
    if (!store->engine->sets && db_changes(&store->db))
        return true; /* with sets it costs less not to ask */
    if (row->lane && !place_take_parked(store, &key, error))
        return false;
    return row->due == TIME_NONE || timer_delete(store, row, error);
}

bool place_due_row(struct store *store, const struct job_row *row, struct error *error) {
    store->placed++;
    occupancy_move(store, OCCUPIED_READY, row->stream, 1);
    return timer_delete(store, row, error) &&
           db_run(&store->db, error,
                  "INSERT INTO ready(stream, rank, place, id, lane) VALUES(?1, ?2, ?3, ?4, ?5)",
                  "iiiiz", row->stream, ~row->priority, row->place, row->id, row->lane);
}

/* Answers whether the rows go to few parts of `ready`, by the first hundred of them. To sort such
 * rows costs more than it saves, as the page of each part stays at hand. */
static enum answer released_to_few(struct store *store, int64_t from, int64_t to,
                                   struct error *error) {
    int64_t parts = 0;
    enum answer found = db_value(&store->db, error, &parts,
                                 "SELECT count(*) FROM (SELECT DISTINCT stream, priority FROM"
                                 " (SELECT stream, priority FROM job WHERE id>?1 AND id<=?2"
                                 " ORDER BY id LIMIT 100) AS first) AS parts",
                                 "ii", from, to);
    return found == YES && parts > FEW ? NO : found;
}

/* As place_is_plain. */
#define TEXT_OF(number) #number
#define RELEASED_PLAIN_UP_TO(bytes)                                                                \
    "CASE WHEN due IS NULL AND repeat IS NULL AND batch IS NULL AND lane IS NULL"                  \
    " AND instance_id IS NULL AND coalesce(length(payload), 0)<=" TEXT_OF(bytes) " THEN 1 END"
#define RELEASED_PLAIN RELEASED_PLAIN_UP_TO(PLAIN_PAYLOAD)

#define RELEASED                                                                                   \
    "INSERT INTO ready(stream, rank, place, id, lane, plain)"                                      \
    " SELECT stream, ~priority, place, id, nullif(lane, 0), " RELEASED_PLAIN " FROM job"           \
    " WHERE id>?1 AND id<=?2 AND (due IS NULL OR due<=?3)"

/* The same of jobs that all are bare. */
#define RELEASED_BARE                                                                              \
    "INSERT INTO ready(stream, rank, place, id, plain)"                                            \
    " SELECT stream, ~priority, place, id, 2 FROM job WHERE id>?1 AND id<=?2"

static bool released_ready(struct store *store, int64_t from, int64_t to, bool bare, time_ms now,
                           struct error *error) {
    enum answer few = released_to_few(store, from, to, error);
    if (few == FAILED)
        return false;
    if (bare)
        return db_run(&store->db, error,
                      few == YES ? RELEASED_BARE : RELEASED_BARE " ORDER BY 1, 2, 3, 4", "ii", from,
                      to);
    return db_run(&store->db, error, few == YES ? RELEASED : RELEASED " ORDER BY 1, 2, 3, 4", "iii",
                  from, to, now);
}

static bool released_timers(struct store *store, int64_t from, int64_t to, time_ms now,
                            struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO timer(due, id, stream, rank, lane)"
                  " SELECT due, id, stream, ~priority, nullif(lane, 0) FROM job"
                  " WHERE id>?1 AND id<=?2 AND due>?3 ORDER BY 1, 2",
                  "iii", from, to, now) &&
           occupancy_released(store, from, to, now, OCCUPIED_TIMER, error);
}

bool place_released(struct store *store, int64_t from, int64_t to, bool bare, time_ms now,
                    struct error *error) {
    store->ring.everybody = true;
    store->timer = TIME_NONE;
    capacity_blind(store);
    store->placed += to - from;
    if (!released_ready(store, from, to, bare, now, error))
        return false;
    const bool all = bare || db_changes(&store->db) == to - from;
    return occupancy_released(store, from, to, now, OCCUPIED_READY, error) &&
           (all || released_timers(store, from, to, now, error));
}

/* ---- locked, limited ---- */

/* What is changed of a lock is its row in `locked`. */
static bool lock_own(struct store *store, int64_t id, struct error *error) {
    unit_ahead_forget(store, ASKED_LOCK, id);
    return !store->engine->lock_own || store->engine->lock_own(store, id, error);
}

#define HELD                                                                                       \
    " FROM locked l JOIN job j ON j.id=l.id WHERE l.owner=?1"                                      \
    " AND (?2=0 OR l.until IS NULL OR l.until<=?3)"

/* Counts what is put into `ready` (0) and `timer` (1), where no trigger does. */
static bool give_up_counted(struct store *store, const struct place_held *held,
                            struct error *error) {
    if (store->engine->sets)
        return true;
    struct row *rows = db_query(&store->db, error,
                                "SELECT j.stream, CASE WHEN j.due>?3 THEN 1 ELSE 0 END AS waits,"
                                " count(*)" HELD " GROUP BY j.stream, waits",
                                "ini", held->owner, (int)held->expired_only, held->now);
    enum answer step = NO;
    while ((step = db_step(&store->db, rows, error)) == YES)
        occupancy_move(store, row_int(rows, 1) ? OCCUPIED_TIMER : OCCUPIED_READY, row_int(rows, 0),
                       row_int(rows, 2));
    return step == NO;
}

bool place_give_up(struct store *store, const struct place_held *held, int64_t count,
                   struct error *error) {
    store->ring.everybody = true;
    store->timer = TIME_NONE;
    capacity_blind(store);
    store->placed += count;
    return give_up_counted(store, held, error) &&
           db_run(&store->db, error,
                  "INSERT INTO timer(due, id, stream, rank, lane)"
                  " SELECT j.due, j.id, j.stream, ~j.priority, nullif(j.lane, 0)" HELD
                  " AND j.due>?3 ORDER BY 1, 2",
                  "ini", held->owner, (int)held->expired_only, held->now) &&
           db_run(&store->db, error,
                  "INSERT INTO ready(stream, rank, place, id, lane)"
                  " SELECT j.stream, ~j.priority, j.place, j.id, nullif(j.lane, 0)" HELD
                  " AND (j.due IS NULL OR j.due<=?3) ORDER BY 1, 2, 3, 4",
                  "ini", held->owner, (int)held->expired_only, held->now) &&
           db_run(&store->db, error,
                  "DELETE FROM locked WHERE owner=?1 AND (?2=0 OR until IS NULL OR until<=?3)",
                  "ini", held->owner, (int)held->expired_only, held->now);
}

bool place_lock_by_hand(struct store *store, const struct job *job, struct error *error) {
    row_forget(store, job->id);
    return lock_own(store, job->id, error) &&
           db_run(&store->db, error,
                  "INSERT INTO locked(id, token, owner, stream, lane) VALUES(?1, ?2, ?3, ?4, ?5)"
                  " ON CONFLICT(id) DO UPDATE SET token=excluded.token, owner=excluded.owner,"
                  " stream=excluded.stream, lane=excluded.lane, until=NULL, edited=0",
                  "iiiiz", job->id, job->token, job->owner, job->stream, job->lane_id) &&
           place_count(store, job, error);
}

bool place_unlock_job(struct store *store, int64_t id, struct error *error) {
    row_unlock(store, id);
    return lock_own(store, id, error) &&
           db_run(&store->db, error, "DELETE FROM locked WHERE id=?1", "i", id);
}

bool place_drop(struct store *store, int64_t id, struct error *error) {
    static const char *const sql[] = {
        [OCCUPIED_READY] = "DELETE FROM ready WHERE id=?1 RETURNING stream",
        [OCCUPIED_TIMER] = "DELETE FROM timer WHERE id=?1 RETURNING stream",
        [OCCUPIED_PARKED] = "DELETE FROM parked WHERE id=?1 RETURNING stream"};
    bool done = place_unlock_job(store, id, error);
    store->timer = TIME_NONE;
    for (int place = OCCUPIED_READY; done && place < OCCUPIED_PLACES; place++) {
        int64_t stream = 0;
        enum answer left = db_value(&store->db, error, &stream, sql[place], "i", id);
        if (left == YES)
            occupancy_move(store, (enum occupied)place, stream, -1);
        done = left != FAILED;
    }
    return done;
}

bool place_edited(struct store *store, int64_t id, struct error *error) {
    return lock_own(store, id, error) &&
           db_run(&store->db, error, "UPDATE locked SET edited=1 WHERE id=?1", "i", id);
}

bool place_extend(struct store *store, int64_t id, int64_t token, time_ms until,
                  struct error *error) {
    return lock_own(store, id, error) &&
           db_run(&store->db, error, "UPDATE locked SET until=?3 WHERE id=?1 AND token=?2", "iii",
                  id, token, until);
}

bool place_spare(struct store *store, int64_t owner, time_ms now, time_ms until,
                 struct error *error) {
    return db_run(&store->db, error,
                  "UPDATE locked SET until=?3 WHERE owner=?1 AND (until IS NULL OR until<=?2)"
                  " AND EXISTS(SELECT 1 FROM suspect s WHERE s.job=locked.id"
                  " AND s.token=locked.token)",
                  "iii", owner, now, until);
}

bool place_uncount_owner(struct store *store, int64_t owner, struct error *error) {
    if (!db_run(&store->db, error,
                "DELETE FROM limited WHERE owner=?1 AND NOT EXISTS"
                "(SELECT 1 FROM locks k WHERE k.id=limited.id AND k.token=limited.token)"
                " AND (id<>0 OR NOT EXISTS(SELECT 1 FROM locks k JOIN stream s ON s.id=k.stream"
                " WHERE k.owner=?1 AND s.definition=limited.definition))",
                "i", owner))
        return false;
    if (db_changes(&store->db)) {
        capacity_blind(store);
        store->ring.everybody = true;
    }
    return true;
}

bool place_recount(struct store *store, const struct catalog_definition *definition,
                   struct error *error) {
    if (!definition->limit && !definition->cluster_limit)
        return db_run(&store->db, error, "DELETE FROM limited WHERE definition=?1", "i",
                      definition->id);
    return db_run(&store->db, error,
                  "INSERT INTO limited(definition, token, id, owner)"
                  " SELECT ?1, token, id, owner FROM locks WHERE stream IN"
                  " (SELECT id FROM stream WHERE definition=?1) ON CONFLICT DO NOTHING",
                  "i", definition->id);
}

bool place_count_run(struct store *store, const struct job *job, struct error *error) {
    const struct catalog_definition *of = job->permit ? NULL : limit_of(store, job->stream);
    return !of || db_run(&store->db, error,
                         "INSERT INTO limited(definition, token, id, owner)"
                         " VALUES(?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
                         "iiii", of->id, job->token, job->id, job->owner);
}

bool place_permit(struct store *store, int64_t definition, int64_t permit, struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO limited(definition, token, id, owner) VALUES(?1, ?2, 0, ?3)", "iii",
                  definition, permit, store->self.id);
}

/* ---- lane ---- */

bool place_hold_by_hand(struct store *store, int64_t lane, int64_t token, struct error *error) {
    unit_ahead_lane(store, lane);
    return db_run(&store->db, error,
                  "INSERT INTO lane(id, token, owner) VALUES(?1, ?2, ?3) ON CONFLICT(id) DO UPDATE"
                  " SET token=excluded.token, owner=excluded.owner, until=NULL",
                  "iii", lane, token, store->self.id);
}

bool place_hold(struct store *store, int64_t lane, int64_t token, bool *taken,
                struct error *error) {
    unit_ahead_lane(store, lane);
    if (!db_run(&store->db, error,
                "INSERT INTO lane(id, token, owner) VALUES(?1, ?2, ?3) ON CONFLICT DO NOTHING",
                "iii", lane, token, store->self.id))
        return false;
    CRASH_POINT("lane_taken");
    *taken = db_changes(&store->db) > 0;
    return true;
}

enum answer place_hold_until(struct store *store, struct lane_want *want, struct error *error) {
    static const char sql[] = PLACE_HOLD(
        "?1", "?2", "?3", "(SELECT value AS token FROM meta WHERE key='next_token') AS next",
        "token, (SELECT rev FROM instance WHERE id=?4)");
    enum answer held = db_read(&store->db, error, sql, "ii<iiii", &want->hold.token, &want->rev,
                               want->hold.lane, want->until, want->now, want->instance);
    CRASH_POINT("lane_held");
    if (held == YES)
        meta_token(store);
    return held;
}

bool place_hold_after(struct store *store, int64_t lane, int64_t token, int64_t owner,
                      time_ms until, bool *taken, struct error *error) {
    int count = 0;
    unit_ahead_lane(store, lane);
    bool done = db_run(&store->db, error,
                       "UPDATE lane SET token=?2, owner=0, until=?4 WHERE id=?1 AND owner=?3"
                       " AND NOT EXISTS(SELECT 1 FROM lane b WHERE b.id=(~CAST(?1 AS BIGINT)))",
                       "iiii", lane, token, owner, until) &&
                db_count(&store->db, &count, error);
    *taken = count > 0;
    return done;
}

bool place_hold_beside(struct store *store, int64_t lane, int64_t token, struct error *error) {
    unit_ahead_lane(store, lane);
    return db_run(&store->db, error,
                  "INSERT INTO lane(id, token, owner, until) SELECT (~id), token, owner, until"
                  " FROM lane WHERE id=?1 AND token=?2 ON CONFLICT(id) DO UPDATE"
                  " SET token=excluded.token, until=excluded.until",
                  "ii", lane, token);
}

bool place_hold_on(struct store *store, int64_t lane, int64_t token, time_ms until,
                   struct error *error) {
    return db_run(&store->db, error, "UPDATE lane SET until=?3 WHERE id=?1 AND token=?2", "iii",
                  lane, token, until);
}

bool place_insist(struct store *store, int64_t lane, int64_t token, bool insists,
                  struct error *error) {
    unit_ahead_lane(store, lane);
    return db_run(&store->db, error, "UPDATE lane SET until=?3 WHERE id=?1 AND token=?2", "iiT",
                  lane, token, insists ? TIME_NEVER : TIME_NONE);
}

static bool lane_show(struct store *store, const struct place_key *key, struct error *error) {
    place_ready_later(store, key);
    CRASH_POINT("lane_shown");
    if (!place_take_parked(store, key, error) ||
        !db_run(&store->db, error,
                "INSERT INTO ready(stream, rank, place, id, lane) VALUES(?1, ?2, ?3, ?4, ?5)"
                " ON CONFLICT DO NOTHING",
                "iiiii", key->stream, key->rank, key->place, key->id, key->lane))
        return false;
    occupancy_changed(store, OCCUPIED_READY, key->stream, 1);
    return true;
}

/* The first row behind (stream, rank). The search for a row value begins at
 * the value itself and reads on to what is greater: it names all columns, or it would read every
 * job of (stream, rank). */
static enum answer lane_next(struct store *store, struct place_key *key, struct error *error) {
    return db_read(&store->db, error,
                   "SELECT stream, rank, place, id FROM parked WHERE lane=?1"
                   " AND (stream, rank, place, id)>(?2, ?3, ?4, ?4)"
                   " ORDER BY stream, rank, place, id LIMIT 1",
                   "iiii<iiii", &key->stream, &key->rank, &key->place, &key->id, key->lane,
                   key->stream, key->rank, INT64_MAX);
}

/* Inside (stream, rank) every executor agrees which is first and may be taken: one is enough. */
static bool lane_show_heads(struct store *store, int64_t lane, struct error *error) {
    struct place_key key = {.stream = INT64_MIN, .rank = INT64_MIN, .lane = lane};
    enum answer step = NO;
    enum answer parked = parked_lanes_may(store, lane, error);
    if (parked != YES)
        return parked == NO;
    while ((step = lane_next(store, &key, error)) == YES)
        if (!lane_show(store, &key, error))
            return false;
    return step == NO;
}

bool place_release(struct store *store, int64_t lane, int64_t token, struct error *error) {
    spared_look(store);
    return place_unhold(store, lane, token, error);
}

bool place_unhold(struct store *store, int64_t lane, int64_t token, struct error *error) {
    unit_ahead_lane(store, lane);
    if (!db_run(&store->db, error, "DELETE FROM lane WHERE id=?1 AND token=?2", "ii", lane, token))
        return false;
    return db_changes(&store->db) == 0 ||
           (CRASH_POINT("lane_released") && lane_show_heads(store, lane, error));
}

bool place_expose_now(struct store *store, int64_t lane, struct error *error) {
    int64_t running = 0;
    if (!lane)
        return true;
    enum answer found =
        db_value(&store->db, error, &running, "SELECT 1 FROM lane WHERE id=?1", "i", lane);
    return found == YES || (found == NO && lane_show_heads(store, lane, error));
}
