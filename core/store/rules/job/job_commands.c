/* job_commands.c - what an operator does to jobs (rules §11, §12). Due dates are in due_date.c,
 * cycles in recycle.c. */
#include "store/rules/job/job_commands.h"
#include "store/rules/create/cycle.h"
#include "store/rules/create/occurrence.h"
#include "store/rules/ground/defined.h"
#include "store/rules/job/change.h"
#include "store/rules/job/tally.h"
#include "store/rules/place/admission.h"
#include "store/rules/place/places.h"
#include "store/rules/record/history.h"
#include "store/rules/record/incident.h"
#include "store/rules/record/tell.h"
#include <stdio.h>

/* ---- retries ---- */

/* One open incident as long as there are no retries, also while the job runs. */
static bool retries_incident(struct store *store, const struct job_row *old,
                             const struct job_row *row, time_ms now, struct error *error) {
    if (row->retries > 0)
        return incident_end(store, row->id, INCIDENT_RESOLVED, now, error);
    return old->retries == 0 || incident_open(store, row, INCIDENT_FAILED_JOB, now, error);
}

static bool retries_apply(struct store *store, const struct change *change, struct job_row *row,
                          struct error *error) {
    struct job_row old = *row;
    row->retries = (int32_t)change->value;
    if (change->command && change->command->due_given)
        row->due = change->due;
    if (row->retries > 0 && old.retries == 0)
        row->crashes = 0; /* a fresh start, or the first crash would end it again */
    return change_move(store, &old, row, change->now, error) &&
           tell_retries(store, &old, row, change->now, error) &&
           retries_incident(store, &old, row, change->now, error);
}

static void retries_show(const struct job_row *row, char *text) {
    snprintf(text, CHANGE_TEXT, "%d", (int)row->retries);
}

/* What the definition of the job says, read once for jobs of one definition in a row. */
static bool retries_read(struct store *store, const struct change *change, int64_t stream,
                         int32_t *retries, struct error *error) {
    const struct catalog_stream *of = catalog_stream(&store->catalog, stream);
    struct configured *last = change->configured;
    struct defined defined = {0};
    *retries = 0;
    if (!of)
        return true;
    if (last->definition != of->definition->id) {
        if (!defined_read(store, of->definition->name, &defined, error))
            return false;
        *last = (struct configured){of->definition->id, defined.retries};
    }
    *retries = last->retries;
    return true;
}

static bool retry_apply(struct store *store, const struct change *change, struct job_row *row,
                        struct error *error) {
    struct change configured = *change;
    int32_t retries = 0;
    if (!change->value && !retries_read(store, change, row->stream, &retries, error))
        return false;
    if (!change->value)
        configured.value = retries;
    if (configured.value < 1)
        configured.value = store->rules->retries;
    return retries_apply(store, &configured, row, error);
}

/* ---- priority, due date, suspension ---- */

static bool priority_apply(struct store *store, const struct change *change, struct job_row *row,
                           struct error *error) {
    struct job_row old = *row;
    row->priority = change->value;
    return change_move(store, &old, row, change->now, error);
}

static void priority_show(const struct job_row *row, char *text) {
    snprintf(text, CHANGE_TEXT, "%lld", (long long)row->priority);
}

/* The owner of the lock hears of it at once: what waits is not begun, what runs is cut short. */
static void cut(struct store *store) {
    store->meta.cuts++;
    store->ring.everybody = true;
}

static enum answer instance_suspended(struct store *store, int64_t job, struct error *error) {
    int64_t one = 0;
    return db_value(&store->db, error, &one,
                    "SELECT 1 FROM job j JOIN suspended_instance s"
                    " ON s.instance=coalesce(j.instance, CAST(j.instance_id AS TEXT))"
                    " WHERE j.id=?1",
                    "i", job);
}

/* NO: a batch comes to the job after its definition or instance was told otherwise. */
static enum answer suspend_holds(struct store *store, const struct change *change,
                                 const struct job_row *row, struct error *error) {
    int reason = change->command ? change->command->reason : 0;
    enum answer is = change->suspends ? YES : NO;
    if (reason == SUSPENDED_DEFINITION) {
        const struct catalog_stream *stream = catalog_stream(&store->catalog, row->stream);
        is = stream && stream->definition->suspended ? YES : NO;
    }
    if (reason == SUSPENDED_INSTANCE)
        is = instance_suspended(store, row->id, error);
    if (is == FAILED)
        return FAILED;
    return (is == YES) == change->suspends ? YES : NO;
}

/* A running job loses its lock and so cannot commit; its lane is held until the run ends, and so is
 * its place under a limit. */
static bool suspend_apply(struct store *store, const struct change *change, struct job_row *row,
                          struct error *error) {
    struct job_row old = *row;
    int32_t reasons = (int32_t)change->value;
    enum answer holds = suspend_holds(store, change, row, error);
    if (holds != YES)
        return holds == NO;
    row->suspended = change->suspends ? row->suspended | reasons : row->suspended & ~reasons;
    if (!change->suspends)
        held_add(&store->journal.held, row->suspended);
    if (row->suspended == old.suspended)
        return true;
    if (row->suspended && old.suspended)
        return row_write(store, row, true, error);
    if (row->suspended && row->token) {
        if (!place_unlock_job(store, row->id, error) ||
            (row->repeats && !occurrence_cut(store, row, error)))
            return false;
        row->token = 0;
        cut(store);
    }
    return change_move(store, &old, row, change->now, error);
}

static void suspend_show(const struct job_row *row, char *text) {
    char reasons[SUSPENSION_TEXT];
    suspension_text(row->suspended, reasons);
    snprintf(text, CHANGE_TEXT, row->suspended == SUSPENDED_JOB ? "suspended" : "suspended (%s)",
             reasons);
    if (!row->suspended)
        snprintf(text, CHANGE_TEXT, "active");
}

/* ---- delete, cancel ---- */

static bool delete_check(struct store *store, const struct change *change,
                         const struct job_row *row, struct error *error) {
    (void)change;
    if (!row->token)
        return true;
    struct row *owner =
        db_query(&store->db, error, "SELECT name FROM executor WHERE id=?1", "i", row->owner);
    enum answer step = db_step(&store->db, owner, error);
    if (step == FAILED)
        return false;
    error_set(error, ERROR_CONFLICT, "job %lld is locked by \"%s/%lld\" (cancel it instead)",
              (long long)row->id, step ? row_text(owner, 0) : "?", (long long)row->owner);
    if (step)
        row_done(owner);
    return false;
}

/* Takes the lock away from the run, and the occurrence that it began. */
static bool delete_running(struct store *store, const struct job_row *row, struct error *error) {
    cut(store);
    return (!row->repeats || occurrence_cut(store, row, error)) &&
           place_unlock_job(store, row->id, error);
}

/* Writes the end of the job to the history, the events and its batch. */
static bool delete_tell(struct store *store, const struct change *change, const struct job_row *row,
                        struct error *error) {
    enum history_end end = (enum history_end)change->value;
    return history_removed(store, row, end, change->now, error) &&
           tell_removed(store, row, history_end_name(end), change->now, error) &&
           (!row->batch || batch_gone(store, row, TIME_NONE, change->now, error));
}

/* Deletes the row, and those of other tables that belong to it. */
static bool delete_rows(struct store *store, const struct job_row *row, struct error *error) {
    if (!row_delete(store, row->id, error) ||
        !db_run(&store->db, error, "DELETE FROM progress WHERE job=?1", "i", row->id))
        return false;
    if (row->has_message && !row_calm(store, row->id, error))
        return false;
    return !row->repeats ||
           (cycle_end(store, row->id, error) && occurrence_end(store, row->id, error));
}

static bool delete_apply(struct store *store, const struct change *change, struct job_row *row,
                         struct error *error) {
    if (!(row->token ? delete_running(store, row, error) : place_remove(store, row, error)))
        return false;
    if (row->retries > 0 && !admission_end(store, row, error))
        return false;
    if (!delete_tell(store, change, row, error) || !delete_rows(store, row, error))
        return false;
    return incident_end(store, row->id, INCIDENT_DELETED, change->now, error) &&
           place_expose(store, row->lane, error);
}

/* ---- all of them ---- */

/* Every verb on jobs; no `apply`: no code does it. */
static const struct change changes[COMMAND_COUNT] = {
    [COMMAND_SET_RETRIES] = {.apply = retries_apply, .show = retries_show},
    [COMMAND_RETRY] = {.apply = retry_apply, .show = retries_show},
    [COMMAND_SET_PRIORITY] = {.apply = priority_apply, .show = priority_show},
    [COMMAND_SET_DUE] = {.check = due_check, .apply = due_apply, .show = due_show},
    [COMMAND_RECALCULATE_DUE] = {.check = again_check, .apply = again_apply, .show = due_show},
    [COMMAND_SET_CYCLE] = {.check = recycle_check, .apply = recycle_apply, .read = recycle_read},
    [COMMAND_SUSPEND] = {.apply = suspend_apply,
                         .show = suspend_show,
                         .suspends = true,
                         .value = SUSPENDED_JOB},
    [COMMAND_ACTIVATE] = {.apply = suspend_apply, .show = suspend_show, .value = SUSPENDED_BY_NAME},
    [COMMAND_DELETE] = {.check = delete_check, .apply = delete_apply, .value = ENDED_DELETED},
    [COMMAND_CANCEL] = {.apply = delete_apply, .value = ENDED_CANCELLED},
    [COMMAND_DEAD_LETTER] = {.apply = retries_apply, .show = retries_show},
};

/* What the command says of the change. */
static bool change_read(struct store *store, const struct command *command, enum command_verb verb,
                        struct change *change, time_ms now, struct error *error) {
    *change = changes[verb];
    if (!change->apply)
        return error_set(error, ERROR_FAILED, "%s: no code does it", command->name);
    change->name = command->name;
    change->command = command;
    change->now = now;
    change->due = verb == COMMAND_SET_DUE ? row_due(store, command->due, now) : command->due;
    if (command->reason)
        change->value = command->reason;
    else if (verb == COMMAND_SET_PRIORITY)
        change->value = command->priority;
    else if (verb == COMMAND_SET_RETRIES)
        change->value = command->retries;
    return verb != COMMAND_SET_DUE || !command->cascade || change->due != TIME_NONE ||
           error_set(error, ERROR_INVALID, "cascade: expected a due date");
}

/* Those of the ids whose jobs are there, in `known`, if the command passes over others. */
static bool ids_known(struct store *store, const struct command *command, struct ids *ids,
                      int64_t known[COMMAND_IDS], struct error *error) {
    size_t count = 0;
    struct job_row row;
    if (!command->ignore_missing || ids->count > COMMAND_IDS)
        return true;
    if (!row_want(store, *ids, false, error))
        return false;
    for (size_t i = 0; i < ids->count; i++) {
        enum answer found = row_load(store, ids->list[i], &row, error);
        if (found == FAILED)
            return false;
        if (found == YES)
            known[count++] = ids->list[i];
    }
    *ids = (struct ids){known, count};
    return true;
}

bool commands_on_jobs(struct store *store, const struct command *command, struct ids ids,
                      time_ms now, struct error *error) {
    int64_t known[COMMAND_IDS];
    struct change change;
    return change_read(store, command, command->verb, &change, now, error) &&
           ids_known(store, command, &ids, known, error) && change_run(store, &change, ids, error);
}

bool commands_check(struct store *store, const struct command *command, struct ids ids, time_ms now,
                    struct error *error) {
    int64_t known[COMMAND_IDS];
    struct change change;
    bool done = change_read(store, command, command->verb, &change, now, error) &&
                ids_known(store, command, &ids, known, error) &&
                change_check(store, &change, ids, error);
    row_want_end(store);
    return done;
}

/* ---- parts of larger commands ---- */

static bool silently(struct store *store, enum command_verb verb, int64_t value, struct ids ids,
                     time_ms now, struct error *error) {
    struct change change = changes[verb];
    change.check = NULL;
    change.value = value;
    change.now = now;
    change.silent = true;
    return change_run(store, &change, ids, error);
}

bool commands_set_retries(struct store *store, struct ids ids, const struct command *command,
                          time_ms now, struct error *error) {
    struct change change;
    if (!change_read(store, command, COMMAND_SET_RETRIES, &change, now, error))
        return false;
    change.silent = true;
    return change_run(store, &change, ids, error);
}

bool commands_retry(struct store *store, struct ids ids, int32_t retries, time_ms now,
                    struct error *error) {
    return silently(store, COMMAND_RETRY, retries, ids, now, error);
}

bool commands_set_priority(struct store *store, struct ids ids, int64_t priority, time_ms now,
                           struct error *error) {
    return silently(store, COMMAND_SET_PRIORITY, priority, ids, now, error);
}

bool commands_set_suspended(struct store *store, struct ids ids, int reasons, bool suspended,
                            time_ms now, struct error *error) {
    return silently(store, suspended ? COMMAND_SUSPEND : COMMAND_ACTIVATE, reasons, ids, now,
                    error);
}

bool commands_delete(struct store *store, struct ids ids, time_ms now, struct error *error) {
    return silently(store, COMMAND_DELETE, ENDED_DELETED, ids, now, error);
}

bool commands_delete_known(struct store *store, int64_t id, time_ms now, struct error *error) {
    struct job_row row;
    enum answer found = row_load(store, id, &row, error);
    return found == NO ||
           (found == YES && commands_delete(store, (struct ids){&id, 1}, now, error));
}

bool commands_cancel(struct store *store, struct ids ids, time_ms now, struct error *error) {
    return silently(store, COMMAND_CANCEL, ENDED_CANCELLED, ids, now, error);
}
