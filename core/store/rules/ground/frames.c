#include "store/rules/ground/frames.h"
#include <stdlib.h>

/* The last one first: the units of one item follow each other. */
struct frame_change *frame_find(struct store *store, int64_t id) {
    for (size_t i = store->frames.count; i-- > 0;)
        if (store->frames.list[i].id == id)
            return &store->frames.list[i];
    return NULL;
}

static int change_order(const void *left, const void *right) {
    const struct frame_change *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static bool change_write(struct store *store, const struct frame_change *change,
                         struct error *error) {
    int count = 0;
    return db_run(&store->db, error, "UPDATE instance SET rev=?2, frame=?3 WHERE id=?1", "iit",
                  change->id, change->rev, change->frame.text) &&
           db_count(&store->db, &count, error) &&
           (count == 1 ||
            error_set(error, ERROR_DAMAGED, "store \"%s\": damaged: instance %lld has no row",
                      store->db.name, (long long)change->id));
}

bool frames_flush(struct store *store, struct error *error) {
    struct frames *frames = &store->frames;
    bool done = true;
    if (frames->count > 1) /* two transactions meet their rows in one order */
        qsort(frames->list, frames->count, sizeof *frames->list, change_order);
    for (size_t i = 0; done && i < frames->count; i++)
        done = change_write(store, &frames->list[i], error);
    frames->count = 0;
    return done;
}

static void frames_forget(struct store *store) {
    store->frames.count = 0;
}

const struct txn_hook frames_hook = {.flush = frames_flush, .drop = frames_forget, .parts = true};
