#include "run/watch.h"
#include "base/log.h"
#include "run/turning.h"

enum { TICK = 1000, FILE_PAUSE = 5 };

/* Somebody who moves the database away under us must not be answered with silence. */
static void check_files(struct foreman *foreman) {
    struct error error;
    if (!store_intact(foreman->store, &error))
        foreman_give_up(foreman, &error);
}

void watch_publish(struct foreman *foreman) {
    mutex_lock(&foreman->mutex);
    pool_load(foreman->pool, &foreman->status.running, &foreman->status.waiting);
    foreman->status.paused = foreman->paused;
    foreman->status.stopping = foreman->stage != WORKING;
    mutex_unlock(&foreman->mutex);
}

void watch_show(struct foreman *foreman) {
    struct loop_status status;
    watch_publish(foreman);
    foreman_status(foreman, &status);
    if (foreman->options->tick)
        foreman->options->tick(foreman->options->arg, &status);
}

static int holds(void *arg, int64_t job, int64_t token) {
    struct foreman *foreman = arg;
    struct error error;
    return store_holds(foreman->store, job, token, &error);
}

/* With nothing else to do: files what has ended step by step, then empties the log of writes. */
static void tidy(struct foreman *foreman, time_ms now) {
    if (foreman->unfiled)
        turning_file(foreman);
    if (foreman->unfiled) {
        foreman->tick_at = now + FILE_PAUSE;
    } else if (foreman->written) {
        foreman->written = false;
        turning_checkpoint(foreman, 1);
    }
}

/* Nothing was looked at since, so nothing can have changed: the store is left in peace. */
static void watch_gaps(struct foreman *foreman, time_ms now) {
    if (foreman->stirred && foreman->stage == WORKING)
        foreman->stirred = !gaps_look(foreman->gaps, now);
}

void watch_tick(struct foreman *foreman, time_ms now) {
    if (now < foreman->tick_at)
        return;
    foreman->tick_at = now + TICK;
    check_files(foreman);
    pool_tick(foreman->pool);
    pool_cut_lost(foreman->pool, holds, foreman);
    notes_tick(foreman->notes);
    if (now >= foreman->look_at) {
        foreman->rang = true;
        foreman->look_at = now + foreman->settings->max_wait;
    }
    if (foreman_idle(foreman))
        tidy(foreman, now);
    watch_gaps(foreman, now);
    watch_show(foreman);
}

/* ---- reload ---- */

static void start_reload(struct foreman *foreman) {
    struct error error;
    struct reload_options options = {.read = foreman->options->reload,
                                     .read_arg = foreman->options->arg,
                                     .settings = foreman->settings,
                                     .clock = foreman->options->clock,
                                     .wake = foreman->wake,
                                     .wake_arg = foreman->wake_arg};
    foreman->reload = reload_start(&options, &error);
    if (!foreman->reload)
        log_event(LOG_ERROR, "folder refused", "reason:s", error.text);
}

void foreman_reload(struct foreman *foreman) {
    if (!foreman->options->reload || foreman->stage != WORKING)
        return;
    if (foreman->reload)
        foreman->reload_again = true;
    else
        start_reload(foreman);
}

/* The old definitions are let go only after the executor serves the new ones. */
static void adopt(struct foreman *foreman, struct deployment *deployment) {
    struct error error;
    if (!deployment_write(deployment, foreman->store, foreman->settings->name,
                          clock_now(foreman->options->clock), &error)) {
        log_event(LOG_ERROR, "folder refused", "reason:s", error.text);
        deployment_free(deployment);
        return;
    }
    executor_serve(foreman->executor, &deployment->definitions);
    pool_renew(foreman->pool, deployment->folder);
    deployment_free(foreman->deployment);
    foreman->deployment = deployment;
    foreman->rang = true;
    log_event(LOG_INFO, "folder loaded", "deployment:l handlers:l", deployment->id,
              (int64_t)deployment->definitions.count);
}

void watch_reload(struct foreman *foreman) {
    if (!foreman->reload || !reload_finished(foreman->reload))
        return;
    struct deployment *deployment = reload_end(foreman->reload);
    foreman->reload = NULL;
    if (deployment)
        adopt(foreman, deployment);
    if (foreman->reload_again) {
        foreman->reload_again = false;
        start_reload(foreman);
    }
}
