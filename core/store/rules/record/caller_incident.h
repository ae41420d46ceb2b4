/* caller_incident.h - incidents of callers (rules §10): an instance that cannot go on holds up
 * every instance above it, so each of these has an open incident, too. */
#pragma once

#include "store/rules/record/incident.h"

/* Opens one in each caller of the open incident `id`, up to the root: at the calling activity, with
 * the incident below as its cause and `id` as its root cause. Callers that have one stay. */
bool caller_incidents_open(struct store *store, int64_t id, time_ms now, struct error *error);

/* Ends those that the job's open incidents have caused; before these end themselves. */
bool caller_incidents_end(struct store *store, int64_t job, enum incident_end how, time_ms now,
                          struct error *error);

/* Ends all that are open of one root cause, that one included, with which incident `id` belongs. */
bool caller_incidents_resolve(struct store *store, int64_t id, time_ms now, struct error *error);
