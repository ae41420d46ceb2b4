#include "run/foreman.h"
#include "base/crash_point.h"
#include "base/log.h"
#include "run/account.h"
#include "run/turning.h"
#include "run/watch.h"
#include <stdio.h>
#include <stdlib.h>

/* With what ends behind it, TERM takes a second longer than running jobs are waited for. */
enum { CUT_WAIT = 500, HURRY_WAIT = 200, CUT_AGAIN = 50 };
enum {
    LAST_WRITES = 800,
    LAST_WRITE = 100
}; /* behind shutdown_wait, also on a store that is held */
enum { PAGES_IDLE = 250, PAGES_BUSY = 1000 };

/* ---- beginning ---- */

static bool out_of_memory(struct error *error) {
    return error_set(error, ERROR_FAILED, "out of memory");
}

static void show(void *arg, const struct job *job, const char *text) {
    (void)arg;
    log_event(LOG_INFO, "print", "job:l handler:s text:s", job->id, job->handler, text);
}

static bool join_pool(struct foreman *foreman, struct error *error) {
    struct client_options client = {
        .pool = foreman->options.pool,
        .generations = foreman->generations,
        .settings = &foreman->settings,
        .clock = foreman->options.clock,
        .host = desk_host(foreman->desk),
        .store = foreman->store,
        .wake = foreman->options.wake,
        .wake_arg = foreman->options.wake_arg,
    };
    client.host.line = foreman->options.watched ? show : NULL;
    foreman->client = client_new(&client, error);
    return foreman->client != NULL;
}

static bool has_file(const struct store *store, struct error *error) {
    return store_path(store) ||
           error_set(error, ERROR_CONFLICT, "a store in memory has no executor of its own");
}

static bool load(struct foreman *foreman, struct error *error) {
    const struct foreman_options *options = &foreman->options;
    struct deployment *deployment =
        deployment_load(options->folder, &foreman->settings, options->clock, false, error);
    if (!deployment)
        return false;
    deployment->takes_back = options->watched;
    foreman->generations = generations_new(deployment, NULL);
    if (foreman->generations)
        return true;
    deployment_free(deployment);
    return out_of_memory(error);
}

/* Told to stop, it does not wait for the store before it has begun to count its time. */
static void hurry(struct foreman *foreman) {
    store_hurry(foreman->store, thread_told_to_stop);
    store_budget(foreman->store, 1);
}

static bool open_store(struct foreman *foreman, struct error *error) {
    const struct settings *settings = &foreman->settings;
    foreman->store = store_open(settings->store, STORE_CREATE, settings, error);
    if (foreman->store)
        hurry(foreman);
    return foreman->store && has_file(foreman->store, error) &&
           deployment_write(foreman->generations->list[0], foreman->store, settings->name,
                            clock_now(foreman->options.clock), error);
}

static bool join_store(struct foreman *foreman, struct error *error) {
    foreman->executor = executor_new(foreman->store, &foreman->settings, foreman->options.clock,
                                     pool_workers(foreman->options.pool), error);
    if (!foreman->executor)
        return false;
    store_sweep_behind(foreman->store);
    executor_serve(foreman->executor, &foreman->generations->served);
    foreman->notes = notes_new(foreman->options.wake, foreman->options.wake_arg);
    foreman->desk = foreman->notes ? desk_new(foreman->settings.store, &foreman->settings,
                                              foreman->options.clock, foreman->notes)
                                   : NULL;
    foreman->gaps = gaps_new(foreman->settings.store, &foreman->settings, foreman->options.clock);
    return (foreman->desk && foreman->gaps) || out_of_memory(error);
}

static void started(struct foreman *foreman) {
    struct foreman_status *status = &foreman->status;
    snprintf(status->name, sizeof status->name, "%s/%lld", foreman->settings.name,
             (long long)executor_id(foreman->executor));
    log_event(LOG_INFO, "started", "executor:s store:s workers:d handlers:l deployment:l",
              status->name, foreman->settings.store, pool_workers(foreman->options.pool),
              (int64_t)foreman->generations->served.count, foreman->generations->list[0]->id);
}

/* Its own copies: a handler or a reload that does not end keeps using them. */
static bool keep_options(struct foreman *foreman, const struct foreman_options *options,
                         struct error *error) {
    foreman->options = *options;
    foreman->options.clock = clock_retain(options->clock);
    foreman->options.folder = folder_retain(options->folder);
    foreman->paths = options->paths ? json_deep_copy(options->paths) : NULL;
    return (foreman->paths || !options->paths || out_of_memory(error)) &&
           settings_copy(&foreman->settings, options->settings, error);
}

static bool begin(struct foreman *foreman, const struct foreman_options *options,
                  struct error *error) {
    if (!keep_options(foreman, options, error) || !load(foreman, error) ||
        !open_store(foreman, error) || !join_store(foreman, error) || !join_pool(foreman, error))
        return false;
    foreman->rang = foreman->untidy = true;
    foreman->file_step = FILE_STEP;
    foreman->next = TIME_NEVER;
    foreman->deadline = TIME_NEVER;
    foreman->tick_at = clock_monotonic();
    foreman->look_at = foreman->tick_at + foreman->settings.max_wait;
    return true;
}

struct foreman *foreman_new(const struct foreman_options *options, struct error *error) {
    struct foreman *foreman = calloc(1, sizeof *foreman);
    if (!foreman) {
        out_of_memory(error);
        return NULL;
    }
    mutex_init(&foreman->mutex);
    if (begin(foreman, options, error)) {
        started(foreman);
        return foreman;
    }
    foreman_free(foreman);
    return NULL;
}

bool foreman_free(struct foreman *foreman) {
    if (!foreman)
        return true;
    reload_drop(foreman->reload);
    foreman->reload = NULL;
    if (!client_free(foreman->client))
        return false;
    executor_free(foreman->executor);
    gaps_free(foreman->gaps);
    desk_free(foreman->desk);
    notes_free(foreman->notes);
    generations_free(foreman->generations, NULL);
    store_close(foreman->store);
    settings_clear(&foreman->settings);
    json_decref(foreman->paths);
    folder_release(foreman->options.folder);
    clock_release(foreman->options.clock);
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

bool foreman_lost(const struct error *error) {
    return error->code == ERROR_IO || error->code == ERROR_DAMAGED || error->code == ERROR_CONFIG;
}

void foreman_give_up(struct foreman *foreman, const struct error *error) {
    if (foreman->fatal.code != ERROR_NONE)
        return;
    foreman->fatal = *error;
    log_event(LOG_ERROR, "fatal", "reason:s", error->text);
}

bool foreman_idle(const struct foreman *foreman) {
    return !foreman->again && client_quiet(foreman->client);
}

static void call(struct foreman *foreman) {
    foreman->options.wake(foreman->options.wake_arg);
}

void foreman_stop(struct foreman *foreman) {
    atomic_fetch_add(&foreman->stops, 1);
    client_halt(foreman->client); /* the loop may wait for the store */
    call(foreman);
}

void foreman_finish(struct foreman *foreman) {
    atomic_store(&foreman->finishes, true);
    call(foreman);
}

void foreman_reload(struct foreman *foreman) {
    atomic_store(&foreman->reloads, true);
    call(foreman);
}

void foreman_tell(struct foreman *foreman) {
    atomic_store(&foreman->tells, true);
    call(foreman);
}

static void enter(struct foreman *foreman, enum stage stage, time_ms until) {
    foreman->stage = stage;
    foreman->stage_until = until;
    foreman->retry_at = 0;
    time_ms by = until + LAST_WRITES - (stage == CUTTING ? CUT_WAIT : 0);
    if (foreman->end_by == 0 || by < foreman->end_by)
        foreman->end_by = by;
    store_budget(foreman->store, until);
    client_stop(foreman->client, stage == CUTTING);
    CRASH_POINT("stopping");
    watch_publish(foreman);
    log_event(LOG_INFO, stage == CUTTING ? "cutting off" : "stopping", "running:d waiting:d",
              foreman->status.running, foreman->status.waiting);
}

static bool all_settled(const struct foreman *foreman) {
    bool lost = foreman->fatal.code != ERROR_NONE; /* what has ended cannot be written any more */
    return client_quiet(foreman->client) && (lost || !executor_pending(foreman->executor));
}

/* The last one to leave has one whole file behind it. Nothing acknowledged is lost with what fails
 * here, but whoever started us must hear of a broken disk. */
static void write_last(struct foreman *foreman) {
    struct error error = {0};
    if (foreman->fatal.code == ERROR_NONE &&
        (!executor_flush(foreman->executor, &error) || !store_leave(foreman->store, &error) ||
         !store_checkpoint(foreman->store, 0, &error)) &&
        foreman_lost(&error))
        foreman_give_up(foreman, &error);
}

static void end(struct foreman *foreman) {
    struct error lost;
    if (!client_quiet(foreman->client))
        log_event(LOG_ERROR, "handlers left behind", "running:d", foreman->status.running);
    if (executor_pending(foreman->executor)) {
        const struct error *why = &foreman->refused;
        error_set(&lost, why->code ? why->code : ERROR_FAILED, "results could not be written: %s",
                  why->code ? why->text : "there was no time left");
        foreman_give_up(foreman, &lost);
    }
    store_budget(foreman->store, foreman->end_by ? foreman->end_by - LAST_WRITE : 0);
    CRASH_POINT("ending");
    notes_close(foreman->notes);
    write_last(foreman);
    executor_free(foreman->executor);
    CRASH_POINT("ended");
    foreman->executor = NULL;
    foreman->stage = ENDED;
    watch_publish(foreman);
    log_event(LOG_INFO, "stopped", "executor:s done:l failed:l", foreman->status.name,
              foreman->status.done, foreman->status.failed);
}

bool foreman_drained(const struct foreman *foreman) {
    return foreman->drained && foreman->stage == WORKING && all_settled(foreman);
}

/* What cannot be replaced in here can be where the program is started again. */
static void give_in(struct foreman *foreman) {
    int stuck = 0;
    if (!foreman->options.program || foreman->exhausted.code != ERROR_NONE ||
        !client_exhausted(foreman->client, &stuck))
        return;
    error_set(&foreman->exhausted, ERROR_STUCK,
              "%d handlers do not end, and no more workers can be replaced", stuck);
    log_event(LOG_ERROR, "ends itself", "reason:s", foreman->exhausted.text);
    client_halt(foreman->client);
    atomic_fetch_add(&foreman->stops, atomic_load(&foreman->stops) == 0);
}

static void advance(struct foreman *foreman, time_ms now) {
    give_in(foreman);
    bool fatal = foreman->fatal.code != ERROR_NONE;
    int stops = atomic_load(&foreman->stops);
    if (foreman->stage == WORKING && stops > 0 && !fatal)
        enter(foreman, STOPPING, now + foreman->settings.shutdown_wait);
    if (foreman->stage < CUTTING && (fatal || stops > 1))
        enter(foreman, CUTTING, now + HURRY_WAIT);
    if (foreman->stage == STOPPING && now >= foreman->stage_until)
        enter(foreman, CUTTING, now + CUT_WAIT);
    if (foreman->stage == CUTTING)
        client_tick(foreman->client);
    bool finished = atomic_load(&foreman->finishes) && foreman_drained(foreman);
    bool over = foreman->stage == CUTTING && now >= foreman->stage_until;
    if (over || finished || (foreman->stage != WORKING && all_settled(foreman)))
        end(foreman);
}

bool foreman_round(struct foreman *foreman) {
    time_ms now = clock_monotonic();
    watch_tick(foreman, now);
    watch_reload(foreman);
    if (atomic_exchange(&foreman->tells, false))
        account_log(foreman);
    if (now >= foreman->deadline)
        client_tick(foreman->client);
    if (foreman->fatal.code == ERROR_NONE)
        turning_turn(foreman, now);
    else
        outcome_free_list(client_outcomes(foreman->client));
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
    int room = client_room(foreman->client);
    if (now < foreman->retry_at)
        return foreman->retry_at;
    time_ms until = earlier(notes_due(foreman->notes), executor_renewal(foreman->executor));
    if (foreman->stage != WORKING)
        return until;
    if (client_waits(foreman->client))
        until = earlier(until, foreman->yield_at);
    if (foreman->gathers)
        return earlier(until, foreman->gather_until);
    if (foreman->again || foreman->rang)
        return earlier(until, now + strategy_full_wait(&foreman->settings, room));
    if (room == 0)
        return until;
    if (foreman->next == TIME_NEVER)
        return until;
    return earlier(until, now + (foreman->next - clock_now(foreman->options.clock)));
}

time_ms foreman_wait(struct foreman *foreman) {
    time_ms now = clock_monotonic();
    foreman->deadline = client_deadline(foreman->client);
    time_ms until = earlier(foreman->tick_at, foreman->deadline);
    until = earlier(until, next_turn(foreman, now));
    if (foreman->stage == CUTTING)
        until = earlier(until, now + CUT_AGAIN);
    if (foreman->stage != WORKING)
        until = earlier(until, foreman->stage_until);
    return until > now ? until - now : 0;
}

bool foreman_verdict(const struct foreman *foreman, struct error *error) {
    bool fatal = foreman->fatal.code != ERROR_NONE;
    const struct error *verdict = fatal ? &foreman->fatal : &foreman->exhausted;
    if (verdict->code == ERROR_NONE)
        return true;
    if (error)
        *error = *verdict;
    return false;
}

void foreman_status(struct foreman *foreman, struct foreman_status *status) {
    mutex_lock(&foreman->mutex);
    *status = foreman->status;
    mutex_unlock(&foreman->mutex);
    client_load(foreman->client, &status->running, &status->waiting);
}
