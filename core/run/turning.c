#include "run/turning.h"
#include "base/crash_point.h"
#include "base/log.h"
#include "run/estimate.h"
#include "run/watch.h"

/* A handler is missing only if nobody who starts at this moment has it. */
enum { FULL_WAIT = 1000, MISSING_GRACE = 2000, GATHER = 8 };
enum { FILE_STEP_MIN = 50, FILE_TIME = 2 };
enum { STOP_WAIT = 200 };   /* results are tried to be written that often at the end */
enum { YIELD_WAIT = 1000 }; /* so often at most is given back what waits */

static void pause_work(struct foreman *foreman, bool paused) {
    foreman->paused = paused;
    mutex_lock(&foreman->mutex);
    foreman->status.paused = paused;
    mutex_unlock(&foreman->mutex);
}

static void turn_failed(struct foreman *foreman, const struct error *error, time_ms now) {
    foreman->rang = true;
    foreman->refused = *error;
    if (foreman_lost(error)) {
        foreman_give_up(foreman, error);
    } else if (error->code == ERROR_FULL) {
        if (!foreman->paused)
            log_event(LOG_ERROR, "store full", "reason:s", error->text);
        pause_work(foreman, true);
        foreman->retry_at = now + FULL_WAIT;
    } else {
        foreman->errors++;
        time_ms wait = strategy_retry_wait(foreman->errors);
        foreman->retry_at =
            now + (foreman->stage == WORKING || wait < STOP_WAIT ? wait : STOP_WAIT);
        log_event(LOG_WARN, "turn failed", "reason:s retry_ms:l", error->text,
                  foreman->retry_at - now);
    }
}

static void count(struct foreman *foreman, const struct turn *turn) {
    mutex_lock(&foreman->mutex);
    foreman->status.done += turn->done;
    foreman->status.failed += turn->failed;
    foreman->status.stale += turn->stale;
    foreman->status.acquired += turn->acquired;
    foreman->status.draining = turn->draining;
    mutex_unlock(&foreman->mutex);
}

/* ---- what waits for too long ---- */

static bool probes(struct foreman *foreman, time_ms now) {
    if (foreman->stage != WORKING || foreman->paused || now < foreman->yield_at)
        return false;
    bool late = client_late(foreman->client);
    foreman->yield_at = now + (late ? YIELD_WAIT : HORIZON);
    return late;
}

struct yielding {
    const struct foreman *foreman;
    const struct turn *turn;
    time_ms now;
};

/* To another executor, or for a job of higher priority that is ready. */
static bool yields(void *arg, const struct job *job) {
    const struct yielding *yielding = arg;
    const struct foreman *foreman = yielding->foreman;
    const struct turn *turn = yielding->turn;
    bool better =
        foreman->settings.by_priority && turn->left && turn->best.priority > job->priority;
    return better || store_shared(foreman->store, job, yielding->now);
}

static void yield(struct foreman *foreman, const struct turn *turn) {
    struct yielding yielding = {foreman, turn, clock_now(foreman->options.clock)};
    client_yield(foreman->client, yields, &yielding);
}

static void turned(struct foreman *foreman, const struct turn *turn, time_ms now) {
    foreman->errors = 0;
    foreman->next = turn->next;
    foreman->again = turn->again || (foreman->paused && !turn->acquiring);
    foreman->drained = turn->acquiring && !turn->again && !turn->items && !turn->starved &&
                       turn->next > clock_now(foreman->options.clock);
    if (turn->written) {
        foreman->written = foreman->stirred = true;
        foreman->untidy = foreman->untidy || turn->settled > 0 || store_owes(foreman->store);
        foreman->look_at = now + foreman->settings.max_wait;
        foreman->turned_at = now;
        count(foreman, turn);
    }
    if (foreman->paused && turn->acquiring) {
        pause_work(foreman, false);
        log_event(LOG_INFO, "resumed", "");
    }
    if (turn->lapsed)
        client_lapse(foreman->client);
    client_lease(foreman->client, executor_lease(foreman->executor));
    if (turn->items) {
        CRASH_POINT("after_lock_commit");
        client_submit(foreman->client, turn->items);
        CRASH_POINT("dispatched");
    }
    if (turn->probes)
        yield(foreman, turn);
    bool keep = turn->starved && turn->acquiring && turn->room > 0;
    if (keep || foreman->keeps)
        client_keep(foreman->client, keep);
    foreman->keeps = keep;
}

static bool calm(const struct foreman *foreman, time_ms now) {
    bool settled = foreman->stage == WORKING && !foreman->rang && !foreman->paused &&
                   !foreman->errors && !foreman->keeps && !executor_pending(foreman->executor);
    return settled && now < notes_due(foreman->notes) &&
           now < executor_renewal(foreman->executor) &&
           clock_now(foreman->options.clock) < foreman->next;
}

/* While the workers have enough to do, what they hand back waits a moment for more of it: a commit
 * costs as much CPU for one job as for ten. Whatever else there is to do is done at once. */
static bool gathers(struct foreman *foreman, time_ms now) {
    if (!calm(foreman, now) || !client_patient(foreman->client, foreman->again))
        return false;
    if (foreman->gather_until == 0)
        foreman->gather_until = now + GATHER;
    return now < foreman->gather_until;
}

/* While the store is full, what has ended is written before anything new is begun. */
void turning_turn(struct foreman *foreman, time_ms now) {
    struct error error = {0};
    foreman->drained = false;
    foreman->gathers = gathers(foreman, now);
    if (now < foreman->retry_at || foreman->gathers)
        return;
    struct turn turn = {.quiet = !foreman->rang && !foreman->paused,
                        .grace = foreman->options.drain ? 0 : MISSING_GRACE,
                        .notes = foreman->notes};
    turn.outcomes = client_outcomes(foreman->client);
    turn.room = client_room(foreman->client);
    turn.horizon = client_horizon(foreman->client, turn.room);
    turn.idle = client_idle(foreman->client);
    turn.probes = probes(foreman, now);
    turn.acquiring = foreman->stage == WORKING && atomic_load(&foreman->stops) == 0 &&
                     (!foreman->paused || (!turn.outcomes && !executor_pending(foreman->executor)));
    bool rang = foreman->rang;
    foreman->rang = false;
    if (executor_turn(foreman->executor, &turn, &error))
        turned(foreman, &turn, now);
    else
        turn_failed(foreman, &error, now);
    foreman->gather_until = 0;
    if (turn.written || rang)
        watch_cuts(foreman, !turn.written);
}

/* It can wait, unless the store is lost. */
static void tidied(struct foreman *foreman, bool done, const struct error *error) {
    if (done)
        foreman->written = true;
    else if (foreman_lost(error))
        foreman_give_up(foreman, error);
    else
        log_event(LOG_WARN, "ended jobs not filed", "reason:s", error->text);
}

/* Numbers far apart are on a page each: after a step that took long the next is a shorter one. */
static void pace_filing(struct foreman *foreman, time_ms took) {
    int step = took > FILE_TIME ? foreman->file_step / 2 : foreman->file_step * 2;
    foreman->file_step = step < FILE_STEP_MIN ? FILE_STEP_MIN : step < FILE_STEP ? step : FILE_STEP;
}

void turning_tidy(struct foreman *foreman) {
    struct error error = {0};
    time_ms begun = clock_monotonic();
    foreman->untidy = false;
    CRASH_POINT("file_begun");
    tidied(foreman, store_tidy(foreman->store, foreman->file_step, &foreman->untidy, &error),
           &error);
    pace_filing(foreman, clock_monotonic() - begun);
}

void turning_sweep(struct foreman *foreman) {
    struct error error = {0};
    if (store_owes(foreman->store))
        tidied(foreman, store_sweep(foreman->store, true, &error), &error);
}

/* A checkpoint holds the loop up: often and short when nothing runs, seldom under load. */
void turning_checkpoint(struct foreman *foreman, int pages) {
    struct error error = {0};
    if (store_checkpoint(foreman->store, pages, &error))
        return;
    if (foreman_lost(&error))
        foreman_give_up(foreman, &error);
    else
        log_event(LOG_WARN, "checkpoint failed", "reason:s", error.text);
}
