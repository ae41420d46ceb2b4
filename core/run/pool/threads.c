#include "run/pool/threads.h"
#include "base/log.h"
#include "run/pool/worker.h"
#include <stdlib.h>

enum { RETRY_FIRST = 1000, RETRY_MAX = 30000 }; /* ms */
enum { CLOSING = 1000 }; /* ms; the others wait so long for one that closes a Lua state */

/* ---- threads come and go ---- */

struct worker *threads_worker(struct pool *pool, int index) {
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

void threads_grow(struct pool *pool) {
    int count = wanted(pool);
    for (int i = 0; i < pool->count && pool->threads < count; i++) {
        join(pool->workers[i]);
        if (pool->workers[i]->state == WORKER_NONE)
            start(pool, pool->workers[i]);
    }
}

/* A signal that such a thread swallows may have been for an item, so all are woken. */
void threads_shrink(struct pool *pool, time_ms now) {
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

/* ---- workers that are lost ---- */

/* It runs nothing any more. */
static void count_idle(struct pool *pool, const struct worker *worker) {
    if (worker->state == WORKER_BUSY) {
        pool->busy--;
        worker->client->busy--;
    }
    if (pool->suspect == worker)
        pool->suspect = NULL;
}

/* Takes the worker out of all counts. */
static void count_out(struct pool *pool, const struct worker *worker) {
    count_idle(pool, worker);
    if (!worker->leaves)
        pool->threads--;
}

bool threads_give_up(struct worker *worker) {
    int on = RUN_ON;
    return atomic_compare_exchange_strong(&worker->claim, &on, RUN_GIVEN_UP);
}

bool threads_replace(struct pool *pool, struct worker *worker) {
    struct worker *fresh =
        pool->lost_count < pool->count ? threads_worker(pool, worker->index) : NULL;
    if (!fresh)
        return false;
    count_out(pool, worker);
    worker->state = WORKER_LOST;
    worker->leaves = true;
    worker->next = pool->lost;
    pool->lost = worker;
    pool->lost_count++;
    pool->workers[worker->index] = fresh;
    condition_broadcast(&pool->work); /* it may have been the one that closes */
    threads_grow(pool);
    return true;
}

void threads_reap(struct pool *pool) {
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

int threads_lost_slots(const struct client *client) {
    int count = 0;
    for (const struct worker *worker = client->pool->lost; worker; worker = worker->next)
        for (const struct lua_slot *slot = worker->lua_slots; slot; slot = slot->next)
            count += slot->client == client;
    return count;
}

/* ---- Lua states; the mutex is held ---- */

static struct lua_slot *slot_find(const struct worker *worker, const struct client *client,
                                  int generation) {
    struct lua_slot *slot = worker->lua_slots;
    while (slot && (slot->client != client || slot->generation != generation))
        slot = slot->next;
    return slot;
}

static struct lua_slot *slot_make(struct worker *worker, struct client *client, int generation) {
    struct lua_slot *slot = calloc(1, sizeof *slot);
    if (!slot)
        return NULL;
    *slot =
        (struct lua_slot){.next = worker->lua_slots, .client = client, .generation = generation};
    worker->lua_slots = slot;
    client->lua_slots++;
    return slot;
}

static struct generation *slot_generation(const struct lua_slot *slot) {
    return generations_number(slot->client->generations, slot->generation);
}

static bool slot_is_stale(const struct lua_slot *slot) {
    return slot->client->leaving || !slot_generation(slot);
}

static bool one_closes(const struct pool *pool) {
    time_ms since = clock_monotonic() - CLOSING;
    for (int i = 0; i < pool->count; i++) {
        time_ms closing = pool->workers[i]->closing;
        if (closing != TIME_NONE && closing > since)
            return true;
    }
    return false;
}

/* A large Lua state takes some 20 ms to close. So one worker does that at a time, and the others go
 * on with what waits; an engine that leaves waits for nobody. */
static bool slot_may_close(const struct pool *pool, const struct lua_slot *slot) {
    return slot->client->leaving || !slot->script || !one_closes(pool);
}

/* One that is to be closed now. */
static struct lua_slot *slot_stale(struct pool *pool, struct worker *worker) {
    bool later = false;
    if (worker->changes == pool->changes)
        return NULL;
    for (struct lua_slot *slot = worker->lua_slots; slot; slot = slot->next) {
        if (!slot_is_stale(slot))
            continue;
        if (slot_may_close(pool, slot))
            return slot;
        later = true;
    }
    if (!later)
        worker->changes = pool->changes;
    return NULL;
}

int threads_newest_slots(const struct client *client) {
    int newest = client->generations->list[0]->number, count = 0;
    for (int i = 0; i < client->pool->count; i++)
        count += slot_find(client->pool->workers[i], client, newest) != NULL;
    return count;
}

/* ---- what a worker does next ---- */

struct work_item *threads_take_all(struct client *client) {
    queue_append(&client->queue, &client->prompt);
    queue_append(&client->queue, &client->suspects);
    client->pool->queued -= client->queued;
    client->queued = 0;
    client->filled = client->prompted = 0;
    return queue_take(&client->queue);
}

static void begin(struct worker *worker, const struct job *job) {
    worker->begun = job;
    worker->job = job->id;
    worker->token = job->token;
    worker->cut_off = worker->cancelled = TIME_NONE;
    worker->looked = false;
}

static void lasts(struct worker *worker, const struct work_item *item) {
    worker->busy_since = clock_monotonic_us();
    worker->expected = item->expected;
}

static void idle(struct pool *pool, struct worker *worker) {
    count_idle(pool, worker);
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

static void take(struct pool *pool, struct worker *worker, struct task *task) {
    struct client *client = task->slot->client;
    struct queue *queue = next_queue(pool, client);
    if (queue == &client->suspects)
        pool->suspect = worker;
    task->kind = TASK_RUN;
    task->item = queue_shift(queue);
    client->queued--;
    double fills = estimate_fills(task->item->expected);
    client->filled = client->queued ? client->filled - fills : 0;
    if (queue == &client->prompt)
        client->prompted = queue->first ? client->prompted - fills : 0;
    lasts(worker, task->item);
    client->busy++;
    pool->queued--;
    pool->busy++;
    worker->state = WORKER_BUSY;
    worker->client = client;
    worker->item = task->item;
    worker->script = task->slot->script;
    begin(worker, task->item->jobs);
}

static bool open(struct task *task, struct lua_slot *slot, struct folder *folder) {
    *task = (struct task){.kind = TASK_OPEN, .slot = slot, .folder = folder_retain(folder)};
    return true;
}

/* The only worker that is free is kept for what must begin at once. */
static bool keeps(const struct pool *pool) {
    return pool->keeper && pool->busy >= pool->count - 1;
}

/* True: `task` is an item of this engine, or a Lua state to be opened for its first. A worker that
 * could not open it leaves the item to the others until it tries again. */
static bool serve(struct pool *pool, struct worker *worker, struct client *client,
                  struct task *task) {
    const struct work_item *item = next_queue(pool, client)->first;
    if (!item || (keeps(pool) && !client->prompt.first))
        return false;
    const struct generation *generation = client->generations->list[0];
    if (client->generations->count > 1)
        generation = generations_find(client->generations, item->jobs->handler);
    struct lua_slot *slot = slot_find(worker, client, generation->number);
    if (slot && slot->script) {
        task->slot = slot;
        take(pool, worker, task);
        return true;
    }
    if (slot && slot->retry_at != 0)
        return false;
    if (!slot)
        slot = slot_make(worker, client, generation->number);
    return slot && open(task, slot, generation->folder);
}

/* Asks the engines in turn, so that a backlog of one does not hold up the others. */
static bool find_item(struct pool *pool, struct worker *worker, struct task *task) {
    for (int i = 0; i < pool->client_count; i++) {
        int at = (pool->turn + i) % pool->client_count;
        if (!serve(pool, worker, pool->clients[at], task))
            continue;
        if (task->kind == TASK_RUN)
            pool->turn = at + 1;
        return true;
    }
    if (keeps(pool)) /* its loop looks for something to begin */
        pool->keeper->options.wake(pool->keeper->options.wake_arg);
    return false;
}

/* A Lua state that could not be opened is tried again after a while, item or none: *until. */
static bool find_retry(struct worker *worker, struct task *task, time_ms *until) {
    *until = TIME_NEVER;
    for (struct lua_slot *slot = worker->lua_slots; slot; slot = slot->next) {
        if (slot->retry_at == 0 || slot->script || slot_is_stale(slot))
            continue;
        if (clock_monotonic() >= slot->retry_at)
            return open(task, slot, slot_generation(slot)->folder);
        *until = slot->retry_at < *until ? slot->retry_at : *until;
    }
    return false;
}

static bool find_stale(struct pool *pool, struct worker *worker, struct task *task) {
    struct lua_slot *stale = slot_stale(pool, worker);
    if (!stale)
        return false;
    worker->closing = clock_monotonic();
    *task = (struct task){.kind = TASK_CLOSE, .slot = stale};
    return true;
}

static bool find_task(struct pool *pool, struct worker *worker, struct task *task, time_ms *until) {
    *task = (struct task){.kind = TASK_END};
    if (pool->ending || worker->leaves || find_stale(pool, worker, task))
        return true;
    return find_retry(worker, task, until) || find_item(pool, worker, task);
}

struct task threads_next(struct pool *pool, struct worker *worker) {
    struct task task;
    time_ms until;
    mutex_lock(&pool->mutex);
    idle(pool, worker);
    while (!find_task(pool, worker, &task, &until)) {
        worker->idle_since = clock_monotonic();
        pool->sleeping++;
        if (until == TIME_NEVER)
            condition_wait(&pool->work, &pool->mutex);
        else
            condition_wait_until(&pool->work, &pool->mutex, until);
        pool->sleeping--;
    }
    if (task.kind == TASK_END && pool->queued > 0)
        condition_signal(&pool->work);
    mutex_unlock(&pool->mutex);
    return task;
}

/* True if what waits next takes no longer than a commit may. The mutex is held. */
static bool brief_next(const struct pool *pool, const struct client *client) {
    const struct work_item *item = client->queue.first;
    return item && item->expected <= BRIEF_RUN && client->queued == pool->queued;
}

void threads_await(struct worker *worker, const struct client *client, struct outcome *outcome) {
    mutex_lock(&worker->pool->mutex);
    worker->awaits = !brief_next(worker->pool, client);
    if (worker->awaits)
        outcome->awaited = worker->index + 1;
    mutex_unlock(&worker->pool->mutex);
}

bool threads_hand(struct pool *pool, struct work_item *item) {
    struct worker *worker = item->worker ? pool->workers[item->worker - 1] : NULL;
    if (!worker || !worker->awaits || worker->follow)
        return false;
    worker->follow = item;
    condition_broadcast(&pool->follow);
    return true;
}

struct work_item *threads_follow(struct worker *worker, const struct client *client) {
    struct pool *pool = worker->pool;
    if (!worker->awaits) /* set by this thread only */
        return NULL;
    mutex_lock(&pool->mutex);
    worker->begun = NULL;
    worker->job = worker->token = 0;
    while (worker->awaits && !worker->follow && !pool->ending && !atomic_load(&client->stopping))
        condition_wait(&pool->follow, &pool->mutex);
    struct work_item *item = worker->follow;
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

void threads_begin(struct worker *worker, const struct job *job) {
    if (worker->begun == job)
        return;
    mutex_lock(&worker->pool->mutex);
    begin(worker, job);
    mutex_unlock(&worker->pool->mutex);
}

void threads_run(struct worker *worker) {
    atomic_store_explicit(&worker->claim, RUN_ON, memory_order_release);
}

/* The loop that gives a run up holds the mutex until it is done with the item. */
bool threads_ran(struct worker *worker) {
    if (atomic_exchange(&worker->claim, RUN_NONE) == RUN_ON)
        return true;
    mutex_lock(&worker->pool->mutex);
    mutex_unlock(&worker->pool->mutex);
    return false;
}

/* ---- what comes back ---- */

/* True for the outcome that ends the loop's patience. */
static bool presses(struct client *client, bool urgent) {
    int weight = urgent ? URGENT : 1;
    int before = atomic_fetch_add(&client->pressing, weight);
    int patience = atomic_load(&client->patience);
    return before < patience && before + weight >= patience;
}

/* Sequentially consistent on purpose: either the loop, which clears `woken` before it takes the
 * list, sees this outcome, or we see that it has to be woken. */
void threads_push(struct client *client, struct outcome *outcome) {
    if (!outcome) {
        log_event(LOG_ERROR, "job lost sight of until its lock expires", "reason:s",
                  "out of memory");
        atomic_fetch_add(&client->lost, 1);
        return;
    }
    atomic_fetch_add(&client->ended, !outcome->outlived);
    /* New jobs, a worker that awaits follow-ups, and the next suspect must not wait for other
     * outcomes. */
    bool urgent = outcome->awaited || outcome->created || outcome->effects || outcome->job->suspect;
    outcome->next = atomic_load(&client->outcomes);
    while (!atomic_compare_exchange_weak(&client->outcomes, &outcome->next, outcome))
        ; /* afterwards the outcome is the loop's */
    bool pressed = presses(client, urgent);
    bool first = !atomic_load(&client->woken) && !atomic_exchange(&client->woken, true);
    if (first || pressed)
        client->options.wake(client->options.wake_arg);
}

void threads_deliver(struct client *client, struct work_item *item, struct outcome *outcome) {
    if (outcome) {
        outcome->lane_ends = item->jobs == NULL && !item->goes_on;
        outcome->lane_token = item->lane_token;
        outcome->followed = item->followed;
    }
    threads_push(client, outcome);
}

void threads_return(struct client *client, struct work_item *item, bool late) {
    struct job *job;
    while ((job = work_item_take(item))) {
        struct outcome *outcome = outcome_new(job, OUTCOME_RETURNED);
        if (outcome)
            outcome->late = late;
        else
            job_free(job);
        threads_deliver(client, item, outcome);
    }
}

void threads_give_back(struct client *client, struct work_item *items, bool late) {
    for (struct work_item *item = items; item; item = item->next)
        threads_return(client, item, late);
    work_items_free(items);
}

/* ---- Lua states open and close ---- */

struct lua_slot *lua_slot_serving(struct worker *worker, struct client *client, const char *handler,
                                  struct folder **folder) {
    *folder = NULL;
    mutex_lock(&worker->pool->mutex);
    const struct generation *generation = generations_find(client->generations, handler);
    struct lua_slot *slot = slot_find(worker, client, generation->number);
    if (!slot)
        slot = slot_make(worker, client, generation->number);
    if (slot && !slot->script)
        *folder = folder_retain(generation->folder);
    mutex_unlock(&worker->pool->mutex);
    return slot;
}

struct script *lua_slot_ready(struct worker *worker, const struct lua_slot *slot) {
    mutex_lock(&worker->pool->mutex);
    struct generation *generation = slot_generation(slot);
    struct script *script = generation ? generation_take(generation) : NULL;
    mutex_unlock(&worker->pool->mutex);
    return script;
}

/* Has the Lua state tried again later. If no worker can open one, all that waits is given back. The
 * mutex is held. */
static struct work_item *block(struct pool *pool, struct lua_slot *slot) {
    time_ms wait = slot->retry_wait > 0 ? slot->retry_wait * 2 : RETRY_FIRST;
    slot->client->blocked += slot->retry_at == 0;
    slot->retry_wait = wait < RETRY_MAX ? wait : RETRY_MAX;
    slot->retry_at = clock_monotonic() + slot->retry_wait;
    if (pool->queued > 0)
        condition_signal(&pool->work); /* the item we were woken for */
    return slot->client->blocked >= pool->threads ? threads_take_all(slot->client) : NULL;
}

void lua_slot_opened(struct worker *worker, struct lua_slot *slot, struct script *script,
                     bool runs) {
    struct client *client = slot->client;
    struct work_item *items = NULL;
    mutex_lock(&worker->pool->mutex);
    bool recovered = script && slot->retry_at != 0;
    slot->script = script;
    worker->script = runs ? script : NULL;
    if (!script) {
        items = block(worker->pool, slot);
    } else if (recovered) {
        client->blocked--;
        slot->retry_at = slot->retry_wait = 0;
    }
    mutex_unlock(&worker->pool->mutex);
    threads_give_back(client, items, false);
    if (recovered)
        client->options.wake(client->options.wake_arg);
}

struct script *lua_slot_closing(struct worker *worker, struct lua_slot *slot,
                                struct work_item *item) {
    mutex_lock(&worker->pool->mutex);
    worker->item = item;
    worker->closing = clock_monotonic();
    struct script *script = slot->script;
    slot->script = NULL;
    if (worker->script == script)
        worker->script = NULL;
    mutex_unlock(&worker->pool->mutex);
    return script;
}

void lua_slot_closed(struct worker *worker, struct lua_slot *slot) {
    struct pool *pool = worker->pool;
    mutex_lock(&pool->mutex);
    worker->closing = TIME_NONE;
    struct lua_slot **at = &worker->lua_slots;
    while (*at != slot)
        at = &(*at)->next;
    *at = slot->next;
    slot->client->lua_slots--;
    slot->client->blocked -= slot->retry_at != 0;
    condition_broadcast(&pool->ended);
    condition_broadcast(&pool->work); /* the next one may close */
    mutex_unlock(&pool->mutex);
    free(slot);
}

/* ---- the end of a thread ---- */

void threads_leave(struct worker *worker) {
    mutex_lock(&worker->pool->mutex);
    worker->state = WORKER_GONE;
    condition_broadcast(&worker->pool->ended);
    mutex_unlock(&worker->pool->mutex);
}
