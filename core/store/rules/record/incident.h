/* incident.h - what needs a person (rules §10): at most one open incident for a job, beside one
 * that tells of a run which does not end. The failures of one schedule are one open incident. */
#pragma once

#include "job/notify.h"
#include "store/rules/ground/state.h"

struct command;

#define INCIDENT_FAILED_JOB "failedJob"
#define INCIDENT_WORKER_DIED "workerDied"
#define INCIDENT_BUSINESS_ERROR "businessError"   /* a worker outside says that it cannot be done */
#define INCIDENT_MISSING_HANDLER "missingHandler" /* of a definition, not of a job */
#define INCIDENT_HANDLER_STUCK "handlerStuck" /* of a job's runs: it outlives the job (stuck.h) */

/* Of a job whose last run has failed. */
static inline const char *incident_of(const struct outcome *outcome) {
    if (outcome->reason == REASON_BUSINESS_ERROR)
        return INCIDENT_BUSINESS_ERROR;
    return outcome->reason == REASON_WORKER_DIED ? INCIDENT_WORKER_DIED : INCIDENT_FAILED_JOB;
}

/* One of the job j, unless it has an open one; a statement gives type, job and instant. */
#define INCIDENT_COLUMNS                                                                           \
    "definition, activity, message, instance, root_instance, tenant, lane_key, instance_id,"       \
    " failed_activity, schedule, type, job, created"
#define INCIDENT_OF                                                                                \
    "SELECT (SELECT definition FROM stream WHERE id=j.stream), j.activity, j.message,"             \
    " coalesce(j.instance, CAST(j.instance_id AS TEXT)), j.root, j.tenant, j.lane_key,"            \
    " j.instance_id, coalesce(j.failed_activity, j.activity), j.schedule"
#define INCIDENT_FROM(job)                                                                         \
    " FROM job j WHERE j.id=" job " AND NOT EXISTS (SELECT 1 FROM incident i WHERE i.job=" job     \
    " AND i.ended IS NULL AND i.type<>'" INCIDENT_HANDLER_STUCK "')"

/* The open one of its schedule counts the failure and is that of the newest job. */
#define INCIDENT_FOLD                                                                              \
    " ON CONFLICT(schedule, type) WHERE ended IS NULL AND schedule IS NOT NULL DO UPDATE SET"      \
    " job=excluded.job, message=excluded.message, count=incident.count+1, seen=excluded.created"

enum incident_end { INCIDENT_RESOLVED = 1, INCIDENT_DELETED };

/* Opens one of the job, and one in each caller of its instance. Nothing happens if the job has an
 * open one, or with `incidents` off. */
bool incident_open(struct store *store, const struct job_row *job, const char *type, time_ms now,
                   struct error *error);
/* One of a job that nothing can be done with, also if it has no row. A job that has one open gets
 * the message. */
bool incident_aside(struct store *store, int64_t job, const char *message, time_ms now,
                    struct error *error);
/* Puts an unlocked job where its row says (place_row); a dead one gets an incident. */
bool incident_place(struct store *store, const struct job_row *row, time_ms now,
                    struct error *error);
/* True if nobody is told of incidents: then no answer of the statement that writes them is needed.
 */
static inline bool incident_untold(const struct store *store) {
    return !notify_incident(store->rules->notify);
}
/* Ends the job's open incident, if there is one, and those of callers that it has caused. That of a
 * schedule goes on while another run of it is dead. */
bool incident_end_open(struct store *store, int64_t job, enum incident_end how, time_ms now,
                       struct error *error);
/* The job of an open one stands at another activity by now. */
bool incident_move(struct store *store, int64_t job, const char *handler, const char *activity,
                   struct error *error);
static inline bool incident_end(struct store *store, int64_t job, enum incident_end how,
                                time_ms now, struct error *error) {
    return !store->incidents || incident_end_open(store, job, how, now, error);
}

/* A verb on one. */
bool incident_command(struct store *store, const struct command *command, time_ms now,
                      struct error *error);
/* How many it would touch, or why it would be refused. */
bool incident_preview(struct store *store, const struct command *command, int64_t *count,
                      struct error *error);
