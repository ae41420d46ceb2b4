/* awaited.c - what those who wait for jobs of some topics might get, and when (rules §24). */
#include "base/json.h"
#include "store/outside.h"
#include "store/rules/fleet/listener.h"
#include "store/rules/fleet/remote.h"

enum {
    TIMERS_LOOKED = 200, /* of all topics and definitions, the first ones */
    OVERDUE_WAIT = 1000  /* ms, where all of those are due */
};

/* A look at the jobs of some topics. */
struct awaited {
    struct store *store;
    const json_t *topics;
    json_t *found;
    time_ms now, next;
};

static bool is_awaited(const struct awaited *awaited, const struct catalog_stream *stream) {
    return stream && stream->topic && json_object_get(awaited->topics, stream->topic);
}

/* So many more of a topic, as far as they matter. */
static bool found_add(struct awaited *awaited, const char *topic, int64_t more) {
    const int64_t most = json_int(awaited->topics, topic);
    const int64_t count = json_int(awaited->found, topic) + more;
    return more == 0 || json_put(awaited->found, topic, json_integer(count < most ? count : most));
}

static void next_at(struct awaited *awaited, time_ms at) {
    if (at < awaited->next)
        awaited->next = at;
}

/* What is ready, and the first lock that ends by itself. */
static bool look_at_stream(struct awaited *awaited, const struct catalog_stream *stream,
                           struct error *error) {
    struct row *row = db_query(
        &awaited->store->db, error,
        "SELECT (SELECT count(*) FROM (SELECT 1 FROM ready WHERE stream=?1 LIMIT ?2) AS r),"
        " (SELECT k.until FROM locked k WHERE k.stream=?1 AND k.until IS NOT NULL"
        " AND " IS_REMOTE("k.owner") " ORDER BY k.until LIMIT 1)",
        "ii", stream->id, json_int(awaited->topics, stream->topic));
    if (db_step(&awaited->store->db, row, error) != YES)
        return false;
    const int64_t ready = row_int(row, 0);
    const time_ms until = row_null(row, 1) ? TIME_NEVER : row_int(row, 1);
    row_done(row);
    if (until > awaited->now)
        next_at(awaited, until);
    return found_add(awaited, stream->topic, ready + (until <= awaited->now)) ||
           error_no_memory(error);
}

static bool look_at_streams(struct awaited *awaited, struct error *error) {
    const struct catalog *catalog = &awaited->store->catalog;
    bool done = true;
    for (size_t i = 0; done && i < catalog->stream_count; i++)
        if (is_awaited(awaited, &catalog->streams[i]))
            done = look_at_stream(awaited, &catalog->streams[i], error);
    return done;
}

/* One of the first timers. True: no later one matters. */
static bool timer_seen(struct awaited *awaited, time_ms due, int64_t stream) {
    const struct catalog_stream *of = catalog_stream(&awaited->store->catalog, stream);
    if (is_awaited(awaited, of) && due <= awaited->now)
        found_add(awaited, of->topic, 1);
    else if (is_awaited(awaited, of))
        next_at(awaited, due);
    return is_awaited(awaited, of) && due > awaited->now;
}

/* All of the first timers are due, and nobody has moved them: who is asked does that. */
static void add_all(struct awaited *awaited) {
    const char *topic;
    json_t *count;
    json_object_foreach(json_unchanged(awaited->topics), topic, count)
        found_add(awaited, topic, 1);
    next_at(awaited, awaited->now + OVERDUE_WAIT);
}

/* Of timers no index knows the stream. If none of the first ones is awaited, the last of them says
 * when to look again. */
static bool look_at_timers(struct awaited *awaited, struct error *error) {
    struct row *row =
        db_query(&awaited->store->db, error,
                 "SELECT due, stream FROM timer ORDER BY due, id LIMIT ?1", "n", TIMERS_LOOKED);
    enum answer step = NO;
    time_ms due = 0;
    for (int count = 1; (step = db_step(&awaited->store->db, row, error)) == YES; count++) {
        due = row_int(row, 0);
        if (timer_seen(awaited, due, row_int(row, 1))) {
            row_done(row);
            return true;
        }
        if (count == TIMERS_LOOKED && due > awaited->now)
            next_at(awaited, due);
        else if (count == TIMERS_LOOKED)
            add_all(awaited);
    }
    return step == NO;
}

bool store_awaited(struct store *store, const json_t *topics, time_ms now, json_t **found,
                   time_ms *next, struct error *error) {
    struct awaited awaited = {store, topics, json_object(), now, TIME_NEVER};
    bool own = false;
    bool done = (awaited.found || error_no_memory(error)) && listener_look(store, &own, error);
    if (done) {
        done = look_at_streams(&awaited, error) && look_at_timers(&awaited, error);
        store_look_end(store, own);
    }
    *found = json_kept(awaited.found, done);
    *next = awaited.next;
    return done;
}
