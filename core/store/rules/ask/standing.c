/* standing.c - where the instances of a process stand, counted by activity. */
#include "base/json.h"
#include "store/rules/ask/processes.h"
#include "store/rules/record/frame.h"
#include <string.h>

#define OF_VERSION " AND (CAST(?2 AS BIGINT)=0 OR v.number=?2)"
#define OF_PROCESS                                                                                 \
    " FROM instance i JOIN process_version v ON v.id=i.version WHERE v.key=?1" OF_VERSION
#define SUSPENDED_ITSELF "CASE WHEN " BY_ITSELF("i.id") " THEN 1 ELSE 0 END"

/* Which instances are looked at: of a process, and of one version; 0: of all. */
struct process_at {
    const char *key;
    int64_t number;
};

/* Counts by activity and state, as an object of objects. */
static bool tally(json_t *counts, const char *activity, size_t size, const char *state,
                  int64_t count) {
    json_t *states = json_object_getn(counts, activity, size);
    if (!states) {
        states = json_object();
        if (json_object_setn_new(counts, activity, size, states) != 0)
            return false;
    }
    count += json_integer_value(json_object_get(states, state));
    return json_put(states, state, json_integer(count));
}

/* Turns and bodies stand at their activity: what is behind "#" is left out. */
static bool tally_place(json_t *counts, const json_t *place) {
    const char *activity = json_string_value(json_object_get(place, "activity"));
    const char *state = json_string_value(json_object_get(place, "state"));
    const json_t *count = json_object_get(place, "count");
    return activity && state &&
           tally(counts, activity, strcspn(activity, "#"), state,
                 count ? json_integer_value(count) : 1);
}

static bool tally_frame(json_t *counts, const char *frame, struct error *error) {
    json_t *shown = json_object(), *place;
    bool done = shown && frame_show(shown, frame, error);
    size_t i;
    json_array_foreach(json_object_get(shown, "at"), i, place)
        done = done && (tally_place(counts, place) || error_no_memory(error));
    json_decref(shown);
    return done;
}

/* [{ activity, state, count }] of the counts. */
static json_t *rows_of(json_t *counts) {
    json_t *rows = json_array(), *states, *count;
    const char *activity, *state;
    json_object_foreach(counts, activity, states) {
        json_object_foreach(states, state, count)
            json_array_append_new(rows, json_pack("{ss ss sO}", "activity", activity, "state",
                                                  state, "count", count));
    }
    return rows;
}

static bool read_frames(struct store *store, const struct process_at *at, json_t *found,
                        struct error *error) {
    json_t *counts = json_object();
    int64_t instances = 0, suspended = 0;
    struct row *row = db_query(&store->db, error,
                               "SELECT i.frame, " SUSPENDED_ITSELF ", 1" OF_PROCESS
                               " UNION ALL SELECT t.frame, 0, 0 FROM body_turn t JOIN body b"
                               " ON b.id=t.body AND b.closed=0 JOIN process_version v"
                               " ON v.id=b.version WHERE v.key=?1" OF_VERSION,
                               "ti", at->key, at->number);
    enum answer step;
    while ((step = db_step(&store->db, row, error)) == YES) {
        if (!tally_frame(counts, row_text(row, 0), error)) {
            row_done(row);
            break;
        }
        instances += row_int(row, 2); /* the others are turns outside of their frames */
        suspended += row_int(row, 1);
    }
    bool done = counts && step == NO && json_put(found, "instances", json_integer(instances)) &&
                json_put(found, "suspended", json_integer(suspended)) &&
                json_put(found, "at", rows_of(counts));
    json_decref(counts);
    return done;
}

static bool read_incidents(struct store *store, const struct process_at *at, json_t *found,
                           struct error *error) {
    json_t *rows = json_array();
    struct row *row =
        db_query(&store->db, error,
                 "SELECT n.activity, count(*) FROM incident n"
                 " JOIN instance i ON i.id=n.instance_id"
                 " JOIN process_version v ON v.id=i.version"
                 " WHERE v.key=?1" OF_VERSION " AND n.ended IS NULL AND n.activity IS NOT NULL"
                 " GROUP BY n.activity ORDER BY n.activity",
                 "ti", at->key, at->number);
    enum answer step;
    while ((step = db_step(&store->db, row, error)) == YES)
        json_array_append_new(rows, json_pack("{ss sI}", "activity", row_text(row, 0), "count",
                                              (json_int_t)row_int(row, 1)));
    return json_put(found, "incidents", rows) && step == NO;
}

/* NO: there is no process of this key. */
static enum answer read_version(struct store *store, const char *key, json_t *found,
                                struct error *error) {
    int64_t number;
    enum answer known = db_value(&store->db, error, &number,
                                 "SELECT v.number FROM process p JOIN process_version v"
                                 " ON v.id=p.current WHERE p.key=?1",
                                 "t", key);
    if (known == YES && !json_put(found, "version", json_integer(number)))
        return FAILED;
    return known;
}

json_t *store_standing(struct store *store, const char *key, int64_t number, struct error *error) {
    const struct process_at at = {key, number};
    json_t *found = json_object();
    bool own = false;
    if (!found || !look_begin(store, &own, error))
        return json_kept(found, false);
    enum answer known = read_version(store, key, found, error);
    if (known == NO)
        error_set(error, ERROR_NOT_FOUND, "no process \"%s\" is deployed", key);
    bool done = known == YES && read_frames(store, &at, found, error) &&
                read_incidents(store, &at, found, error);
    look_end(store, own);
    return json_kept(found, done);
}
