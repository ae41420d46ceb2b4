/* strays.c - rows that were changed by hand so that nothing would ever move them (rules §8). They
 * are looked for outside of a write transaction. What is found is looked at again in one.
 *
 * A job becomes an incident if its place is wrong; one that has no place gets it. An instance that
 * waits for a row which is gone is stuck. What counts for an executor that is gone counts no more.
 */
#include "base/json.h"
#include "store/rules/place/places.h"
#include "store/rules/process/stuck_instance.h"
#include "store/rules/process/verify.h"
#include <stdio.h>
#include <string.h>

enum { AT_ONCE = 100, LANES = 100, STREAMS = 16 };
enum { READY_LOOKED = 10000 }; /* jobs of a stream and rank, in search of that of a lane */

enum stray_kind { STRAY_PLACED, STRAY_PLACELESS, STRAY_INSTANCE, STRAY_LIMIT };

struct stray {
    enum stray_kind kind;
    int64_t id;          /* of a job, an instance, or an executor whose runs fill a limit */
    const char *why;     /* of a job with a place */
    int64_t lane, token; /* of one that is parked: its lane, held by nobody with this token */
    bool held;           /* the lane has a row */
    int64_t root;        /* of an instance */
    struct lost lost;
};

struct look {
    struct stray list[AT_ONCE];
    size_t count;
    struct store_strays *at;
};

static void stray_add(struct look *look, struct stray stray) {
    if (look->count < AT_ONCE)
        look->list[look->count++] = stray;
}

/* ---- ready under a stream that is not known ---- */

static bool stream_look(struct look *look, struct store *store, int64_t stream,
                        struct error *error) {
    int64_t one = 0;
    enum answer named = db_value(&store->db, error, &one,
                                 "SELECT 1 FROM stream s JOIN definition d ON d.id=s.definition"
                                 " WHERE s.id=?1",
                                 "i", stream);
    struct row *rows = named == FAILED ? NULL
                                       : db_query(&store->db, error,
                                                  "SELECT id FROM ready WHERE stream=?1 LIMIT ?2",
                                                  "in", stream, (int)AT_ONCE);
    enum answer step = FAILED;
    while (rows && (step = db_step(&store->db, rows, error)) == YES)
        stray_add(look, (struct stray){.id = row_int(rows, 0),
                                       .why = named == YES
                                                  ? "the properties of its definition are no JSON"
                                                    " object"
                                                  : "it is ready in a stream that is not known"});
    return step == NO;
}

static bool streams_look(struct look *look, struct store *store, struct error *error) {
    int64_t unknown[STREAMS];
    size_t count = 0;
    struct row *rows = db_query(
        &store->db, error,
        "WITH RECURSIVE s(n) AS (SELECT (SELECT min(stream) FROM ready) UNION ALL"
        " SELECT (SELECT min(stream) FROM ready WHERE stream>s.n) FROM s WHERE s.n IS NOT NULL)"
        " SELECT n FROM s WHERE n IS NOT NULL",
        "");
    enum answer step = FAILED;
    while (rows && (step = db_step(&store->db, rows, error)) == YES)
        if (count < STREAMS && !catalog_stream(&store->catalog, row_int(rows, 0)))
            unknown[count++] = row_int(rows, 0);
    bool done = step == NO;
    for (size_t i = 0; done && i < count; i++)
        done = stream_look(look, store, unknown[i], error);
    return done;
}

/* ---- parked behind a lane that does not run ---- */

struct parked_lane {
    int64_t id, token; /* as in stray */
    bool held;
};

/* The first job of a lane that nothing shows; where too many are ready to be sure, none. */
static bool lane_look(struct look *look, struct store *store, struct parked_lane lane,
                      struct error *error) {
    struct row *row = db_query(
        &store->db, error,
        "SELECT p.id, EXISTS(SELECT 1 FROM (SELECT lane FROM ready WHERE stream=p.stream AND"
        " rank=p.rank LIMIT ?2) AS r WHERE r.lane=p.lane),"
        " (SELECT count(*) FROM (SELECT 1 FROM ready WHERE stream=p.stream AND rank=p.rank"
        " LIMIT ?2) AS a) FROM parked p WHERE p.lane=?1"
        " ORDER BY p.stream, p.rank, p.place, p.id LIMIT 1",
        "in", lane.id, (int)READY_LOOKED);
    enum answer found = db_step(&store->db, row, error);
    if (found != YES)
        return found == NO;
    if (lane.held || (!row_int(row, 1) && row_int(row, 2) < READY_LOOKED))
        stray_add(look, (struct stray){.id = row_int(row, 0),
                                       .lane = lane.id,
                                       .token = lane.token,
                                       .held = lane.held,
                                       .why = "it is parked behind a lane that does not run"});
    row_done(row);
    return true;
}

/* Of each lane behind the one that was looked at last: does it run, and with which token? */
#define PARKED_LANES                                                                               \
    "WITH RECURSIVE l(n, at) AS (SELECT (SELECT min(lane) FROM parked WHERE lane>?1), 1"           \
    " UNION ALL SELECT (SELECT min(lane) FROM parked WHERE lane>l.n), l.at+1 FROM l"               \
    " WHERE l.n IS NOT NULL AND l.at<?2)"                                                          \
    " SELECT l.n, a.token, CASE WHEN a.owner=0 THEN a.until IS NOT NULL ELSE"                      \
    " EXISTS(SELECT 1 FROM executor e WHERE e.id=a.owner AND e.state<>0) END"                      \
    " FROM l LEFT JOIN lane a ON a.id=l.n WHERE l.n IS NOT NULL"

static bool lanes_look(struct look *look, struct store *store, struct error *error) {
    struct parked_lane lanes[LANES];
    size_t count = 0, met = 0;
    struct row *rows = db_query(&store->db, error, PARKED_LANES, "in", look->at->lane, (int)LANES);
    enum answer step = FAILED;
    while (rows && (step = db_step(&store->db, rows, error)) == YES) {
        look->at->lane = row_int(rows, 0);
        met++;
        if (count < LANES && !row_int(rows, 2))
            lanes[count++] =
                (struct parked_lane){row_int(rows, 0), row_int(rows, 1), !row_null(rows, 1)};
    }
    bool done = step == NO;
    for (size_t i = 0; done && i < count; i++)
        done = lane_look(look, store, lanes[i], error);
    if (met < LANES)
        look->at->lane = INT64_MIN;
    else
        look->at->more = true;
    return done;
}

/* ---- locked by nobody ---- */

static bool locks_look(struct look *look, struct store *store, struct error *error) {
    struct row *rows = db_query(&store->db, error,
                                "SELECT l.id FROM locks l WHERE NOT EXISTS(SELECT 1 FROM executor e"
                                " WHERE e.id=l.owner AND e.state<>0) LIMIT ?1",
                                "n", (int)AT_ONCE);
    enum answer step = FAILED;
    while (rows && (step = db_step(&store->db, rows, error)) == YES)
        stray_add(look, (struct stray){.id = row_int(rows, 0),
                                       .why = "it is locked by an executor that is gone"});
    return step == NO;
}

/* Executors that are gone, and still fill a limit. */
static bool limits_look(struct look *look, struct store *store, struct error *error) {
    struct row *rows =
        store->catalog.limited
            ? db_query(&store->db, error,
                       "SELECT DISTINCT l.owner FROM limited l WHERE NOT EXISTS"
                       "(SELECT 1 FROM executor e WHERE e.id=l.owner AND e.state<>0) LIMIT ?1",
                       "n", (int)AT_ONCE)
            : NULL;
    enum answer step = store->catalog.limited ? FAILED : NO;
    while (rows && (step = db_step(&store->db, rows, error)) == YES)
        stray_add(look, (struct stray){.kind = STRAY_LIMIT, .id = row_int(rows, 0)});
    return step == NO;
}

/* ---- in no place ---- */

/* The last job of a page, and the first of it that is not where its row says. While rows of ended
 * jobs are still to be removed, they look like that. */
#define PLACELESS                                                                                  \
    "SELECT max(j.id), min(CASE WHEN j.retries>0 AND j.suspended=0 AND NOT " INTAKE_HAS(           \
        "j.id") " AND NOT EXISTS(SELECT 1 FROM ready r WHERE r.stream=j.stream"                    \
                " AND r.rank= ~j.priority AND r.place=j.place AND r.id=j.id)"                      \
                " AND NOT EXISTS(SELECT 1 FROM timer t WHERE t.due=j.due AND t.id=j.id)"           \
                " AND NOT EXISTS(SELECT 1 FROM parked p WHERE p.lane=j.lane"                       \
                " AND p.stream=j.stream AND p.rank= ~j.priority AND p.place=j.place"               \
                " AND p.id=j.id) AND j.id NOT IN (SELECT id FROM locks) THEN j.id END)"            \
                " FROM (SELECT * FROM job WHERE id>?1 ORDER BY id LIMIT ?2) AS j"                  \
                " WHERE NOT EXISTS(SELECT 1 FROM executor WHERE debt<>0)"                          \
                " AND NOT EXISTS(SELECT 1 FROM meta WHERE key='sweep_to')"

/* It may be where its row does not say, and is met there. */
static enum answer has_place(struct store *store, int64_t job, struct error *error) {
    int64_t one = 0;
    return db_value(&store->db, error, &one,
                    "SELECT 1 FROM (SELECT id FROM ready UNION ALL SELECT id FROM timer"
                    " UNION ALL SELECT id FROM parked) AS p WHERE id=?1 LIMIT 1",
                    "i", job);
}

static bool jobs_look(struct look *look, struct store *store, struct error *error) {
    struct row *row = db_query(&store->db, error, PLACELESS, "in", look->at->job, look->at->step);
    enum answer found = db_step(&store->db, row, error);
    if (found != YES)
        return found == NO;
    const bool more = !row_null(row, 0), found_one = !row_null(row, 1);
    const int64_t last = row_int(row, 0), job = row_int(row, 1);
    row_done(row);
    if (more)
        look->at->job = found_one ? job : last;
    look->at->more = look->at->more || more;
    if (!found_one)
        return true;
    enum answer placed = has_place(store, job, error);
    if (placed == NO)
        stray_add(look, (struct stray){.kind = STRAY_PLACELESS, .id = job});
    return placed != FAILED;
}

/* ---- instances ---- */

struct framed {
    struct stray stray;
    json_t *frame;
    bool told; /* it has an incident of this kind */
};

/* One that waits no more for what is gone has its incident ended. That of a join is the walk's. */
static void instance_look(struct look *look, const struct framed *one) {
    const bool lost = one->stray.lost.what != NULL;
    bool goes_on = !lost && one->told && !json_object_get(one->frame, "stuck");
    if (goes_on || (lost && !one->told))
        stray_add(look, one->stray);
}

static bool page_look(struct look *look, struct store *store, struct framed *page, size_t count,
                      struct error *error) {
    struct lost_frame frames[AT_ONCE];
    for (size_t i = 0; i < count; i++)
        frames[i] = (struct lost_frame){page[i].stray.id, page[i].frame, &page[i].stray.lost};
    bool done = instances_lost(store, frames, count, error);
    for (size_t i = 0; i < count; i++) {
        if (done)
            instance_look(look, &page[i]);
        look->at->instance = page[i].stray.id;
        json_decref(page[i].frame);
    }
    return done;
}

static bool instances_look(struct look *look, struct store *store, struct error *error) {
    struct framed page[AT_ONCE];
    int count = 0, most = look->at->step < AT_ONCE ? look->at->step : AT_ONCE;
    struct row *rows = db_query(&store->db, error,
                                "SELECT id, root, frame, EXISTS(SELECT 1 FROM incident n WHERE"
                                " n.instance_id=i.id AND n.ended IS NULL AND n.cause IS NULL AND"
                                " n.type='" INCIDENT_INSTANCE_STUCK "') FROM instance i"
                                " WHERE id>?1 ORDER BY id LIMIT ?2",
                                "in", look->at->instance, most);
    enum answer step = FAILED;
    while (rows && count < most && (step = db_step(&store->db, rows, error)) == YES) {
        const char *text = row_text(rows, 2);
        page[count++] = (struct framed){
            .stray = {.kind = STRAY_INSTANCE, .id = row_int(rows, 0), .root = row_int(rows, 1)},
            .frame = json_read(text, strlen(text), "frame", NULL),
            .told = row_int(rows, 3) != 0};
    }
    if (step == YES)
        row_done(rows);
    bool done = page_look(look, store, page, (size_t)count, error);
    look->at->more = look->at->more || count == most;
    return done && step != FAILED;
}

/* ---- all of it ---- */

static bool (*const looks[])(struct look *, struct store *, struct error *) = {
    streams_look, locks_look, limits_look, lanes_look, jobs_look, instances_look};

static bool look_at_all(struct look *look, struct store *store, struct error *error) {
    bool done = true;
    look->count = 0;
    look->at->more = false;
    for (size_t i = 0; done && i < sizeof looks / sizeof *looks; i++)
        done = looks[i](look, store, error);
    return done;
}

static bool instance_tell(struct store *store, const struct stray *stray, time_ms now,
                          struct error *error) {
    char message[JOB_NAME_MAX + 64];
    const struct lost *lost = &stray->lost;
    if (!lost->what)
        return stuck_instance_close(store, stray->id, now, error);
    const struct unit_instance one = {
        .id = stray->id, .root = stray->root, .stuck = lost->activity};
    if (*lost->activity)
        snprintf(message, sizeof message, "\"%.255s\" waits for a %s that is gone", lost->activity,
                 lost->what);
    else
        snprintf(message, sizeof message, "its frame cannot be read");
    return stuck_instance_open(store, &one, message, now, error);
}

static bool job_place(struct store *store, int64_t job, time_ms now, struct error *error) {
    struct job_row row;
    enum answer found = row_load_placeless(store, job, &row, error);
    return found == NO || (found == YES && place_row(store, &row, now, error));
}

static bool job_set_aside(struct store *store, const struct stray *stray, time_ms now,
                          struct error *error) {
    if (!store_set_aside(store, stray->id, NULL, stray->why, now, error))
        return false;
    return stray->held ? place_release(store, stray->lane, stray->token, error)
                       : place_expose_now(store, stray->lane, error);
}

static bool stray_mend(struct store *store, const struct stray *stray, time_ms now,
                       struct error *error) {
    switch (stray->kind) {
    case STRAY_PLACED:
        return job_set_aside(store, stray, now, error);
    case STRAY_PLACELESS:
        return job_place(store, stray->id, now, error);
    case STRAY_INSTANCE:
        return instance_tell(store, stray, now, error);
    case STRAY_LIMIT:
        break;
    }
    return place_uncount_owner(store, stray->id, error);
}

static bool strays_write(struct look *look, struct store *store, time_ms now, struct error *error) {
    bool done = look_at_all(look, store, error);
    for (size_t i = 0; done && i < look->count; i++)
        done = stray_mend(store, &look->list[i], now, error);
    return done;
}

bool store_find_strays(struct store *store, struct store_strays *strays, time_ms now,
                       struct error *error) {
    struct look look = {.at = strays};
    bool own = false;
    if (!strays->more)
        *strays = (struct store_strays){.lane = INT64_MIN, .step = strays->step};
    const struct store_strays before = *strays;
    strays->found = 0;
    if (!look_begin(store, &own, error))
        return false;
    bool done = look_at_all(&look, store, error);
    look_end(store, own);
    if (!done || !look.count)
        return done;
    *strays = before;
    done = unit_begin(store, STORE_COMMAND, &own, error) &&
           unit_end(store, own, strays_write(&look, store, now, error), error);
    strays->found = (int)look.count;
    return done;
}
