#include "store/rules/place/fair_share.h"
#include "store/rules/place/places.h"
#include <string.h>

enum { PURGE_EVERY = 1000, PURGE_ROWS = 500 };

/* ---- the setting ---- */

static bool fair_share_put(struct store *store, const char *key, int64_t value,
                           struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO meta(key, value) VALUES(?1, ?2)"
                  " ON CONFLICT(key) DO UPDATE SET value=excluded.value",
                  "ti", key, value);
}

/* The last place of anything that waits, or may wait again as it is. */
static bool fair_share_last(struct store *store, int64_t *last, struct error *error) {
    *last = 0;
    return db_value(&store->db, error, last,
                    "SELECT coalesce(max(place), 0) FROM (SELECT max(place) AS place FROM ready"
                    " UNION ALL SELECT max(place) FROM parked UNION ALL"
                    " SELECT max(j.place) FROM locks l JOIN job j ON j.id=l.id) AS p",
                    "") != FAILED;
}

static bool fair_share_change(struct store *store, struct error *error) {
    enum fair_by fair = store->settings->fair_by;
    int64_t last = 0;
    if (!fair_share_last(store, &last, error))
        return false;
    store->meta.fair = fair;
    store->meta.turn = last;
    return fair_share_put(store, "fair_by", fair, error) &&
           fair_share_put(store, "turn", last, error) &&
           db_run(&store->db, error, "DELETE FROM share", "") &&
           db_run(&store->db, error, "DELETE FROM served", "");
}

bool fair_share_settle(struct store *store, struct error *error) {
    int64_t fair = FAIR_OFF;
    if (store->mode == STORE_READ || !settings_given(store->settings, "fair_by"))
        return true;
    if (db_value(&store->db, error, &fair, "SELECT value FROM meta WHERE key='fair_by'", "") ==
        FAILED)
        return false;
    if ((enum fair_by)fair == store->settings->fair_by)
        return true;
    return store_begin(store, STORE_COMMAND, error) &&
           unit_end(store, true, fair_share_change(store, error), error);
}

/* ---- turns ---- */

/* The next turn of a key: behind its own last one, and behind what is served. A statement that
 * writes and returns it would cost a file four times as much, as it makes a table for its answer.
 */
static bool fair_share_turn(struct store *store, int64_t priority, const char *key, int64_t *turn,
                            struct error *error) {
    key = key ? key : "";
    struct row *row = db_query(&store->db, error,
                               "SELECT coalesce((SELECT turn FROM served WHERE rank=?1), ?3),"
                               " (SELECT turn FROM share WHERE rank=?1 AND tenant=?2)",
                               "iti", ~priority, key, store->meta.turn);
    if (db_step(&store->db, row, error) != YES)
        return false;
    int64_t served = row_int(row, 0), own = row_null(row, 1) ? served : row_int(row, 1);
    row_done(row);
    *turn = (own > served ? own : served) + 1;
    return db_run(&store->db, error,
                  "INSERT INTO share(rank, tenant, turn) VALUES(?1, ?2, ?3)"
                  " ON CONFLICT(rank, tenant) DO UPDATE SET turn=excluded.turn",
                  "iti", ~priority, key, *turn);
}

bool fair_share_place_new(struct store *store, const struct job *job, time_ms *place,
                          struct error *error) {
    *place = job->due == TIME_NONE ? job->created : job->due;
    if (store->meta.fair == FAIR_OFF || job->state != JOB_READY || job->retries <= 0)
        return true;
    return fair_share_turn(store, job->priority,
                           store->meta.fair == FAIR_LANE ? job->lane : job->tenant, place, error);
}

static bool fair_share_is_ready(const struct job_row *row, time_ms now) {
    return row->retries > 0 && !row->suspended && (row->due == TIME_NONE || row->due <= now);
}

bool fair_share_give(struct store *store, const struct job_row *old, struct job_row *row,
                     time_ms now, struct error *error) {
    if (!fair_share_is_ready(row, now))
        return true;
    if (old && old->priority == row->priority && (old->token || fair_share_is_ready(old, now))) {
        row->place = old->place;
        return true;
    }
    struct row *found =
        db_query(&store->db, error,
                 "SELECT CASE ?2 WHEN 2 THEN lane_key ELSE tenant END FROM job WHERE id=?1", "in",
                 row->id, (int)store->meta.fair);
    enum answer step = db_step(&store->db, found, error);
    if (step != YES)
        return step == NO;
    bool done = fair_share_turn(store, row->priority, row_text(found, 0), &row->place, error);
    row_done(found);
    return done;
}

/* ---- timers ---- */

static bool fair_share_ready(struct store *store, struct row *timer, struct error *error) {
    struct job_row row = {.id = row_int(timer, 1),
                          .due = row_int(timer, 0),
                          .stream = row_int(timer, 2),
                          .priority = ~row_int(timer, 3),
                          .lane = row_int(timer, 4),
                          .retries = 1};
    row_done(timer);
    return fair_share_place(store, NULL, &row, row.due, error) &&
           place_due_row(store, &row, error) && row_move(store, &row, NULL, error);
}

bool fair_share_promote(struct store *store, time_ms due, int64_t id, int *count,
                        struct error *error) {
    for (*count = 0;; ++*count) {
        struct row *timer = db_query(&store->db, error,
                                     "SELECT due, id, stream, rank, lane FROM timer"
                                     " WHERE (due, id)<=(?1, ?2) ORDER BY due, id LIMIT 1",
                                     "ii", due, id);
        enum answer step = db_step(&store->db, timer, error);
        if (step != YES)
            return step == NO;
        if (!fair_share_ready(store, timer, error))
            return false;
    }
}

/* ---- what is served, and what may go ---- */

/* The last of the next rows to look at; NO: it is the end. */
static enum answer purge_bound(struct store *store, struct fair_share_purge *bound,
                               struct error *error) {
    const struct fair_share_purge *from = &store->fair_share_purge;
    return db_read(&store->db, error,
                   "SELECT rank, tenant FROM share WHERE (rank, tenant)>(?1, ?2)"
                   " ORDER BY rank, tenant LIMIT 1 OFFSET ?3",
                   "it<itn", &bound->rank, bound->tenant, sizeof bound->tenant, from->rank,
                   from->tenant, PURGE_ROWS - 1);
}

/* A tenant whose last turn is served already begins where all the others begin. */
static bool purge(struct store *store, struct error *error) {
    const struct fair_share_purge from = store->fair_share_purge;
    struct fair_share_purge bound = {.at = from.at};
    enum answer found = purge_bound(store, &bound, error);
    if (found == FAILED)
        return false;
    store->fair_share_purge = bound;
    if (!found) {
        bound.rank = INT64_MAX; /* of the lowest priority there is; its tenants stay */
        store->fair_share_purge.rank = INT64_MIN;
    }
    return db_run(&store->db, error,
                  "DELETE FROM share WHERE (rank, tenant)>(?1, ?2) AND (rank, tenant)<=(?3, ?4)"
                  " AND turn<=coalesce((SELECT s.turn FROM served s WHERE s.rank=share.rank), ?5)",
                  "ititi", from.rank, from.tenant, bound.rank, bound.tenant, store->meta.turn);
}

bool fair_share_served(struct store *store, int64_t rank, int64_t turn, time_ms now,
                       struct error *error) {
    if (!db_run(
            &store->db, error,
            "INSERT INTO served(rank, turn) VALUES(?1, ?2)"
            " ON CONFLICT(rank) DO UPDATE SET turn=excluded.turn WHERE excluded.turn>served.turn",
            "ii", rank, turn))
        return false;
    if (now < store->fair_share_purge.at && now >= store->fair_share_purge.at - PURGE_EVERY)
        return true;
    store->fair_share_purge.at = now + PURGE_EVERY;
    return purge(store, error);
}
