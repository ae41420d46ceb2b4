#include "store/rules/ground/peers.h"
#include "base/crash_point.h"
#include "base/json.h"
#include "store/rules/ground/serves.h"
#include "store/rules/ground/state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void peers_clear(struct peers *peers) {
    for (size_t i = 0; i < peers->count; i++) {
        json_decref(peers->list[i].categories);
        json_decref(peers->list[i].handlers);
        json_decref(peers->list[i].processes);
        json_decref(peers->list[i].topics);
    }
    free(peers->list);
    *peers = (struct peers){0};
}

/* An array of names as the keys of an object, to be found quickly. NULL: it is none. */
static json_t *peers_names(json_t *names) {
    json_t *found = json_is_array(names) ? json_object() : NULL, *name;
    size_t i;
    json_array_foreach(names, i, name)
        if (found && json_is_string(name))
            json_object_set_new(found, json_string_value(name), json_null());
    return found;
}

static json_t *peers_json(struct row *row, int column, const char *what) {
    const char *text = row_text(row, column);
    return text ? json_read(text, strlen(text), what, NULL) : NULL;
}

static bool peers_add(struct peers *peers, struct row *row) {
    struct peer *list = realloc(peers->list, (peers->count + 1) * sizeof *list);
    if (!list)
        return false;
    peers->list = list;
    json_t *given = peers_json(row, 6, "settings"), *topics = peers_json(row, 10, "topics");
    list[peers->count++] = (struct peer){
        .id = row_int(row, 0),
        .lease = row_int(row, 1),
        .lease_boot = row_time(row, 8),
        .state = (enum executor_state)row_int32(row, 2),
        .priority_min = row_int(row, 3),
        .priority_max = row_int(row, 4),
        .categories = peers_json(row, 5, "categories"),
        .handlers = peers_names(json_object_get(given, "handlers")),
        .processes = peers_names(json_object_get(given, "processes")),
        .draining = row_int32(row, 7) != 0,
        .listens = row_int32(row, 9) != 0,
        .topics = peers_names(topics),
    };
    json_decref(given);
    json_decref(topics);
    return true;
}

/* Somebody may have told this executor to drain. */
static bool self_refresh(struct store *store, struct error *error) {
    int64_t draining = 0;
    if (!store->self.id)
        return true;
    enum answer found = db_value(&store->db, error, &draining,
                                 "SELECT draining FROM executor WHERE id=?1", "i", store->self.id);
    store->self.draining = draining != 0;
    return found != FAILED;
}

bool peers_refresh(struct store *store, struct error *error) {
    if (store->peers.version && store->peers.version == store->meta.executors)
        return true;
    peers_clear(&store->peers);
    struct row *rows =
        db_query(&store->db, error,
                 "SELECT id, lease, state, coalesce(range_min, -9223372036854775807 - 1),"
                 " coalesce(range_max, 9223372036854775807), categories, settings, draining,"
                 " CASE WHEN boot=?2 THEN lease_boot END, kind, topics FROM executor"
                 " WHERE state<>0 AND id<>?1 AND kind<>1", /* a worker outside is no process */
                 "it", store->self.id, store_boot(store));
    enum answer step = rows && self_refresh(store, error) ? YES : FAILED;
    while (step == YES && (step = db_step(&store->db, rows, error)) == YES)
        if (!peers_add(&store->peers, rows))
            return row_stop(rows) || db_no_memory(&store->db, error);
    if (step == NO)
        store->peers.version = store->meta.executors;
    return step == NO;
}

void ring_note(struct ring *ring, int64_t stream, int64_t priority) {
    for (int i = ring->count - 1; i >= 0; i--)
        if (ring->list[i].stream == stream) {
            if (priority < ring->list[i].priority_min)
                ring->list[i].priority_min = priority;
            if (priority > ring->list[i].priority_max)
                ring->list[i].priority_max = priority;
            ring->list[i].later = false;
            return;
        }
    if (ring->count == RING_STREAMS) {
        ring->everybody = true;
        return;
    }
    ring->list[ring->count].stream = stream;
    ring->list[ring->count].later = false;
    ring->list[ring->count].priority_min = priority;
    ring->list[ring->count++].priority_max = priority;
}

void ring_note_until(struct ring *ring, int64_t stream) {
    const int count = ring->count;
    for (int i = 0; i < count; i++)
        if (ring->list[i].stream == stream)
            return;
    ring_note(ring, stream, INT64_MIN);
    if (ring->count > count)
        ring->list[count].later = true;
}

static bool hears_of(const struct peer *peer, const struct catalog_stream *stream) {
    return stream->topic && json_object_get(peer->topics, stream->topic);
}

/* True if the i-th stream of the ring concerns the peer. */
static bool peer_wants_stream(const struct store *store, const struct peer *peer, int i) {
    const struct ring *ring = &store->ring;
    const struct catalog_stream *stream = catalog_stream(&store->catalog, ring->list[i].stream);
    if (!stream || peer->listens)
        return stream && hears_of(peer, stream);
    return !ring->list[i].later && ring->list[i].priority_min <= peer->priority_max &&
           ring->list[i].priority_max >= peer->priority_min &&
           (stream->definition->reserved || serves_category(peer->categories, stream->category));
}

static bool peer_wants(const struct store *store, const struct peer *peer) {
    bool wants = store->ring.everybody;
    for (int i = 0; !wants && i < store->ring.count; i++)
        wants = peer_wants_stream(store, peer, i);
    return wants;
}

static void ring_others(struct store *store) {
    bool something = store->ring.everybody || store->ring.count;
    store->changed = store->changed || (something && !store->open.capacity);
    if (store->kind != STORE_MEMORY && something)
        for (size_t i = 0; i < store->peers.count; i++)
            if (peer_wants(store, &store->peers.list[i]))
                store->engine->notify(store, store->peers.list[i].id);
    store->ring = (struct ring){0};
    CRASH_POINT("bell_rung");
}

static void ring_forget(struct store *store) {
    store->ring = (struct ring){0};
}

const struct txn_hook notify_hook = {.committed = ring_others, .drop = ring_forget};

static void fleet_rolled_back(struct store *store) {
    store->peers.version = 0;
    store->suspects.version = 0;
    store->self.lease_until = INT64_MIN; /* renewed again before anything is locked */
}

const struct txn_hook fleet_hook = {.drop = fleet_rolled_back};

const char *store_boot(struct store *store) {
    if (!store->boot[0])
        clock_boot(store->boot);
    return store->boot[0] ? store->boot : NULL;
}

time_ms lease_left(time_ms lease, time_ms lease_boot, time_ms now) {
    return lease_boot == TIME_NONE ? lease - now : lease_boot - clock_since_boot();
}

time_ms peer_spared(const struct store *store, const struct peer *peer, time_ms now) {
    time_ms left = lease_left(peer->lease, peer->lease_boot, now);
    if (!store->engine->leases_rest)
        return left;
    time_ms rest = store->engine->leases_rest(store) - clock_monotonic();
    return left > rest ? left : rest;
}

static bool peer_works(const struct peer *peer, time_ms now) {
    return peer->state == EXECUTOR_LIVE && !peer->draining && !peer->listens &&
           lease_left(peer->lease, peer->lease_boot, now) > 0;
}

/* By what its jobs are served. */
static bool peer_has(const struct peer *peer, const struct catalog_stream *stream) {
    const struct catalog_definition *definition = stream->definition;
    char topic[JOB_NAME_MAX + 16];
    if (!peer->handlers)
        return true;
    snprintf(topic, sizeof topic, "topic/%s", stream->topic ? stream->topic : "");
    if (stream->topic && !json_object_get(peer->handlers, topic))
        return false;
    return definition->process ? json_object_get(peer->processes, definition->process)
                               : json_object_get(peer->handlers, definition->name);
}

static bool peer_takes(const struct peer *peer, const struct catalog_stream *stream,
                       const struct job *job) {
    bool in_range = job->priority >= peer->priority_min && job->priority <= peer->priority_max;
    return in_range &&
           (stream->definition->reserved ||
            (peer_has(peer, stream) && serves_category(peer->categories, stream->category)));
}

bool store_shared(const struct store *store, const struct job *job, time_ms now) {
    const struct catalog_stream *stream = catalog_stream(&store->catalog, job->stream);
    for (size_t i = 0; stream && i < store->peers.count; i++)
        if (peer_works(&store->peers.list[i], now) &&
            peer_takes(&store->peers.list[i], stream, job))
            return true;
    return false;
}

bool store_sees_dead(struct store *store, time_ms now) {
    if (store->kind == STORE_MEMORY)
        return false;
    for (size_t i = 0; i < store->peers.count; i++) {
        const struct peer *peer = &store->peers.list[i];
        if (peer->state == EXECUTOR_LIVE && peer_spared(store, peer, now) <= 0)
            return true;
        if (store->engine->has_died(store, peer->id))
            return true;
    }
    return false;
}

bool store_sees_held(const struct store *store) {
    return !store->lanes_unheld;
}
