#include "run/outcomes.h"
#include "base/crash_point.h"
#include "base/log.h"
#include "base/text.h"
#include "job/instance_batch.h"
#include <stdlib.h>
#include <string.h>

void outcomes_init(struct outcomes *outcomes) {
    *outcomes = (struct outcomes){0};
    outcomes->last = &outcomes->list;
}

void outcomes_clear(struct outcomes *outcomes) {
    work_items_forget(&outcomes->watched);
    follow_ups_clear(&outcomes->follows);
    outcome_free_list(outcomes->list);
    outcome_free_list(outcomes->waiting);
    outcomes_init(outcomes);
}

void outcomes_add(struct outcomes *outcomes, struct outcome *list) {
    *outcomes->last = list;
    while (*outcomes->last)
        outcomes->last = &(*outcomes->last)->next;
}

bool outcomes_pending(const struct outcomes *outcomes) {
    return outcomes->list || outcomes->waiting;
}

/* As if the job had not run: what its handlers did is forgotten. */
static void forgo(struct outcome *outcome) {
    outcome_forget(outcome);
    outcome->kind = OUTCOME_RETURNED;
}

void outcomes_recall(struct outcomes *outcomes, bool now, bool leaving) {
    struct outcome *waiting = outcomes->waiting;
    if (!now && !leaving && !outcomes->list && clock_monotonic() < outcomes->recall)
        return;
    outcomes->waiting = NULL;
    for (struct outcome *outcome = waiting; leaving && outcome; outcome = outcome->next)
        forgo(outcome);
    outcomes_add(outcomes, waiting);
}

struct outcome *outcomes_cut(struct outcomes *outcomes, int most) {
    struct outcome **at = &outcomes->list;
    if (!most)
        return NULL;
    for (int i = 0; i < most && *at; i++)
        at = &(*at)->next;
    struct outcome *rest = *at;
    *at = NULL;
    outcomes->last = at;
    return rest;
}

/* Makes it a failure of its job alone, as the store will never take what it created or asked for.
 * It is not settled before its own retry has been asked. */
static void condemn(struct outcome *outcome, const struct error *reason) {
    outcome_forget(outcome);
    free(outcome->message);
    free(outcome->result);
    outcome->result = NULL;
    outcome->message = utf8_clean(reason->text, strlen(reason->text), JOB_STACK_MAX);
    outcome->kind = OUTCOME_FAILURE;
    outcome->reason = REASON_ERROR;
    outcome->decided = false;
    outcome->refused = true;
    outcome->told = false; /* of something else */
}

/* Drops what hooks have enqueued, which must not fail the job. False: there is none. */
static bool forgo_hooks(struct outcome *outcome, const struct error *reason) {
    bool some = false;
    for (struct job_spec **at = &outcome->created; *at;) {
        struct job_spec *spec = *at;
        if (!spec->by_hook) {
            at = &spec->next;
            continue;
        }
        *at = spec->next;
        free(spec);
        some = true;
    }
    if (some)
        log_event(LOG_WARN, "what a hook enqueued was refused", "job:l handler:s reason:s",
                  outcome->job->id, outcome->job->handler, reason->text);
    return some;
}

static bool final(const struct error *reason) {
    return reason->code == ERROR_INVALID || reason->code == ERROR_NOT_FOUND ||
           error_refuses(reason);
}

/* Drops the follow-ups that were locked and rolled back. */
static void unfollow_one(struct outcome *outcome) {
    job_free_list(outcome->follows);
    outcome->follows = NULL;
}

static void unfollow(struct outcomes *outcomes) {
    for (struct outcome *outcome = outcomes->list; outcomes->following && outcome;
         outcome = outcome->next)
        unfollow_one(outcome);
    outcomes->following = false;
}

/* Counts the follow-ups of the item's earlier runs, written before or in this transaction. */
static int waiting(const struct outcomes *outcomes, const struct outcome *outcome) {
    int count = follow_ups_waiting(&outcomes->follows, outcome->lane_token);
    if (!outcomes->following)
        return count;
    for (const struct outcome *other = outcomes->list; other != outcome; other = other->next)
        for (const struct job *job = other->follows; job; job = job->next)
            count += other->lane_token == outcome->lane_token;
    return count;
}

static bool settle(struct outcomes *outcomes, struct store *store, struct outcome *outcome,
                   struct capacity *capacity, bool follow, time_ms now, struct error *error) {
    capacity->follows = 0;
    if (outcome->job->lane_id && (outcomes->following || outcomes->follows.list || follow)) {
        int before = waiting(outcomes, outcome);
        outcome->lane_kept = before > 0;
        capacity->follows = follow ? FOLLOW_MAX - outcome->followed - before : 0;
    }
    if (!store_settle(store, outcome, now, &outcome->settled, error))
        return false;
    if (outcome->settled == SETTLED_BEHIND && outcome->job->lane_id) { /* next in its lane */
        outcome->follows = outcome->newer;
        outcome->newer = NULL;
    }
    outcomes->following = outcomes->following || outcome->follows;
    return true;
}

/* What of it the store refuses alone goes: first what hooks enqueued, then all that the job did,
 * which is a failure from now on and left for a later turn. With *again that holds too, but what
 * was written of the others is to be rolled back. */
static bool settle_at_last(struct outcomes *outcomes, struct store *store, struct outcome *outcome,
                           struct capacity *capacity, bool follow, time_ms now, bool *again,
                           struct error *error) {
    struct error reason = {0};
    bool settled = settle(outcomes, store, outcome, capacity, follow, now, &reason);
    if (!settled && outcome->undone && final(&reason) && forgo_hooks(outcome, &reason)) {
        unfollow_one(outcome);
        settled = settle(outcomes, store, outcome, capacity, follow, now, &reason);
    }
    if (settled)
        return true;
    outcomes->following = true; /* what it has locked so far is void */
    bool refused = final(&reason) && outcome->kind != OUTCOME_FAILURE;
    if (refused)
        condemn(outcome, &reason);
    unfollow_one(outcome);
    CRASH_POINT("outcome_condemned");
    if (refused && outcome->undone) /* the others are not */
        return true;
    *again = refused;
    return error_set(error, final(&reason) ? ERROR_FAILED : reason.code, "%s", reason.text);
}

/* One that has waited need not ask again whether it must wait. */
static bool must_wait(const struct outcomes *outcomes, const struct outcome *outcome) {
    const int64_t instance = job_walked(outcome->job);
    if (outcome->settled != SETTLED_WAITS || !instance)
        return false;
    for (int i = 0; i < OUTCOMES_INSISTED; i++)
        if (outcomes->insisted[i] == instance)
            return true;
    return false;
}

/* It waits for a run that insists, or does so now. */
static void note_insisted(struct outcomes *outcomes, const struct outcome *outcome) {
    const struct job *newer = outcome->newer;
    if (outcome->settled != SETTLED_WAITS && !(newer && newer->lane_held))
        return;
    int64_t *list = outcomes->insisted;
    memmove(list + 1, list, (OUTCOMES_INSISTED - 1) * sizeof *list);
    list[0] = job_walked(outcome->job);
}

bool outcomes_write(struct outcomes *outcomes, struct store *store, struct capacity *capacity,
                    bool follow, time_ms now, bool *again, struct error *error) {
    unfollow(outcomes);
    memset(outcomes->insisted, 0, sizeof outcomes->insisted);
    if (!store_settle_bulk(store, outcomes->list, error))
        return false;
    for (struct outcome *outcome = outcomes->list; outcome; outcome = outcome->next) {
        if (must_wait(outcomes, outcome))
            continue;
        store_touch(store, outcome->job->id);
        if (!outcome->refused &&
            !settle_at_last(outcomes, store, outcome, capacity, follow, now, again, error))
            return false;
        note_insisted(outcomes, outcome);
        store_touch(store, outcome->job->id);
    }
    CRASH_POINT("settling_written");
    return store_settle_end(store, error);
}

static void log_failure(const struct outcome *outcome, bool dead) {
    const struct job *job = outcome->job;
    const char *reason = failure_reason_name(outcome->reason);
    const char *event = dead ? "incident" : "job failed";
    enum log_level level = dead ? LOG_ERROR : LOG_WARN;
    char message[JOB_MESSAGE_MAX * 4 + 1] = "", due[TIME_TEXT_SIZE];
    time_format(outcome->due, due);
    if (outcome->message) {
        size_t size = utf8_prefix(outcome->message, JOB_MESSAGE_MAX);
        memcpy(message, outcome->message, size);
        message[size] = '\0';
    }
    log_event(level, event,
              "job:l handler:s schedule:s attempt:d retries:d reason:s due:s message:s trace:s",
              job->id, job->handler, job->schedule, (int)job->attempt, (int)outcome->retries,
              reason, due[0] && !dead ? due : NULL, message, job->trace);
}

static void tell(const struct outcome *outcome) {
    const struct job *job = outcome->job;
    const char *kind = outcome_traits[outcome->kind].name;
    if (outcome->warning)
        log_event(LOG_WARN, "job warning", "job:l handler:s text:s", job->id, job->handler,
                  outcome->warning);
    if (outcome->outlived)
        log_event(LOG_WARN, "handler has ended after all", "job:l handler:s token:l", job->id,
                  job->handler, job->token);
    else if (outcome->settled == SETTLED_STALE)
        log_event(outcome->started == TIME_NONE || outcome->kind == OUTCOME_SKIPPED ? LOG_DEBUG
                                                                                    : LOG_WARN,
                  "stale outcome refused", "job:l handler:s token:l outcome:s", job->id,
                  job->handler, job->token, kind);
    else if (outcome->settled == SETTLED_BEHIND)
        log_event(LOG_DEBUG, "job walks again on a newer frame", "job:l handler:s", job->id,
                  job->handler);
    else if (outcome->kind == OUTCOME_FAILURE)
        log_failure(outcome, outcome->settled == SETTLED_DEAD);
    else if (outcome->kind == OUTCOME_RETURNED && outcome->started != TIME_NONE)
        log_event(LOG_WARN, "job cut off", "job:l handler:s", job->id, job->handler);
    else
        log_event(LOG_DEBUG, "job done", "job:l handler:s outcome:s", job->id, job->handler, kind);
}

static void count(const struct outcome *outcome, struct turn *turn, struct metrics *metrics) {
    int64_t definition = outcome->job->definition;
    if (outcome->settled == SETTLED_BEHIND)
        return;
    turn->settled++;
    if (outcome->settled == SETTLED_STALE) {
        bool ran =
            outcome->started != TIME_NONE && !outcome->outlived && outcome->kind != OUTCOME_SKIPPED;
        turn->stale += ran;
        metrics_add(metrics, definition, METRIC_STALE_COMMITS, ran);
    } else if (outcome->kind == OUTCOME_SUCCESS) {
        turn->done++;
        metrics_add(metrics, definition, METRIC_SUCCESSFUL, 1);
    } else if (outcome->kind == OUTCOME_SKIPPED) {
        metrics_add(metrics, definition, METRIC_SKIPPED, 1);
    } else if (outcome->kind == OUTCOME_CONFLICT) {
        metrics_add(metrics, definition, METRIC_CONFLICTS, 1);
    } else if (outcome->kind == OUTCOME_FAILURE) {
        turn->failed++;
        metrics_add(metrics, definition, METRIC_FAILED, 1);
    } else if (outcome->kind == OUTCOME_RETURNED && outcome->started == TIME_NONE &&
               !outcome->late &&
               turn->acquiring) { /* no worker could run it; at the end that is no refusal */
        metrics_add(metrics, definition, METRIC_REJECTED, 1);
    }
}

/* Puts what follows into `turn` before the rest, so that it runs next. */
static void follow(struct outcomes *outcomes, struct outcome *outcome, struct turn *turn,
                   struct metrics *metrics) {
    bool moves = outcome->unit && outcome->settled == SETTLED;
    for (const struct job *job = outcome->follows; job; job = job->next)
        metrics_add(metrics, job->definition, METRIC_LOCKED_EXCLUSIVE, 1);
    if (outcome->follows && !follow_ups_add(&outcomes->follows, outcome))
        log_event(LOG_ERROR, "jobs lost sight of until their locks end", "reason:s",
                  "out of memory");
    if (moves)
        follow_ups_move(&outcomes->follows, outcome);
    struct work_item *item =
        outcome->lane_ends ? follow_ups_end(&outcomes->follows, outcome) : NULL;
    if (!item)
        return;
    CRASH_POINT("follow_up_ready");
    item->next = NULL;
    work_items_watch(&outcomes->watched, item);
    item->next = turn->items;
    turn->items = item;
}

static void release(struct outcomes *outcomes, struct outcome *outcome, struct turn *turn,
                    struct metrics *metrics) {
    if (outcome->job->lane_id == 0)
        return;
    bool over = outcome->settled == SETTLED_STALE || outcome->stuck;
    if (over)
        follow_ups_refuse(&outcomes->follows, outcome->lane_token);
    if (outcome->lane_ends && outcomes->watched)
        work_items_end(&outcomes->watched, outcome->lane_token);
    else if (over)
        work_items_refuse(outcomes->watched, outcome->lane_token);
    if (outcome->follows || outcome->awaited || outcomes->follows.list)
        follow(outcomes, outcome, turn, metrics);
}

/* A job outside of lanes whose unit was behind runs again, before the rest. */
static void again(struct outcome *outcome, struct turn *turn) {
    struct work_item *item = NULL;
    if (!outcome->newer)
        return;
    if (!work_items_build(outcome->newer, &item))
        log_event(LOG_ERROR, "jobs lost sight of until their locks end", "reason:s",
                  "out of memory");
    outcome->newer = NULL;
    if (!item)
        return;
    item->next = turn->items;
    turn->items = item;
}

/* A worker decides when the job of a refused outcome runs again. False: no memory. */
static bool ask_retry(struct outcome *outcome, struct turn *turn) {
    struct work_item *item = work_item_of_refused(outcome);
    if (!item) {
        log_event(LOG_ERROR, "job lost sight of until its lock expires", "job:l", outcome->job->id);
        return false;
    }
    item->next = turn->items;
    turn->items = item;
    return true;
}

/* It has neither ended its run nor its lock. */
static void wait_on(struct outcomes *outcomes, struct outcome *outcome, struct turn *turn) {
    struct outcome **end = &outcomes->waiting;
    struct work_item *item = follow_ups_later(outcome);
    if (item) {
        item->next = turn->items;
        turn->items = item;
    }
    while (*end)
        end = &(*end)->next;
    outcome->next = NULL;
    *end = outcome;
    outcomes->recall = clock_monotonic() + OUTCOMES_PAUSE;
}

void outcomes_done(struct outcomes *outcomes, struct turn *turn, struct metrics *metrics) {
    struct outcome *next;
    for (struct outcome *outcome = outcomes->list; outcome; outcome = next) {
        next = outcome->next;
        if (outcome->refused) {
            if (!ask_retry(outcome, turn))
                outcome_free(outcome);
            continue;
        }
        if (outcome->settled == SETTLED_WAITS) {
            wait_on(outcomes, outcome, turn);
            continue;
        }
        tell(outcome);
        count(outcome, turn, metrics);
        if (turn->durations)
            durations_run(turn->durations, outcome);
        release(outcomes, outcome, turn, metrics);
        again(outcome, turn);
        outcome_free(outcome);
    }
    outcomes->list = NULL;
    outcomes->last = &outcomes->list;
    outcomes->following = false;
}

void outcomes_aside(struct outcomes *outcomes, struct turn *turn, struct metrics *metrics,
                    const struct error *reason) {
    struct outcome *rest = outcomes_cut(outcomes, 1), *outcome = outcomes->list;
    unfollow(outcomes);
    condemn(outcome, reason);
    outcome->refused = false; /* no worker is asked for its retry: it gets none */
    outcome->settled = SETTLED_DEAD;
    outcome->retries = 0;
    outcomes_done(outcomes, turn, metrics);
    outcomes_add(outcomes, rest);
}
