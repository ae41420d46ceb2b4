#include "run/watch.h"
#include "base/crash_point.h"
#include "base/log.h"
#include "run/turning.h"
#include "store/intake.h"
#include "store/tidy.h"

enum { TICK = 1000, FILE_PAUSE = 5, QUIET = 50, LEFT_WAIT = 60000, RETIRE_WAIT = 3600000 };

/* Somebody who moves the database away under us must not be answered with silence. */
static void check_files(struct foreman *foreman) {
    struct error error;
    if (!store_intact(foreman->store, &error))
        foreman_give_up(foreman, &error);
}

void watch_publish(struct foreman *foreman) {
    mutex_lock(&foreman->mutex);
    client_load(foreman->client, &foreman->status.running, &foreman->status.waiting);
    foreman->status.exhausted = client_exhausted(foreman->client, &foreman->status.stuck);
    foreman->status.stopping = foreman->stage != WORKING;
    mutex_unlock(&foreman->mutex);
}

static int holds(void *arg, int64_t job, int64_t token) {
    struct foreman *foreman = arg;
    struct error error;
    return store_holds(foreman->store, job, token, &error);
}

void watch_cuts(struct foreman *foreman, bool ask) {
    int64_t cuts = store_cuts(foreman->store, ask);
    if (cuts == foreman->cuts)
        return;
    foreman->cuts = cuts;
    client_cut_lost(foreman->client, true, holds, foreman);
}

/* With nothing else to do: files and sweeps what has ended step by step, then empties the log of
 * writes and the cache. While jobs come now and then there is a step a second: the store is theirs.
 */
static void tidy(struct foreman *foreman, time_ms now) {
    if (foreman->untidy)
        turning_tidy(foreman);
    if (foreman->untidy) {
        if (now - foreman->turned_at >= QUIET)
            foreman->tick_at = now + FILE_PAUSE;
    } else if (foreman->written) {
        foreman->written = false;
        turning_checkpoint(foreman, 1);
        store_rest(foreman->store);
    }
}

/* Nothing was looked at since, so nothing can have changed: the store is left in peace. */
static void watch_gaps(struct foreman *foreman, time_ms now) {
    if (foreman->stirred && foreman->stage == WORKING)
        foreman->stirred = !gaps_look(foreman->gaps, now);
}

/* What others have left who died while they wrote it. */
static void watch_left(struct foreman *foreman, time_ms now) {
    struct error error = {0};
    struct store_left left = {0};
    if ((now < foreman->left_at && !foreman->stirred) || foreman->stage != WORKING)
        return;
    if (!store_clear_left(foreman->store, &left, clock_now(foreman->options.clock), &error))
        log_event(LOG_WARN, "what others left stays", "reason:s", error.text);
    if (left.removed)
        log_event(LOG_WARN, "unfinished jobs removed", "jobs:l", left.removed);
    if (left.batch)
        log_event(LOG_WARN, "unfinished batch removed", "batch:l", left.batch);
    foreman->left_at = now + (left.living ? TICK : LEFT_WAIT);
    if (left.more) {
        foreman->left_at = now;
        foreman->tick_at = now + FILE_PAUSE;
    }
}

/* Deployments that nobody needs: nobody waits for that, so there is a step a second at most. */
static void watch_deployments(struct foreman *foreman, time_ms now) {
    struct error error = {0};
    int64_t retired = 0;
    bool more = false;
    if (now < foreman->retire_at || foreman->stage != WORKING)
        return;
    if (!store_retire(foreman->store, &retired, &more, clock_now(foreman->options.clock), &error))
        log_event(LOG_WARN, "old deployments stay", "reason:s", error.text);
    if (retired)
        log_event(LOG_INFO, "old deployment removed", "deployment:l", retired);
    foreman->retire_at = now + (more && error.code == ERROR_NONE ? TICK : RETIRE_WAIT);
}

void watch_tick(struct foreman *foreman, time_ms now) {
    if (now < foreman->tick_at)
        return;
    foreman->tick_at = (now / TICK + 1) * TICK; /* with the other engines: one wake-up for all */
    check_files(foreman);
    if (foreman->fatal.code != ERROR_NONE)
        return; /* what is left to do would read what is gone */
    store_alive(foreman->store, clock_now(foreman->options.clock));
    client_tick(foreman->client);
    client_cut_lost(foreman->client, false, holds, foreman);
    notes_tick(foreman->notes);
    if (now >= foreman->look_at) {
        foreman->rang = true;
        foreman->look_at = now + foreman->settings.max_wait;
    }
    if (foreman_idle(foreman))
        tidy(foreman, now);
    else if (!foreman->again) /* a run may go on for hours */
        turning_sweep(foreman);
    watch_left(foreman, now);
    watch_deployments(foreman, now);
    watch_gaps(foreman, now);
    watch_publish(foreman);
}

/* ---- reload ---- */

static void start_reload(struct foreman *foreman) {
    struct error error;
    struct reload_options options = {.read = foreman->options.read,
                                     .paths = foreman->paths,
                                     .settings = &foreman->settings,
                                     .clock = foreman->options.clock,
                                     .wake = foreman->options.wake,
                                     .wake_arg = foreman->options.wake_arg};
    foreman->reload = reload_start(&options, &error);
    if (!foreman->reload)
        log_event(LOG_ERROR, "folder refused", "reason:s", error.text);
}

static bool refuse(struct deployment *deployment, const struct error *error) {
    log_event(LOG_ERROR, "folder refused", "reason:s", error->text);
    deployment_free(deployment);
    return false;
}

/* The old definitions are let go only after the executor serves the new ones. */
static void renew(struct foreman *foreman, struct generations *generations) {
    struct generations *before = foreman->generations;
    executor_serve(foreman->executor, &generations->served);
    client_renew(foreman->client, generations);
    foreman->generations = generations;
    generations_free(before, generations);
    foreman->rang = true;
}

static bool adopt(struct foreman *foreman, struct deployment *deployment) {
    struct error error;
    deployment->takes_back = foreman->options.watched;
    if (!deployment_write(deployment, foreman->store, foreman->settings.name,
                          clock_now(foreman->options.clock), &error))
        return refuse(deployment, &error);
    CRASH_POINT("reload_written");
    struct generations *generations = generations_new(deployment, foreman->generations);
    if (!generations) {
        error_set(&error, ERROR_FAILED, "out of memory");
        return refuse(deployment, &error);
    }
    renew(foreman, generations);
    CRASH_POINT("reload_adopted");
    log_event(LOG_INFO, "folder loaded", "deployment:l handlers:l generations:l", deployment->id,
              (int64_t)generations->served.count, (int64_t)generations->count);
    return true;
}

static void finish_reload(struct foreman *foreman) {
    struct deployment *deployment = reload_end(foreman->reload);
    foreman->reload = NULL;
    if (deployment)
        adopt(foreman, deployment);
}

void watch_reload(struct foreman *foreman) {
    if (foreman->reload && reload_finished(foreman->reload))
        finish_reload(foreman);
    if (atomic_exchange(&foreman->reloads, false) && foreman->options.read)
        foreman->reload_again = true;
    if (!foreman->reload_again || foreman->reload || foreman->stage != WORKING)
        return;
    foreman->reload_again = false;
    start_reload(foreman);
}
