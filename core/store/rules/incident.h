/* incident.h - what needs a person (rules §10): at most one open incident for a job, beside one
 * that tells of a run which does not end. */
#ifndef MOONSHIFT_STORE_RULES_INCIDENT_H
#define MOONSHIFT_STORE_RULES_INCIDENT_H

#include "store/rules/state.h"

#define INCIDENT_FAILED_JOB "failedJob"
#define INCIDENT_WORKER_DIED "workerDied"
#define INCIDENT_MISSING_HANDLER "missingHandler" /* of a definition, not of a job */
#define INCIDENT_HANDLER_STUCK "handlerStuck" /* of a job's runs: it outlives the job (stuck.h) */

enum incident_end { INCIDENT_RESOLVED = 1, INCIDENT_DELETED };

/* Nothing happens if the job has an open one, or with `incidents` off. */
bool incident_open(struct store *store, int64_t job, const char *type, time_ms now,
                   struct error *error);
/* Ends the job's open incident, if there is one. */
bool incident_end_open(struct store *store, int64_t job, enum incident_end how, time_ms now,
                       struct error *error);
static inline bool incident_end(struct store *store, int64_t job, enum incident_end how,
                                time_ms now, struct error *error) {
    return !store->incidents || incident_end_open(store, job, how, now, error);
}

#endif
