#include "store/rules/ground/frames.h"
#include "store/rules/ground/engine.h"
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
    struct row *row =
        db_query(&store->db, error, "UPDATE instance SET rev=?2, frame=?3 WHERE id=?1", "iit",
                 change->id, change->rev, change->frame.text);
    return db_run_counted(&store->db, row, 1, error);
}

static bool changes_write_set(struct store *store, const struct frames *frames,
                              struct error *error) {
    int64_t ids[FRAMES_KEPT], revs[FRAMES_KEPT];
    const char *texts[FRAMES_KEPT];
    struct set set = {
        .kind = SET_FRAMES, .columns = {ids, revs}, .texts = texts, .count = frames->count};
    for (size_t i = 0; i < frames->count; i++) {
        ids[i] = frames->list[i].id;
        revs[i] = frames->list[i].rev;
        texts[i] = frames->list[i].frame.text;
    }
    return store->engine->set(store, &set, error);
}

bool frames_flush(struct store *store, struct error *error) {
    struct frames *frames = &store->frames;
    const bool set = store->engine->sets && frames->count > 1;
    if (frames->count > 1) /* two transactions meet their rows in one order */
        qsort(frames->list, frames->count, sizeof *frames->list, change_order);
    bool done = !set || changes_write_set(store, frames, error);
    for (size_t i = 0; done && !set && i < frames->count; i++)
        done = change_write(store, &frames->list[i], error);
    frames->count = 0;
    return done;
}

static void frames_forget(struct store *store) {
    store->frames.count = 0;
}

const struct txn_hook frames_hook = {.flush = frames_flush, .drop = frames_forget, .parts = true};
