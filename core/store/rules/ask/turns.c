#include "store/rules/ask/turns.h"
#include "base/json.h"
#include "job/unit.h"
#include "store/rules/process/turn.h"
#include "store/rules/record/frame.h"
#include <string.h>

enum { SHOWN = 50 }; /* turns of an instance, by themselves */

/* ---- one ---- */

json_t *body_ask(struct store *store, int64_t id, struct error *error) {
    bool own = false;
    int64_t turns = 0, ended = 0;
    if (!look_begin(store, &own, error))
        return NULL;
    enum answer step =
        db_read(&store->db, error, "SELECT turns, ended FROM body WHERE id=?1 AND closed=0", "ii<i",
                &turns, &ended, id);
    look_end(store, own);
    if (step == FAILED)
        return NULL;
    return step == NO
               ? json_pack("{sb}", "gone", 1)
               : json_pack("{sI sI}", "turns", (json_int_t)turns, "ended", (json_int_t)ended);
}

json_t *body_turns_ask(struct store *store, int64_t id, int64_t below, struct error *error) {
    bool own = false;
    json_t *list = json_array();
    if (!look_begin(store, &own, error))
        return json_kept(list, false);
    struct row *rows = db_query(&store->db, error,
                                "SELECT id, rev, frame FROM body_turn WHERE body=?1 AND id<?2"
                                " ORDER BY id DESC LIMIT ?3",
                                "iin", id, below ? below : INT64_MAX, (int)TURNS_AT_ONCE);
    enum answer step = NO;
    while ((step = db_step(&store->db, rows, error)) == YES)
        json_array_append_new(list,
                              json_pack("{sI sI ss}", "id", (json_int_t)row_int(rows, 0), "rev",
                                        (json_int_t)row_int(rows, 1), "frame", row_text(rows, 2)));
    look_end(store, own);
    return json_kept(list, step == NO);
}

bool turn_frame_put(json_t *found, int64_t turn, struct row *row, int from) {
    return json_put(found, "around_rev", json_incref(json_object_get(found, "rev"))) &&
           json_put(found, "around", json_incref(json_object_get(found, "frame"))) &&
           json_put(found, "turn", json_integer(turn)) &&
           json_put(found, "rev", json_integer(row_int(row, from))) &&
           json_put_text(found, "frame", row_text(row, from + 1)) &&
           json_put(found, "body", json_integer(row_int(row, from + 2))) &&
           json_put(found, "body_token", json_integer(row_int(row, from + 3)));
}

json_t *turn_frame(struct store *store, json_t *found, int64_t turn, struct error *error) {
    struct row *row = db_query(&store->db, error, "SELECT " TURN_COLUMNS TURN_FROM("?1", "?2"),
                               "ii", turn, (int64_t)json_int(found, "id"));
    enum answer step = db_step(&store->db, row, error);
    if (step == YES) {
        bool done = turn_frame_put(found, turn, row, 0) || db_no_memory(&store->db, error);
        row_done(row);
        return json_kept(found, done);
    }
    json_decref(found);
    return step == NO ? json_null() : NULL;
}

/* ---- those of an instance ---- */

/* The number of a token or scope in the rows. */
static json_t *row_number(int64_t turn, const json_t *number) {
    return json_integer(turn_token(turn, json_integer_value(number)));
}

/* Makes the numbers of a place in the frame of a turn those of the rows. */
static bool place_renumber(json_t *place, int64_t turn) {
    json_t *around = json_array(), *scope;
    size_t i;
    json_array_foreach(json_object_get(place, "around"), i, scope)
        json_array_append_new(around, row_number(turn, scope));
    scope = json_object_get(place, "scope");
    return json_put(place, "token", row_number(turn, json_object_get(place, "token"))) &&
           (!scope || json_put(place, "scope", row_number(turn, scope))) &&
           json_put(place, "around", around);
}

static bool turn_add(json_t *places, int64_t turn, const char *frame, struct error *error) {
    json_t *found = frame_places(frame, error), *place;
    size_t i;
    bool done = found != NULL;
    json_array_foreach(found, i, place)
        done = done && place_renumber(place, turn) && json_array_append(places, place) == 0;
    json_decref(found);
    return done;
}

/* The first ones, and those that wait for a command. */
static struct row *turns_query(struct store *store, int64_t instance, struct error *error) {
    return db_query(&store->db, error,
                    "SELECT id, frame FROM (SELECT t.id, t.frame FROM body b JOIN body_turn t"
                    " ON t.body=b.id WHERE b.instance=?1 AND b.closed=0 ORDER BY t.id LIMIT ?2) f"
                    " UNION SELECT id, frame FROM (SELECT t.id, t.frame FROM body b JOIN body_turn"
                    " t ON t.body=b.id WHERE b.instance=?1 AND b.closed=0"
                    " AND t.frame LIKE '%,\"trigger\"%' ORDER BY t.id LIMIT ?2) g ORDER BY id",
                    "in", instance, (int)SHOWN);
}

/* { token, activity, state, count } of those that are not shown by themselves. NULL: no memory, or
 * error. */
static json_t *rest_of(struct store *store, int64_t instance, int64_t rest, struct error *error) {
    json_t *found = NULL;
    struct row *row = db_query(&store->db, error,
                               "SELECT token, activity FROM body WHERE instance=?1 AND closed=0"
                               " ORDER BY id LIMIT 1",
                               "i", instance);
    if (db_step(&store->db, row, error) == YES) {
        const char *activity = row_text(row, 1);
        found =
            json_pack("{sI ss% ss sI}", "token", (json_int_t)row_int(row, 0), "activity", activity,
                      strcspn(activity, "#"), "state", "turns", "count", (json_int_t)rest);
        row_done(row);
    }
    return found;
}

static bool turns_read(struct store *store, json_t *places, int64_t instance, int64_t *count,
                       struct error *error) {
    bool done = true;
    enum answer step = NO;
    struct row *rows = turns_query(store, instance, error);
    for (; done && (step = db_step(&store->db, rows, error)) == YES; ++*count)
        done = turn_add(places, row_int(rows, 0), row_text(rows, 1), error);
    if (!done)
        row_done(rows);
    return done && step == NO;
}

bool turns_places(struct store *store, json_t *places, int64_t instance, struct error *error) {
    int64_t all = 0, count = 0;
    if (db_value(&store->db, error, &all,
                 "SELECT count(*) FROM body b JOIN body_turn t ON t.body=b.id WHERE b.instance=?1"
                 " AND b.closed=0",
                 "i", instance) == FAILED)
        return false;
    if (all && !turns_read(store, places, instance, &count, error))
        return false;
    return all <= count ||
           json_array_append_new(places, rest_of(store, instance, all - count, error)) == 0;
}

static bool show_one(json_t *at, const json_t *place) {
    json_t *shown =
        json_pack("{sO sO sO}", "token", json_object_get(place, "token"), "activity",
                  json_object_get(place, "activity"), "state", json_object_get(place, "state"));
    json_t *count = json_object_get(place, "count");
    return (!shown || !count || json_object_set(shown, "count", count) == 0) &&
           json_array_append_new(at, shown) == 0;
}

bool turns_show(struct store *store, json_t *at, int64_t instance, struct error *error) {
    json_t *places = json_array(), *place;
    size_t i;
    bool done = places && turns_places(store, places, instance, error);
    json_array_foreach(places, i, place) {
        if (done && strncmp(json_text(place, "state"), "on ", 3) != 0)
            done = show_one(at, place);
    }
    json_decref(places);
    return done;
}
