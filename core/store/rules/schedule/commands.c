/* commands.c - what an operator does to a schedule: pause, resume, run now (rules §20). */
#include "store/rules/create/create.h"
#include "store/rules/create/occurrence.h"
#include "store/rules/ground/engine.h"
#include "store/rules/job/job_commands.h"
#include "store/rules/record/operation.h"
#include "store/rules/schedule/schedule.h"
#include <stdio.h>

struct kept {
    int64_t job; /* the one that waits; 0: none */
    bool paused;
};

static bool kept_find(struct store *store, const char *name, struct kept *kept,
                      struct error *error) {
    struct row *row = db_query(&store->db, error,
                               "SELECT coalesce(j.id, 0), s.paused FROM schedule s"
                               " LEFT JOIN live j ON j.id=s.job WHERE s.name=?1",
                               "t", name);
    enum answer step = db_step(&store->db, row, error);
    if (step == NO)
        error_set(error, ERROR_NOT_FOUND, "no schedule \"%s\"", name);
    if (step != YES)
        return false;
    *kept = (struct kept){row_int(row, 0), row_int32(row, 1) != 0};
    row_done(row);
    return true;
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

static bool schedule_run(struct store *store, const struct command *command, int64_t *id,
                         time_ms now, struct error *error) {
    struct kept kept;
    struct job *waiting = NULL;
    char entity[JOB_NAME_MAX + 32], text[32];
    snprintf(entity, sizeof entity, "schedule \"%.255s\"", command->schedule);
    if (!kept_find(store, command->schedule, &kept, error) ||
        !kept_waits(&kept, command->schedule, error))
        return false;
    bool done = row_job(store, kept.job, &waiting, error) == YES &&
                copy_create(store, waiting, id, now, error) &&
                occurrence_begin(store, command->schedule, *id, now, error);
    job_free(waiting);
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
    bool runs = command->verb == COMMAND_RUN_SCHEDULE;
    if (!kept_find(store, command->schedule, &kept, error) ||
        (runs && !kept_waits(&kept, command->schedule, error)))
        return false;
    *count = runs || kept.paused != (command->verb == COMMAND_PAUSE_SCHEDULE);
    return true;
}
