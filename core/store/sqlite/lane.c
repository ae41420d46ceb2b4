#include "store/sqlite/lane.h"
#include "base/crash_point.h"
#include "store/sqlite/prelock.h"

int lane_take(struct store *store, int64_t lane, int64_t token, struct error *error) {
    if (!db_run(&store->db, error,
                "INSERT OR IGNORE INTO lane(id, token, owner) VALUES(?1, ?2, ?3)", "iii", lane,
                token, store->self.id))
        return -1;
    CRASH_POINT("lane_taken");
    return db_changes(&store->db);
}

struct lane_key {
    int64_t stream, rank, place, id;
};

static bool lane_show(struct store *store, int64_t lane, const struct lane_key *key,
                      struct error *error) {
    wake_note(&store->wake, key->stream, ~key->rank);
    prelock_ready(store, key->stream, ~key->rank, key->place, key->id);
    store->placed++;
    CRASH_POINT("lane_shown");
    return db_run(&store->db, error,
                  "DELETE FROM parked WHERE lane=?1 AND stream=?2 AND rank=?3 AND place=?4"
                  " AND id=?5",
                  "iiiii", lane, key->stream, key->rank, key->place, key->id) &&
           db_run(&store->db, error,
                  "INSERT OR IGNORE INTO ready(stream, rank, place, id, lane)"
                  " VALUES(?1, ?2, ?3, ?4, ?5)",
                  "iiiii", key->stream, key->rank, key->place, key->id, lane);
}

/* The first row behind (stream, rank): 1, 0 none, -1 error. The search for a row value begins at
 * the value itself and reads on to what is greater: it names all columns, or it would read every
 * job of (stream, rank). */
static int lane_next(struct store *store, int64_t lane, struct lane_key *key, struct error *error) {
    sqlite3_stmt *row = db_query(&store->db, error,
                                 "SELECT stream, rank, place, id FROM parked WHERE lane=?1"
                                 " AND (stream, rank, place, id)>(?2, ?3, ?4, ?4)"
                                 " ORDER BY stream, rank, place, id LIMIT 1",
                                 "iiii", lane, key->stream, key->rank, INT64_MAX);
    int step = row ? db_step(&store->db, row, error) : -1;
    if (step <= 0)
        return step;
    *key = (struct lane_key){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
                             sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3)};
    sqlite3_reset(row);
    return 1;
}

/* Inside (stream, rank) everybody agrees who is first and who may take it: one head is enough. */
static bool lane_show_heads(struct store *store, int64_t lane, struct error *error) {
    struct lane_key key = {INT64_MIN, INT64_MIN, 0, 0};
    int step = 0;
    while ((step = lane_next(store, lane, &key, error)) > 0)
        if (!lane_show(store, lane, &key, error))
            return false;
    return step == 0;
}

bool lane_release(struct store *store, int64_t lane, int64_t token, struct error *error) {
    if (!db_run(&store->db, error, "DELETE FROM lane WHERE id=?1 AND token=?2", "ii", lane, token))
        return false;
    return db_changes(&store->db) == 0 ||
           (CRASH_POINT("lane_released") && lane_show_heads(store, lane, error));
}

bool lane_expose(struct store *store, int64_t lane, struct error *error) {
    int64_t running = 0;
    if (!lane)
        return true;
    int found = db_value(&store->db, error, &running, "SELECT 1 FROM lane WHERE id=?1", "i", lane);
    return found > 0 || (found == 0 && lane_show_heads(store, lane, error));
}
