#include "base/crash_point.h"
#include "base/log.h"
#include "job/store_url.h"
#include "run/runner_state.h"
#include "time/cron.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ms. TERM takes a second longer than shutdown_wait, the last writes included. */
enum { CUT_WAIT = 500, HURRY_WAIT = 200 };
/* Behind shutdown_wait, also on a store that another process holds. */
enum { LAST_WRITES = 800, LAST_WRITE = 100 };

/* ---- beginning ---- */

static void show(void *arg, const struct job *job, const char *text) {
    (void)arg;
    log_event(LOG_INFO, "print", "job:l handler:s text:s", job->id, job->handler, text);
}

static bool join_pool(struct runner *runner, struct error *error) {
    struct client_options client = {
        .pool = runner->options.pool,
        .generations = engine_generations(runner->engine),
        .settings = &runner->settings,
        .clock = runner->options.clock,
        .host = job_services_host(runner->services),
        .store = runner->store,
        .wake = runner->options.wake,
        .wake_arg = runner->options.wake_arg,
    };
    client.host.line = runner->options.watched ? show : NULL;
    runner->client = client_new(&client, error);
    return runner->client != NULL;
}

static bool open_engine(struct runner *runner, struct error *error) {
    struct engine_options options = {.settings = &runner->settings,
                                     .mode = STORE_CREATE,
                                     .clock = runner->options.clock,
                                     .folder = runner->options.folder,
                                     .claim =
                                         runner->options.watched ? CLAIM_ALWAYS : CLAIM_UNLESS_LIVE,
                                     .checks_only = true,
                                     .hurries = thread_told_to_stop};
    runner->engine = engine_open(&options, error);
    if (!runner->engine)
        return false;
    clock_release(runner->options.clock);
    runner->options.clock = clock_retain(engine_clock(runner->engine));
    runner->store = engine_store(runner->engine);
    generation_tell(engine_generations(runner->engine)->list[0]);
    return store_kind(runner->store) != STORE_MEMORY ||
           error_set(error, ERROR_CONFLICT, "a store in memory has no executor of its own");
}

static bool join_store(struct runner *runner, struct error *error) {
    runner->turns = turns_new(runner->store, &runner->settings, runner->options.clock,
                              pool_workers(runner->options.pool), error);
    if (!runner->turns)
        return false;
    store_purge_behind(runner->store);
    turns_serve(runner->turns, &engine_generations(runner->engine)->served);
    runner->requests = job_requests_new(runner->options.wake, runner->options.wake_arg);
    runner->services = runner->requests ? job_services_new(&runner->settings, runner->options.clock,
                                                           runner->requests)
                                        : NULL;
    runner->gap_watch =
        gap_watch_new(runner->settings.store, &runner->settings, runner->options.clock);
    runner->relay = relay_new(&runner->settings, runner->options.clock, runner->options.wake,
                              runner->options.wake_arg);
    return (runner->services && runner->gap_watch && runner->relay) || error_no_memory(error);
}

static void started(struct runner *runner) {
    const struct generations *generations = engine_generations(runner->engine);
    struct runner_status *status = &runner->status;
    char store[STORE_SHOWN];
    snprintf(status->name, sizeof status->name, "%s/%lld", runner->settings.name,
             (long long)turns_id(runner->turns));
    log_event(LOG_INFO, "started", "executor:s store:s workers:d handlers:l deployment:l",
              status->name, store_url_show(runner->settings.store, store),
              pool_workers(runner->options.pool), (int64_t)generations->served.count,
              generations->list[0]->deployment);
}

/* Runs a schedule of the folder that has at = "start", unless it is paused. */
static bool run_start(struct runner *runner, const json_t *row, time_ms now, struct error *error) {
    struct command_run run = {0};
    const char *cycle = json_string_value(json_object_get(row, "cycle"));
    const char *source = json_string_value(json_object_get(row, "source"));
    if (!cycle || strcmp(cycle, CRON_START) != 0 || json_is_true(json_object_get(row, "paused")) ||
        !source || strcmp(source, runner->options.folder->name) != 0)
        return true;
    json_t *command =
        json_pack("{ss sO}", "verb", "run_schedule", "schedule", json_object_get(row, "name"));
    bool done =
        command ? store_command(runner->store, command, &run, now, error) : error_no_memory(error);
    json_decref(command);
    return done;
}

static bool run_starts(struct runner *runner, struct error *error) {
    time_ms now = clock_now(runner->options.clock);
    json_t *question = json_object();
    json_t *rows = store_ask(runner->store, ASK_SCHEDULES, question, now, error);
    bool done = rows != NULL;
    for (size_t i = 0; done && i < json_array_size(rows); i++)
        done = run_start(runner, json_array_get(rows, i), now, error);
    json_decref(rows);
    json_decref(question);
    return done;
}

/* Its own copies: a handler or a reload that does not end keeps using them. */
static bool keep_options(struct runner *runner, const struct runner_options *options,
                         struct error *error) {
    runner->options = *options;
    runner->options.clock = clock_retain(options->clock);
    runner->options.folder = folder_retain(options->folder);
    runner->paths = options->paths ? json_deep_copy(options->paths) : NULL;
    return (runner->paths || !options->paths || error_no_memory(error)) &&
           settings_copy(&runner->settings, options->settings, error);
}

static bool begin(struct runner *runner, const struct runner_options *options,
                  struct error *error) {
    if (!keep_options(runner, options, error) || !open_engine(runner, error))
        return false;
    if (!join_store(runner, error) || !join_pool(runner, error) || !run_starts(runner, error))
        return false;
    runner->rang = runner->untidy = runner->heard = true;
    runner->asked_for = options->folder->deployment;
    runner->file_step = FILE_STEP;
    runner->next = TIME_NEVER;
    runner->deadline = TIME_NEVER;
    runner->tick_at = clock_monotonic();
    runner->look_at = runner->tick_at + runner->settings.max_wait;
    return true;
}

struct runner *runner_new(const struct runner_options *options, struct error *error) {
    struct runner *runner = calloc(1, sizeof *runner);
    if (!runner)
        return error_null(error_no_memory(error));
    mutex_init(&runner->mutex);
    if (begin(runner, options, error)) {
        started(runner);
        return runner;
    }
    runner_free(runner);
    return NULL;
}

/* ---- the end ---- */

bool runner_free(struct runner *runner) {
    if (!runner)
        return true;
    reload_drop(runner->reload);
    runner->reload = NULL;
    gap_watch_free(runner->gap_watch); /* no worker can reach it */
    runner->gap_watch = NULL;
    relay_free(runner->relay);
    runner->relay = NULL;
    if (!client_free(runner->client))
        return false;
    turns_free(runner->turns);
    adopt_let_go(runner);
    job_services_free(runner->services);
    job_requests_free(runner->requests);
    engine_close(runner->engine);
    settings_clear(&runner->settings);
    json_decref(runner->paths);
    folder_release(runner->options.folder);
    clock_release(runner->options.clock);
    mutex_free(&runner->mutex);
    free(runner);
    return true;
}

bool runner_lost(const struct error *error) {
    return error->code == ERROR_IO || error->code == ERROR_DAMAGED || error->code == ERROR_CONFIG;
}

void runner_give_up(struct runner *runner, const struct error *error) {
    if (runner->fatal.code != ERROR_NONE)
        return;
    runner->fatal = *error;
    log_event(LOG_ERROR, "fatal", "reason:s", error->text);
}

void runner_status(struct runner *runner, struct runner_status *status) {
    mutex_lock(&runner->mutex);
    *status = runner->status;
    mutex_unlock(&runner->mutex);
    client_load(runner->client, &status->running, &status->waiting);
}

void runner_stop(struct runner *runner) {
    atomic_fetch_add(&runner->stops, 1);
    client_halt(runner->client); /* the loop may wait for the store */
    runner->options.wake(runner->options.wake_arg);
}

void runner_finish(struct runner *runner) {
    atomic_store(&runner->finishes, true);
    runner->options.wake(runner->options.wake_arg);
}

static void enter(struct runner *runner, enum stage stage, time_ms until) {
    runner->stage = stage;
    runner->stage_until = until;
    runner->retry_at = 0;
    time_ms by = until + LAST_WRITES - (stage == CUTTING ? CUT_WAIT : 0);
    if (runner->end_by == 0 || by < runner->end_by)
        runner->end_by = by;
    store_budget(runner->store, until);
    client_stop(runner->client, stage == CUTTING);
    CRASH_POINT("stopping");
    runner_publish(runner);
    log_event(LOG_INFO, stage == CUTTING ? "cutting off" : "stopping", "running:d waiting:d",
              runner->status.running, runner->status.waiting);
}

static bool all_settled(const struct runner *runner) {
    bool lost = runner->fatal.code != ERROR_NONE; /* outcomes cannot be written any more */
    return client_quiet(runner->client) && (lost || !turns_pending(runner->turns));
}

/* The last executor to leave empties the write-ahead log into the database. Nothing acknowledged is
 * lost if that fails, but a broken disk must show in the exit status. */
static void write_last(struct runner *runner) {
    struct error error = {0};
    if (runner->fatal.code != ERROR_NONE)
        return;
    bool written = turns_flush(runner->turns, &error) && store_leave(runner->store, &error) &&
                   store_tend(runner->store, CHORE_LOG, 0, NULL, &error);
    if (!written && runner_lost(&error))
        runner_give_up(runner, &error);
}

static void end(struct runner *runner) {
    struct error lost = {0};
    if (!client_quiet(runner->client))
        log_event(LOG_ERROR, "handlers left behind", "running:d", runner->status.running);
    if (turns_pending(runner->turns)) {
        const struct error *why = &runner->refused;
        error_set(&lost, why->code ? why->code : ERROR_FAILED, "results could not be written: %s",
                  why->code ? why->text : "there was no time left");
        runner_give_up(runner, &lost);
    }
    store_budget(runner->store, runner->end_by ? runner->end_by - LAST_WRITE : 0);
    if (runner->stage == WORKING) /* drained, and nobody waits for its end */
        runner_file_rest(runner);
    CRASH_POINT("ending");
    job_requests_close(runner->requests);
    write_last(runner);
    turns_free(runner->turns);
    CRASH_POINT("ended");
    runner->turns = NULL;
    runner->stage = ENDED;
    runner_publish(runner);
    log_event(LOG_INFO, "stopped", "executor:s done:l failed:l", runner->status.name,
              runner->status.done, runner->status.failed);
}

/* True if only the end of the process could end what this executor still has: it was told to take
 * nothing more, and some run was given up and goes on. */
static bool holds_stuck_run(const struct runner *runner) {
    return runner->options.program && runner->status.draining && runner->status.stuck > 0;
}

bool runner_drained(const struct runner *runner) {
    bool drained = runner->options.drain ? runner->drained : holds_stuck_run(runner);
    return drained && runner->stage == WORKING && all_settled(runner);
}

static void tell_stuck(const struct runner *runner) {
    if (holds_stuck_run(runner))
        log_event(LOG_WARN, "drained", "stuck:d end:s", runner->status.stuck,
                  "with the process, as nothing else ends them");
}

/* Ends a program that cannot replace its workers any more; its supervisor starts it again. */
static void give_in(struct runner *runner) {
    int stuck = 0;
    if (!runner->options.program || runner->exhausted.code != ERROR_NONE ||
        !client_exhausted(runner->client, &stuck))
        return;
    error_set(&runner->exhausted, ERROR_STUCK,
              "%d handlers do not end, and no more workers can be replaced", stuck);
    log_event(LOG_ERROR, "ends itself", "reason:s", runner->exhausted.text);
    client_halt(runner->client);
    atomic_fetch_add(&runner->stops, atomic_load(&runner->stops) == 0);
}

void runner_advance(struct runner *runner, time_ms now) {
    give_in(runner);
    bool fatal = runner->fatal.code != ERROR_NONE;
    int stops = atomic_load(&runner->stops);
    if (runner->stage == WORKING && stops > 0 && !fatal)
        enter(runner, STOPPING, now + runner->settings.shutdown_wait);
    if (runner->stage < CUTTING && (fatal || stops > 1))
        enter(runner, CUTTING, now + HURRY_WAIT);
    if (runner->stage == STOPPING && now >= runner->stage_until)
        enter(runner, CUTTING, now + CUT_WAIT);
    if (runner->stage == CUTTING)
        client_tick(runner->client);
    bool finished = atomic_load(&runner->finishes) && runner_drained(runner);
    bool over = runner->stage == CUTTING && now >= runner->stage_until;
    if (finished)
        tell_stuck(runner);
    if (over || finished || (runner->stage != WORKING && all_settled(runner)))
        end(runner);
}

bool runner_verdict(const struct runner *runner, struct error *error) {
    bool fatal = runner->fatal.code != ERROR_NONE;
    const struct error *verdict = fatal ? &runner->fatal : &runner->exhausted;
    if (verdict->code == ERROR_NONE)
        return true;
    if (error)
        *error = *verdict;
    return false;
}

void runner_take_back(struct runner *runner) {
    struct error error = {0};
    int64_t executors = store_executors_number(runner->store);
    if (executors == runner->executors || runner->stage != WORKING)
        return;
    if (engine_take_back(runner->engine, &error))
        runner->executors = executors;
    else
        log_event(LOG_WARN, "older folder not looked at", "reason:s", error.text);
}
