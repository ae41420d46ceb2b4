#include "run/foreman.h"
#include "base/log.h"
#include "run/turning.h"
#include "run/watch.h"
#include <stdio.h>
#include <stdlib.h>

enum { CUT_WAIT = 2000, HURRY_WAIT = 200, CUT_AGAIN = 50 };
enum { PAGES_IDLE = 250, PAGES_BUSY = 1000, NO_REFERENCE = -2 };

/* Signals reach a handler at no cost, but sanitizers hold them back until its next system call. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) ||                               \
    __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
enum { PROGRAM_HOOK = HOOK_ALWAYS };
#else
enum { PROGRAM_HOOK = HOOK_ON_SIGNAL };
#endif

/* ---- beginning ---- */

static bool out_of_memory(struct error *error) {
    return error_set(error, ERROR_FAILED, "out of memory");
}

static bool open_pool(struct foreman *foreman, struct error *error) {
    const struct loop_options *options = foreman->options;
    struct pool_options pool = {
        .settings = options->settings,
        .clock = options->clock,
        .script = {.folder = options->folder,
                   .settings = options->settings,
                   .clock = options->clock,
                   .hook = options->signals ? (enum script_hook)PROGRAM_HOOK : HOOK_ALWAYS,
                   .host = desk_host(foreman->desk),
                   .modules = NO_REFERENCE,
                   .handlers = NO_REFERENCE},
        .store = foreman->store,
        .wake = foreman->wake,
        .wake_arg = foreman->wake_arg,
    };
    foreman->pool = pool_new(&pool, error);
    return foreman->pool != NULL;
}

static bool has_file(const struct store *store, struct error *error) {
    return store_path(store) ||
           error_set(error, ERROR_CONFLICT, "a store in memory has no executor of its own");
}

static bool begin(struct foreman *foreman, struct error *error) {
    const struct loop_options *options = foreman->options;
    const struct settings *settings = options->settings;
    foreman->deployment = deployment_load(options->folder, settings, options->clock, false, error);
    if (!foreman->deployment)
        return false;
    foreman->store = store_open(options->store_url, STORE_CREATE, settings, error);
    if (!foreman->store || !has_file(foreman->store, error) ||
        !deployment_write(foreman->deployment, foreman->store, settings->name,
                          clock_now(options->clock), error))
        return false;
    foreman->executor =
        executor_new(foreman->store, settings, options->clock, settings->workers_max, error);
    if (!foreman->executor)
        return false;
    executor_serve(foreman->executor, &foreman->deployment->definitions);
    foreman->notes = notes_new(foreman->wake, foreman->wake_arg);
    foreman->desk = foreman->notes
                        ? desk_new(options->store_url, settings, options->clock, foreman->notes)
                        : NULL;
    foreman->gaps = gaps_new(options->store_url, settings, options->clock);
    return foreman->desk && foreman->gaps ? open_pool(foreman, error) : out_of_memory(error);
}

static void started(struct foreman *foreman) {
    struct loop_status *status = &foreman->status;
    snprintf(status->name, sizeof status->name, "%s/%lld", foreman->settings->name,
             (long long)executor_id(foreman->executor));
    log_event(LOG_INFO, "started", "executor:s store:s workers:d handlers:l deployment:l",
              status->name, foreman->options->store_url, foreman->settings->workers_max,
              (int64_t)foreman->deployment->definitions.count, foreman->deployment->id);
}

struct foreman *foreman_new(const struct loop_options *options, void (*wake)(void *arg), void *arg,
                            struct error *error) {
    struct foreman *foreman = calloc(1, sizeof *foreman);
    if (!foreman) {
        out_of_memory(error);
        return NULL;
    }
    foreman->options = options;
    foreman->settings = options->settings;
    foreman->wake = wake;
    foreman->wake_arg = arg;
    foreman->rang = foreman->unfiled = true;
    foreman->next = TIME_NEVER;
    foreman->deadline = TIME_NEVER;
    foreman->tick_at = clock_monotonic();
    foreman->look_at = foreman->tick_at + options->settings->max_wait;
    mutex_init(&foreman->mutex);
    if (begin(foreman, error)) {
        started(foreman);
        return foreman;
    }
    foreman_free(foreman);
    return NULL;
}

bool foreman_free(struct foreman *foreman) {
    if (foreman->reload)
        deployment_free(reload_end(foreman->reload));
    foreman->reload = NULL;
    if (!pool_free(foreman->pool))
        return false;
    executor_free(foreman->executor);
    gaps_free(foreman->gaps);
    desk_free(foreman->desk);
    notes_free(foreman->notes);
    deployment_free(foreman->deployment);
    store_close(foreman->store);
    mutex_free(&foreman->mutex);
    free(foreman);
    return true;
}

int foreman_bell(const struct foreman *foreman) {
    return store_bell(foreman->store);
}

void foreman_rang(struct foreman *foreman) {
    store_bell_empty(foreman->store);
    foreman->rang = true;
}

/* ---- the end ---- */

void foreman_give_up(struct foreman *foreman, const struct error *error) {
    if (foreman->fatal.code != ERROR_NONE)
        return;
    foreman->fatal = *error;
    log_event(LOG_ERROR, "fatal", "reason:s", error->text);
}

bool foreman_idle(const struct foreman *foreman) {
    return !foreman->again && pool_quiet(foreman->pool);
}

void foreman_stop(struct foreman *foreman, int times) {
    foreman->stops = times;
}

static void enter(struct foreman *foreman, enum stage stage, time_ms until) {
    foreman->stage = stage;
    foreman->stage_until = until;
    pool_stop(foreman->pool, stage == CUTTING);
    watch_publish(foreman);
    log_event(LOG_INFO, stage == CUTTING ? "cutting off" : "stopping", "running:d waiting:d",
              foreman->status.running, foreman->status.waiting);
}

static bool all_settled(const struct foreman *foreman) {
    bool lost = foreman->fatal.code != ERROR_NONE; /* what has ended cannot be written any more */
    return pool_quiet(foreman->pool) && (lost || !executor_pending(foreman->executor));
}

static void end(struct foreman *foreman) {
    struct error lost;
    if (!pool_quiet(foreman->pool))
        log_event(LOG_ERROR, "handlers left behind", "running:d", foreman->status.running);
    if (executor_pending(foreman->executor)) {
        error_set(&lost, ERROR_FULL, "results could not be written (expected room on the disk)");
        foreman_give_up(foreman, &lost);
    }
    notes_close(foreman->notes);
    executor_free(foreman->executor);
    foreman->executor = NULL;
    foreman->stage = ENDED;
    watch_show(foreman);
    log_event(LOG_INFO, "stopped", "executor:s done:l failed:l", foreman->status.name,
              foreman->status.done, foreman->status.failed);
}

static void advance(struct foreman *foreman, time_ms now) {
    bool fatal = foreman->fatal.code != ERROR_NONE;
    if (foreman->stage == WORKING && foreman->stops > 0 && !fatal)
        enter(foreman, STOPPING, now + foreman->settings->shutdown_wait);
    if (foreman->stage < CUTTING && (fatal || foreman->stops > 1))
        enter(foreman, CUTTING, now + HURRY_WAIT);
    if (foreman->stage == STOPPING && now >= foreman->stage_until)
        enter(foreman, CUTTING, now + CUT_WAIT);
    if (foreman->stage == CUTTING)
        pool_tick(foreman->pool);
    bool drained = foreman->options->drain && foreman->drained && foreman->stage == WORKING;
    bool over = foreman->stage == CUTTING && now >= foreman->stage_until;
    if (over || ((foreman->stage != WORKING || drained) && all_settled(foreman)))
        end(foreman);
}

bool foreman_round(struct foreman *foreman) {
    time_ms now = clock_monotonic();
    watch_tick(foreman, now);
    watch_reload(foreman);
    if (now >= foreman->deadline)
        pool_tick(foreman->pool);
    if (foreman->fatal.code == ERROR_NONE)
        turning_turn(foreman, now);
    else
        outcome_free_list(pool_outcomes(foreman->pool));
    if (foreman->written && foreman->fatal.code == ERROR_NONE)
        turning_checkpoint(foreman, foreman_idle(foreman) ? PAGES_IDLE : PAGES_BUSY);
    advance(foreman, now);
    return foreman->stage != ENDED;
}

static time_ms earlier(time_ms a, time_ms b) {
    return a < b ? a : b;
}

/* The monotonic instant at which a turn has something to do. */
static time_ms next_turn(struct foreman *foreman, time_ms now) {
    int room = pool_room(foreman->pool);
    if (now < foreman->retry_at)
        return foreman->retry_at;
    time_ms until = earlier(notes_due(foreman->notes), executor_renewal(foreman->executor));
    if (foreman->stage != WORKING)
        return until;
    if (foreman->again || foreman->rang)
        return earlier(until, now + strategy_full_wait(foreman->settings, room));
    if (room == 0)
        return until;
    if (foreman->next == TIME_NEVER)
        return until;
    return earlier(until, now + (foreman->next - clock_now(foreman->options->clock)));
}

time_ms foreman_wait(struct foreman *foreman) {
    time_ms now = clock_monotonic();
    foreman->deadline = pool_deadline(foreman->pool);
    time_ms until = earlier(foreman->tick_at, foreman->deadline);
    until = earlier(until, next_turn(foreman, now));
    if (foreman->stage == CUTTING)
        until = earlier(until, now + CUT_AGAIN);
    if (foreman->stage != WORKING)
        until = earlier(until, foreman->stage_until);
    return until > now ? until - now : 0;
}

bool foreman_verdict(const struct foreman *foreman, struct error *error) {
    if (foreman->fatal.code == ERROR_NONE)
        return true;
    if (error)
        *error = foreman->fatal;
    return false;
}

void foreman_status(struct foreman *foreman, struct loop_status *status) {
    mutex_lock(&foreman->mutex);
    *status = foreman->status;
    mutex_unlock(&foreman->mutex);
}
