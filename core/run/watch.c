#include "run/watch.h"
#include "base/log.h"
#include "run/turning.h"
#include <sys/stat.h>

enum { TICK = 1000 };

bool watch_file(struct foreman *foreman, struct error *error) {
    struct stat file;
    const char *path = store_path(foreman->store);
    if (!path)
        return error_set(error, ERROR_CONFLICT, "a store in memory has no executor of its own");
    if (stat(path, &file) != 0)
        return error_set(error, ERROR_IO, "store \"%s\" cannot be looked at", path);
    foreman->device = file.st_dev;
    foreman->inode = file.st_ino;
    return true;
}

/* Somebody who moves the database away under us must not be answered with silence. */
static void check_file(struct foreman *foreman) {
    struct stat file;
    struct error error;
    const char *path = store_path(foreman->store);
    if (stat(path, &file) == 0 && file.st_dev == foreman->device && file.st_ino == foreman->inode)
        return;
    error_set(&error, ERROR_IO, "store \"%s\" was moved, removed or replaced while in use", path);
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

void watch_tick(struct foreman *foreman, time_ms now) {
    if (now < foreman->tick_at)
        return;
    foreman->tick_at = now + TICK;
    check_file(foreman);
    pool_tick(foreman->pool);
    pool_cut_lost(foreman->pool, holds, foreman);
    notes_tick(foreman->notes);
    if (now >= foreman->look_at) {
        foreman->rang = true;
        foreman->look_at = now + foreman->settings->max_wait;
    }
    if (foreman->written && foreman_idle(foreman)) {
        foreman->written = false;
        turning_checkpoint(foreman, 1);
    }
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
