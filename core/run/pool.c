#include "run/pool.h"
#include "base/log.h"
#include "run/crew.h"
#include "run/worker.h"
#include <stdlib.h>

enum { FAREWELL = 1000, GRACE = 1000, COMPLAIN_EVERY = 10000 };

/* Of the jobs that were running in a crash only one runs at a time: the next crash names it. */
static bool suspected(const struct item *item) {
    for (const struct job *job = item->jobs; job; job = job->next)
        if (job->crashes > 0)
            return true;
    return false;
}

struct pool *pool_new(const struct pool_options *options, struct error *error) {
    int count = options->settings->workers_max;
    struct pool *pool = calloc(1, sizeof *pool + (size_t)count * sizeof *pool->workers);
    if (!pool) {
        error_set(error, ERROR_FAILED, "out of memory");
        return NULL;
    }
    pool->options = *options;
    pool->folder = folder_retain(options->script.folder);
    pool->count = count;
    queue_init(&pool->queue);
    queue_init(&pool->suspects);
    mutex_init(&pool->mutex);
    condition_init(&pool->work);
    condition_init(&pool->ended);
    condition_init(&pool->recover);
    condition_init(&pool->follow);
    atomic_init(&pool->lease, TIME_NEVER);
    for (int i = 0; i < count; i++) {
        pool->workers[i].pool = pool;
        pool->workers[i].index = i;
    }
    if (options->script.hook == HOOK_ON_SIGNAL)
        thread_on_interrupt(worker_interrupted);
    return pool;
}

static void start(struct pool *pool, struct worker *worker) {
    worker->leaves = false;
    worker->state = WORKER_IDLE;
    worker->idle_since = clock_monotonic();
    if (thread_start(&worker->thread, worker_run, worker)) {
        pool->threads++;
        return;
    }
    worker->state = WORKER_NONE;
    log_event(LOG_ERROR, "no thread for a worker", "worker:d", worker->index);
}

/* One thread for every item that no idle thread is there for. The mutex is held. */
static void grow(struct pool *pool) {
    int wanted = pool->busy + pool->blocked + pool->queued;
    for (int i = 0; i < pool->count && pool->threads < wanted; i++) {
        struct worker *worker = &pool->workers[i];
        if (worker->state == WORKER_GONE) {
            thread_join(&worker->thread);
            worker->state = WORKER_NONE;
        }
        if (worker->state == WORKER_NONE)
            start(pool, worker);
    }
}

/* Follow-ups go to the worker that waits for them, else before the others. True: it is queued. */
static bool enter(struct pool *pool, struct item *item) {
    pool->inside += item->count;
    item->lapses = atomic_load(&pool->lapses);
    if (item->worker && crew_hand(pool, item))
        return false;
    if (!item->jobs) {
        item_free(item);
        return false;
    }
    if (item->followed)
        queue_unshift(&pool->queue, item);
    else
        queue_push(suspected(item) ? &pool->suspects : &pool->queue, item);
    return true;
}

void pool_submit(struct pool *pool, struct item *items) {
    struct item *next;
    int count = 0;
    mutex_lock(&pool->mutex);
    for (struct item *item = items; item; item = next) {
        next = item->next;
        count += enter(pool, item);
    }
    pool->queued += count;
    grow(pool);
    for (int i = 0; i < count && i < pool->sleeping; i++)
        condition_signal(&pool->work);
    mutex_unlock(&pool->mutex);
}

int pool_room(struct pool *pool) {
    mutex_lock(&pool->mutex);
    bool stuck = pool->blocked > 0 && pool->blocked == pool->threads;
    mutex_unlock(&pool->mutex);
    int room = pool->options.settings->queue + pool->count - pool->inside;
    return stuck || room < 0 ? 0 : room;
}

struct outcome *pool_outcomes(struct pool *pool) {
    atomic_store(&pool->woken, false);
    struct outcome *newest = atomic_exchange(&pool->outcomes, NULL), *list = NULL;
    pool->inside -= atomic_exchange(&pool->lost, 0);
    while (newest) {
        struct outcome *next = newest->next;
        newest->next = list;
        list = newest;
        newest = next;
        pool->inside--;
    }
    return list;
}

void pool_load(struct pool *pool, int *running, int *waiting) {
    mutex_lock(&pool->mutex);
    *running = pool->busy;
    mutex_unlock(&pool->mutex);
    *running = *running < pool->inside ? *running : pool->inside;
    *waiting = pool->inside - *running;
}

void pool_lease(struct pool *pool, time_ms until) {
    atomic_store(&pool->lease, until);
}

void pool_lapse(struct pool *pool) {
    atomic_fetch_add(&pool->lapses, 1);
    mutex_lock(&pool->mutex);
    struct item *items = crew_take_all(pool);
    mutex_unlock(&pool->mutex);
    crew_give_back(pool, items);
}

void pool_renew(struct pool *pool, struct folder *folder) {
    mutex_lock(&pool->mutex);
    struct folder *old = pool->folder;
    pool->folder = folder_retain(folder);
    atomic_fetch_add(&pool->generation, 1);
    mutex_unlock(&pool->mutex);
    folder_release(old);
}

/* ---- deadlines ---- */

static void interrupt(struct pool *pool, struct worker *worker) {
    if (pool->options.script.hook == HOOK_ON_SIGNAL)
        thread_interrupt(&worker->thread);
}

/* Only this thread frees jobs, so the one whose deadline we have just read is still there. */
static void late(struct pool *pool, struct worker *worker, time_ms now, time_ms deadline) {
    interrupt(pool, worker);
    worker->cut_off = deadline;
    if (now < deadline + GRACE || now < worker->complained + COMPLAIN_EVERY)
        return;
    worker->complained = now;
    log_event(LOG_ERROR, "handler does not end", "job:l handler:s worker:d over_ms:l", worker->job,
              worker->begun->handler, worker->index, now - deadline);
}

static void cut(struct pool *pool, struct worker *worker) {
    if (worker->state != WORKER_BUSY || !worker->script)
        return;
    script_cut(worker->script, worker->job, CUT_RETURN);
    interrupt(pool, worker);
}

/* An idle thread beyond the core leaves after keep_alive; its signal may have been for an item. */
static void shrink(struct pool *pool, struct worker *worker, time_ms now) {
    const struct settings *settings = pool->options.settings;
    if (worker->state != WORKER_IDLE || worker->leaves || pool->queued > 0 ||
        pool->threads <= settings->workers_min || now - worker->idle_since < settings->keep_alive)
        return;
    worker->leaves = true;
    pool->threads--;
    condition_broadcast(&pool->work);
}

static void look_after(struct pool *pool, struct worker *worker, time_ms now) {
    if (worker->state == WORKER_BUSY && worker->script) {
        time_ms deadline = script_deadline(worker->script);
        if (deadline <= now)
            late(pool, worker, now, deadline);
    }
    if (pool->cutting)
        cut(pool, worker);
    shrink(pool, worker, now);
    if (worker->state == WORKER_GONE) {
        thread_join(&worker->thread);
        worker->state = WORKER_NONE;
    }
}

void pool_tick(struct pool *pool) {
    time_ms now = clock_monotonic();
    mutex_lock(&pool->mutex);
    for (int i = pool->count - 1; i >= 0; i--)
        look_after(pool, &pool->workers[i], now);
    grow(pool);
    mutex_unlock(&pool->mutex);
}

/* True if the worker's job is the one it had when this was last asked: it is worth a question. */
static bool long_running(struct pool *pool, struct worker *worker, int64_t *job, int64_t *token) {
    mutex_lock(&pool->mutex);
    bool same = worker->token != 0 && worker->token == worker->seen;
    worker->seen = worker->token;
    *job = worker->job;
    *token = worker->token;
    mutex_unlock(&pool->mutex);
    return same;
}

/* Cancelled, suspended or taken by hand while it waited: not to be begun. */
static void refuse_lost(const struct queue *queue,
                        int (*holds)(void *arg, int64_t job, int64_t token), void *arg) {
    for (struct item *item = queue->first; item; item = item->next)
        for (const struct job *job = item->jobs; job && !item->refused; job = job->next)
            if (holds(arg, job->id, job->token) == 0)
                atomic_store(&item->refused, 1);
}

void pool_cut_lost(struct pool *pool, int (*holds)(void *arg, int64_t job, int64_t token),
                   void *arg) {
    int64_t job, token;
    mutex_lock(&pool->mutex);
    refuse_lost(&pool->queue, holds, arg);
    refuse_lost(&pool->suspects, holds, arg);
    mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->count; i++) {
        struct worker *worker = &pool->workers[i];
        if (!long_running(pool, worker, &job, &token) || holds(arg, job, token) != 0)
            continue;
        mutex_lock(&pool->mutex);
        if (worker->token == token && worker->script) {
            script_cut(worker->script, job, CUT_CANCEL);
            interrupt(pool, worker);
        }
        mutex_unlock(&pool->mutex);
    }
}

/* Where the hook looks at the clock by itself there is nothing to act on. */
time_ms pool_deadline(struct pool *pool) {
    time_ms earliest = TIME_NEVER;
    if (pool->options.script.hook != HOOK_ON_SIGNAL)
        return earliest;
    mutex_lock(&pool->mutex);
    for (int i = 0; i < pool->count; i++) {
        struct worker *worker = &pool->workers[i];
        if (worker->state != WORKER_BUSY || !worker->script)
            continue;
        time_ms deadline = script_deadline(worker->script);
        if (deadline < earliest && deadline != worker->cut_off)
            earliest = deadline;
    }
    mutex_unlock(&pool->mutex);
    return earliest;
}

/* ---- the end ---- */

void pool_stop(struct pool *pool, bool cut_off) {
    atomic_store(&pool->stopping, true);
    mutex_lock(&pool->mutex);
    struct item *items = crew_take_all(pool);
    condition_broadcast(&pool->follow);
    pool->cutting = pool->cutting || cut_off;
    for (int i = 0; pool->cutting && i < pool->count; i++)
        cut(pool, &pool->workers[i]);
    mutex_unlock(&pool->mutex);
    crew_give_back(pool, items);
}

bool pool_quiet(struct pool *pool) {
    return pool->inside == atomic_load(&pool->lost);
}

static bool all_gone(const struct pool *pool) {
    for (int i = 0; i < pool->count; i++)
        if (pool->workers[i].state != WORKER_NONE && pool->workers[i].state != WORKER_GONE)
            return false;
    return true;
}

/* Threads are asked to end; a script's finalizers may hang, so nobody is joined before it is gone.
 */
static bool end_threads(struct pool *pool) {
    time_ms until = clock_monotonic() + FAREWELL;
    mutex_lock(&pool->mutex);
    pool->ending = true;
    condition_broadcast(&pool->work);
    condition_broadcast(&pool->recover);
    condition_broadcast(&pool->follow);
    while (!all_gone(pool) && clock_monotonic() < until)
        condition_wait_until(&pool->ended, &pool->mutex, until);
    bool gone = all_gone(pool);
    mutex_unlock(&pool->mutex);
    for (int i = 0; i < pool->count; i++)
        if (gone)
            thread_join(&pool->workers[i].thread);
        else
            thread_detach(&pool->workers[i].thread);
    return gone;
}

bool pool_free(struct pool *pool) {
    if (!pool)
        return true;
    if (!end_threads(pool))
        return false;
    items_free(crew_take_all(pool));
    outcome_free_list(atomic_load(&pool->outcomes));
    folder_release(pool->folder);
    condition_free(&pool->work);
    condition_free(&pool->ended);
    condition_free(&pool->recover);
    condition_free(&pool->follow);
    mutex_free(&pool->mutex);
    free(pool);
    return true;
}
