#include "base/crash_point.h"
#include "base/text.h"
#include "store/rules/ground/care.h"
#include "store/rules/place/places.h"
#include "store/rules/record/incident.h"
#include <stdio.h>
#include <string.h>

void store_care(struct store *store, int rows, int slot) {
    store->care = (struct care_now){.rows = rows, .slot = slot};
    if (rows)
        store_slot_set(store, slot, CARE_MANY, -rows, 0);
    else
        store_slot_clear(store, slot);
}

void store_touch(struct store *store, int64_t job) {
    care_touch(store, job);
}

int64_t store_touched(const struct store *store) {
    return store->care.touched;
}

bool store_is_corrupt(const struct store *store) {
    return store->db.corrupt;
}

static enum answer orphan_find(struct store *store, int64_t *job, struct error *error) {
    return db_value(&store->db, error, job,
                    "SELECT id FROM (SELECT id FROM ready UNION ALL SELECT id FROM parked) AS p"
                    " WHERE NOT EXISTS(SELECT 1 FROM job j WHERE j.id=p.id) LIMIT 1",
                    "");
}

static enum answer twin_find(struct store *store, int64_t *job, struct error *error) {
    return db_value(&store->db, error, job,
                    "SELECT id FROM (SELECT id FROM ready UNION ALL SELECT id FROM timer"
                    " UNION ALL SELECT id FROM parked UNION ALL SELECT id FROM locked) AS places"
                    " GROUP BY id HAVING count(*)>1 LIMIT 1",
                    "");
}

enum answer store_misplaced(struct store *store, int64_t *job, const char **why,
                            struct error *error) {
    bool own = false;
    if (!look_begin(store, &own, error))
        return FAILED;
    enum answer found = orphan_find(store, job, error);
    *why = "it has a place and no row";
    if (found == NO) {
        found = twin_find(store, job, error);
        *why = "it has two places";
    }
    look_end(store, own);
    return found;
}

/* What waits behind it in its lane goes on. A lane that its run held is given back. */
static bool aside_lane(struct store *store, int64_t job, const struct outcome *outcome,
                       struct error *error) {
    int64_t lane = 0;
    if (outcome && outcome->job->lane_id)
        return !outcome->lane_ends ||
               place_release(store, outcome->job->lane_id, outcome->lane_token, error);
    enum answer found =
        db_value(&store->db, error, &lane, "SELECT lane FROM job WHERE id=?1", "i", job);
    return found != FAILED && place_expose_now(store, lane, error);
}

/* A run that has ended counts against no limit any more. */
static bool aside_uncount(struct store *store, const struct outcome *outcome, struct error *error) {
    if (!outcome)
        return true;
    const struct job *job = outcome->job;
    return place_uncount(store, job->stream, job->token, error) &&
           (!job->permit || !outcome->lane_ends ||
            place_uncount(store, job->stream, job->permit, error));
}

static bool aside_write(struct store *store, int64_t job, const struct outcome *outcome,
                        const char *why, time_ms now, struct error *error) {
    if (!place_drop(store, job, error) || !row_set_aside(store, job, why, error))
        return false;
    CRASH_POINT("aside_dropped");
    return aside_lane(store, job, outcome, error) && aside_uncount(store, outcome, error) &&
           incident_aside(store, job, why, now, error);
}

bool store_set_aside(struct store *store, int64_t job, const struct outcome *outcome,
                     const char *why, time_ms now, struct error *error) {
    char message[JOB_MESSAGE_MAX * 4 + 1] = "";
    bool own = false;
    memcpy(message, why, utf8_prefix(why, JOB_MESSAGE_MAX));
    return unit_begin(store, STORE_COMMAND, &own, error) &&
           unit_end(store, own, aside_write(store, job, outcome, message, now, error), error);
}
