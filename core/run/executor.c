#include "run/executor.h"
#include "base/thread.h"
#include "run/loop.h"
#include <stdlib.h>
#include <string.h>

/* ms. The program ends right after it, so threads that hang must not hold it up. */
enum { FAREWELL = 150 };

/* The loop of one named acquisition. */
struct acquisition {
    struct acquisition *next;
    struct executor *executor;
    char *name;
    struct loop *loop;
    struct thread thread;
};

struct attached_engine {
    struct attached_engine *next;
    struct executor *executor;
    struct runner *runner;
    bool ended;
};

struct executor {
    struct executor_options options;
    struct pool *pool;
    struct acquisition *acquisitions; /* in the order they came */
    bool running;                     /* the loops have their threads */
    struct mutex mutex;               /* guards what follows */
    struct condition ended;
    struct attached_engine *engines;
    struct runner_status gone; /* the sums of those that were removed */
    struct error fatal;        /* the first one */
};

struct executor *executor_new(const struct executor_options *options, struct error *error) {
    const struct settings *settings = options->settings;
    struct pool_options pool = {.workers_min = settings->workers_min,
                                .workers_max = settings->workers_max,
                                .queue = settings_queue(settings),
                                .keep_alive = settings->keep_alive,
                                .farewell = options->program ? FAREWELL : 0,
                                .program = options->program || options->interrupts,
                                .begins = options->begins,
                                .begins_arg = options->begins_arg};
    struct executor *executor = calloc(1, sizeof *executor);
    if (!executor)
        return error_null(error_no_memory(error));
    executor->options = *options;
    executor->pool = pool_new(&pool, error);
    if (!executor->pool) {
        free(executor);
        return NULL;
    }
    mutex_init(&executor->mutex);
    condition_init(&executor->ended);
    return executor;
}

/* ---- what the loops call ---- */

static void each(struct executor *executor, void (*tell)(struct runner *runner)) {
    mutex_lock(&executor->mutex);
    for (struct attached_engine *engine = executor->engines; engine; engine = engine->next)
        if (!engine->ended)
            tell(engine->runner);
    mutex_unlock(&executor->mutex);
}

static void end_loops(struct executor *executor) {
    for (struct acquisition *one = executor->acquisitions; one; one = one->next)
        loop_end(one->loop);
}

/* *all: no engine is left; the first fatal error is kept. The mutex is held. */
static bool mark_ended(struct executor *executor, const struct runner *runner, bool *all) {
    struct error error = {0};
    bool fine = runner_verdict(runner, &error);
    if (!fine && executor->fatal.code == ERROR_NONE)
        executor->fatal = error;
    *all = true;
    for (struct attached_engine *engine = executor->engines; engine; engine = engine->next) {
        engine->ended = engine->ended || engine->runner == runner;
        *all = *all && engine->ended;
    }
    return fine;
}

static void on_ended(void *arg, struct runner *runner) {
    struct acquisition *acquisition = arg;
    struct executor *executor = acquisition->executor;
    bool all, program = executor->options.program;
    mutex_lock(&executor->mutex);
    bool fine = mark_ended(executor, runner, &all);
    condition_broadcast(&executor->ended);
    mutex_unlock(&executor->mutex);
    if (program && !fine)
        each(executor, runner_stop);
    if (program && all)
        end_loops(executor);
}

static void on_drained(void *arg) {
    struct acquisition *acquisition = arg;
    struct executor *executor = acquisition->executor;
    for (struct acquisition *one = executor->acquisitions; one; one = one->next)
        if (!loop_drained(one->loop))
            return;
    each(executor, runner_finish);
}

static void on_tick(void *arg) {
    struct acquisition *acquisition = arg;
    acquisition->executor->options.tick(acquisition->executor->options.arg);
}

static void on_stop(void *arg) {
    struct acquisition *acquisition = arg;
    const struct executor_options *options = &acquisition->executor->options;
    each(acquisition->executor, runner_stop);
    if (options->stop)
        options->stop(options->arg);
}

static void on_reload(void *arg) {
    struct acquisition *acquisition = arg;
    const struct executor_options *options = &acquisition->executor->options;
    each(acquisition->executor, runner_reload);
    if (options->reload)
        options->reload(options->arg);
}

static void on_tell(void *arg) {
    struct acquisition *acquisition = arg;
    each(acquisition->executor, runner_tell);
}

/* ---- acquisitions ---- */

static void *run(void *arg) {
    struct acquisition *acquisition = arg;
    loop_run(acquisition->loop);
    return NULL;
}

static bool start(struct acquisition *acquisition, struct error *error) {
    return acquisition->thread.running || thread_start(&acquisition->thread, run, acquisition) ||
           error_set(error, ERROR_FAILED, "the system gives no thread for the executor");
}

static void acquisition_free(struct acquisition *acquisition) {
    loop_free(acquisition->loop);
    free(acquisition->name);
    free(acquisition);
}

/* The program's first loop sees the signals and shows the status. */
static struct acquisition *acquisition_new(struct executor *executor, const char *name,
                                           struct error *error) {
    struct acquisition *acquisition = calloc(1, sizeof *acquisition);
    bool first = !executor->acquisitions, program = executor->options.program && first;
    bool drain = executor->options.program || executor->options.drain;
    if (!acquisition)
        return error_null(error_no_memory(error));
    struct loop_options options = {.ended = on_ended,
                                   .drained = drain ? on_drained : NULL,
                                   .tick = executor->options.tick && first ? on_tick : NULL,
                                   .stop = program ? on_stop : NULL,
                                   .reload = program ? on_reload : NULL,
                                   .tell = program ? on_tell : NULL,
                                   .arg = acquisition};
    acquisition->executor = executor;
    acquisition->name = strdup(name);
    acquisition->loop = loop_new(&options, error);
    if (acquisition->name && acquisition->loop)
        return acquisition;
    if (acquisition->loop)
        error_no_memory(error);
    acquisition_free(acquisition);
    return NULL;
}

/* The loop of that name; made, and started if the executor runs, if there is none. */
static struct acquisition *acquire(struct executor *executor, const char *name,
                                   struct error *error) {
    struct acquisition **at = &executor->acquisitions;
    for (; *at; at = &(*at)->next)
        if (strcmp((*at)->name, name) == 0)
            return *at;
    struct acquisition *acquisition = acquisition_new(executor, name, error);
    if (acquisition && executor->running && !start(acquisition, error)) {
        acquisition_free(acquisition);
        return NULL;
    }
    return *at = acquisition;
}

/* ---- engines come and go ---- */

static struct runner *open_runner(struct executor *executor, struct acquisition *acquisition,
                                  const struct attached_engine_options *options,
                                  struct error *error) {
    struct runner_options runner = {.pool = executor->pool,
                                    .settings = options->settings,
                                    .clock = options->clock,
                                    .folder = options->folder,
                                    .read = options->read,
                                    .paths = options->paths,
                                    .follows = options->follows,
                                    .durations = options->durations,
                                    .program = executor->options.program,
                                    .watched = executor->options.watched,
                                    .drain = executor->options.drain,
                                    .wake = loop_wake,
                                    .wake_arg = acquisition->loop};
    return runner_new(&runner, error);
}

static void append(struct executor *executor, struct attached_engine *engine) {
    mutex_lock(&executor->mutex);
    struct attached_engine **at = &executor->engines;
    while (*at)
        at = &(*at)->next;
    *at = engine;
    mutex_unlock(&executor->mutex);
}

/* The mutex is held. */
static void take_out(struct executor *executor, const struct attached_engine *engine) {
    struct attached_engine **at = &executor->engines;
    while (*at != engine)
        at = &(*at)->next;
    *at = engine->next;
}

static bool hand_over(struct acquisition *acquisition, struct attached_engine *engine,
                      struct error *error) {
    struct executor *executor = engine->executor;
    append(executor, engine);
    if (loop_add(acquisition->loop, engine->runner))
        return true;
    mutex_lock(&executor->mutex);
    take_out(executor, engine);
    mutex_unlock(&executor->mutex);
    runner_free(engine->runner);
    return error_no_memory(error);
}

struct attached_engine *executor_attach(struct executor *executor,
                                        const struct attached_engine_options *options,
                                        struct error *error) {
    struct attached_engine *engine = calloc(1, sizeof *engine);
    struct acquisition *acquisition =
        engine ? acquire(executor, options->settings->acquisition, error) : NULL;
    if (!engine)
        error_no_memory(error);
    if (!acquisition) {
        free(engine);
        return NULL;
    }
    engine->executor = executor;
    engine->runner = open_runner(executor, acquisition, options, error);
    if (engine->runner && hand_over(acquisition, engine, error))
        return engine;
    free(engine);
    return NULL;
}

static void add_up(struct runner_status *sum, const struct runner_status *status) {
    sum->done += status->done;
    sum->failed += status->failed;
    sum->stale += status->stale;
    sum->acquired += status->acquired;
    sum->running += status->running;
    sum->waiting += status->waiting;
    sum->stuck = sum->stuck > status->stuck ? sum->stuck : status->stuck; /* the pool is one */
    sum->exhausted = sum->exhausted || status->exhausted;
    sum->paused = sum->paused || status->paused;
    sum->away = sum->away || status->away;
    sum->draining = sum->draining || status->draining;
    sum->stopping = sum->stopping || status->stopping;
    if (!sum->name[0])
        memcpy(sum->name, status->name, sizeof sum->name);
}

/* Takes the engine out; its counts stay. */
static void forget(struct executor *executor, struct attached_engine *engine) {
    struct runner_status last;
    runner_status(engine->runner, &last);
    last.running = last.waiting = last.stuck = 0;
    last.exhausted = last.paused = last.away = last.draining = last.stopping = false;
    mutex_lock(&executor->mutex);
    take_out(executor, engine);
    add_up(&executor->gone, &last);
    mutex_unlock(&executor->mutex);
}

static void await_end(struct executor *executor, const struct attached_engine *engine) {
    mutex_lock(&executor->mutex);
    while (!engine->ended)
        condition_wait(&executor->ended, &executor->mutex);
    mutex_unlock(&executor->mutex);
}

bool executor_detach(struct executor *executor, struct attached_engine *engine,
                     struct error *error) {
    if (executor->running) {
        runner_stop(engine->runner);
        await_end(executor, engine);
    }
    bool fine = runner_verdict(engine->runner, error);
    forget(executor, engine);
    runner_free(engine->runner);
    free(engine);
    return fine;
}

/* ---- running ---- */

bool executor_start(struct executor *executor, struct error *error) {
    executor->running = true;
    for (struct acquisition *one = executor->acquisitions; one; one = one->next)
        if (!start(one, error)) {
            executor_stop(executor);
            return false;
        }
    return true;
}

static void join_loops(struct executor *executor) {
    for (struct acquisition *one = executor->acquisitions; one; one = one->next)
        thread_join(&one->thread);
    executor->running = false;
}

void executor_stop(struct executor *executor) {
    if (!executor->running)
        return;
    each(executor, runner_stop);
    end_loops(executor);
    join_loops(executor);
}

bool executor_run(struct executor *executor, struct error *error) {
    struct acquisition *first = executor->acquisitions;
    executor->running = true;
    bool fine = true;
    for (struct acquisition *one = first->next; one && fine; one = one->next)
        fine = start(one, error);
    if (!fine) {
        each(executor, runner_stop);
        end_loops(executor);
    }
    loop_run(first->loop);
    join_loops(executor);
    if (fine && executor->fatal.code != ERROR_NONE) {
        *error = executor->fatal;
        return false;
    }
    return fine;
}

void executor_free(struct executor *executor) {
    struct acquisition *next;
    if (!executor)
        return;
    executor_stop(executor);
    while (executor->engines) {
        struct attached_engine *engine = executor->engines;
        executor->engines = engine->next;
        runner_free(engine->runner);
        free(engine);
    }
    if (!pool_free(executor->pool))
        return;
    for (struct acquisition *one = executor->acquisitions; one; one = next) {
        next = one->next;
        acquisition_free(one);
    }
    condition_free(&executor->ended);
    mutex_free(&executor->mutex);
    free(executor);
}

/* ---- questions ---- */

void executor_status(struct executor *executor, struct runner_status *status) {
    mutex_lock(&executor->mutex);
    *status = executor->gone;
    for (struct attached_engine *engine = executor->engines; engine; engine = engine->next) {
        struct runner_status one;
        runner_status(engine->runner, &one);
        add_up(status, &one);
    }
    mutex_unlock(&executor->mutex);
}

void attached_engine_status(struct attached_engine *engine, struct runner_status *status) {
    runner_status(engine->runner, status);
}

bool attached_engine_fine(struct attached_engine *engine, struct error *error) {
    mutex_lock(&engine->executor->mutex);
    bool fine = !engine->ended || runner_verdict(engine->runner, error);
    mutex_unlock(&engine->executor->mutex);
    return fine;
}

void attached_engine_reload(struct attached_engine *engine) {
    runner_reload(engine->runner);
}
