/* settle.c - the end of a run (rules §8; §1: the fence; §4: its lane is released), written whole.
 */
#include "base/crash_point.h"
#include "base/text.h"
#include "job/suspension.h"
#include "store/rules/batch/batch.h"
#include "store/rules/command/commands.h"
#include "store/rules/create/occurrence.h"
#include "store/rules/create/prelock.h"
#include "store/rules/ground/capacity.h"
#include "store/rules/ground/row.h"
#include "store/rules/ground/transaction.h"
#include "store/rules/ground/unit_ahead.h"
#include "store/rules/job/stuck.h"
#include "store/rules/place/admission.h"
#include "store/rules/place/backlog.h"
#include "store/rules/place/fair_share.h"
#include "store/rules/place/places.h"
#include "store/rules/place/rate_limit.h"
#include "store/rules/place/suspects.h"
#include "store/rules/process/caller.h"
#include "store/rules/process/lane.h"
#include "store/rules/process/unit_write.h"
#include "store/rules/process/waiting.h"
#include "store/rules/record/bulk.h"
#include "store/rules/record/history.h"
#include "store/rules/record/incident.h"
#include "store/rules/record/tell.h"
#include "store/rules/work/work.h"
#include <string.h>

/* Writes what is kept back: an outcome may ask for it. */
static bool settle_flush(struct store *store, struct error *error) {
    if (!bulk_flush(store, true, error) || !bulk_runs(store, error))
        return false;
    return waiting_gone(store, error) && left_remove(store, error) && places_released(store, error);
}

/* Ends the series of conflicts, if the job has one. */
static bool settle_calm(struct store *store, const struct job *job, struct error *error) {
    return !job->conflicts || row_calm(store, job->id, error);
}

/* Leaves the row as a tombstone, which is purged with its neighbours. It is deleted at once if the
 * job is dead or suspended (a run by hand) or an operator has edited it: `live` would show it. */
static bool settle_remove(struct store *store, const struct job *job, enum unlocked how,
                          struct error *error) {
    bool left = how == UNLOCKED && job->retries > 0 && !job->suspended;
    if (left && !leave_row(store, job->id, &left, error))
        return false;
    bool gone = left ? unit_ahead_ended(store, job->id, error) : row_delete(store, job->id, error);
    return gone && settle_calm(store, job, error) &&
           (!store->progress ||
            db_run(&store->db, error, "DELETE FROM progress WHERE job=?1", "i", job->id));
}

/* Gives up the unique key and the place in the backlog, if the job has them. A lock that has ended
 * with others is that of a job without a backlog: its key may go with others, too. */
static bool settle_give_up(struct store *store, const struct outcome *outcome, enum history_end end,
                           time_ms now, struct error *error) {
    const struct job *job = outcome->job;
    struct job_row row;
    if (!job->unique_key && !backlog_counts(store, job->stream))
        return true;
    if (outcome->way == WAY_OTHERS && store->engine->sets)
        return bulk_key(store, outcome_job(outcome), now, error);
    if (end == ENDED_SUCCESSFUL)
        return admission_done(store, job, now, error);
    enum answer found = row_load_placeless(store, job->id, &row, error);
    return found == NO || (found == YES && (row.retries == 0 || admission_end(store, &row, error)));
}

/* Counts the job as gone from its batch, with the retries as an operator may have set them. */
static bool settle_batch(struct store *store, const struct outcome *outcome, time_ms now,
                         struct error *error) {
    const struct job *job = outcome->job;
    struct job_row row = {.batch = job->batch, .stream = job->stream};
    int64_t retries = 0;
    if (!job->batch)
        return true;
    if (db_value(&store->db, error, &retries, "SELECT retries FROM job WHERE id=?1", "i",
                 job->id) == FAILED)
        return false;
    row.retries = (int32_t)retries;
    return batch_gone(store, &row, outcome->started, now, error);
}

/* The entries of successes are kept back: they are written together, at the latest with the commit.
 */
static bool history_later(const struct store *store, const struct outcome *outcome) {
    return (outcome->way == WAY_OTHERS || outcome->way == WAY_KEPT) &&
           store->rules->history == HISTORY_FULL && !store->meta.ended;
}

static bool settle_history(struct store *store, const struct outcome *outcome, enum history_end end,
                           struct error *error) {
    return history_later(store, outcome) ? bulk_settle(store, outcome, error)
                                         : history_ended(store, outcome, end, error);
}

static bool settle_success(struct store *store, struct outcome *outcome, enum unlocked how,
                           enum history_end end, time_ms now, struct error *error) {
    enum incident_end ends = end == ENDED_SUCCESSFUL ? INCIDENT_RESOLVED : INCIDENT_DELETED;
    if (!settle_give_up(store, outcome, end, now, error) ||
        !settle_batch(store, outcome, now, error) ||
        !settle_remove(store, outcome->job, how, error))
        return false;
    CRASH_POINT("settle_removed");
    if (!settle_history(store, outcome, end, error))
        return false;
    CRASH_POINT("settle_ended");
    bool tells = end != ENDED_SUCCESSFUL && !outcome->told;
    if (tells && !tell_ended(store, outcome->job, history_end_name(end), now, error))
        return false;
    return incident_end(store, outcome->job->id, ends, now, error) &&
           (!outcome->job->repeat || occurrence_end(store, outcome->job->id, error));
}

/* Puts retries and due date of the outcome into the row, unless an operator has changed them during
 * the run. */
static void settle_merge(const struct outcome *outcome, struct job_row *row) {
    if (outcome->kind == OUTCOME_FAILURE && row->retries == outcome->job->retries)
        row->retries = outcome->retries > 0 ? outcome->retries : 0;
    if (outcome->due != TIME_NONE && row->due == outcome->job->due)
        row->due = outcome->due;
}

/* Takes or gives up the unique key as the job gets alive or dead. A dead job that was run by hand
 * stays dead if another job has the key. */
static bool settle_alive(struct store *store, struct job_row *row, bool dead, time_ms now,
                         struct error *error) {
    if (dead == (row->retries == 0))
        return true;
    if (!dead)
        return admission_end(store, row, error);
    enum answer again = admission_again(store, row, now, error);
    if (again == NO)
        row->retries = 0;
    return again != FAILED;
}

static bool settle_failure(struct store *store, struct outcome *outcome, struct job_row *row,
                           time_ms now, struct error *error) {
    char message[JOB_MESSAGE_MAX * 4 + 1] = "";
    const struct job_row before = *row;
    bool dead = row->retries == 0;
    outcome_decide(outcome, store->rules->failed_job_wait, now);
    if (!history_failed(store, outcome, row, error))
        return false;
    CRASH_POINT("settle_attempted");
    settle_merge(outcome, row);
    if (!settle_alive(store, row, dead, now, error) ||
        !fair_share_place(store, NULL, row, now, error) ||
        (row->batch && !batch_retries(store, &before, row, error)))
        return false;
    if (dead && row->retries > 0 && !incident_end(store, row->id, INCIDENT_RESOLVED, now, error))
        return false;
    if (outcome->message)
        memcpy(message, outcome->message, utf8_prefix(outcome->message, JOB_MESSAGE_MAX));
    if (!row_fail(store, row, outcome->message ? message : NULL, outcome->failed_activity, error) ||
        !settle_calm(store, outcome->job, error))
        return false;
    const char *incident = incident_of(outcome);
    bool other = row->retries == 0 && strcmp(incident, INCIDENT_FAILED_JOB) != 0;
    if ((other && !incident_open(store, row, incident, now, error)) ||
        (!outcome->told && !tell_failure(store, outcome, row->retries, now, error)))
        return false;
    CRASH_POINT("settle_failed");
    return incident_place(store, row, now, error);
}

/* Puts the job into its place. A job that was dead before a run by hand and is so after it has
 * none, and its incident is open already. */
static bool settle_place(struct store *store, const struct outcome *outcome,
                         const struct job_row *row, time_ms now, struct error *error) {
    return (row->retries == 0 && outcome->job->retries == 0) ||
           incident_place(store, row, now, error);
}

static bool settle_snooze(struct store *store, struct outcome *outcome, struct job_row *row,
                          time_ms now, struct error *error) {
    settle_merge(outcome, row);
    if (!fair_share_place(store, NULL, row, now, error) ||
        !history_snoozed(store, outcome, row, error))
        return false;
    return row_move(store, row, NULL, error) && settle_calm(store, outcome->job, error) &&
           settle_place(store, outcome, row, now, error);
}

/* Writes message, due date and one more conflict in a row; it costs neither retry nor attempt. */
static bool settle_conflict(struct store *store, struct outcome *outcome, struct job_row *row,
                            time_ms now, struct error *error) {
    char message[JOB_MESSAGE_MAX * 4 + 1] = "";
    if (outcome->message)
        memcpy(message, outcome->message, utf8_prefix(outcome->message, JOB_MESSAGE_MAX));
    settle_merge(outcome, row);
    if (!fair_share_place(store, NULL, row, now, error) || !row_move(store, row, message, error))
        return false;
    return row_conflict(store, row->id, error) && settle_place(store, outcome, row, now, error);
}

/* The same until a suspended caller is activated; it may have been by now. */
static bool settle_held(struct store *store, struct outcome *outcome, struct job_row *row,
                        time_ms now, struct error *error) {
    enum answer held = caller_waited_for(store, outcome->job->instance_id, error);
    if (held != YES)
        return held == NO && settle_conflict(store, outcome, row, now, error);
    row->suspended |= SUSPENDED_CALLER;
    return row_write(store, row, true, error) && settle_calm(store, outcome->job, error) &&
           settle_place(store, outcome, row, now, error);
}

static bool settle_again(struct store *store, struct outcome *outcome, struct job_row *row,
                         time_ms now, struct error *error) {
    switch (outcome->kind) {
    case OUTCOME_FAILURE:
        return settle_failure(store, outcome, row, now, error);
    case OUTCOME_SNOOZE:
        return settle_snooze(store, outcome, row, now, error);
    case OUTCOME_CONFLICT:
        return outcome->held ? settle_held(store, outcome, row, now, error)
                             : settle_conflict(store, outcome, row, now, error);
    case OUTCOME_RETURNED:
        return settle_place(store, outcome, row, now, error);
    case OUTCOME_SUCCESS:
    case OUTCOME_SKIPPED:
    case OUTCOME_CANCELLED:
        break;
    }
    return error_set(error, ERROR_FAILED, "job %lld: an end leaves no row", (long long)row->id);
}

/* What decides the place of a job whose row is as it was taken. */
static struct job_row settle_row(const struct job *job) {
    return (struct job_row){.id = job->id,
                            .stream = job->stream,
                            .priority = job->priority,
                            .lane = job->lane_id,
                            .due = job->due,
                            .created = job->created,
                            .retries = job->retries,
                            .attempt = job->attempt};
}

static enum bulk_goes settle_goes(struct store *store, const struct job_row *row, time_ms now) {
    if (row->retries == 0) {
        store->incidents = 1;
        return GOES_DEAD;
    }
    return place_row_later(store, row, now) ? GOES_TIMER : GOES_READY;
}

/* A failed run whose lock has ended with others. It is written with them, unless somebody is told
 * of its incident, or callers of an instance or other runs of its schedule have one too. Nor is one
 * whose key becomes free, or in which another activity than the job's has failed. */
static enum answer settle_with_others(struct store *store, struct outcome *outcome, time_ms now,
                                      enum settled *settled, struct error *error) {
    struct job_row row = settle_row(outcome->job);
    outcome_decide(outcome, store->rules->failed_job_wait, now);
    settle_merge(outcome, &row);
    *settled = row.retries == 0 ? SETTLED_DEAD : SETTLED;
    const struct job *job = outcome->job;
    bool told = row.retries == 0 &&
                (job->unique_key || job->instance_id || job->schedule || !incident_untold(store));
    if (told || outcome->failed_activity)
        return settle_flush(store, error) ? NO : FAILED;
    if (!fair_share_place(store, NULL, &row, now, error) ||
        (!outcome->told && !tell_failure(store, outcome, row.retries, now, error)))
        return FAILED;
    enum bulk_goes goes = settle_goes(store, &row, now);
    return bulk_fail(store, outcome, &row, goes, now, error) ? YES : FAILED;
}

/* A job whose lock has ended with others unrun goes back with them: it was due. */
static enum answer settle_returned(struct store *store, const struct outcome *outcome, time_ms now,
                                   struct error *error) {
    const struct job_row row = settle_row(outcome->job);
    if (row.due > now)
        return NO;
    place_back_later(store, &row);
    return bulk_fail(store, outcome, &row, GOES_BACK, now, error) ? YES : FAILED;
}

static enum answer settle_back_with_others(struct store *store, struct outcome *outcome,
                                           time_ms now, enum settled *settled,
                                           struct error *error) {
    if (outcome->way != WAY_OTHERS)
        return NO;
    return outcome->kind == OUTCOME_RETURNED
               ? settle_returned(store, outcome, now, error)
               : settle_with_others(store, outcome, now, settled, error);
}

/* Settles a job that goes on: after a failure, a snooze, a conflict, or unrun. */
static bool settle_back(struct store *store, struct outcome *outcome, time_ms now,
                        enum settled *settled, struct error *error) {
    struct job_row row;
    enum answer with_others = settle_back_with_others(store, outcome, now, settled, error);
    if (with_others != NO)
        return with_others == YES;
    enum answer found = row_load_placeless(store, outcome->job->id, &row, error);
    if (found == NO)
        error_set(error, ERROR_DAMAGED, "store \"%s\": damaged: locked job %lld has no row",
                  store->db.name, (long long)outcome->job->id);
    if (found != YES)
        return false;
    bool done = settle_again(store, outcome, &row, now, error);
    if (done && row.retries == 0)
        *settled = SETTLED_DEAD;
    return done && (!row.repeats || occurrence_left(store, &row, error));
}

static bool settle_kind(struct store *store, struct outcome *outcome, enum unlocked how,
                        time_ms now, enum settled *settled, struct error *error) {
    *settled = SETTLED;
    if (outcome->kind != OUTCOME_RETURNED && !history_lines(store, outcome, error))
        return false;
    if (!outcome_traits[outcome->kind].ends)
        return settle_back(store, outcome, now, settled, error);
    enum history_end end = history_end_of(outcome);
    return settle_success(store, outcome, how, end, now, error);
}

static bool settle_created(struct store *store, struct outcome *outcome, time_ms now,
                           struct error *error) {
    if (outcome_has_walked(outcome) && !unit_write(store, outcome, now, error))
        return false;
    if (!outcome_traits[outcome->kind].keeps) /* only a hook may have created jobs */
        return !outcome->created || !outcome->created->by_hook ||
               store_create(store, outcome->created, 0, now, error);
    if (outcome->created) {
        prelock_begin(store, outcome);
        bool done = store_create(store, outcome->created, 0, now, error);
        prelock_end(store);
        if (!done)
            return false;
        CRASH_POINT("settle_created");
    }
    return !outcome->effects ||
           (commands_of_success(store, outcome->effects, outcome->job, now, error) &&
            CRASH_POINT("settle_operated"));
}

/* Frees the place of the run under a limit, and that of its item with the last of its jobs. A run
 * that was given up keeps its own until it ends after all. */
static bool settle_uncount(struct store *store, const struct outcome *outcome,
                           struct error *error) {
    const struct job *job = outcome->job;
    if (!outcome->stuck && !place_uncount(store, job->stream, job->token, error))
        return false;
    return !job->permit || !outcome->lane_ends ||
           place_uncount(store, job->stream, job->permit, error);
}

/* Writes one outcome. Without the lock only the end of the run is noted. */
static bool settle_behind_fence(struct store *store, struct outcome *outcome, enum unlocked how,
                                time_ms now, enum settled *settled, struct error *error) {
    const struct job *job = outcome->job;
    bool fenced = how != UNLOCK_STALE;
    CRASH_POINT("settle_fenced");
    *settled = SETTLED_STALE;
    if (!settle_uncount(store, outcome, error) ||
        (fenced && !rate_limit_end(store, outcome, error)))
        return false;
    if (!fenced && job->repeat && !occurrence_over(store, job->id, job->token, error))
        return false;
    if (job->crashes || job->suspect) /* another one may run now */
        capacity_blind(store);
    bool acquitted = job->suspect && fenced && outcome->kind != OUTCOME_RETURNED;
    if (acquitted && !suspects_acquit(store, job, error))
        return false;
    if (fenced ? !settle_kind(store, outcome, how, now, settled, error) ||
                     !settle_created(store, outcome, now, error)
               : !history_late_lines(store, outcome, error))
        return false;
    if ((outcome->stuck || outcome->outlived) && !stuck_note(store, outcome, now, error))
        return false;
    if (!lane_give_back(store, outcome, error))
        return false;
    bool goes_on = !outcome->lane_ends || outcome->lane_kept || outcome->follows;
    return !job->lane_id || goes_on ||
           place_release_later(store, job->lane_id, outcome->lane_token, error);
}

/* The fence: what follows is written only with the lock. The entries of earlier successes, which
 * are kept back, come before its own, unless that is kept as well. */
static bool settle_fenced(struct store *store, struct outcome *outcome, time_ms now,
                          enum settled *settled, struct error *error) {
    enum unlocked how = UNLOCKED;
    return (history_later(store, outcome) || bulk_settled(store, error)) &&
           place_unlock(store, outcome->job, &how, error) &&
           settle_behind_fence(store, outcome, how, now, settled, error);
}

/* The unit of a command has no job, and no lock. */
static bool settle_command(struct store *store, struct outcome *outcome, time_ms now,
                           struct error *error) {
    return unit_write(store, outcome, now, error) &&
           (!outcome->created || store_create(store, outcome->created, 0, now, error));
}

/* A unit is held against the lock and the frames before the lock is ended. */
static bool settle_run(struct store *store, struct outcome *outcome, time_ms now,
                       enum settled *settled, struct error *error) {
    enum unit_guarded guarded = UNIT_FINE;
    if (outcome_has_walked(outcome))
        guarded = unit_guard(store, outcome, error);
    *settled = guarded == UNIT_BEHIND ? SETTLED_BEHIND : SETTLED_WAITS;
    if (guarded == UNIT_FAILED || guarded == UNIT_BEHIND || guarded == UNIT_WAITS)
        return guarded != UNIT_FAILED;
    *settled = SETTLED;
    if (!outcome->job->id && outcome_has_walked(outcome))
        return settle_command(store, outcome, now, error);
    return settle_fenced(store, outcome, now, settled, error); /* also a row by hand with id 0 */
}

/* What a settling gets and gives. */
struct settling {
    struct outcome *outcome;
    time_ms now;
    enum settled *settled;
};

static bool settling_run(struct store *store, void *arg, struct error *error) {
    const struct settling *one = arg;
    bool done = settle_run(store, one->outcome, one->now, one->settled, error);
    return done || (CRASH_POINT("settle_refused") && false);
}

/* Settles an outcome that may be refused: then nothing of it is written, and the outcomes beside it
 * stay. Before the savepoint the hooks write what is kept back. */
static bool settle_carefully(struct store *store, struct outcome *outcome, time_ms now,
                             enum settled *settled, struct error *error) {
    struct settling one = {outcome, now, settled};
    bool undone = false;
    bool done = txn_try(store, settling_run, &one, &undone, error);
    outcome->undone = !done && undone;
    return done;
}

/* A lock that ends by itself has a row of its own. */
static bool settle_lock(struct store *store, const struct outcome *outcome, struct error *error) {
    return !outcome->job->id || !store->engine->lock_settles ||
           store->engine->lock_settles(store, outcome->job, error);
}

static bool settle_by_way(struct store *store, struct outcome *outcome, time_ms now,
                          enum settled *settled, struct error *error) {
    switch (outcome->way) {
    case WAY_OTHERS:
        return settle_behind_fence(store, outcome, UNLOCKED, now, settled, error);
    case WAY_KEPT:
        return settle_lock(store, outcome, error) &&
               settle_run(store, outcome, now, settled, error);
    case WAY_ALONE:
    case WAY_ASKS:
        return settle_lock(store, outcome, error) && settle_flush(store, error) &&
               settle_run(store, outcome, now, settled, error);
    case WAY_CAREFUL:
        return settle_lock(store, outcome, error) &&
               settle_carefully(store, outcome, now, settled, error);
    case WAY_COMMAND:
        return (unit_is_plain(store, outcome->unit, 0) || settle_flush(store, error)) &&
               settle_run(store, outcome, now, settled, error);
    case WAY_UNASKED:
        break;
    }
    return error_set(error, ERROR_FAILED, "an outcome is settled in no way");
}

bool store_settle_end(struct store *store, struct error *error) {
    return settle_flush(store, error) &&
           (!store->engine->settled || store->engine->settled(store, error));
}

/* Which jobs a unit would ask for is less after each run of the turn that has ended before it. */
static bool way_is_open(const struct outcome *outcome) {
    const enum way way = outcome->way;
    return way == WAY_UNASKED || (outcome->unit && (way == WAY_KEPT || way == WAY_ALONE));
}

bool store_settle(struct store *store, struct outcome *outcome, time_ms now, enum settled *settled,
                  struct error *error) {
    bool own = false;
    if (!unit_begin(store, outcome->effects ? STORE_COMMAND : STORE_TURN, &own, error))
        return false;
    CRASH_POINT("settle_begun");
    outcome->undone = false;
    if (way_is_open(outcome))
        outcome->way = settle_way(store, outcome, false);
    store->prelock.keeps = outcome->way == WAY_OTHERS || outcome->way == WAY_KEPT ||
                           (outcome->way == WAY_COMMAND && !own);
    bool done = settle_by_way(store, outcome, now, settled, error);
    store->prelock.keeps = false;
    done = unit_end(store, own, done, error);
    if (!done) /* it may be settled again as something else */
        outcome->way = WAY_UNASKED;
    return done;
}
