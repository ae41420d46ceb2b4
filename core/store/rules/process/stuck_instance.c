#include "store/rules/process/stuck_instance.h"
#include "base/crash_point.h"
#include "job/job.h"
#include "store/rules/record/caller_incident.h"
#include "store/rules/record/incident.h"
#include "store/rules/record/tell.h"
#include <stdio.h>

/* YES: it has one that is open. */
static enum answer stuck_open(struct store *store, int64_t instance, int64_t *incident,
                              struct error *error) {
    return db_value(&store->db, error, incident,
                    "SELECT id FROM incident WHERE instance_id=?1 AND ended IS NULL"
                    " AND type='" INCIDENT_INSTANCE_STUCK "' AND cause IS NULL LIMIT 1",
                    "i", instance);
}

static bool stuck_insert(struct store *store, const struct unit_instance *one, const char *message,
                         time_ms now, struct error *error) {
    int64_t id = 0;
    store->incidents = 1;
    return db_value(&store->db, error, &id,
                    "INSERT INTO incident(type, created, activity, failed_activity, message,"
                    " instance, root_instance, tenant, instance_id)"
                    " VALUES(?1, ?2, nullif(?3, ''), nullif(?3, ''), ?4,"
                    " CAST(CAST(?5 AS BIGINT) AS TEXT),"
                    " CAST(CAST(nullif(?6, 0) AS BIGINT) AS TEXT), ?7, ?5) RETURNING id",
                    "tittiit", INCIDENT_INSTANCE_STUCK, now, one->stuck, message, one->id,
                    one->root, one->tenant) == YES &&
           CRASH_POINT("stuck_instance_opened") && tell_incident(store, id, now, error) &&
           caller_incidents_open(store, id, now, error);
}

bool stuck_instance_open(struct store *store, const struct unit_instance *one, const char *message,
                         time_ms now, struct error *error) {
    int64_t incident = 0;
    if (!store->rules->incidents)
        return true;
    enum answer found = stuck_open(store, one->id, &incident, error);
    return found == YES || (found == NO && stuck_insert(store, one, message, now, error));
}

bool stuck_instance_close(struct store *store, int64_t instance, time_ms now, struct error *error) {
    int64_t incident = 0;
    enum answer found = stuck_open(store, instance, &incident, error);
    return found == NO || (found == YES && caller_incidents_resolve(store, incident, now, error));
}

bool stuck_instance_note(struct store *store, const struct unit_instance *one, time_ms now,
                         struct error *error) {
    char message[JOB_NAME_MAX + 64];
    if (one->stuck && *one->stuck) {
        snprintf(message, sizeof message, "\"%.255s\" waits for a token that can never come",
                 one->stuck);
        return stuck_instance_open(store, one, message, now, error);
    }
    if (!one->stuck && (one->frame || !store->incidents))
        return true;
    return stuck_instance_close(store, one->id, now, error);
}

/* Unless another turn is. */
static bool stuck_turn_end(struct store *store, int64_t instance, time_ms now,
                           struct error *error) {
    int64_t one = 0;
    enum answer more = db_value(&store->db, error, &one,
                                "SELECT 1 FROM body b JOIN body_turn t ON t.body=b.id"
                                " WHERE b.instance=?1 AND b.closed=0"
                                " AND t.frame LIKE '%,\"stuck\":1,%' LIMIT 1",
                                "i", instance);
    return more == YES || (more == NO && stuck_instance_close(store, instance, now, error));
}

bool stuck_turn_note(struct store *store, const struct unit_turn *one, time_ms now,
                     struct error *error) {
    const struct unit_instance instance = {.id = one->instance,
                                           .root = one->root,
                                           .tenant = one->tenant,
                                           .frame = one->frame,
                                           .stuck = one->stuck};
    if (!one->stuck)
        return true;
    return *one->stuck ? stuck_instance_note(store, &instance, now, error)
                       : stuck_turn_end(store, one->instance, now, error);
}
