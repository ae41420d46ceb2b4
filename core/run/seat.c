#include "run/seat.h"
#include <stdlib.h>

enum { RETRY_FIRST = 1000, RETRY_MAX = 30000 }; /* ms */

struct seat *seat_find(const struct worker *worker, const struct client *client, int generation) {
    struct seat *seat = worker->seats;
    while (seat && (seat->client != client || seat->generation != generation))
        seat = seat->next;
    return seat;
}

struct seat *seat_make(struct worker *worker, struct client *client, int generation) {
    struct seat *seat = calloc(1, sizeof *seat);
    if (!seat)
        return NULL;
    *seat = (struct seat){.next = worker->seats, .client = client, .generation = generation};
    worker->seats = seat;
    client->seats++;
    return seat;
}

const struct deployment *seat_generation(const struct seat *seat) {
    return generations_number(seat->client->generations, seat->generation);
}

struct seat *seat_stale(struct pool *pool, struct worker *worker) {
    if (worker->changes == pool->changes)
        return NULL;
    for (struct seat *seat = worker->seats; seat; seat = seat->next)
        if (seat->client->leaving || !seat_generation(seat))
            return seat;
    worker->changes = pool->changes;
    return NULL;
}

struct seat *seat_serving(struct worker *worker, struct client *client, const char *handler,
                          struct folder **folder) {
    *folder = NULL;
    mutex_lock(&worker->pool->mutex);
    const struct deployment *generation = generations_find(client->generations, handler);
    struct seat *seat = seat_find(worker, client, generation->generation);
    if (!seat)
        seat = seat_make(worker, client, generation->generation);
    if (seat && !seat->script)
        *folder = folder_retain(generation->folder);
    mutex_unlock(&worker->pool->mutex);
    return seat;
}

/* It is tried again; if nobody can open one, all that waits is given back. The mutex is held. */
static struct item *block(struct pool *pool, struct seat *seat) {
    time_ms wait = seat->retry_wait * 2;
    seat->client->blocked += seat->retry_at == 0;
    seat->retry_wait = wait == 0 ? RETRY_FIRST : wait < RETRY_MAX ? wait : RETRY_MAX;
    seat->retry_at = clock_monotonic() + seat->retry_wait;
    if (pool->queued > 0)
        condition_signal(&pool->work); /* the item we were woken for */
    return seat->client->blocked >= pool->threads ? crew_take_all(seat->client) : NULL;
}

void seat_opened(struct worker *worker, struct seat *seat, struct script *script, bool runs) {
    struct client *client = seat->client;
    struct item *items = NULL;
    mutex_lock(&worker->pool->mutex);
    bool recovered = script && seat->retry_at != 0;
    seat->script = script;
    worker->script = runs ? script : NULL;
    if (!script) {
        items = block(worker->pool, seat);
    } else if (recovered) {
        client->blocked--;
        seat->retry_at = seat->retry_wait = 0;
    }
    mutex_unlock(&worker->pool->mutex);
    crew_give_back(client, items, false);
    if (recovered)
        client->options.wake(client->options.wake_arg);
}

struct script *seat_closing(struct worker *worker, struct seat *seat, struct item *item) {
    mutex_lock(&worker->pool->mutex);
    worker->item = item;
    worker->closing = clock_monotonic();
    struct script *script = seat->script;
    seat->script = NULL;
    if (worker->script == script)
        worker->script = NULL;
    mutex_unlock(&worker->pool->mutex);
    return script;
}

void seat_closed(struct worker *worker, struct seat *seat) {
    struct pool *pool = worker->pool;
    mutex_lock(&pool->mutex);
    worker->closing = TIME_NONE;
    struct seat **at = &worker->seats;
    while (*at != seat)
        at = &(*at)->next;
    *at = seat->next;
    seat->client->seats--;
    seat->client->blocked -= seat->retry_at != 0;
    condition_broadcast(&pool->ended);
    mutex_unlock(&pool->mutex);
    free(seat);
}
