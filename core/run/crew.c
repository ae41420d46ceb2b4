#include "run/crew.h"
#include "base/log.h"
#include "run/seat.h"
#include "run/worker.h"
#include <stdlib.h>

/* ---- threads come and go ---- */

struct worker *crew_worker(struct pool *pool, int index) {
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return NULL;
    worker->pool = pool;
    worker->index = index;
    worker->cancelled = worker->closing = TIME_NONE;
    atomic_init(&worker->claim, RUN_NONE);
    return worker;
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

static int wanted(const struct pool *pool) {
    int count = pool->busy + pool->queued;
    for (int i = 0; i < pool->client_count; i++)
        if (pool->clients[i]->queued > 0)
            count += pool->clients[i]->blocked;
    return count;
}

static void join(struct worker *worker) {
    if (worker->state != WORKER_GONE)
        return;
    thread_join(&worker->thread);
    worker->state = WORKER_NONE;
}

void crew_grow(struct pool *pool) {
    int count = wanted(pool);
    for (int i = 0; i < pool->count && pool->threads < count; i++) {
        join(pool->workers[i]);
        if (pool->workers[i]->state == WORKER_NONE)
            start(pool, pool->workers[i]);
    }
}

/* Its signal may have been for an item. */
void crew_shrink(struct pool *pool, time_ms now) {
    for (int i = pool->count - 1; i >= 0; i--) {
        struct worker *worker = pool->workers[i];
        join(worker);
        if (worker->state != WORKER_IDLE || worker->leaves || pool->queued > 0 ||
            pool->threads <= pool->options.workers_min ||
            now - worker->idle_since < pool->options.keep_alive)
            continue;
        worker->leaves = true;
        pool->threads--;
        condition_broadcast(&pool->work);
    }
}

/* ---- those that are lost ---- */

/* What it had counts for nobody any more. */
static void count_out(struct pool *pool, struct worker *worker) {
    if (worker->state == WORKER_BUSY) {
        pool->busy--;
        worker->client->busy--;
    }
    if (pool->suspect == worker)
        pool->suspect = NULL;
    if (!worker->leaves)
        pool->threads--;
}

bool crew_give_up(struct worker *worker) {
    int on = RUN_ON;
    return atomic_compare_exchange_strong(&worker->claim, &on, RUN_GIVEN_UP);
}

bool crew_replace(struct pool *pool, struct worker *worker) {
    struct worker *fresh = pool->lost_count < pool->count ? crew_worker(pool, worker->index) : NULL;
    if (!fresh)
        return false;
    count_out(pool, worker);
    worker->state = WORKER_LOST;
    worker->leaves = true;
    worker->next = pool->lost;
    pool->lost = worker;
    pool->lost_count++;
    pool->workers[worker->index] = fresh;
    crew_grow(pool);
    return true;
}

void crew_bury(struct pool *pool) {
    struct worker **at = &pool->lost;
    while (*at) {
        struct worker *worker = *at;
        if (worker->state != WORKER_GONE) {
            at = &worker->next;
            continue;
        }
        *at = worker->next;
        pool->lost_count--;
        thread_join(&worker->thread);
        free(worker);
    }
}

int crew_lost_seats(const struct client *client) {
    int count = 0;
    for (const struct worker *worker = client->pool->lost; worker; worker = worker->next)
        for (const struct seat *seat = worker->seats; seat; seat = seat->next)
            count += seat->client == client;
    return count;
}

/* ---- what a worker does next ---- */

struct item *crew_take_all(struct client *client) {
    queue_append(&client->queue, &client->prompt);
    queue_append(&client->queue, &client->suspects);
    client->pool->queued -= client->queued;
    client->queued = 0;
    client->filled = 0;
    return queue_take(&client->queue);
}

static void begin(struct worker *worker, const struct job *job) {
    worker->begun = job;
    worker->job = job->id;
    worker->token = job->token;
    worker->cut_off = worker->cancelled = TIME_NONE;
    worker->looked = false;
}

static void lasts(struct worker *worker, const struct item *item) {
    worker->busy_since = clock_monotonic();
    worker->expected = item->expected;
}

static void idle(struct pool *pool, struct worker *worker) {
    if (worker->state == WORKER_BUSY) {
        pool->busy--;
        worker->client->busy--;
    }
    if (pool->suspect == worker)
        pool->suspect = NULL;
    if (worker->stuck)
        pool->unreplaced--;
    worker->stuck = false;
    if (worker->state != WORKER_LOST)
        worker->state = WORKER_IDLE;
    worker->client = NULL;
    worker->item = NULL;
    worker->script = NULL;
    worker->begun = NULL;
    worker->job = worker->token = 0;
}

/* Of the jobs that were running in a crash only one runs at a time: the next crash names it. */
static struct queue *next_queue(struct pool *pool, struct client *client) {
    if (client->prompt.first)
        return &client->prompt;
    return client->suspects.first && !pool->suspect ? &client->suspects : &client->queue;
}

static void take(struct pool *pool, struct worker *worker, struct duty *duty) {
    struct client *client = duty->seat->client;
    struct queue *queue = next_queue(pool, client);
    if (queue == &client->suspects)
        pool->suspect = worker;
    duty->kind = DUTY_RUN;
    duty->item = queue_shift(queue);
    client->queued--;
    client->filled = client->queued ? client->filled - estimate_fills(duty->item->expected) : 0;
    lasts(worker, duty->item);
    client->busy++;
    pool->queued--;
    pool->busy++;
    worker->state = WORKER_BUSY;
    worker->client = client;
    worker->item = duty->item;
    worker->script = duty->seat->script;
    begin(worker, duty->item->jobs);
}

static bool open(struct duty *duty, struct seat *seat, struct folder *folder) {
    *duty = (struct duty){.kind = DUTY_OPEN, .seat = seat, .folder = folder_retain(folder)};
    return true;
}

/* The only worker that is free is kept for what must begin at once. */
static bool keeps(const struct pool *pool) {
    return pool->keeper && pool->busy >= pool->count - 1;
}

/* True: `duty` is an item of this engine, or a seat to be opened for its first. A worker that could
 * not open it leaves the item to the others until it tries again. */
static bool serve(struct pool *pool, struct worker *worker, struct client *client,
                  struct duty *duty) {
    const struct item *item = next_queue(pool, client)->first;
    if (!item || (keeps(pool) && !client->prompt.first))
        return false;
    const struct deployment *generation = client->generations->list[0];
    if (client->generations->count > 1)
        generation = generations_find(client->generations, item->jobs->handler);
    struct seat *seat = seat_find(worker, client, generation->generation);
    if (seat && seat->script) {
        duty->seat = seat;
        take(pool, worker, duty);
        return true;
    }
    if (seat && seat->retry_at != 0)
        return false;
    if (!seat)
        seat = seat_make(worker, client, generation->generation);
    return seat && open(duty, seat, generation->folder);
}

/* The engines take turns, so that nobody's backlog holds up the others. */
static bool find_item(struct pool *pool, struct worker *worker, struct duty *duty) {
    for (int i = 0; i < pool->client_count; i++) {
        int at = (pool->turn + i) % pool->client_count;
        if (!serve(pool, worker, pool->clients[at], duty))
            continue;
        if (duty->kind == DUTY_RUN)
            pool->turn = at + 1;
        return true;
    }
    if (keeps(pool)) /* its loop looks for something to begin */
        pool->keeper->options.wake(pool->keeper->options.wake_arg);
    return false;
}

/* A seat that could not be opened is tried again after a while, item or none: *until. */
static bool find_retry(struct worker *worker, struct duty *duty, time_ms *until) {
    *until = TIME_NEVER;
    for (struct seat *seat = worker->seats; seat; seat = seat->next) {
        if (seat->retry_at == 0 || seat->script)
            continue;
        if (clock_monotonic() >= seat->retry_at)
            return open(duty, seat, seat_generation(seat)->folder);
        *until = seat->retry_at < *until ? seat->retry_at : *until;
    }
    return false;
}

static bool find_duty(struct pool *pool, struct worker *worker, struct duty *duty, time_ms *until) {
    *duty = (struct duty){.kind = DUTY_END};
    if (pool->ending || worker->leaves)
        return true;
    struct seat *stale = seat_stale(pool, worker);
    if (stale) {
        *duty = (struct duty){.kind = DUTY_CLOSE, .seat = stale};
        return true;
    }
    return find_retry(worker, duty, until) || find_item(pool, worker, duty);
}

struct duty crew_next(struct pool *pool, struct worker *worker) {
    struct duty duty;
    time_ms until;
    mutex_lock(&pool->mutex);
    idle(pool, worker);
    while (!find_duty(pool, worker, &duty, &until)) {
        worker->idle_since = clock_monotonic();
        pool->sleeping++;
        if (until == TIME_NEVER)
            condition_wait(&pool->work, &pool->mutex);
        else
            condition_wait_until(&pool->work, &pool->mutex, until);
        pool->sleeping--;
    }
    if (duty.kind == DUTY_END && pool->queued > 0)
        condition_signal(&pool->work);
    mutex_unlock(&pool->mutex);
    return duty;
}

void crew_await(struct worker *worker, struct outcome *outcome) {
    mutex_lock(&worker->pool->mutex);
    worker->awaits = true;
    mutex_unlock(&worker->pool->mutex);
    outcome->awaited = worker->index + 1;
}

bool crew_hand(struct pool *pool, struct item *item) {
    struct worker *worker = item->worker ? pool->workers[item->worker - 1] : NULL;
    if (!worker || !worker->awaits || worker->follow)
        return false;
    worker->follow = item;
    condition_broadcast(&pool->follow);
    return true;
}

struct item *crew_follow(struct worker *worker, const struct client *client) {
    struct pool *pool = worker->pool;
    if (!worker->awaits) /* set by this thread only */
        return NULL;
    mutex_lock(&pool->mutex);
    worker->begun = NULL;
    worker->job = worker->token = 0;
    while (worker->awaits && !worker->follow && !pool->ending && !atomic_load(&client->stopping))
        condition_wait(&pool->follow, &pool->mutex);
    struct item *item = worker->follow;
    worker->awaits = false;
    worker->follow = NULL;
    worker->item = item;
    if (item && item->jobs) {
        begin(worker, item->jobs);
        lasts(worker, item);
    }
    mutex_unlock(&pool->mutex);
    return item;
}

void crew_begin(struct worker *worker, const struct job *job) {
    if (worker->begun == job)
        return;
    mutex_lock(&worker->pool->mutex);
    begin(worker, job);
    mutex_unlock(&worker->pool->mutex);
}

void crew_run(struct worker *worker) {
    atomic_store(&worker->claim, RUN_ON);
}

/* Whoever gives a run up holds the mutex until it is done with the item. */
bool crew_ran(struct worker *worker) {
    if (atomic_exchange(&worker->claim, RUN_NONE) == RUN_ON)
        return true;
    mutex_lock(&worker->pool->mutex);
    mutex_unlock(&worker->pool->mutex);
    return false;
}

/* ---- what comes back ---- */

/* True for the outcome that ends the loop's patience. */
static bool presses(struct client *client, bool urgent) {
    int weight = urgent ? PATIENCE : 1;
    int before = atomic_fetch_add(&client->pressing, weight);
    int patience = atomic_load(&client->patience);
    return before < patience && before + weight >= patience;
}

/* Sequentially consistent on purpose: either the loop, which clears `woken` before it takes the
 * list, sees this outcome, or we see that it has to be woken. */
void crew_push(struct client *client, struct outcome *outcome) {
    if (!outcome) {
        log_event(LOG_ERROR, "job lost sight of until its lock expires", "reason:s",
                  "out of memory");
        atomic_fetch_add(&client->lost, 1);
        return;
    }
    atomic_fetch_add(&client->ended, !outcome->outlived);
    /* What it created, and who waits for what follows, must not wait for other outcomes. */
    bool urgent = outcome->awaited || outcome->created || outcome->effects;
    outcome->next = atomic_load(&client->outcomes);
    while (!atomic_compare_exchange_weak(&client->outcomes, &outcome->next, outcome))
        ; /* it is the loop's now */
    bool pressed = presses(client, urgent);
    bool first = !atomic_load(&client->woken) && !atomic_exchange(&client->woken, true);
    if (first || pressed)
        client->options.wake(client->options.wake_arg);
}

void crew_deliver(struct client *client, struct item *item, struct outcome *outcome) {
    if (outcome) {
        outcome->lane_ends = item->jobs == NULL;
        outcome->lane_token = item->lane_token;
        outcome->followed = item->followed;
    }
    crew_push(client, outcome);
}

void crew_return(struct client *client, struct item *item, bool late) {
    struct job *job;
    while ((job = item_take(item))) {
        struct outcome *outcome = outcome_new(job, OUTCOME_RETURNED);
        if (outcome)
            outcome->late = late;
        else
            job_free(job);
        crew_deliver(client, item, outcome);
    }
}

void crew_give_back(struct client *client, struct item *items, bool late) {
    for (struct item *item = items; item; item = item->next)
        crew_return(client, item, late);
    items_free(items);
}

void crew_leave(struct worker *worker) {
    mutex_lock(&worker->pool->mutex);
    worker->state = WORKER_GONE;
    condition_broadcast(&worker->pool->ended);
    mutex_unlock(&worker->pool->mutex);
}
