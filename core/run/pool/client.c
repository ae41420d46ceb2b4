#include "run/pool/client.h"
#include "run/pool/deadline.h"
#include "run/pool/threads.h"
#include <stdlib.h>
#include <string.h>

enum { BYTES = 16 << 20 }; /* of payloads and frames in memory; one job more is taken in any case */

static bool join(struct pool *pool, struct client *client) {
    mutex_lock(&pool->mutex);
    size_t size = ((size_t)pool->client_count + 1) * sizeof *pool->clients;
    struct client **clients = realloc(pool->clients, size);
    if (clients) {
        clients[pool->client_count++] = client;
        pool->clients = clients;
    }
    mutex_unlock(&pool->mutex);
    return clients != NULL;
}

struct client *client_new(const struct client_options *options, struct error *error) {
    struct client *client = calloc(1, sizeof *client);
    if (!client)
        return error_null(error_no_memory(error));
    client->options = *options;
    client->pool = options->pool;
    client->generations = options->generations;
    client->order = acquire_from(options->settings);
    queue_init(&client->queue);
    queue_init(&client->suspects);
    queue_init(&client->prompt);
    atomic_init(&client->several, options->generations->count > 1);
    atomic_init(&client->lease, TIME_NEVER);
    if (join(client->pool, client))
        return client;
    free(client);
    return error_null(error_no_memory(error));
}

static void leave(struct pool *pool, const struct client *client) {
    if (pool->keeper == client)
        pool->keeper = NULL;
    int at = 0;
    while (pool->clients[at] != client)
        at++;
    pool->clients[at] = pool->clients[--pool->client_count];
}

/* Waits until the workers have closed the client's Lua states. Lost workers never will. */
bool client_free(struct client *client) {
    if (!client)
        return true;
    struct pool *pool = client->pool;
    time_ms until = clock_monotonic() + pool->options.farewell;
    mutex_lock(&pool->mutex);
    leave(pool, client);
    client->leaving = true;
    pool->changes++;
    condition_broadcast(&pool->work);
    while (client->lua_slots > threads_lost_slots(client) && clock_monotonic() < until)
        condition_wait_until(&pool->ended, &pool->mutex, until);
    bool gone = client->lua_slots == 0;
    struct work_item *items = threads_take_all(client);
    mutex_unlock(&pool->mutex);
    work_items_free(items);
    if (!gone)
        return false;
    outcome_free_list(atomic_load(&client->outcomes));
    estimate_clear(&client->estimate);
    free(client);
    return true;
}

/* Of the jobs that were running in a crash only one runs at a time: the next crash names it. */
static bool suspected(const struct work_item *item) {
    for (const struct job *job = item->jobs; job; job = job->next)
        if (job->crashes > 0)
            return true;
    return false;
}

/* How many workers are called for so many items. While some worker cannot open the folder all are
 * called, as it must not be the only one to hear of an item. */
enum { ALL = -1 };

static int called(const struct pool *pool, const struct client *client, int count) {
    if (client->blocked > 0)
        return ALL;
    return count < pool->sleeping ? count : pool->sleeping;
}

/* Called without the mutex, so that the worker does not wake up to find it held. */
static void call(struct pool *pool, int count) {
    if (count == ALL)
        condition_broadcast(&pool->work);
    for (int i = 0; i < count; i++)
        condition_signal(&pool->work);
}

static void expect(struct client *client, struct work_item *item) {
    for (struct job *job = item->jobs; job; job = job->next) {
        item->expected += estimate_run(&client->estimate, job->definition);
        job->held = (int64_t)(job->payload_size + (job->frame ? strlen(job->frame) : 0) +
                              (job->around ? strlen(job->around) : 0));
        client->bytes += job->held;
    }
}

/* Follow-ups go to the worker that waits for them, else before the others. True: it is queued. */
static bool enter(struct client *client, struct work_item *item, time_ms now) {
    item->lapses = atomic_load(&client->lapses);
    item->since = now;
    expect(client, item);
    if (item->worker && threads_hand(client->pool, item))
        return false;
    if (!item->jobs) {
        work_item_free(item);
        return false;
    }
    double fills = estimate_fills(item->expected);
    client->filled += fills;
    if (item->jobs->begin_by) {
        client->prompted += fills;
        queue_push(&client->prompt, item);
    } else if (item->followed || item->undecided)
        queue_unshift(&client->queue, item);
    else
        queue_insert(suspected(item) ? &client->suspects : &client->queue, &client->order, item);
    return true;
}

void client_submit(struct client *client, struct work_item *items) {
    struct pool *pool = client->pool;
    struct work_item *next;
    int count = 0, jobs = 0;
    time_ms now = clock_monotonic();
    mutex_lock(&pool->mutex);
    for (struct work_item *item = items; item; item = next) {
        next = item->next;
        jobs += item->count;
        count += enter(client, item, now);
    }
    client->inside += jobs;
    client->queued += count;
    pool->queued += count;
    threads_grow(pool);
    int workers = called(pool, client, count);
    mutex_unlock(&pool->mutex);
    call(pool, workers);
}

/* ---- the workers' time until the horizon; the mutex is held ---- */

/* What the running items leave of so many ms of it. */
static double unfilled(const struct pool *pool, time_ms now, double span) {
    double time = 0;
    for (int i = 0; i < pool->count; i++) {
        const struct worker *worker = pool->workers[i];
        double left =
            worker->state == WORKER_BUSY
                ? estimate_left(worker->expected, (double)(now - worker->busy_since / 1000))
                : 0;
        time += left < span ? span - left : 0;
    }
    return time;
}

/* The engines take turns, so each engine with a waiting item gets an equal part of that time. */
static double part(const struct client *client, time_ms now, double span) {
    const struct pool *pool = client->pool;
    int sharers = client->queued == 0;
    for (int i = 0; i < pool->client_count; i++)
        sharers += pool->clients[i]->queued > 0;
    return unfilled(pool, now, span) / sharers;
}

/* The time of a worker that is kept for prompt items is not filled by the items that wait. */
static double time_left(const struct client *client) {
    const struct pool *pool = client->pool;
    int kept = pool->keeper == client && pool->busy < pool->count;
    return part(client, clock_monotonic(), HORIZON) - client->filled + kept * HORIZON;
}

/* While the workers have `time` left. */
static int free_places(const struct client *client, double time) {
    const struct pool *pool = client->pool;
    bool blocked = client->blocked > 0 && client->blocked >= pool->threads;
    int share = (pool->options.queue + pool->count) / pool->client_count;
    int free = (share > 0 ? share : 1) - client->inside;
    bool full = blocked || pool->unreplaced > 0 || client->bytes >= BYTES;
    return full || free <= 0 || time <= 0 ? 0 : free;
}

static int idle_workers(const struct client *client) {
    const struct pool *pool = client->pool;
    int free = pool->count - pool->busy, idle = free - pool->queued;
    if (pool->keeper == client && idle < 1)
        return free > 0 && !client->prompt.first;
    return idle > 0 ? idle : 0;
}

struct client_room client_room(struct client *client) {
    mutex_lock(&client->pool->mutex);
    double time = time_left(client);
    double soon = part(client, clock_monotonic(), SOON) - client->prompted;
    struct client_room room = {.places = free_places(client, time), .idle = idle_workers(client)};
    mutex_unlock(&client->pool->mutex);
    room.bytes = BYTES - client->bytes;
    room.horizon = (struct horizon){.run = estimate_run,
                                    .brief = estimate_brief,
                                    .arg = &client->estimate,
                                    .span = HORIZON,
                                    .time = time,
                                    .soon = soon,
                                    .workers = client->pool->count};
    return room;
}

bool client_keep(struct client *client, bool keep) {
    struct pool *pool = client->pool;
    mutex_lock(&pool->mutex);
    keep = keep && !client->prompt.first;
    bool kept = pool->keeper == client;
    if (keep && !pool->keeper)
        pool->keeper = client;
    if (!keep && kept) {
        pool->keeper = NULL;
        condition_broadcast(&pool->work);
    }
    bool free = keep && pool->keeper == client && pool->busy < pool->count;
    mutex_unlock(&pool->mutex);
    if (free) /* it got free before it was kept, so no worker would wake the loop */
        client->options.wake(client->options.wake_arg);
    return keep;
}

/* Room for many jobs is worth a turn of its own, once half of the workers' time is unfilled. */
static bool hungry(const struct client *client, int many) {
    double time = time_left(client);
    return time * 2 > HORIZON * client->pool->count && free_places(client, time) > many;
}

/* Half of the waiting items are kept for the workers, which go on while a turn is under way. */
bool client_patient(struct client *client, bool more, int most) {
    mutex_lock(&client->pool->mutex);
    int spare = client->queued / 2;
    bool wants = more && hungry(client, most);
    mutex_unlock(&client->pool->mutex);
    int patience = spare < most ? spare : most;
    if (wants || patience < 2)
        return false;
    atomic_store(&client->patience, patience); /* before it is asked how many have come */
    int pressing = atomic_load(&client->pressing);
    return pressing > 0 && pressing < patience;
}

/* Returns how many jobs come back with it: that of a run which was given up has done so before. */
static int took(struct client *client, const struct outcome *outcome) {
    if (outcome->outlived)
        return 0;
    client->bytes -= outcome->job->held;
    if (outcome->took >= 0)
        estimate_note(&client->estimate, outcome->job->definition, outcome->took);
    return 1;
}

struct outcome *client_outcomes(struct client *client) {
    atomic_store(&client->patience, 0);
    atomic_store(&client->pressing, 0);
    atomic_store(&client->woken, false);
    struct outcome *newest = atomic_exchange(&client->outcomes, NULL), *list = NULL;
    int count = 0, lost = atomic_exchange(&client->lost, 0);
    while (newest) {
        struct outcome *next = newest->next;
        newest->next = list;
        list = newest;
        newest = next;
        count += took(client, list);
    }
    client->inside -= count + lost; /* before `ended`, or client_load would count them as running */
    client->ended -= count;
    if (client->inside == 0)
        client->bytes = 0; /* jobs without an outcome are not in it any more */
    return list;
}

void client_load(struct client *client, int *running, int *waiting) {
    mutex_lock(&client->pool->mutex);
    int busy = client->busy;
    int ended = atomic_load(&client->ended), begun = atomic_load(&client->inside) - ended;
    mutex_unlock(&client->pool->mutex);
    if (begun < 0)
        begun = 0;
    *running = busy < begun ? busy : begun;
    *waiting = begun > *running ? begun - *running : 0;
}

bool client_exhausted(struct client *client, int *stuck) {
    struct pool *pool = client->pool;
    mutex_lock(&pool->mutex);
    bool exhausted = pool->unreplaced > 0;
    *stuck = pool->lost_count + pool->unreplaced;
    mutex_unlock(&pool->mutex);
    return exhausted;
}

void client_lease(struct client *client, time_ms until) {
    atomic_store(&client->lease, until);
}

static void give_back_all(struct client *client) {
    mutex_lock(&client->pool->mutex);
    struct work_item *items = threads_take_all(client);
    mutex_unlock(&client->pool->mutex);
    threads_give_back(client, items, false);
}

/* ---- items that wait for too long ---- */

/* A walk through the waiting items, in the order in which they begin. */
struct walk {
    time_ms now;
    double time; /* what the items before leave until the horizon */
    bool (*goes)(void *arg, const struct job *job);
    void *arg;
};

/* Follow-ups go on in a lane that runs, and what has run is not given back unrun. A job that walks
 * again has called its handlers: given back, it would call them once more. */
static bool goes_on(const struct work_item *item) {
    return item->followed || item->undecided || (item->jobs && item->jobs->kept);
}

static bool late_item(struct walk *walk, const struct work_item *item) {
    bool begins = walk->time > 0;
    walk->time -= estimate_fills(item->expected);
    return !begins && walk->now - item->since >= HORIZON && !goes_on(item);
}

static struct walk walk_of(const struct client *client) {
    time_ms now = clock_monotonic();
    return (struct walk){.now = now, .time = part(client, now, HORIZON)};
}

static bool has_late(struct walk *walk, const struct queue *queue) {
    for (const struct work_item *item = queue->first; item; item = item->next)
        if (late_item(walk, item))
            return true;
    return false;
}

/* Its start was counted for an instant that has passed. */
static bool expired(void *arg, const struct work_item *item) {
    const struct walk *walk = arg;
    return walk->now > item->jobs->begin_by;
}

bool client_late(struct client *client) {
    mutex_lock(&client->pool->mutex);
    struct walk walk = walk_of(client);
    const struct work_item *prompt = client->prompt.first;
    bool late = has_late(&walk, &client->suspects) || has_late(&walk, &client->queue) ||
                (prompt && expired(&walk, prompt));
    mutex_unlock(&client->pool->mutex);
    return late;
}

bool client_waits(struct client *client) {
    mutex_lock(&client->pool->mutex);
    bool waits = client->queued > 0;
    mutex_unlock(&client->pool->mutex);
    return waits;
}

static bool goes(void *arg, const struct work_item *item) {
    struct walk *walk = arg;
    return late_item(walk, item) && walk->goes(walk->arg, item->jobs);
}

static int forget(struct client *client, const struct work_item *items) {
    int count = 0;
    for (; items; items = items->next, count++)
        client->filled -= estimate_fills(items->expected);
    client->queued -= count;
    client->pool->queued -= count;
    return count;
}

int client_yield(struct client *client, bool (*wanted)(void *arg, const struct job *job),
                 void *arg) {
    struct queue late;
    queue_init(&late);
    mutex_lock(&client->pool->mutex);
    struct walk walk = walk_of(client);
    walk.goes = wanted;
    walk.arg = arg;
    queue_pull(&client->suspects, goes, &walk, &late);
    queue_pull(&client->queue, goes, &walk, &late);
    queue_pull(&client->prompt, expired, &walk, &late);
    if (!client->prompt.first)
        client->prompted = 0;
    int count = forget(client, late.first);
    mutex_unlock(&client->pool->mutex);
    threads_give_back(client, queue_take(&late), true);
    return count;
}

static bool has_wanted(void *arg, const struct work_item *item) {
    const struct walk *walk = arg;
    const struct job *job = goes_on(item) ? NULL : item->jobs;
    while (job && !walk->goes(walk->arg, job))
        job = job->next;
    return job != NULL;
}

void client_return(struct client *client, bool (*wanted)(void *arg, const struct job *job),
                   void *arg) {
    struct walk walk = {.goes = wanted, .arg = arg};
    struct queue found;
    queue_init(&found);
    mutex_lock(&client->pool->mutex);
    queue_pull(&client->suspects, has_wanted, &walk, &found);
    queue_pull(&client->queue, has_wanted, &walk, &found);
    forget(client, found.first);
    mutex_unlock(&client->pool->mutex);
    threads_give_back(client, queue_take(&found), false);
}

void client_lapse(struct client *client) {
    atomic_fetch_add(&client->lapses, 1);
    give_back_all(client);
}

int client_states(struct client *client) {
    mutex_lock(&client->pool->mutex);
    int count = threads_newest_slots(client) + client->generations->list[0]->ready_count;
    mutex_unlock(&client->pool->mutex);
    return count < client->pool->count ? count : client->pool->count;
}

void client_renew(struct client *client, const struct generations *generations) {
    struct pool *pool = client->pool;
    mutex_lock(&pool->mutex);
    client->generations = generations;
    pool->changes++;
    condition_broadcast(&pool->work);
    mutex_unlock(&pool->mutex);
    atomic_store(&client->several, generations->count > 1);
}

/* ---- the end ---- */

void client_halt(struct client *client) {
    atomic_store(&client->stopping, true);
}

void client_stop(struct client *client, bool cut_off) {
    struct pool *pool = client->pool;
    client_halt(client);
    mutex_lock(&pool->mutex);
    condition_broadcast(&pool->follow);
    client->cutting = client->cutting || cut_off;
    for (int i = 0; client->cutting && i < pool->count; i++)
        deadline_cut(client, pool->workers[i]);
    mutex_unlock(&pool->mutex);
    give_back_all(client);
}

bool client_quiet(struct client *client) {
    return client->inside == atomic_load(&client->lost);
}
