#include "store/sqlite/peers.h"
#include "base/json.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/serves.h"
#include <stdlib.h>
#include <string.h>

void peers_clear(struct peers *peers) {
    for (size_t i = 0; i < peers->count; i++) {
        json_decref(peers->list[i].categories);
        json_decref(peers->list[i].handlers);
    }
    free(peers->list);
    *peers = (struct peers){0};
}

/* The names in { "handlers": [name, …] } as the keys of an object, to be found quickly. */
static json_t *peers_handlers(const char *settings) {
    json_t *given = settings ? json_read(settings, strlen(settings), "settings", NULL) : NULL;
    json_t *names = json_object_get(given, "handlers"), *name;
    json_t *handlers = json_is_array(names) ? json_object() : NULL;
    size_t i;
    json_array_foreach(names, i, name)
        if (handlers && json_is_string(name))
            json_object_set_new(handlers, json_string_value(name), json_null());
    json_decref(given);
    return handlers;
}

static bool peers_add(struct peers *peers, sqlite3_stmt *row) {
    struct peer *list = realloc(peers->list, (peers->count + 1) * sizeof *list);
    if (!list)
        return false;
    peers->list = list;
    const char *categories = db_column_text(row, 5);
    list[peers->count++] = (struct peer){
        .id = sqlite3_column_int64(row, 0),
        .lease = sqlite3_column_int64(row, 1),
        .lease_boot = db_column_time(row, 8),
        .state = (enum executor_state)sqlite3_column_int(row, 2),
        .priority_min = sqlite3_column_int64(row, 3),
        .priority_max = sqlite3_column_int64(row, 4),
        .categories =
            categories ? json_read(categories, strlen(categories), "categories", NULL) : NULL,
        .handlers = peers_handlers(db_column_text(row, 6)),
        .draining = sqlite3_column_int(row, 7) != 0,
    };
    return true;
}

/* Somebody may have told this executor to drain. */
static bool self_refresh(struct store *store, struct error *error) {
    int64_t draining = 0;
    if (!store->self.id)
        return true;
    int found = db_value(&store->db, error, &draining, "SELECT draining FROM executor WHERE id=?1",
                         "i", store->self.id);
    store->self.draining = draining != 0;
    return found >= 0;
}

bool peers_refresh(struct store *store, int64_t version, struct error *error) {
    if (store->peers.version == version)
        return true;
    peers_clear(&store->peers);
    sqlite3_stmt *rows =
        db_query(&store->db, error,
                 "SELECT id, lease, state, coalesce(range_min, -9223372036854775807 - 1),"
                 " coalesce(range_max, 9223372036854775807), categories, settings, draining,"
                 " CASE WHEN boot=?2 THEN lease_boot END FROM executor"
                 " WHERE state<>0 AND id<>?1",
                 "it", store->self.id, store_boot(store));
    int step = rows && self_refresh(store, error) ? 1 : -1;
    while (step > 0 && (step = db_step(&store->db, rows, error)) > 0)
        if (!peers_add(&store->peers, rows)) {
            sqlite3_reset(rows);
            return error_set(error, ERROR_FAILED, "store \"%s\": out of memory", store->db.name);
        }
    if (step == 0)
        store->peers.version = version;
    return step == 0;
}

void wake_note(struct wake *wake, int64_t stream, int64_t priority) {
    for (int i = wake->count - 1; i >= 0; i--)
        if (wake->list[i].stream == stream) {
            if (priority < wake->list[i].priority_min)
                wake->list[i].priority_min = priority;
            if (priority > wake->list[i].priority_max)
                wake->list[i].priority_max = priority;
            return;
        }
    if (wake->count == WAKE_STREAMS) {
        wake->everybody = true;
        return;
    }
    wake->list[wake->count].stream = stream;
    wake->list[wake->count].priority_min = priority;
    wake->list[wake->count++].priority_max = priority;
}

static bool peer_wants(const struct store *store, const struct peer *peer) {
    if (store->wake.everybody)
        return true;
    for (int i = 0; i < store->wake.count; i++) {
        const struct catalog_stream *stream =
            catalog_stream(&store->catalog, store->wake.list[i].stream);
        if (stream && store->wake.list[i].priority_min <= peer->priority_max &&
            store->wake.list[i].priority_max >= peer->priority_min &&
            (stream->definition->reserved || serves_category(peer->categories, stream->category)))
            return true;
    }
    return false;
}

void wake_ring(struct store *store) {
    if (store->path && (store->wake.everybody || store->wake.count))
        for (size_t i = 0; i < store->peers.count; i++)
            if (peer_wants(store, &store->peers.list[i]))
                bell_ring(&store->bell, store->path, store->peers.list[i].id);
    store->wake = (struct wake){0};
}

const char *store_boot(struct store *store) {
    if (!store->boot[0])
        clock_boot(store->boot);
    return store->boot[0] ? store->boot : NULL;
}

time_ms lease_left(time_ms lease, time_ms lease_boot, time_ms now) {
    return lease_boot == TIME_NONE ? lease - now : lease_boot - clock_since_boot();
}

static bool peer_works(const struct peer *peer, time_ms now) {
    return peer->state == EXECUTOR_LIVE && !peer->draining &&
           lease_left(peer->lease, peer->lease_boot, now) > 0;
}

static bool peer_takes(const struct peer *peer, const struct catalog_stream *stream,
                       const struct job *job) {
    bool in_range = job->priority >= peer->priority_min && job->priority <= peer->priority_max;
    bool has = !peer->handlers || json_object_get(peer->handlers, job->handler);
    return in_range && (stream->definition->reserved ||
                        (has && serves_category(peer->categories, stream->category)));
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
    if (!store->path)
        return false;
    for (size_t i = 0; i < store->peers.count; i++) {
        const struct peer *peer = &store->peers.list[i];
        if (peer->state == EXECUTOR_LIVE && lease_left(peer->lease, peer->lease_boot, now) <= 0)
            return true;
        if (gate_free(&store->gate, GATE_EXECUTORS + peer->id))
            return true;
    }
    return false;
}
