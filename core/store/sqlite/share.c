#include "store/sqlite/share.h"
#include "store/sqlite/prelock.h"
#include <stdlib.h>
#include <string.h>

enum { SWEEP_EVERY = 1000, SWEEP_ROWS = 500 };

/* ---- the setting ---- */

static bool share_put(struct store *store, const char *key, int64_t value, struct error *error) {
    return db_run(&store->db, error, "INSERT OR REPLACE INTO meta(key, value) VALUES(?1, ?2)", "ti",
                  key, value);
}

/* The last place of anything that waits, or may wait again as it is. */
static bool share_last(struct store *store, int64_t *last, struct error *error) {
    *last = 0;
    return db_value(&store->db, error, last,
                    "SELECT coalesce(max(place), 0) FROM (SELECT max(place) AS place FROM ready"
                    " UNION ALL SELECT max(place) FROM parked UNION ALL SELECT max(turn) FROM share"
                    " UNION ALL SELECT max(turn) FROM served UNION ALL"
                    " SELECT max(j.place) FROM locked l JOIN job j ON j.id=l.id)",
                    "") >= 0;
}

static bool share_change(struct store *store, struct error *error) {
    enum fair_by fair = store->settings->fair_by;
    int64_t last = 0;
    return share_last(store, &last, error) && share_put(store, "fair_by", fair, error) &&
           share_put(store, "turn", last, error) &&
           db_run(&store->db, error, "DELETE FROM share", "") &&
           db_run(&store->db, error, "DELETE FROM served", "");
}

bool share_settle(struct store *store, struct error *error) {
    int64_t fair = FAIR_OFF;
    if (store->mode == STORE_READ || !settings_given(store->settings, "fair_by"))
        return true;
    if (db_value(&store->db, error, &fair, "SELECT value FROM meta WHERE key='fair_by'", "") < 0)
        return false;
    if ((enum fair_by)fair == store->settings->fair_by)
        return true;
    return store_begin(store, error) && unit_end(store, true, share_change(store, error), error);
}

/* ---- turns ---- */

static bool share_turn(struct store *store, int64_t priority, const char *key, int64_t *turn,
                       struct error *error) {
    return db_value(&store->db, error, turn,
                    "INSERT INTO share(rank, tenant, turn) VALUES(?1, ?2,"
                    " coalesce((SELECT turn FROM served WHERE rank=?1), ?3)+1)"
                    " ON CONFLICT DO UPDATE SET turn=max(turn+1, excluded.turn) RETURNING turn",
                    "iti", ~priority, key ? key : "", store->meta.turn) > 0;
}

bool share_place_new(struct store *store, const struct job *job, time_ms *place,
                     struct error *error) {
    *place = job->due == TIME_NONE ? job->created : job->due;
    if (store->meta.fair == FAIR_OFF || job->state != JOB_READY || job->retries <= 0)
        return true;
    return share_turn(store, job->priority, store->meta.fair == FAIR_LANE ? job->lane : job->tenant,
                      place, error);
}

static bool share_is_ready(const struct row *row, time_ms now) {
    return row->retries > 0 && !row->suspended && (row->due == TIME_NONE || row->due <= now);
}

bool share_place(struct store *store, const struct row *old, struct row *row, time_ms now,
                 struct error *error) {
    bool fair = store->meta.fair != FAIR_OFF;
    if (!fair || !share_is_ready(row, now)) {
        row->place = row->due == TIME_NONE ? row->created : row->due;
        return true;
    }
    if (old && old->priority == row->priority && (old->token || share_is_ready(old, now))) {
        row->place = old->place;
        return true;
    }
    sqlite3_stmt *found =
        db_query(&store->db, error,
                 "SELECT CASE ?2 WHEN 2 THEN lane_key ELSE tenant END FROM job WHERE id=?1", "in",
                 row->id, (int)store->meta.fair);
    int step = found ? db_step(&store->db, found, error) : -1;
    if (step <= 0)
        return step == 0;
    bool done = share_turn(store, row->priority, db_column_text(found, 0), &row->place, error);
    sqlite3_reset(found);
    return done;
}

/* ---- timers ---- */

static bool share_ready(struct store *store, sqlite3_stmt *timer, struct error *error) {
    struct row row = {.id = sqlite3_column_int64(timer, 1),
                      .due = sqlite3_column_int64(timer, 0),
                      .stream = sqlite3_column_int64(timer, 2),
                      .priority = ~sqlite3_column_int64(timer, 3),
                      .lane = sqlite3_column_int64(timer, 4),
                      .retries = 1};
    sqlite3_reset(timer);
    return share_place(store, NULL, &row, row.due, error) &&
           db_run(&store->db, error, "DELETE FROM timer WHERE due=?1 AND id=?2", "ii", row.due,
                  row.id) &&
           db_run(&store->db, error, "UPDATE job SET place=?2 WHERE id=?1", "ii", row.id,
                  row.place) &&
           db_run(&store->db, error,
                  "INSERT INTO ready(stream, rank, place, id, lane) VALUES(?1, ?2, ?3, ?4, ?5)",
                  "iiiiz", row.stream, ~row.priority, row.place, row.id, row.lane);
}

bool share_promote(struct store *store, time_ms due, int64_t id, int *count, struct error *error) {
    for (*count = 0;; ++*count) {
        sqlite3_stmt *timer = db_query(&store->db, error,
                                       "SELECT due, id, stream, rank, lane FROM timer"
                                       " WHERE (due, id)<=(?1, ?2) ORDER BY due, id LIMIT 1",
                                       "ii", due, id);
        int step = timer ? db_step(&store->db, timer, error) : -1;
        if (step <= 0)
            return step == 0;
        if (!share_ready(store, timer, error))
            return false;
    }
}

/* ---- what is served, and what may go ---- */

/* The last of the next rows to look at. 1, 0 it is the end, -1 error. */
static int sweep_bound(struct store *store, struct share_sweep *bound, struct error *error) {
    const struct share_sweep *from = &store->share_sweep;
    sqlite3_stmt *row = db_query(&store->db, error,
                                 "SELECT rank, tenant FROM share WHERE (rank, tenant)>(?1, ?2)"
                                 " ORDER BY rank, tenant LIMIT 1 OFFSET ?3",
                                 "itn", from->rank, from->tenant, SWEEP_ROWS - 1);
    int step = row ? db_step(&store->db, row, error) : -1;
    if (step <= 0)
        return step;
    const char *tenant = db_column_text(row, 1);
    bound->rank = sqlite3_column_int64(row, 0);
    size_t size = strlen(tenant);
    memcpy(bound->tenant, tenant, size < sizeof bound->tenant ? size + 1 : 0);
    sqlite3_reset(row);
    return 1;
}

/* A tenant whose last turn is served already begins where all the others begin. */
static bool sweep(struct store *store, struct error *error) {
    const struct share_sweep from = store->share_sweep;
    struct share_sweep bound = {.at = from.at};
    int found = sweep_bound(store, &bound, error);
    if (found < 0)
        return false;
    store->share_sweep = bound;
    if (!found) {
        bound.rank = INT64_MAX; /* of the lowest priority there is; its tenants stay */
        store->share_sweep.rank = INT64_MIN;
    }
    return db_run(&store->db, error,
                  "DELETE FROM share WHERE (rank, tenant)>(?1, ?2) AND (rank, tenant)<=(?3, ?4)"
                  " AND turn<=coalesce((SELECT s.turn FROM served s WHERE s.rank=share.rank), ?5)",
                  "ititi", from.rank, from.tenant, bound.rank, bound.tenant, store->meta.turn);
}

bool share_served(struct store *store, int64_t rank, int64_t turn, time_ms now,
                  struct error *error) {
    if (!db_run(&store->db, error,
                "INSERT INTO served(rank, turn) VALUES(?1, ?2)"
                " ON CONFLICT DO UPDATE SET turn=max(turn, excluded.turn)",
                "ii", rank, turn))
        return false;
    if (now < store->share_sweep.at && now >= store->share_sweep.at - SWEEP_EVERY)
        return true;
    store->share_sweep.at = now + SWEEP_EVERY;
    return sweep(store, error);
}
