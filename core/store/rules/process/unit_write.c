#include "store/rules/process/unit_write.h"
#include "base/crash_point.h"
#include "job/instance_batch.h"
#include "store/rules/ground/unit_ahead.h"
#include "store/rules/process/caller.h"
#include "store/rules/process/frame_page.h"
#include "store/rules/process/instance.h"
#include "store/rules/process/lane.h"
#include "store/rules/process/large_value.h"
#include "store/rules/process/message.h"
#include "store/rules/process/move.h"
#include "store/rules/process/past.h"
#include "store/rules/process/searched.h"
#include "store/rules/process/signal_ahead.h"
#include "store/rules/process/stuck_instance.h"
#include "store/rules/process/subscription.h"
#include "store/rules/process/suspend.h"
#include "store/rules/process/turn.h"
#include "store/rules/process/user_task.h"
#include "store/rules/process/waiting.h"
#include "store/rules/record/trail.h"
#include <string.h>

/* ---- the guard ---- */

static enum answer lock_held(struct store *store, const struct job *job, struct error *error) {
    int64_t one = 0;
    if (!job->id)
        return YES;
    return db_value(&store->db, error, &one,
                    "SELECT 1 FROM locked WHERE id=?1 AND owner=?2 AND token=?3", "iii", job->id,
                    job->owner, job->token);
}

/* False: one that must be the only one is not. */
static bool instance_alone(struct store *store, const struct unit *unit,
                           const struct unit_instance *one, struct error *error) {
    int64_t twin = 0;
    enum answer found = one->unique && !unit->alone ? instance_twin(store, one, &twin, error) : NO;
    return found == NO || (found == YES && error_set(error, ERROR_CONFLICT, INSTANCE_TWIN_TEXT,
                                                     (long long)twin, one->key));
}

/* False: new instances of its version are refused, or a second one of its key. */
static bool instance_begins(struct store *store, const struct unit *unit,
                            const struct unit_instance *one, struct error *error) {
    enum answer suspended = version_suspended(store, one->version, error);
    if (suspended == NO)
        return instance_alone(store, unit, one, error);
    return suspended == YES && error_set(error, ERROR_CONFLICT, "the process is suspended");
}

/* FINE: the instance is new, or stands where the unit found it. */
static enum unit_guarded instance_there(struct store *store, const struct outcome *outcome,
                                        const struct unit_instance *one, struct error *error) {
    int64_t rev = 0, lane = lane_minded(store, outcome, one);
    bool waits = false;
    if (!one->rev)
        return instance_begins(store, outcome->unit, one, error) ? UNIT_FINE : UNIT_FAILED;
    enum answer found = lane ? instance_rev_beside(store, one->id, lane, &rev, &waits, error)
                             : instance_rev(store, one->id, &rev, error);
    if (found == FAILED)
        return UNIT_FAILED;
    if (waits)
        return UNIT_WAITS;
    return found == YES && rev == one->rev ? UNIT_FINE : UNIT_BEHIND;
}

/* FINE: the turn is new, or stands where the unit found it, and its body is open. */
static enum unit_guarded turn_there(struct store *store, const struct unit_turn *one,
                                    struct error *error) {
    int64_t rev = 0;
    enum answer found = one->rev ? body_turn_rev(store, one->id, &rev, error) : YES;
    if (found == FAILED)
        return UNIT_FAILED;
    return found == YES && rev == one->rev ? UNIT_FINE : UNIT_BEHIND;
}

static enum unit_guarded turns_there(struct store *store, const struct unit *unit,
                                     struct error *error) {
    enum unit_guarded there = UNIT_FINE;
    for (size_t i = 0; there == UNIT_FINE && i < unit->turn_count; i++)
        there = turn_there(store, &unit->turns[i], error);
    for (size_t i = 0; there == UNIT_FINE && i < unit->body_count; i++) {
        enum answer same = body_guard(store, &unit->bodies[i], error);
        if (same != YES)
            there = same == NO ? UNIT_BEHIND : UNIT_FAILED;
    }
    return there;
}

/* A run that found nothing to do wrote no frame: it is right about the one that it has looked at.
 */
static enum unit_guarded looked_right(struct store *store, const struct outcome *outcome,
                                      struct error *error) {
    const struct job *job = outcome->job;
    int64_t rev = 0, turn = turn_of_token(job->execution);
    if (outcome->kind != OUTCOME_SKIPPED)
        return UNIT_FINE;
    enum answer found = turn ? body_turn_rev(store, turn, &rev, error)
                             : instance_rev(store, job->instance_id, &rev, error);
    if (found == FAILED)
        return UNIT_FAILED;
    bool right = (found == YES) == (job->frame != NULL) && (found == NO || rev == job->frame_rev);
    return right ? UNIT_FINE : UNIT_BEHIND;
}

static bool instance_may(struct store *store, int64_t id, struct error *error) {
    enum answer held = instance_held(store, id, error);
    return held == NO || (held == YES && error_set(error, ERROR_CONFLICT,
                                                   "instance %lld is suspended", (long long)id));
}

/* Refuses a command on a suspended instance. It may be cancelled, and its variables may be set;
 * what would complete it waits. */
static bool command_may(struct store *store, const struct outcome *outcome, struct error *error) {
    const struct unit *unit = outcome->unit;
    const struct unit_instance *one = unit->instances;
    int64_t id = unit->instance_count ? one->id : 0;
    if (outcome->at_rest || (id && !one->rev))
        return true;
    if (id && (one->migrates || (one->ended && strcmp(one->ended, "cancelled") == 0)))
        return true;
    if (!id && unit->turn_count)
        id = unit->turns->instance;
    return !id || instance_may(store, id, error);
}

/* The same of each instance that a job of a batch changes. */
static bool batch_may(struct store *store, const struct outcome *outcome, struct error *error) {
    const struct unit *unit = outcome->unit;
    const struct instance_batch *type = instance_batch_of(outcome->job->handler);
    bool may = true;
    if (!type || strcmp(type->kind, "set") == 0)
        return true;
    for (size_t i = 0; may && i < unit->instance_count; i++) {
        const struct unit_instance *one = &unit->instances[i];
        bool goes = one->ended && strcmp(one->ended, "cancelled") == 0;
        may = !one->rev || one->parent || goes || instance_may(store, one->id, error);
    }
    return may;
}

/* A suspended caller does not go on: a command is refused, a job waits for the activation. */
static enum unit_guarded guard_callers(struct store *store, struct outcome *outcome,
                                       struct error *error) {
    const struct unit *unit = outcome->unit;
    if (unit->instance_count + unit->turn_count < 2)
        return UNIT_FINE;
    int64_t held = caller_held(store, unit, outcome->job->batch != 0, error);
    if (!held)
        return UNIT_FINE;
    if (held > 0 && outcome->job->id)
        return caller_hold(outcome, held) || db_no_memory(&store->db, error) ? UNIT_HELD
                                                                             : UNIT_FAILED;
    outcome->undone = held > 0;
    if (held > 0)
        caller_refuse(held, error);
    return UNIT_FAILED;
}

static bool messages_may(struct store *store, const struct unit *unit, struct error *error) {
    for (size_t i = 0; i < unit->message_count; i++)
        if (!message_check(store, &unit->messages[i], error))
            return false;
    return true;
}

/* In a loop, the same token may wait at the same activity for another task by now. */
static bool tasks_may(struct store *store, const struct unit *unit, struct error *error) {
    for (size_t i = 0; i < unit->left_count; i++) {
        const struct unit_wait *left = &unit->left[i];
        enum answer there = left->task ? user_task_waits(store, left, error) : YES;
        if (there == NO)
            error_set(error, ERROR_NOT_FOUND, "no task %lld that is open", (long long)left->task);
        if (there != YES)
            return false;
    }
    return true;
}

/* The job with the frame as it is and with what its handlers did and printed, to be walked again.
 */
static enum unit_guarded unit_renew(struct store *store, struct outcome *outcome,
                                    struct error *error) {
    struct job newer = *outcome->job;
    enum answer may = newer.id ? lane_insist(store, outcome, &newer, error) : YES;
    if (may != YES)
        return may == NO ? UNIT_WAITS : UNIT_FAILED;
    char *printed = outcome_lines_text(outcome->lines);
    newer.kept = outcome->unit->kept;
    newer.printed = printed;
    newer.frame = newer.around = NULL; /* those that it has are old, also if there are none now */
    newer.frame_rev = 0;
    job_free(outcome->newer);
    outcome->newer = job_copy(&newer);
    free(printed);
    if (!outcome->newer)
        db_no_memory(&store->db, error);
    return outcome->newer && frames_attach(store, &outcome->newer, error) ? UNIT_BEHIND
                                                                          : UNIT_FAILED;
}

static enum unit_guarded guard_frames(struct store *store, struct outcome *outcome,
                                      struct error *error) {
    const struct unit *unit = outcome->unit;
    enum unit_guarded there = looked_right(store, outcome, error);
    for (size_t i = 0; there == UNIT_FINE && i < unit->instance_count; i++)
        there = instance_there(store, outcome, &unit->instances[i], error);
    there = there == UNIT_FINE ? turns_there(store, unit, error) : there;
    outcome->undone = there == UNIT_FAILED; /* nothing was written for it */
    if (there != UNIT_FINE)
        return there;
    bool may = (outcome->job->id ? batch_may(store, outcome, error)
                                 : command_may(store, outcome, error)) &&
               messages_may(store, unit, error) && tasks_may(store, unit, error);
    may = may && moves_may(store, unit, error);
    outcome->undone = !may;
    return may ? UNIT_FINE : UNIT_FAILED;
}

/* Whatever speaks against a unit, it is stale if its lock is lost. Of a unit that is fine the fence
 * finds that out. */
static enum unit_guarded guard_lock(struct store *store, struct outcome *outcome,
                                    enum unit_guarded guarded, struct error *error) {
    enum answer held = lock_held(store, outcome->job, error);
    if (held != YES) {
        outcome->undone = false;
        return held == NO ? UNIT_STALE : UNIT_FAILED;
    }
    return guarded == UNIT_BEHIND ? unit_renew(store, outcome, error) : guarded;
}

/* Of an item the last one alone waits: behind another one the lane would end. That walks again,
 * when its item has ended. */
static enum unit_guarded in_item(const struct outcome *outcome, enum unit_guarded guarded) {
    bool goes_on = outcome->job->lane_id && !outcome->lane_ends;
    return guarded == UNIT_WAITS && goes_on ? UNIT_BEHIND : guarded;
}

enum unit_guarded unit_guard(struct store *store, struct outcome *outcome, struct error *error) {
    enum unit_guarded guarded = in_item(outcome, guard_frames(store, outcome, error));
    if (guarded != UNIT_FINE)
        return guard_lock(store, outcome, guarded, error);
    guarded = guard_callers(store, outcome, error);
    if (guarded != UNIT_FINE)
        return guarded;
    CRASH_POINT("unit_guarded");
    if (outcome->job->id)
        outcome->unit->rev = outcome->job->token;
    else if (!outcome->unit->rev)
        outcome->unit->rev = meta_token(store);
    return UNIT_FINE;
}

bool store_units_ahead(struct store *store, struct outcome *const *outcomes, size_t count,
                       struct error *error) {
    return unit_ahead_ask(store, outcomes, count, error) &&
           signals_ahead_ask(store, outcomes, count, error) &&
           instances_alone(store, outcomes, count, error);
}

/* ---- writing ---- */

/* What waits for a token goes. */
static bool write_left(struct store *store, const struct unit_wait *left, int64_t running,
                       time_ms now, struct error *error) {
    if (left->what & UNIT_JOB &&
        !waiting_remove(store, left->instance, left->token, running, now, error))
        return false;
    if (left->what & UNIT_SUBSCRIPTION &&
        !subscriptions_remove(store, left->instance, left->token, error))
        return false;
    return !(left->what & UNIT_TASK) ||
           user_tasks_remove(store, left->instance, left->token, error);
}

/* What may wait for an instance that ends: as the unit says, else all. */
static unsigned waits_of(const struct unit *unit, int64_t instance) {
    for (size_t i = unit->left_count; i-- > 0;)
        if (unit->left[i].instance == instance && !unit->left[i].token)
            return unit->left[i].what;
    return UNIT_JOB | UNIT_SUBSCRIPTION | UNIT_TASK;
}

/* Jobs that go with what the unit leaves go with others. */
static bool leaves_plainly(const struct store *store, const struct unit *unit, int64_t running) {
    bool none = true;
    for (size_t i = 0; none && i < unit->left_count; i++) {
        const struct unit_wait *left = &unit->left[i];
        none = !left->token || !(left->what & UNIT_JOB) ||
               waiting_may_go(store, left->instance, left->token, running);
    }
    for (size_t i = 0; none && i < unit->instance_count; i++) {
        const struct unit_instance *one = &unit->instances[i];
        none = one->frame || !one->rev || !(waits_of(unit, one->id) & UNIT_JOB) ||
               waiting_may_go(store, one->id, 0, running);
    }
    return none;
}

/* What waits for all that the unit gives is known. */
static bool knows_signals(const struct store *store, const struct unit *unit) {
    bool known = true;
    for (size_t i = 0; known && i < unit->signal_count; i++)
        known = signal_known(store, &unit->signals[i]);
    return known;
}

bool unit_is_plain(const struct store *store, const struct unit *unit, int64_t running) {
    return !unit->message_count && !unit->move_count && knows_signals(store, unit) &&
           leaves_plainly(store, unit, running);
}

/* Of an instance that began in this unit there was never a row; of another, the row says when it
 * began. */
static bool write_end(struct store *store, const struct unit *unit, const struct unit_instance *one,
                      int64_t running, time_ms now, struct error *error) {
    const struct unit_wait all = {.instance = one->id, .what = waits_of(unit, one->id)};
    if (!past_write(store, one, now, error))
        return false;
    if (one->rev &&
        (!write_left(store, &all, running, now, error) || !instance_remove(store, one->id, error)))
        return false;
    return !one->rev || instance_released(store, one->id, error);
}

static bool write_instances(struct store *store, const struct unit *unit, int64_t running,
                            time_ms now, struct error *error) {
    bool done = true;
    for (size_t i = 0; done && i < unit->instance_count; i++) {
        const struct unit_instance *one = &unit->instances[i];
        changed_note(store, one->id);
        done = !one->migrates || move_instance(store, one, now, error);
        if (done)
            done = one->frame ? instance_write(store, one, unit->rev, error)
                              : write_end(store, unit, one, running, now, error);
        done = done && stuck_instance_note(store, one, now, error);
    }
    return done;
}

static bool write_turns(struct store *store, const struct unit *unit, time_ms now,
                        struct error *error) {
    bool done = true;
    for (size_t i = 0; done && i < unit->turn_count; i++)
        done = body_turn_write(store, &unit->turns[i], unit->rev, error) &&
               stuck_turn_note(store, &unit->turns[i], now, error);
    for (size_t i = 0; done && i < unit->body_count; i++)
        done = body_write(store, &unit->bodies[i], now, error);
    return done;
}

/* What waits from now on. */
static bool write_waits(struct store *store, const struct unit *unit, time_ms now,
                        struct error *error) {
    bool done = true;
    for (size_t i = 0; done && i < unit->subscription_count; i++)
        done = subscription_write(store, &unit->subscriptions[i], now, error);
    for (size_t i = 0; done && i < unit->subscription_count; i++)
        done = message_give(store, &unit->subscriptions[i], now, error);
    for (size_t i = 0; done && i < unit->task_count; i++)
        done = user_task_write(store, &unit->tasks[i], now, error);
    return done;
}

/* Those that wait already get theirs before the unit takes away what has waited so far, and the
 * ones that are named when it has written them. */
static bool write_signals(struct store *store, const struct unit *unit, bool named, time_ms now,
                          struct error *error) {
    bool done = true;
    for (size_t i = 0; done && i < unit->signal_count; i++)
        if ((unit->signals[i].token != 0) == named)
            done = store_signal(store, &unit->signals[i], unit, now, error);
    return done;
}

bool unit_write(struct store *store, const struct outcome *outcome, time_ms now,
                struct error *error) {
    const struct unit *unit = outcome->unit;
    bool done = true;
    for (size_t i = 0; done && i < unit->message_count; i++)
        done = message_deliver(store, &unit->messages[i], now, error);
    done = done && write_signals(store, unit, false, now, error);
    for (size_t i = 0; done && i < unit->left_count; i++)
        if (unit->left[i].token) /* all that an instance has goes with its end */
            done = write_left(store, &unit->left[i], outcome->job->id, now, error);
    for (size_t i = 0; done && i < unit->move_count; i++)
        done = move_write(store, &unit->moves[i], now, error);
    for (size_t i = 0; done && i < unit->searched_count; i++)
        done = searched_write(store, &unit->searched[i], error);
    for (size_t i = 0; done && i < unit->value_count; i++)
        done = large_value_write(store, &unit->values[i], error);
    done = done && CRASH_POINT("unit_left") &&
           write_instances(store, unit, outcome->job->id, now, error);
    done = done && write_turns(store, unit, now, error);
    done = done && CRASH_POINT("unit_framed") && write_waits(store, unit, now, error) &&
           write_signals(store, unit, true, now, error);
    for (size_t i = 0; done && i < unit->trail_count; i++)
        done = trail_write(store, &unit->trail[i], outcome->job->id, now, error);
    return done && messages_offer(store, now, error) && CRASH_POINT("unit_written");
}
