#include "run/settling.h"
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
    outcome_free_list(settling->list);
    free(settling->verdicts);
    settling_init(settling);
}

void settling_add(struct settling *settling, struct outcome *outcomes) {
    *settling->last = outcomes;
    while (*settling->last)
        settling->last = &(*settling->last)->next;
}

/* The standard rule, for a failure that no strategy has looked at. */
static void decide(struct outcome *outcome, const struct settings *settings, time_ms now) {
    if (outcome->kind != OUTCOME_FAILURE || outcome->decided)
        return;
    outcome->retries = outcome->job->retries > 1 ? outcome->job->retries - 1 : 0;
    if (outcome->permanent)
        outcome->retries = 0;
    outcome->due = settings->failed_job_wait > 0 ? now + settings->failed_job_wait : TIME_NONE;
    outcome->decided = true;
}

/* The store will never take these effects: a failure of this job, not of its neighbours. */
static void condemn(struct outcome *outcome, const struct error *reason) {
    job_free_list(outcome->created);
    json_decref(outcome->effects);
    free(outcome->message);
    json_decref(outcome->effects);
    outcome->created = NULL;
    outcome->effects = NULL;
    outcome->message = utf8_clean(reason->text, strlen(reason->text), JOB_STACK_MAX);
    outcome->kind = OUTCOME_FAILURE;
    outcome->reason = REASON_ERROR;
    outcome->decided = false;
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

bool settling_write(struct settling *settling, struct store *store, const struct settings *settings,
                    time_ms now, bool *again, struct error *error) {
    if (!reserve(settling))
        return error_set(error, ERROR_FAILED, "out of memory");
    unsigned char *verdict = settling->verdicts;
    for (struct outcome *outcome = settling->list; outcome; outcome = outcome->next) {
        enum settled settled = SETTLED;
        struct error reason = {0};
        decide(outcome, settings, now);
        bool written = store_settle(store, outcome, now, &settled, &reason);
        if (!written && outcome->effects && final(&reason)) { /* the others are not undone */
            condemn(outcome, &reason);
            decide(outcome, settings, now);
            written = store_settle(store, outcome, now, &settled, &reason);
        }
        if (!written) {
            *again = final(&reason) && outcome->kind != OUTCOME_FAILURE;
            if (*again)
                condemn(outcome, &reason);
            return error_set(error, final(&reason) ? ERROR_FAILED : reason.code, "%s", reason.text);
        }
        *verdict++ = (unsigned char)settled;
    }
    return true;
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
    if (settled == SETTLED_STALE)
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
        bool ran = outcome->started != TIME_NONE;
        turn->stale += ran;
        metrics_add(metrics, definition, METRIC_STALE_COMMITS, ran);
    } else if (outcome->kind == OUTCOME_SUCCESS) {
        turn->done++;
        metrics_add(metrics, definition, METRIC_SUCCESSFUL, 1);
    } else if (outcome->kind == OUTCOME_FAILURE) {
        turn->failed++;
        metrics_add(metrics, definition, METRIC_FAILED, 1);
    } else if (outcome->kind == OUTCOME_RETURNED && outcome->started == TIME_NONE &&
               turn->acquiring) { /* nobody could run it; at the end that is no refusal */
        metrics_add(metrics, definition, METRIC_REJECTED, 1);
    }
}

static void release(struct settling *settling, const struct outcome *outcome,
                    enum settled settled) {
    if (outcome->job->lane_id == 0 || !settling->watched)
        return;
    if (outcome->lane_ends)
        items_end(&settling->watched, outcome->lane_token);
    else if (settled == SETTLED_STALE)
        items_refuse(settling->watched, outcome->lane_token);
}

void settling_done(struct settling *settling, struct turn *turn, struct metrics *metrics) {
    const unsigned char *verdict = settling->verdicts;
    struct outcome *next;
    for (struct outcome *outcome = settling->list; outcome; outcome = next) {
        enum settled settled = (enum settled) * verdict++;
        next = outcome->next;
        tell(outcome, settled);
        count(outcome, settled, turn, metrics);
        release(settling, outcome, settled);
        outcome_free(outcome);
    }
    settling->list = NULL;
    settling->last = &settling->list;
}
