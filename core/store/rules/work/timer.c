/* timer.c - what the clock changes: due timers, and when to look again (rules §2, §5). */
#include "store/rules/ground/care.h"
#include "store/rules/place/fair_share.h"
#include "store/rules/place/places.h"
#include "store/rules/work/work.h"

/* The last of the first `limit` due timers; without so many, the end of what is due. */
static bool timer_bound(struct store *store, time_ms now, int limit, int64_t last[2],
                        struct error *error) {
    last[0] = now;
    last[1] = INT64_MAX;
    enum answer step = db_read(&store->db, error,
                               "SELECT due, id FROM timer WHERE due<=?1 ORDER BY due, id"
                               " LIMIT 1 OFFSET ?2",
                               "ii<in", &last[0], &last[1], now, limit - 1);
    if (step == YES)
        care_touch(store, last[1]);
    return step != FAILED;
}

/* As the open transaction knows it; TIME_NONE: it does not. */
static time_ms timer_first(const struct store *store) {
    return store->writing ? store->timer : TIME_NONE;
}

bool store_promote(struct store *store, time_ms now, int limit, int *count, struct error *error) {
    bool own = false;
    int64_t last[2] = {0, 0};
    *count = 0;
    if (limit < 1)
        return true;
    if (!unit_begin(store, STORE_TURN, &own, error))
        return false;
    if (timer_first(store) > now)
        return unit_end(store, own, true, error);
    if (store->meta.fair)
        return unit_end(store, own,
                        timer_bound(store, now, limit, last, error) &&
                            fair_share_promote(store, last[0], last[1], count, error),
                        error);
    return unit_end(store, own,
                    timer_bound(store, now, limit, last, error) &&
                        place_due(store, last[0], last[1], count, error),
                    error);
}

bool store_next(struct store *store, time_ms now, time_ms *at, struct error *error) {
    time_ms first = timer_first(store);
    *at = first != TIME_NONE ? first : TIME_NEVER;
    if (first == TIME_NONE &&
        db_value(&store->db, error, at, "SELECT due FROM timer ORDER BY due LIMIT 1", "") == FAILED)
        return false;
    for (size_t i = 0; i < store->peers.count; i++) {
        const struct peer *peer = &store->peers.list[i];
        time_ms end = now + peer_spared(store, peer, now);
        if (peer->state == EXECUTOR_LIVE && end < *at)
            *at = end;
    }
    if (store->rate_clock.next < *at)
        *at = store->rate_clock.next;
    return true;
}

struct row *work_ask(struct store *store, struct error *error) {
    return db_query(
        &store->db, error,
        "SELECT EXISTS(SELECT 1 FROM incident WHERE ended IS NULL),"
        " EXISTS(SELECT 1 FROM kept_message), (SELECT due FROM timer ORDER BY due LIMIT 1),"
        " EXISTS(SELECT 1 FROM outbox WHERE incident IS NULL AND place IS NOT NULL)",
        "");
}

bool work_answer(struct store *store, struct row *row, struct error *error) {
    if (db_step(&store->db, row, error) != YES)
        return false;
    store->incidents = row_int(row, 0) != 0;
    store->kept = row_int(row, 1) != 0;
    store->timer = row_null(row, 2) ? TIME_NEVER : row_int(row, 2);
    store->outbox = row_int(row, 3) != 0;
    row_done(row);
    return true;
}
