#include "store/rules/record/caller_incident.h"
#include "base/crash_point.h"
#include "base/json.h"
#include "store/rules/ground/frames.h"
#include "store/rules/record/frame.h"
#include <string.h>

enum { CALLERS_MAX = 1000 }; /* above one instance; a chain that is longer is damaged */

/* The way up: the instance that cannot go on, and its incident. */
struct climb {
    int64_t root, cause; /* incidents */
    int64_t called;      /* an instance */
};

/* Where the caller waits for the instance; "" if it does not. The list keeps the text. */
static const char *calling_activity(const json_t *places, int64_t called) {
    size_t i;
    const json_t *place;
    json_array_foreach(places, i, place) {
        const char *state = json_string_value(json_object_get(place, "state"));
        const char *activity = json_string_value(json_object_get(place, "activity"));
        if (state && activity && strcmp(state, "call") == 0 &&
            json_integer_value(json_object_get(place, "more")) == called)
            return activity;
    }
    return "";
}

static bool caller_insert(struct store *store, struct climb *climb, const char *activity,
                          int64_t caller, time_ms now, struct error *error) {
    int64_t id = 0;
    enum answer made = db_value(
        &store->db, error, &id,
        "INSERT INTO incident(type, created, activity, cause, root_cause, instance, root_instance,"
        " tenant, instance_id) SELECT (SELECT type FROM incident WHERE id=?2), ?3, ?4, ?5, ?2,"
        " CAST(i.id AS TEXT), CAST(i.root AS TEXT), i.tenant, i.id FROM instance i WHERE i.id=?1"
        " RETURNING id",
        "iiiti", caller, climb->root, now, activity, climb->cause);
    climb->cause = id;
    climb->called = caller;
    return made == YES && CRASH_POINT("caller_incident_opened");
}

/* The places of a turn that stands outside of the frame of the caller. */
static json_t *turn_places(struct store *store, int64_t turn, struct error *error) {
    struct row *row =
        db_query(&store->db, error, "SELECT frame FROM body_turn WHERE id=?1", "i", turn);
    enum answer step = db_step(&store->db, row, error);
    json_t *places = step == NO ? json_array() : NULL;
    if (step == YES) {
        places = frame_places(row_text(row, 0), error);
        row_done(row);
    }
    return places;
}

/* NO: nobody has called the instance. */
static enum answer climb_one(struct store *store, struct climb *climb, time_ms now,
                             struct error *error) {
    struct row *row =
        db_query(&store->db, error,
                 "SELECT c.id, c.frame, i.frame FROM instance i JOIN instance c ON c.id=i.parent"
                 " WHERE i.id=?1",
                 "i", climb->called);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step;
    int64_t caller = row_int(row, 0);
    int64_t turn = frame_caller(row_text(row, 2));
    json_t *places = turn ? turn_places(store, turn, error) : frame_places(row_text(row, 1), error);
    row_done(row);
    if (!places)
        return FAILED;
    const char *activity = calling_activity(places, climb->called);
    bool done = !*activity || caller_insert(store, climb, activity, caller, now, error);
    step = *activity ? YES : NO;
    json_decref(places);
    return done ? step : FAILED;
}

/* The instance of the incident, if it is of a process and has a caller. */
static enum answer instance_of(struct store *store, int64_t id, int64_t *instance,
                               struct error *error) {
    return db_value(&store->db, error, instance,
                    "SELECT i.id FROM incident n JOIN instance i ON i.id=n.instance_id"
                    " WHERE n.id=?1 AND i.parent IS NOT NULL",
                    "i", id);
}

bool caller_incidents_open(struct store *store, int64_t id, time_ms now, struct error *error) {
    struct climb climb = {.root = id, .cause = id};
    enum answer more = instance_of(store, id, &climb.called, error);
    if (more == YES && !frames_flush(store, error)) /* the frames as they are now */
        return false;
    for (int i = 0; more == YES && i < CALLERS_MAX; i++)
        more = climb_one(store, &climb, now, error);
    return more != FAILED;
}

bool caller_incidents_end(struct store *store, int64_t job, enum incident_end how, time_ms now,
                          struct error *error) {
    return db_run(&store->db, error,
                  "UPDATE incident SET ended=?2, how=?3 WHERE how IS NULL AND root_cause="
                  "(SELECT id FROM incident WHERE job=?1 AND ended IS NULL"
                  " AND type<>'" INCIDENT_HANDLER_STUCK "' LIMIT 1)",
                  "iin", job, now, (int)how);
}

bool caller_incidents_resolve(struct store *store, int64_t id, time_ms now, struct error *error) {
    int64_t root = 0;
    return db_value(&store->db, error, &root,
                    "SELECT coalesce(root_cause, id) FROM incident WHERE id=?1", "i", id) == YES &&
           db_run(&store->db, error,
                  "UPDATE incident SET ended=?2, how=?3 WHERE ended IS NULL"
                  " AND (id=?1 OR root_cause=?1)",
                  "iin", root, now, (int)INCIDENT_RESOLVED);
}
