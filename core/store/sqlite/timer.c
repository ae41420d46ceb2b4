/* timer.c - what the clock changes: due timers, and when to look again (rules §2, §5). */
#include "base/crash_point.h"
#include "store/sqlite/share.h"

/* The last of the first `limit` due timers; without so many, the end of what is due. */
static bool timer_bound(struct store *store, time_ms now, int limit, int64_t last[2],
                        struct error *error) {
    last[0] = now;
    last[1] = INT64_MAX;
    sqlite3_stmt *row = db_query(&store->db, error,
                                 "SELECT due, id FROM timer WHERE due<=?1 ORDER BY due, id"
                                 " LIMIT 1 OFFSET ?2",
                                 "in", now, limit - 1);
    int step = row ? db_step(&store->db, row, error) : -1;
    if (step > 0) {
        last[0] = sqlite3_column_int64(row, 0);
        last[1] = sqlite3_column_int64(row, 1);
        sqlite3_reset(row);
    }
    return step >= 0;
}

bool store_promote(struct store *store, time_ms now, int limit, int *count, struct error *error) {
    bool own = false;
    int64_t last[2] = {0, 0};
    *count = 0;
    if (limit < 1)
        return true;
    if (!unit_begin(store, &own, error))
        return false;
    if (store->meta.fair)
        return unit_end(store, own,
                        timer_bound(store, now, limit, last, error) &&
                            share_promote(store, last[0], last[1], count, error),
                        error);
    bool done = timer_bound(store, now, limit, last, error) &&
                db_run(&store->db, error,
                       "INSERT INTO ready(stream, rank, place, id, lane)"
                       " SELECT stream, rank, due, id, lane FROM timer WHERE (due, id)<=(?1, ?2)",
                       "ii", last[0], last[1]);
    *count = done ? db_changes(&store->db) : 0;
    if (*count)
        done = CRASH_POINT("timers_copied") &&
               db_run(&store->db, error, "DELETE FROM timer WHERE (due, id)<=(?1, ?2)", "ii",
                      last[0], last[1]) &&
               CRASH_POINT("timers_moved");
    return unit_end(store, own, done, error);
}

bool store_retries_wait(struct store *store, int64_t *count, time_ms *first, struct error *error) {
    *count = 0;
    *first = TIME_NEVER;
    sqlite3_stmt *row =
        db_query(&store->db, error,
                 "SELECT count(*), min(due) FROM (SELECT t.due FROM timer t JOIN job j ON j.id=t.id"
                 " WHERE j.attempt>1 OR j.conflicts>0 ORDER BY t.due, t.id LIMIT ?1)",
                 "n", STORE_RETRIES_MAX);
    int step = row ? db_step(&store->db, row, error) : -1;
    if (step <= 0)
        return false;
    *count = sqlite3_column_int64(row, 0);
    if (*count)
        *first = sqlite3_column_int64(row, 1);
    sqlite3_reset(row);
    return true;
}

bool store_next(struct store *store, time_ms now, time_ms *at, struct error *error) {
    *at = TIME_NEVER;
    if (db_value(&store->db, error, at, "SELECT due FROM timer ORDER BY due LIMIT 1", "") < 0)
        return false;
    for (size_t i = 0; i < store->peers.count; i++) {
        const struct peer *peer = &store->peers.list[i];
        time_ms end = now + lease_left(peer->lease, peer->lease_boot, now);
        if (peer->state == EXECUTOR_LIVE && end < *at)
            *at = end;
    }
    if (store->ring.next < *at)
        *at = store->ring.next;
    return true;
}
