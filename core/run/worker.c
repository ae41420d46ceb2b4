#include "run/worker.h"
#include "base/log.h"
#include "run/crew.h"

enum { BLOCK_FIRST = 1000, BLOCK_MAX = 30000 };

/* The script whose handler runs on this thread, for the signal handler. */
static _Thread_local struct script *volatile running;

void worker_interrupted(int signal) {
    (void)signal;
    if (running)
        script_interrupt(running);
}

static void publish(struct worker *worker, struct script *script) {
    mutex_lock(&worker->pool->mutex);
    worker->script = script;
    mutex_unlock(&worker->pool->mutex);
}

static void close_script(struct worker *worker) {
    struct script *script = worker->script;
    publish(worker, NULL);
    script_close(script);
}

static bool open_script(struct worker *worker, struct error *error) {
    struct pool *pool = worker->pool;
    struct script_options options = pool->options.script;
    mutex_lock(&pool->mutex);
    options.folder = folder_retain(pool->folder);
    worker->generation = atomic_load(&pool->generation);
    mutex_unlock(&pool->mutex);
    struct script *script = script_open(&options, error);
    folder_release(options.folder);
    publish(worker, script);
    return script != NULL;
}

/* A script of the newest generation, not worn. */
static bool prepare(struct worker *worker, struct error *error) {
    if (worker->script && worker->generation != atomic_load(&worker->pool->generation))
        close_script(worker);
    if (worker->script && script_worn(worker->script))
        close_script(worker);
    return worker->script || open_script(worker, error);
}

/* A job whose lock may be lost, or whose lane is, must not begin. */
static bool may_begin(const struct worker *worker, struct item *item) {
    struct pool *pool = worker->pool;
    return !atomic_load(&pool->stopping) && !atomic_load(&item->refused) &&
           clock_monotonic() < atomic_load(&pool->lease) &&
           item->lapses == atomic_load(&pool->lapses);
}

/* The slot says, even after kill -9, which job was running. */
static struct outcome *run_job(struct worker *worker, struct job *job) {
    struct store *store = worker->pool->options.store;
    store_slot_set(store, worker->index, job->id, job->token,
                   clock_now(worker->pool->options.clock));
    running = worker->script;
    struct outcome *outcome = script_run(worker->script, job);
    running = NULL;
    store_slot_clear(store, worker->index);
    return outcome;
}

/* Once something may follow in the lane, the worker waits for it behind the item's last job. */
static void deliver(struct worker *worker, struct item *item, struct outcome *outcome,
                    bool *follows) {
    *follows = *follows || (outcome && outcome_may_follow(outcome));
    if (*follows && outcome && !item->jobs)
        crew_await(worker->pool, worker, outcome);
    crew_deliver(worker->pool, item, outcome);
}

/* False: the script cannot be opened again; the rest has been given back. */
static bool run_item(struct worker *worker, struct item *item, struct error *error) {
    struct pool *pool = worker->pool;
    bool able = prepare(worker, error), follows = false;
    while (able && item->jobs && may_begin(worker, item)) {
        crew_begin(pool, worker, item->jobs);
        struct job *job = item_take(item);
        deliver(worker, item, run_job(worker, job), &follows);
        if (item->jobs && script_worn(worker->script)) {
            close_script(worker);
            able = open_script(worker, error);
        }
    }
    crew_return(pool, item);
    return able;
}

/* The folder was loaded once, so this is a shortage that may pass: tries again by itself. */
static void recover(struct worker *worker, struct error *error) {
    time_ms wait = BLOCK_FIRST;
    do {
        log_event(LOG_ERROR, "worker cannot load the folder", "worker:d reason:s", worker->index,
                  error->text);
        if (!crew_pause(worker->pool, worker, clock_monotonic() + wait))
            break;
        wait = wait * 2 < BLOCK_MAX ? wait * 2 : BLOCK_MAX;
    } while (!prepare(worker, error));
    crew_resume(worker->pool, worker);
}

void *worker_run(void *arg) {
    struct worker *worker = arg;
    struct error error = {0};
    struct item *item;
    if (worker->pool->options.script.hook == HOOK_ON_SIGNAL)
        thread_take_interrupts();
    if (!prepare(worker, &error)) /* before the first item: the best must not wait for it */
        recover(worker, &error);
    while ((item = crew_take(worker->pool, worker))) {
        bool able = true;
        for (; item; item = crew_follow(worker->pool, worker)) {
            able = run_item(worker, item, &error) && able;
            item_free(item);
        }
        if (!able)
            recover(worker, &error);
    }
    close_script(worker);
    crew_leave(worker->pool, worker);
    return NULL;
}
