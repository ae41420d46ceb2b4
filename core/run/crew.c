#include "run/crew.h"
#include "base/log.h"

struct item *crew_take_all(struct pool *pool) {
    queue_append(&pool->queue, &pool->suspects);
    pool->queued = 0;
    return queue_take(&pool->queue);
}

/* Of the jobs that were running in a crash only one runs at a time: the next crash names it. */
static struct item *pop(struct pool *pool, struct worker *worker) {
    bool turn = pool->suspects.first && !pool->suspect;
    struct item *item = queue_shift(turn ? &pool->suspects : &pool->queue);
    if (!item)
        return NULL;
    if (turn)
        pool->suspect = worker;
    pool->queued--;
    return item;
}

static void begin(struct worker *worker, const struct job *job) {
    worker->begun = job;
    worker->job = job->id;
    worker->token = job->token;
    worker->cut_off = TIME_NONE;
    worker->complained = 0;
}

static void idle(struct pool *pool, struct worker *worker) {
    pool->busy -= worker->state == WORKER_BUSY;
    if (pool->suspect == worker)
        pool->suspect = NULL;
    worker->state = WORKER_IDLE;
    worker->begun = NULL;
    worker->job = worker->token = 0;
}

struct item *crew_take(struct pool *pool, struct worker *worker) {
    struct item *item = NULL;
    mutex_lock(&pool->mutex);
    idle(pool, worker);
    while (!pool->ending && !worker->leaves && !(item = pop(pool, worker))) {
        worker->idle_since = clock_monotonic();
        pool->sleeping++;
        condition_wait(&pool->work, &pool->mutex);
        pool->sleeping--;
    }
    if (item) {
        worker->state = WORKER_BUSY;
        pool->busy++;
        begin(worker, item->jobs);
    } else if (pool->queued > 0) {
        condition_signal(&pool->work);
    }
    mutex_unlock(&pool->mutex);
    return item;
}

void crew_await(struct pool *pool, struct worker *worker, struct outcome *outcome) {
    mutex_lock(&pool->mutex);
    worker->awaits = true;
    mutex_unlock(&pool->mutex);
    outcome->awaited = worker->index + 1;
}

bool crew_hand(struct pool *pool, struct item *item) {
    struct worker *worker = item->worker ? &pool->workers[item->worker - 1] : NULL;
    if (!worker || !worker->awaits || worker->follow)
        return false;
    worker->follow = item;
    condition_broadcast(&pool->follow);
    return true;
}

struct item *crew_follow(struct pool *pool, struct worker *worker) {
    mutex_lock(&pool->mutex);
    worker->begun = NULL;
    worker->job = worker->token = 0;
    while (worker->awaits && !worker->follow && !pool->ending && !atomic_load(&pool->stopping))
        condition_wait(&pool->follow, &pool->mutex);
    struct item *item = worker->follow;
    worker->awaits = false;
    worker->follow = NULL;
    if (item && item->jobs)
        begin(worker, item->jobs);
    mutex_unlock(&pool->mutex);
    return item;
}

void crew_begin(struct pool *pool, struct worker *worker, const struct job *job) {
    if (worker->begun == job)
        return;
    mutex_lock(&pool->mutex);
    begin(worker, job);
    mutex_unlock(&pool->mutex);
}

/* Sequentially consistent on purpose: either the loop, which clears `woken` before it takes the
 * list, sees this outcome, or we see that it has to be woken. */
void crew_deliver(struct pool *pool, struct item *item, struct outcome *outcome) {
    if (!outcome) {
        log_event(LOG_ERROR, "job lost sight of until its lock expires", "reason:s",
                  "out of memory");
        atomic_fetch_add(&pool->lost, 1);
        return;
    }
    outcome->lane_ends = item->jobs == NULL;
    outcome->lane_token = item->lane_token;
    outcome->followed = item->followed;
    outcome->next = atomic_load(&pool->outcomes);
    while (!atomic_compare_exchange_weak(&pool->outcomes, &outcome->next, outcome))
        ;
    if (!atomic_load(&pool->woken) && !atomic_exchange(&pool->woken, true))
        pool->options.wake(pool->options.wake_arg);
}

void crew_return(struct pool *pool, struct item *item) {
    struct job *job;
    while ((job = item_take(item))) {
        struct outcome *outcome = outcome_new(job, OUTCOME_RETURNED);
        if (!outcome)
            job_free(job);
        crew_deliver(pool, item, outcome);
    }
}

void crew_give_back(struct pool *pool, struct item *items) {
    for (struct item *item = items; item; item = item->next)
        crew_return(pool, item);
    items_free(items);
}

static void blocked(struct pool *pool, struct worker *worker) {
    struct item *items = NULL;
    mutex_lock(&pool->mutex);
    if (worker->state != WORKER_BLOCKED) {
        idle(pool, worker);
        worker->state = WORKER_BLOCKED;
        pool->blocked++;
    }
    if (pool->blocked == pool->threads)
        items = crew_take_all(pool);
    mutex_unlock(&pool->mutex);
    crew_give_back(pool, items);
}

bool crew_pause(struct pool *pool, struct worker *worker, time_ms until) {
    blocked(pool, worker);
    mutex_lock(&pool->mutex);
    while (!pool->ending && clock_monotonic() < until)
        condition_wait_until(&pool->recover, &pool->mutex, until);
    bool ending = pool->ending;
    mutex_unlock(&pool->mutex);
    return !ending;
}

void crew_resume(struct pool *pool, struct worker *worker) {
    mutex_lock(&pool->mutex);
    pool->blocked -= worker->state == WORKER_BLOCKED;
    worker->state = WORKER_IDLE;
    mutex_unlock(&pool->mutex);
    pool->options.wake(pool->options.wake_arg);
}

void crew_leave(struct pool *pool, struct worker *worker) {
    mutex_lock(&pool->mutex);
    worker->state = WORKER_GONE;
    condition_broadcast(&pool->ended);
    mutex_unlock(&pool->mutex);
}
