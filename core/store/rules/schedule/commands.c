/* commands.c - what an operator does to a schedule: pause, resume, run now (rules §20). */
#include "store/rules/create/create.h"
#include "store/rules/create/occurrence.h"
#include "store/rules/ground/defined.h"
#include "store/rules/ground/engine.h"
#include "store/rules/job/job_commands.h"
#include "store/rules/record/operation.h"
#include "store/rules/schedule/schedule.h"
#include "time/cron.h"
#include <stdio.h>
#include <string.h>

struct kept {
    int64_t job; /* the one that waits; 0: none */
    bool paused;
};

static bool kept_find(struct store *store, const char *name, struct kept *kept,
                      struct error *error) {
    enum answer step = db_read(&store->db, error,
                               "SELECT coalesce(j.id, 0), s.paused FROM schedule s"
                               " LEFT JOIN live j ON j.id=s.job WHERE s.name=?1",
                               "if<t", &kept->job, &kept->paused, name);
    if (step == NO)
        error_set(error, ERROR_NOT_FOUND, "no schedule \"%s\"", name);
    return step == YES;
}

/* What was due meanwhile meets its misfire policy when it is found. */
static bool kept_suspend(struct store *store, const struct kept *kept, bool suspended, time_ms now,
                         struct error *error) {
    struct job_row row;
    enum answer found = kept->job ? row_load(store, kept->job, &row, error) : NO;
    if (found != YES)
        return found == NO;
    ring_note(&store->ring, row.stream, row.priority); /* it may stand ready, passed over */
    return commands_set_suspended(store, (struct ids){&kept->job, 1}, SUSPENDED_SCHEDULE, suspended,
                                  now, error);
}

static bool schedule_pause(struct store *store, const struct command *command, bool pauses,
                           time_ms now, struct error *error) {
    struct kept kept;
    char entity[JOB_NAME_MAX + 32];
    snprintf(entity, sizeof entity, "schedule \"%.255s\"", command->schedule);
    return kept_find(store, command->schedule, &kept, error) &&
           db_run(&store->db, error, "UPDATE schedule SET paused=?2 WHERE name=?1", "tn",
                  command->schedule, (int)pauses) &&
           (kept.paused == pauses || kept_suspend(store, &kept, pauses, now, error)) &&
           operation_write(store, command->name, entity, kept.paused != pauses,
                           kept.paused ? "paused" : "active", pauses ? "paused" : "active", now,
                           error);
}

/* Like the one that waits, with the retries of a new one. */
static bool copy_create(struct store *store, const struct job *waiting, int64_t *id, time_ms now,
                        struct error *error) {
    struct job_spec copy = {.job = *waiting, .priority_given = true};
    int64_t retries = waiting->retries;
    if (db_value(&store->db, error, &retries, "SELECT retries FROM cycle WHERE job=?1", "i",
                 waiting->id) == FAILED)
        return false;
    copy.job.id = 0;
    copy.job.due = now;
    copy.job.retries = (int32_t)retries;
    copy.job.suspended = 0;
    copy.job.message = copy.job.failed_activity = NULL;
    const struct catalog_stream *stream = catalog_stream(&store->catalog, waiting->stream);
    bool done = create_occurrence(store, &copy, stream, now, error);
    *id = copy.reply.id;
    return done;
}

/* There is a job to copy. */
static bool kept_waits(const struct kept *kept, const char *name, struct error *error) {
    return kept->job || error_set(error, ERROR_CONFLICT,
                                  "schedule \"%s\": no job waits (its dates are over, or the job "
                                  "was deleted)",
                                  name);
}

static bool waiting_run(struct store *store, const char *name, int64_t waits, int64_t *id,
                        time_ms now, struct error *error) {
    struct job *waiting = NULL;
    bool done = row_job(store, waits, &waiting, error) == YES &&
                copy_create(store, waiting, id, now, error) &&
                occurrence_begin(store, name, *id, now, error);
    job_free(waiting);
    return done;
}

/* ---- of what runs as an executor starts, no job waits ---- */

/* NO: it has dates. *spec: what is declared, without its cycle; a new reference. */
static enum answer start_find(struct store *store, const char *name, json_t **spec,
                              struct error *error) {
    enum answer step =
        db_read(&store->db, error, "SELECT spec FROM schedule WHERE name=?1", "j<t", spec, name);
    if (step != YES)
        return step;
    const char *cycle = json_string_value(json_object_get(*spec, "cycle"));
    if (cycle && strcmp(cycle, CRON_START) == 0)
        return json_object_del(*spec, "cycle"), YES;
    json_decref(*spec);
    *spec = NULL;
    return NO;
}

static bool start_create(struct store *store, const char *name, json_t *declared, int64_t *id,
                         time_ms now, struct error *error) {
    struct spec_rules rules = spec_rules(store->rules);
    struct job_spec spec = {0};
    struct defined defined;
    rules.schedule = true;
    bool done = job_spec_read(&spec, declared, &rules, now, error) &&
                defined_read(store, spec.job.handler, &defined, error);
    if (done) {
        if (!spec.retries_given)
            spec.job.retries = 0;
        defined_apply(&defined, store, &spec);
        if (spec.job.retries < 1)
            spec.job.retries = rules.retries;
        spec.job.schedule = name;
        done = store_create(store, &spec, 0, now, error);
        *id = spec.reply.id;
    }
    job_spec_clear(&spec);
    return done;
}

static bool start_run(struct store *store, const char *name, int64_t *id, time_ms now,
                      struct error *error) {
    const struct kept none = {0};
    json_t *spec = NULL;
    enum answer starts = start_find(store, name, &spec, error);
    bool done = starts == YES ? start_create(store, name, spec, id, now, error)
                              : starts == NO && kept_waits(&none, name, error);
    json_decref(spec);
    return done;
}

static bool schedule_run(struct store *store, const struct command *command, int64_t *id,
                         time_ms now, struct error *error) {
    struct kept kept;
    char entity[JOB_NAME_MAX + 32], text[32];
    const char *name = command->schedule;
    snprintf(entity, sizeof entity, "schedule \"%.255s\"", name);
    if (!kept_find(store, name, &kept, error))
        return false;
    bool done = kept.job ? waiting_run(store, name, kept.job, id, now, error)
                         : start_run(store, name, id, now, error);
    snprintf(text, sizeof text, "job %lld", (long long)*id);
    return done && operation_write(store, command->name, entity, 1, NULL, text, now, error);
}

bool schedule_command(struct store *store, const struct command *command, int64_t *job, time_ms now,
                      struct error *error) {
    if (command->verb == COMMAND_RUN_SCHEDULE)
        return schedule_run(store, command, job, now, error);
    return schedule_pause(store, command, command->verb == COMMAND_PAUSE_SCHEDULE, now, error);
}

bool schedule_preview(struct store *store, const struct command *command, int64_t *count,
                      struct error *error) {
    struct kept kept;
    json_t *spec = NULL;
    bool runs = command->verb == COMMAND_RUN_SCHEDULE;
    if (!kept_find(store, command->schedule, &kept, error))
        return false;
    bool starts = !kept.job && start_find(store, command->schedule, &spec, error) == YES;
    json_decref(spec);
    if (runs && !starts && !kept_waits(&kept, command->schedule, error))
        return false;
    *count = runs || kept.paused != (command->verb == COMMAND_PAUSE_SCHEDULE);
    return true;
}
