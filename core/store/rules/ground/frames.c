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

bool frame_keep(struct store *store, int64_t id, int64_t rev, const char *text, bool turn,
                struct error *error) {
    struct frames *frames = &store->frames;
    struct frame_change *change = frame_find(store, id);
    const struct lasting_text frame = txn_text(store, text, error);
    if (!frame.text)
        return false;
    if (!change && frames->count == FRAMES_KEPT && !frames_flush(store, error))
        return false;
    if (!change)
        change = &frames->list[frames->count++];
    *change = (struct frame_change){id, rev, frame, turn};
    return true;
}

bool frame_drop(struct store *store, int64_t id) {
    struct frame_change *change = frame_find(store, id);
    if (change)
        *change = store->frames.list[--store->frames.count];
    return true;
}

static int change_order(const void *left, const void *right) {
    const struct frame_change *a = left, *b = right;
    if (a->turn != b->turn)
        return a->turn ? 1 : -1;
    return (a->id > b->id) - (a->id < b->id);
}

static bool change_write(struct store *store, const struct frame_change *change,
                         struct error *error) {
    struct row *row = db_query(&store->db, error,
                               change->turn ? "UPDATE body_turn SET rev=?2, frame=?3 WHERE id=?1"
                                            : "UPDATE instance SET rev=?2, frame=?3 WHERE id=?1",
                               "iit", change->id, change->rev, change->frame.text);
    return db_run_counted(&store->db, row, 1, error);
}

/* Those of a kind, which stand beside each other. */
static bool changes_write_set(struct store *store, const struct frames *frames, bool turn,
                              struct error *error) {
    int64_t ids[FRAMES_KEPT], revs[FRAMES_KEPT];
    const char *texts[FRAMES_KEPT];
    struct set set = {
        .kind = turn ? SET_TURNS : SET_FRAMES, .columns = {ids, revs}, .texts = {texts}};
    for (size_t i = 0; i < frames->count; i++) {
        if (frames->list[i].turn != turn)
            continue;
        ids[set.count] = frames->list[i].id;
        revs[set.count] = frames->list[i].rev;
        texts[set.count++] = frames->list[i].frame.text;
    }
    return !set.count || store->engine->set(store, &set, error);
}

bool frames_flush(struct store *store, struct error *error) {
    struct frames *frames = &store->frames;
    const bool set = store->engine->sets && frames->count > 1;
    if (frames->count > 1) /* two transactions meet their rows in one order */
        qsort(frames->list, frames->count, sizeof *frames->list, change_order);
    bool done = !set || (changes_write_set(store, frames, false, error) &&
                         changes_write_set(store, frames, true, error));
    for (size_t i = 0; done && !set && i < frames->count; i++)
        done = change_write(store, &frames->list[i], error);
    frames->count = 0;
    return done;
}

static void frames_forget(struct store *store) {
    store->frames.count = 0;
}

const struct txn_hook frames_hook = {.flush = frames_flush, .drop = frames_forget, .parts = true};
