#include "run/settling.h"
#include "base/crash_point.h"
#include "base/log.h"
#include "base/span.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

void settling_init(struct settling *settling) {
    *settling = (struct settling){0};
    settling->last = &settling->list;
}

void settling_clear(struct settling *settling) {
    items_forget(&settling->watched);
    follows_clear(&settling->follows);
    outcome_free_list(settling->list);
    free(settling->verdicts);
    settling_init(settling);
}

void settling_add(struct settling *settling, struct outcome *outcomes) {
    *settling->last = outcomes;
    while (*settling->last)
        settling->last = &(*settling->last)->next;
}

/* The store will never take what it created or asked for: a failure of this job, not of its
 * neighbours. */
static void condemn(struct outcome *outcome, const struct error *reason) {
    job_free_list(outcome->created);
    json_decref(outcome->effects);
    free(outcome->message);
    outcome->created = NULL;
    outcome->effects = NULL;
    outcome->message = utf8_clean(reason->text, strlen(reason->text), JOB_STACK_MAX);
    outcome->kind = OUTCOME_FAILURE;
    outcome->reason = REASON_ERROR;
    outcome->decided = false;
    outcome->told = false; /* of something else */
}

/* What hooks have enqueued must not fail the job: it goes first. False: there is none. */
static bool forgo_hooks(struct outcome *outcome, const struct error *reason) {
    bool some = false;
    for (struct job **at = &outcome->created; *at;) {
        struct job *job = *at;
        if (!job->by_hook) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        job_free(job);
        some = true;
    }
    if (some)
        log_event(LOG_WARN, "what a hook enqueued was refused", "job:l handler:s reason:s",
                  outcome->job->id, outcome->job->handler, reason->text);
    return some;
}

static bool final(const struct error *reason) {
    return reason->code == ERROR_INVALID || reason->code == ERROR_NOT_FOUND ||
           reason->code == ERROR_CONFLICT;
}

static bool reserve(struct settling *settling) {
    size_t count = 0;
    for (struct outcome *outcome = settling->list; outcome; outcome = outcome->next)
        count++;
    if (count <= settling->room)
        return true;
    unsigned char *verdicts = realloc(settling->verdicts, count * 2);
    if (!verdicts)
        return false;
    settling->verdicts = verdicts;
    settling->room = count * 2;
    return true;
}

/* Nothing is left of what was locked and rolled back. */
static void unfollow_one(struct outcome *outcome) {
    job_free_list(outcome->follows);
    outcome->follows = NULL;
}

static void unfollow(struct settling *settling) {
    for (struct outcome *outcome = settling->list; settling->following && outcome;
         outcome = outcome->next)
        unfollow_one(outcome);
    settling->following = false;
}

/* Follow-ups of the item's earlier runs, written before or in this transaction. */
static int waiting(const struct settling *settling, const struct outcome *outcome) {
    int count = follows_waiting(&settling->follows, outcome->lane_token);
    if (!settling->following)
        return count;
    for (const struct outcome *other = settling->list; other != outcome; other = other->next)
        for (const struct job *job = other->follows; job; job = job->next)
            count += other->lane_token == outcome->lane_token;
    return count;
}

static bool settle(struct settling *settling, struct store *store, struct outcome *outcome,
                   struct offer *offer, bool follow, time_ms now, enum settled *settled,
                   struct error *error) {
    offer->follows = 0;
    if (outcome->job->lane_id && (settling->following || settling->follows.list || follow)) {
        int before = waiting(settling, outcome);
        outcome->lane_kept = before > 0;
        offer->follows = follow ? FOLLOW_MAX - outcome->followed - before : 0;
    }
    if (!store_settle(store, outcome, now, settled, error))
        return false;
    settling->following = settling->following || outcome->follows;
    return true;
}

bool settling_write(struct settling *settling, struct store *store, struct offer *offer,
                    bool follow, time_ms now, bool *again, struct error *error) {
    if (!reserve(settling))
        return error_set(error, ERROR_FAILED, "out of memory");
    unsigned char *verdict = settling->verdicts;
    unfollow(settling);
    if (!store_fence(store, settling->list, error))
        return false;
    for (struct outcome *outcome = settling->list; outcome; outcome = outcome->next) {
        enum settled settled = SETTLED;
        struct error reason = {0};
        bool written = settle(settling, store, outcome, offer, follow, now, &settled, &reason);
        for (int i = 0; i < 2 && !written && outcome->undone && final(&reason); i++) {
            if (i > 0 || !forgo_hooks(outcome, &reason)) /* the others are not undone */
                condemn(outcome, &reason);
            CRASH_POINT("outcome_condemned");
            unfollow_one(outcome);
            written = settle(settling, store, outcome, offer, follow, now, &settled, &reason);
        }
        if (!written) {
            settling->following = true; /* what it has locked so far is void */
            *again = final(&reason) && outcome->kind != OUTCOME_FAILURE;
            if (*again)
                condemn(outcome, &reason);
            return error_set(error, final(&reason) ? ERROR_FAILED : reason.code, "%s", reason.text);
        }
        *verdict++ = (unsigned char)settled;
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
    log_event(level, event, "job:l handler:s attempt:d retries:d reason:s due:s message:s", job->id,
              job->handler, (int)job->attempt, (int)outcome->retries, reason,
              due[0] && !dead ? due : NULL, message);
}

static void tell(const struct outcome *outcome, enum settled settled) {
    const struct job *job = outcome->job;
    const char *kind = outcome_kind_name(outcome->kind);
    if (outcome->warning)
        log_event(LOG_WARN, "job warning", "job:l handler:s text:s", job->id, job->handler,
                  outcome->warning);
    if (outcome->outlived)
        log_event(LOG_WARN, "handler has ended after all", "job:l handler:s token:l", job->id,
                  job->handler, job->token);
    else if (settled == SETTLED_STALE)
        log_event(outcome->started == TIME_NONE ? LOG_DEBUG : LOG_WARN, "stale outcome refused",
                  "job:l handler:s token:l outcome:s", job->id, job->handler, job->token, kind);
    else if (outcome->kind == OUTCOME_FAILURE)
        log_failure(outcome, settled == SETTLED_DEAD);
    else if (outcome->kind == OUTCOME_RETURNED && outcome->started != TIME_NONE)
        log_event(LOG_WARN, "job cut off", "job:l handler:s", job->id, job->handler);
    else
        log_event(LOG_DEBUG, "job done", "job:l handler:s outcome:s", job->id, job->handler, kind);
}

static void count(const struct outcome *outcome, enum settled settled, struct turn *turn,
                  struct metrics *metrics) {
    int64_t definition = outcome->job->definition;
    turn->settled++;
    if (settled == SETTLED_STALE) {
        bool ran = outcome->started != TIME_NONE && !outcome->outlived;
        turn->stale += ran;
        metrics_add(metrics, definition, METRIC_STALE_COMMITS, ran);
    } else if (outcome->kind == OUTCOME_SUCCESS) {
        turn->done++;
        metrics_add(metrics, definition, METRIC_SUCCESSFUL, 1);
    } else if (outcome->kind == OUTCOME_CONFLICT) {
        metrics_add(metrics, definition, METRIC_CONFLICTS, 1);
    } else if (outcome->kind == OUTCOME_FAILURE) {
        turn->failed++;
        metrics_add(metrics, definition, METRIC_FAILED, 1);
    } else if (outcome->kind == OUTCOME_RETURNED && outcome->started == TIME_NONE &&
               !outcome->late &&
               turn->acquiring) { /* nobody could run it; at the end that is no refusal */
        metrics_add(metrics, definition, METRIC_REJECTED, 1);
    }
}

/* What follows stands in `turn` before the rest: it runs next. */
static void follow(struct settling *settling, struct outcome *outcome, struct turn *turn,
                   struct metrics *metrics) {
    for (const struct job *job = outcome->follows; job; job = job->next)
        metrics_add(metrics, job->definition, METRIC_LOCKED_EXCLUSIVE, 1);
    if (outcome->follows && !follows_add(&settling->follows, outcome))
        log_event(LOG_ERROR, "jobs lost sight of until their locks end", "reason:s",
                  "out of memory");
    struct item *item = outcome->lane_ends ? follows_end(&settling->follows, outcome) : NULL;
    if (!item)
        return;
    CRASH_POINT("follow_up_ready");
    item->next = NULL;
    items_watch(&settling->watched, item);
    item->next = turn->items;
    turn->items = item;
}

static void release(struct settling *settling, struct outcome *outcome, enum settled settled,
                    struct turn *turn, struct metrics *metrics) {
    if (outcome->job->lane_id == 0)
        return;
    bool over = settled == SETTLED_STALE || outcome->stuck;
    if (over)
        follows_refuse(&settling->follows, outcome->lane_token);
    if (outcome->lane_ends && settling->watched)
        items_end(&settling->watched, outcome->lane_token);
    else if (over)
        items_refuse(settling->watched, outcome->lane_token);
    if (outcome->follows || outcome->awaited || settling->follows.list)
        follow(settling, outcome, turn, metrics);
}

void settling_done(struct settling *settling, struct turn *turn, struct metrics *metrics) {
    const unsigned char *verdict = settling->verdicts;
    struct outcome *next;
    for (struct outcome *outcome = settling->list; outcome; outcome = next) {
        enum settled settled = (enum settled) * verdict++;
        next = outcome->next;
        tell(outcome, settled);
        count(outcome, settled, turn, metrics);
        release(settling, outcome, settled, turn, metrics);
        outcome_free(outcome);
    }
    settling->list = NULL;
    settling->last = &settling->list;
    settling->following = false;
}
