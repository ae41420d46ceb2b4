/* commands.c - does the commands of operators: one way in for people, jobs and dates (rules §11,
 * §12). A verb is done in steps of at most 1 000 jobs, each a transaction; a date is a timer job
 * of its own whose success does the verb. */
#include "store/rules/fleet/commands.h"
#include "base/crash_point.h"
#include "base/json.h"
#include "base/text.h"
#include "store/rules/batch/batch.h"
#include "store/rules/clean/clean.h"
#include "store/rules/command/commands.h"
#include "store/rules/ground/defined.h"
#include "store/rules/job/stuck.h"
#include "store/rules/process/suspend.h"
#include "store/rules/record/incident.h"
#include "store/rules/record/operation.h"
#include "store/rules/schedule/schedule.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LANE_CHARACTERS 58  /* of a name: with four bytes each they fit */
#define EFFECT_WINDOW 50000 /* ids that a step inside a turn looks at */

/* ---- one verb ---- */

static bool command_step(struct store *store, struct command *command, struct step *step,
                         struct command_run *run, time_ms now, struct error *error) {
    switch (command->target) {
    case TARGET_DEFINITION:
        return definition_command(store, command, step, now, error);
    case TARGET_INSTANCE:
        return instance_command(store, command, step, now, error);
    case TARGET_PROCESS:
        return process_command(store, command, step, now, error);
    case TARGET_TASK:
        step->ids.count = 1;
        return task_command(store, command, now, error);
    case TARGET_INCIDENT:
        step->ids.count = 1;
        return incident_command(store, command, now, error);
    case TARGET_HISTORY:
        return history_command(store, command, step, now, error);
    case TARGET_PLAN:
        return command->plan ? cleanup_command(store, command, step, now, error)
                             : cleanup_begin(store, run->made, &run->made_count, now, error);
    case TARGET_SCHEDULE:
        return schedule_command(store, command, &step->job, now, error);
    case TARGET_BATCH:
        return batch_command(store, command, step, now, error);
    case TARGET_EXECUTOR:
        return drain_command(store, command, &step->ids.count, now, error);
    case TARGET_DEPLOYMENT:
        return deployment_command(store, command, &step->ids.count, now, error);
    case TARGET_JOBS:
        return step_select(store, step, command, now, error) &&
               commands_on_jobs(store, command, step->ids, now, error);
    }
    return error_set(error, ERROR_FAILED, "%s: no code does it", command->name);
}

static bool command_now(struct store *store, const json_t *object, struct command *command,
                        int64_t window, struct command_run *run, time_ms now, struct error *error) {
    struct step *step = calloc(1, sizeof *step);
    if (!step)
        return error_no_memory(error);
    step->window = window;
    if (!command->upto)
        command->upto = meta_bound(store); /* so that it ends although others are created */
    store->journal.entry = store->journal.written = command->entry;
    store->journal.held = command->held;
    store->journal.query = command->query;
    bool done = command_step(store, command, step, run, now, error);
    store->journal.query = NULL;
    store->journal.instance = 0;
    command->entry = store->journal.written;
    store->journal.entry = 0;
    run->held = command->held = store->journal.held;
    store->journal.held = (struct held){0};
    run->touched = step->ids.count;
    if (step->job)
        run->made[run->made_count++] = step->job;
    if (done && (command->verb == COMMAND_CANCEL || command->verb == COMMAND_DELETE))
        done = stuck_among(store, step->ids, &run->stuck, error);
    if (done && step->more && !(run->rest = command_rest(object, command)))
        done = error_no_memory(error);
    free(step);
    return done;
}

/* ---- a verb for later ---- */

/* Its job is of no deployment, and every executor may run it (serves.c). Those for one
 * thing share a lane: what was asked for two dates is done in their order, however late. */
static bool command_job(struct store *store, const json_t *object, time_ms due, time_ms now,
                        int64_t *id, struct error *error) {
    char lane[JOB_NAME_MAX + 1] = "";
    static const char *const kinds[] = {"definition", "instance", "process"};
    const char *name = NULL;
    for (size_t i = 0; !name && i < sizeof kinds / sizeof *kinds; i++) {
        name = json_string_value(json_object_get(object, kinds[i]));
        if (name)
            snprintf(lane, sizeof lane, COMMAND_RESERVED "%s/%.*s", kinds[i],
                     (int)utf8_prefix(name, LANE_CHARACTERS), name);
    }
    struct job_spec spec = {.job = {.handler = COMMAND_HANDLER,
                                    .type = due == TIME_NONE ? JOB_MESSAGE : JOB_TIMER,
                                    .due = due,
                                    .lane = name ? lane : NULL,
                                    .exclusive = name != NULL}};
    bool done = defined_create(store, &spec, object, now, error);
    *id = spec.reply.id;
    return done;
}

static bool command_later(struct store *store, const json_t *object, const struct command *command,
                          struct command_run *run, time_ms now, struct error *error) {
    char entity[JOB_NAME_MAX + 32], at[TIME_TEXT_SIZE], text[64];
    json_t *bare = json_copy(json_unchanged(object));
    if (!bare)
        return error_no_memory(error);
    if (command->definition && !catalog_definition(&store->catalog, command->definition)) {
        json_decref(bare);
        return error_set(error, ERROR_NOT_FOUND, "unknown definition \"%s\"", command->definition);
    }
    json_object_del(bare, "at");
    bool done = command_job(store, bare, command->at, now, &run->made[run->made_count++], error);
    json_decref(bare);
    time_format(command->at, at);
    snprintf(text, sizeof text, "at %s by job %lld", at, (long long)run->made[0]);
    const char *kind = "instance", *name = command->instance;
    if (command->definition || command->process) {
        kind = command->definition ? "definition" : "process";
        name = command->definition ? command->definition : command->process;
    }
    snprintf(entity, sizeof entity, "%s \"%.255s\"", kind, name);
    return done && operation_write(store, command->name, entity, 0, NULL, text, now, error);
}

static bool command_give(struct store *store, const json_t *object, int64_t window,
                         struct command_run *run, time_ms now, struct error *error) {
    struct command command;
    if (!command_read(&command, object, error))
        return false;
    run->target = command.target;
    return command.at == TIME_NONE ? command_now(store, object, &command, window, run, now, error)
                                   : command_later(store, object, &command, run, now, error);
}

static bool command_write(struct store *store, const json_t *command, struct command_run *run,
                          time_ms now, struct error *error) {
    bool own = false;
    if (!unit_begin(store, STORE_COMMAND, &own, error))
        return false;
    bool done = command_give(store, command, 0, run, now, error) && CRASH_POINT("verb_written");
    if (unit_end(store, own, done, error))
        return true;
    json_decref(run->rest);
    command_run_clear(run);
    return false;
}

/* ---- what a command would do ---- */

static bool preview_ids(struct store *store, struct command *command, int64_t *count, time_ms now,
                        struct error *error) {
    struct step *step = calloc(1, sizeof *step);
    bool fine = step || error_no_memory(error);
    for (bool more = true; fine && more; more = fine && step->more) {
        step_slice(step, command);
        fine = commands_check(store, command, step->ids, now, error);
        *count += (int64_t)step->ids.count;
    }
    free(step);
    return fine;
}

static bool preview(struct store *store, struct command *command, int64_t *count, time_ms now,
                    struct error *error) {
    switch (command->target) {
    case TARGET_JOBS:
        return command->ids ? preview_ids(store, command, count, now, error)
                            : store_jobs_count(store, command->query, now, count, error);
    case TARGET_DEFINITION:
        return definition_preview(store, command, count, error);
    case TARGET_INSTANCE:
        return instance_preview(store, command, count, error);
    case TARGET_PROCESS:
        return process_preview(store, command, count, error);
    case TARGET_TASK:
        return task_preview(store, command, count, error);
    case TARGET_HISTORY:
        return history_preview(store, command, count, error);
    case TARGET_INCIDENT:
        return incident_preview(store, command, count, error);
    case TARGET_SCHEDULE:
        return schedule_preview(store, command, count, error);
    case TARGET_BATCH:
        return batch_preview(store, command, count, error);
    case TARGET_DEPLOYMENT:
        return deployment_preview(store, command, count, now, error);
    case TARGET_PLAN:
    case TARGET_EXECUTOR:
        break;
    }
    if (command->target == TARGET_EXECUTOR)
        return error_set(error, ERROR_INVALID, "%s: cannot be tried", command->name);
    return error_set(error, ERROR_INVALID, "%s: cannot be tried (see history clean --dry-run)",
                     command->name);
}

static bool command_try(struct store *store, const json_t *object, struct command_run *run,
                        time_ms now, struct error *error) {
    struct command command;
    bool own = false;
    int64_t found = 0;
    if (!command_read(&command, object, error) || !look_begin(store, &own, error))
        return false;
    bool fine = preview(store, &command, &found, now, error);
    look_end(store, own);
    run->target = command.target;
    run->touched = (size_t)found;
    return fine;
}

bool store_command(struct store *store, const json_t *command, struct command_run *run, time_ms now,
                   struct error *error) {
    command_run_clear(run);
    return run->dry_run ? command_try(store, command, run, now, error)
                        : command_write(store, command, run, now, error);
}

/* ---- effects ---- */

/* What one transaction cannot take goes on as a job. */
static bool effect(struct store *store, const json_t *command, time_ms now, struct error *error) {
    struct command_run run = {0};
    int64_t id = 0;
    bool done = command_give(store, command, EFFECT_WINDOW, &run, now, error) &&
                (!run.rest || command_job(store, run.rest, TIME_NONE, now, &id, error));
    json_decref(run.rest);
    return done;
}

bool commands_of_success(struct store *store, const json_t *effects, const struct job *job,
                         time_ms now, struct error *error) {
    bool done = true;
    snprintf(store->journal.who, sizeof store->journal.who, "job %lld", (long long)job->id);
    store->journal.job = job->id;
    store->journal.attempt = job->attempt;
    store->journal.silent = job->batch != 0;
    for (size_t i = 0; done && i < json_array_size(effects); i++)
        done = effect(store, json_array_get(effects, i), now, error);
    store->journal = (struct journal){0};
    return done;
}
