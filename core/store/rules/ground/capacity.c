#include "store/rules/ground/capacity.h"
#include "store/rules/ground/serves.h"

void store_set_capacity(struct store *store, struct capacity *capacity) {
    store->open = (struct open_capacity){.capacity = capacity};
}

void capacity_blind(struct store *store) {
    if (store->open.capacity)
        store->open.capacity->ready.blind = store->open.capacity->ready.look = true;
}

static enum answer capacity_serves(struct store *store, int64_t id, struct error *error) {
    struct open_capacity *open = &store->open;
    const struct catalog_stream *stream = catalog_stream(&store->catalog, id);
    struct serves serves;
    if (open->stream != id && stream) {
        bool begun = serves_begin(&serves, store, open->capacity->acquire, error);
        open->served = begun && serves_stream(&serves, stream);
        open->stream = begun ? id : 0;
        serves_end(&serves);
        if (!begun)
            return FAILED;
    }
    return stream && open->served ? YES : NO;
}

enum answer capacity_takes(struct store *store, int64_t stream, int64_t priority,
                           struct error *error) {
    const struct capacity *capacity = store->open.capacity;
    if (!capacity || priority < capacity->acquire->priority_min ||
        priority > capacity->acquire->priority_max)
        return NO;
    return capacity_serves(store, stream, error);
}

void capacity_ready(struct store *store, int64_t stream, int64_t priority, time_ms place,
                    int64_t id) {
    struct capacity *capacity = store->open.capacity;
    const struct catalog_stream *of = catalog_stream(&store->catalog, stream);
    if (!of || capacity_takes(store, stream, priority, NULL) == NO)
        return;
    struct sort_key ready = {priority, place, id, of->type == JOB_TIMER};
    if (!capacity->ready.left || acquire_before(capacity->acquire, &ready, &capacity->ready.best))
        capacity->ready.best = ready;
    capacity->ready.left = capacity->ready.look = true;
}

static void capacity_over(struct store *store) {
    store->open = (struct open_capacity){0};
}

const struct txn_hook capacity_hook = {.committed = capacity_over, .drop = capacity_over};
