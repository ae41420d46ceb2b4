/* occupancy.c - the places are counted as jobs move (rules §16). */
#include "store/rules/place/occupancy.h"
#include "base/list.h"
#include <stdlib.h>
#include <string.h>

enum { FOLD_EVERY = 600000 }; /* ms */

/* ---- what is moved ---- */

/* Where the stream stands in the list, or would stand. */
static size_t stream_at(const struct occupancy *occupancy, int64_t stream) {
    size_t from = 0, to = occupancy->count;
    while (from < to) {
        const size_t middle = (from + to) / 2;
        if (occupancy->list[middle].stream < stream)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static struct occupied_stream *stream_add(struct occupancy *occupancy, size_t at, int64_t stream) {
    struct occupied_stream *list = list_room(occupancy->list, occupancy->count, sizeof *list);
    if (!list) {
        occupancy->failed = true;
        return NULL;
    }
    occupancy->list = list;
    memmove(&list[at + 1], &list[at], (occupancy->count++ - at) * sizeof *list);
    list[at] = (struct occupied_stream){.stream = stream};
    return &list[at];
}

static struct occupied_stream *stream_of(struct occupancy *occupancy, int64_t stream) {
    size_t at = occupancy->last;
    if (at >= occupancy->count || occupancy->list[at].stream != stream)
        at = stream_at(occupancy, stream);
    occupancy->last = at;
    if (at < occupancy->count && occupancy->list[at].stream == stream)
        return &occupancy->list[at];
    return stream_add(occupancy, at, stream);
}

void occupancy_move(struct store *store, enum occupied place, int64_t stream, int64_t jobs) {
    if (store->engine->sets || !jobs)
        return; /* a trigger counts */
    struct occupied_stream *moved = stream_of(&store->occupancy, stream);
    if (moved)
        moved->moved[place] += jobs;
}

bool occupancy_due(struct store *store, time_ms due, int64_t id, struct error *error) {
    if (store->engine->sets)
        return true;
    struct row *rows = db_query(
        &store->db, error, "SELECT stream FROM timer WHERE (due, id)<=(?1, ?2)", "ii", due, id);
    enum answer step = rows ? YES : FAILED;
    while (step == YES && (step = db_step(&store->db, rows, error)) == YES) {
        occupancy_move(store, OCCUPIED_TIMER, row_int(rows, 0), -1);
        occupancy_move(store, OCCUPIED_READY, row_int(rows, 0), 1);
    }
    return step == NO;
}

#define RELEASED " FROM job WHERE id>?1 AND id<=?2"
#define TO_PLACE " AND (CASE WHEN due>?3 THEN 1 ELSE 0 END)=?4"

static bool released_by_stream(struct store *store, int64_t from, int64_t to, time_ms now,
                               enum occupied place, struct error *error) {
    struct row *rows =
        db_query(&store->db, error, "SELECT stream, count(*)" RELEASED TO_PLACE " GROUP BY stream",
                 "iiin", from, to, now, (int)place);
    enum answer step = rows ? YES : FAILED;
    while (step == YES && (step = db_step(&store->db, rows, error)) == YES)
        occupancy_move(store, place, row_int(rows, 0), row_int(rows, 1));
    return step == NO;
}

/* Who writes an intake places its jobs, as a rule, and need not read their rows again. */
void occupancy_written(struct store *store, int64_t stream, int64_t id) {
    struct occupancy *occupancy = &store->occupancy;
    if (id != occupancy->to + 1 || stream != occupancy->seen)
        occupancy->from = id;
    occupancy->seen = stream;
    occupancy->to = id;
}

static bool is_seen(const struct store *store, int64_t from, int64_t to) {
    return from + 1 >= store->occupancy.from && to <= store->occupancy.to;
}

/* Most are of one stream. To see that takes a tenth of what it takes to tell streams apart. */
bool occupancy_released(struct store *store, int64_t from, int64_t to, time_ms now,
                        enum occupied place, struct error *error) {
    int64_t stream = 0, others = 0;
    if (store->engine->sets)
        return true;
    const int64_t put = db_changes(&store->db);
    if (is_seen(store, from, to)) {
        occupancy_move(store, place, store->occupancy.seen, put);
        return true;
    }
    enum answer one = db_value(&store->db, error, &stream,
                               "SELECT stream" RELEASED " ORDER BY id LIMIT 1", "ii", from, to);
    if (one == YES)
        one = db_value(&store->db, error, &others, "SELECT 1" RELEASED " AND stream<>?3 LIMIT 1",
                       "iii", from, to, stream);
    if (one == FAILED || others)
        return one != FAILED && released_by_stream(store, from, to, now, place, error);
    occupancy_move(store, place, stream, put);
    return true;
}

/* ---- the counters ---- */

/* Each in a row of `meta`, beside what most transactions write there. */
static const struct {
    const char *add, *begin;
} counters[OCCUPIED_PLACES] = {
    [OCCUPIED_READY] = {"UPDATE meta SET value=value+?2 WHERE key='waiting/ready/'||?1",
                        "INSERT INTO meta(key, value) VALUES('waiting/ready/'||?1, ?2)"},
    [OCCUPIED_TIMER] = {"UPDATE meta SET value=value+?2 WHERE key='waiting/timer/'||?1",
                        "INSERT INTO meta(key, value) VALUES('waiting/timer/'||?1, ?2)"},
    [OCCUPIED_PARKED] = {"UPDATE meta SET value=value+?2 WHERE key='waiting/parked/'||?1",
                         "INSERT INTO meta(key, value) VALUES('waiting/parked/'||?1, ?2)"},
};

/* The row is there but for the first job of a stream in this place. */
static bool counter_write(struct store *store, enum occupied place, int64_t stream, int64_t jobs,
                          struct error *error) {
    return db_run(&store->db, error, counters[place].add, "ii", stream, jobs) &&
           (db_changes(&store->db) ||
            db_run(&store->db, error, counters[place].begin, "ii", stream, jobs));
}

static bool stream_write(struct store *store, const struct occupied_stream *moved,
                         struct error *error) {
    bool done = true;
    for (int place = 0; done && place < OCCUPIED_PLACES; place++)
        if (moved->moved[place])
            done = counter_write(store, (enum occupied)place, moved->stream, moved->moved[place],
                                 error);
    return done;
}

static bool occupancy_flush(struct store *store, struct error *error) {
    struct occupancy *occupancy = &store->occupancy;
    bool done = !occupancy->failed || db_no_memory(&store->db, error);
    for (size_t i = 0; done && i < occupancy->count; i++)
        done = stream_write(store, &occupancy->list[i], error);
    occupancy->count = 0;
    return done;
}

bool occupancy_fold(struct store *store, time_ms now, struct error *error) {
    const char *fold = store->engine->sql->occupancy_fold;
    if (!fold || now < store->occupancy.fold)
        return true;
    store->occupancy.fold = now + FOLD_EVERY;
    return db_run(&store->db, error, fold, "");
}

static void occupancy_drop(struct store *store) {
    struct occupancy *occupancy = &store->occupancy;
    occupancy->count = 0;
    occupancy->failed = false;
    occupancy->from = occupancy->to = 0;
}

const struct txn_hook occupancy_hook = {
    .flush = occupancy_flush, .drop = occupancy_drop, .parts = true, .unruled = true};

void occupancy_clear(struct store *store) {
    free(store->occupancy.list);
}
