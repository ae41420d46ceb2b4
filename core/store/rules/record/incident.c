#include "store/rules/record/incident.h"
#include "base/crash_point.h"
#include "base/text.h"
#include "job/command.h"
#include "store/rules/ground/unit_ahead.h"
#include "store/rules/place/places.h"
#include "store/rules/record/caller_incident.h"
#include "store/rules/record/operation.h"
#include "store/rules/record/outbox.h"
#include "store/rules/record/tell.h"
#include <stdio.h>
#include <string.h>

/* True for a job of a process: its instance may have been called by another one. */
static bool incident_has_callers(const struct store *store, const struct job_row *job) {
    const struct catalog_stream *stream = catalog_stream(&store->catalog, job->stream);
    return stream && stream->definition->process;
}

/* Tells people and callers of the one that the last statement wrote. */
static bool incident_tell(struct store *store, const struct job_row *job, const char *type,
                          time_ms now, struct error *error) {
    int64_t id = 0;
    bool called = incident_has_callers(store, job);
    if (incident_untold(store) && !called)
        return true;
    enum answer found = db_value(
        &store->db, error, &id,
        "SELECT id FROM incident WHERE job=?1 AND type=?2 AND ended IS NULL", "it", job->id, type);
    return found == NO || (found == YES && tell_incident(store, id, now, error) &&
                           (!called || caller_incidents_open(store, id, now, error)));
}

/* Writes one of the job as its row has it. */
static bool incident_insert(struct store *store, struct row *row, int64_t job, const char *type,
                            time_ms now, struct error *error) {
    const char *activity = row_text(row, 1);
    return db_run(&store->db, error,
                  "INSERT INTO incident(type, job, created, definition, activity, failed_activity,"
                  " message, instance, root_instance, tenant, lane_key, instance_id, schedule)"
                  " VALUES(?1, ?2, ?3, ?4, ?5, ?12, ?6, ?7, ?8, ?9, ?10, ?11, ?13)" INCIDENT_FOLD,
                  "tiizttttttztt", type, job, now, row_int(row, 0), activity, row_text(row, 2),
                  row_text(row, 3), row_text(row, 4), row_text(row, 5), row_text(row, 6),
                  row_int(row, 7), row_text(row, 8), row_text(row, 9)) &&
           CRASH_POINT("incident_inserted");
}

/* Where nobody is told of it, no answer is needed. */
static bool incident_open_unasked(struct store *store, int64_t job, const char *type, time_ms now,
                                  struct error *error) {
    store->incidents = 1;
    return db_run(&store->db, error,
                  "INSERT INTO incident(" INCIDENT_COLUMNS ") " INCIDENT_OF
                  ", ?2, ?1, ?3" INCIDENT_FROM("?1") INCIDENT_FOLD,
                  "iti", job, type, now);
}

/* Reads the row by a statement of its own: one that also inserts may cost copies of pages. */
bool incident_open(struct store *store, const struct job_row *job, const char *type, time_ms now,
                   struct error *error) {
    if (!store->rules->incidents)
        return true;
    unit_ahead_changed(store, job->id);
    if (store->engine->sets && incident_untold(store) && !incident_has_callers(store, job))
        return incident_open_unasked(store, job->id, type, now, error);
    struct row *row = db_query(&store->db, error, INCIDENT_OF INCIDENT_FROM("?1"), "i", job->id);
    enum answer found = db_step(&store->db, row, error);
    if (found != YES)
        return found == NO;
    store->incidents = 1;
    bool done = incident_insert(store, row, job->id, type, now, error);
    row_done(row);
    return done && incident_tell(store, job, type, now, error);
}

bool incident_place(struct store *store, const struct job_row *row, time_ms now,
                    struct error *error) {
    return row->retries <= 0 ? incident_open(store, row, INCIDENT_FAILED_JOB, now, error)
                             : place_row(store, row, now, error);
}

/* What the row says may be what is wrong. */
static bool incident_bare(struct store *store, int64_t job, const char *message, time_ms now,
                          struct error *error) {
    store->incidents = 1;
    return db_run(&store->db, error,
                  "INSERT INTO incident(type, job, message, created) VALUES(?1, ?2, ?3, ?4)"
                  " ON CONFLICT DO NOTHING",
                  "titi", INCIDENT_FAILED_JOB, job, message, now) &&
           incident_tell(store, &(struct job_row){.id = job}, INCIDENT_FAILED_JOB, now, error);
}

bool incident_aside(struct store *store, int64_t job, const char *message, time_ms now,
                    struct error *error) {
    struct job_row row = {.id = job};
    if (!store->rules->incidents)
        return true;
    enum answer found = db_value(&store->db, error, &row.stream,
                                 "SELECT j.stream FROM job j JOIN stream s ON s.id=j.stream JOIN"
                                 " definition d ON d.id=s.definition WHERE j.id=?1",
                                 "i", job);
    bool done = found != FAILED;
    if (found == YES)
        done = incident_open(store, &row, INCIDENT_FAILED_JOB, now, error);
    else if (found == NO)
        done = incident_bare(store, job, message, now, error);
    return done && db_run(&store->db, error,
                          "UPDATE incident SET message=?2 WHERE job=?1 AND ended IS NULL"
                          " AND type<>'" INCIDENT_HANDLER_STUCK "'",
                          "it", job, message);
}

/* The incident of a schedule becomes that of another dead run which no other one is open for. It is
 * spelt so that a server does not go through all jobs, all dead ones or all open incidents. */
#define OTHER_DEAD                                                                                 \
    "SELECT max(j.id+0) FROM live j WHERE j.schedule=incident.schedule AND j.retries+0=0"          \
    " AND j.id<>?1 AND (SELECT o.id FROM incident o WHERE o.job=j.id AND o.ended IS NULL LIMIT 1)" \
    " IS NULL"

static bool incident_hand_on(struct store *store, int64_t job, struct error *error) {
    return db_run(&store->db, error,
                  "UPDATE incident SET job=(" OTHER_DEAD ") WHERE job=?1 AND ended IS NULL"
                  " AND coalesce(schedule, '')<>'' AND type<>'" INCIDENT_HANDLER_STUCK "'"
                  " AND (" OTHER_DEAD ") IS NOT NULL",
                  "i", job);
}

bool incident_end_open(struct store *store, int64_t job, enum incident_end how, time_ms now,
                       struct error *error) {
    int64_t some = 0;
    if (store->incidents < 0) {
        if (db_value(&store->db, error, &some,
                     "SELECT EXISTS(SELECT 1 FROM incident WHERE ended IS NULL)", "") == FAILED)
            return false;
        store->incidents = some != 0;
    }
    return !store->incidents ||
           (caller_incidents_end(store, job, how, now, error) &&
            incident_hand_on(store, job, error) &&
            db_run(&store->db, error,
                   "UPDATE incident SET ended=?2, how=?3 WHERE job=?1 AND ended IS NULL"
                   " AND type<>'" INCIDENT_HANDLER_STUCK "'",
                   "iin", job, now, (int)how) &&
            CRASH_POINT("incident_ended"));
}

bool incident_move(struct store *store, int64_t job, const char *handler, const char *activity,
                   struct error *error) {
    return db_run(&store->db, error,
                  "UPDATE incident SET definition=(SELECT id FROM definition WHERE name=?2),"
                  " activity=?3, failed_activity=CASE WHEN failed_activity=activity THEN ?3"
                  " ELSE failed_activity END WHERE job=?1 AND ended IS NULL",
                  "itt", job, handler, activity);
}

/* ---- what a person does to one (rules §10, §11) ---- */

struct found {
    bool open, deleted;
    char note[128]; /* its beginning */
};

static bool incident_find(struct store *store, int64_t id, struct found *found,
                          struct error *error) {
    struct row *row = db_query(
        &store->db, error, "SELECT ended IS NULL, how, note FROM incident WHERE id=?1", "i", id);
    enum answer step = db_step(&store->db, row, error);
    if (step == NO)
        error_set(error, ERROR_NOT_FOUND, "no incident %lld", (long long)id);
    if (step != YES)
        return false;
    const char *note = row_text(row, 2);
    *found =
        (struct found){.open = row_int32(row, 0), .deleted = row_int32(row, 1) == INCIDENT_DELETED};
    if (note)
        memcpy(found->note, note, utf8_prefix(note, sizeof found->note / 4 - 1));
    row_done(row);
    return true;
}

static bool incident_resolve(struct store *store, const struct command *command, time_ms now,
                             struct error *error) {
    return caller_incidents_resolve(store, command->incident, now, error) &&
           outbox_try_again(store, command->incident, error) &&
           (!command->note || db_run(&store->db, error, "UPDATE incident SET note=?2 WHERE id=?1",
                                     "it", command->incident, command->note));
}

/* The job stays as it is: dead, if it was. */
static bool incident_check(const struct command *command, const struct found *found,
                           struct error *error) {
    if (command->verb == COMMAND_SET_INCIDENT_REMOVAL_TIME)
        return !found->open || error_set(error, ERROR_CONFLICT, "incident %lld has not ended",
                                         (long long)command->incident);
    return command->verb != COMMAND_RESOLVE || found->open ||
           error_set(error, ERROR_CONFLICT, "incident %lld is %s already",
                     (long long)command->incident,
                     found->deleted ? "closed with its job" : "resolved");
}

bool incident_preview(struct store *store, const struct command *command, int64_t *count,
                      struct error *error) {
    struct found found;
    *count = 1;
    return incident_find(store, command->incident, &found, error) &&
           incident_check(command, &found, error);
}

/* An ended one goes then, or never, or by its time to live. */
static bool incident_remove_at(struct store *store, const struct command *command, time_ms now,
                               struct error *error) {
    struct found found;
    char entity[64], after[TIME_TEXT_SIZE];
    snprintf(entity, sizeof entity, "incident %lld", (long long)command->incident);
    removal_name(command->removal, after);
    return incident_find(store, command->incident, &found, error) &&
           incident_check(command, &found, error) &&
           db_run(&store->db, error, "UPDATE incident SET removal=?2 WHERE id=?1", "iT",
                  command->incident, command->removal) &&
           operation_write(store, command->name, entity, 1, NULL, after, now, error);
}

bool incident_command(struct store *store, const struct command *command, time_ms now,
                      struct error *error) {
    struct found found;
    char entity[64];
    bool resolves = command->verb == COMMAND_RESOLVE;
    if (command->verb == COMMAND_SET_INCIDENT_REMOVAL_TIME)
        return incident_remove_at(store, command, now, error);
    snprintf(entity, sizeof entity, "incident %lld", (long long)command->incident);
    if (!incident_find(store, command->incident, &found, error) ||
        !incident_check(command, &found, error))
        return false;
    bool done = resolves ? incident_resolve(store, command, now, error)
                         : db_run(&store->db, error, "UPDATE incident SET note=?2 WHERE id=?1",
                                  "it", command->incident, command->note);
    const char *before = *found.note ? found.note : NULL;
    if (resolves)
        before = "open";
    return done && operation_write(store, command->name, entity, 1, before,
                                   resolves ? "resolved" : command->note, now, error);
}
