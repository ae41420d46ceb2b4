#include "store/rules/process/instance.h"
#include "base/crash_point.h"
#include <stdlib.h>
#include <string.h>

/* ---- frames that are kept back ---- */

/* The last one first: the units of one item follow each other. */
static struct frame_change *change_find(struct store *store, int64_t id) {
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

bool instances_flush(struct store *store, struct error *error) {
    struct frames *frames = &store->frames;
    bool done = true;
    if (frames->count > 1) /* two transactions meet their rows in one order */
        qsort(frames->list, frames->count, sizeof *frames->list, change_order);
    for (size_t i = 0; done && i < frames->count; i++)
        done = change_write(store, &frames->list[i], error);
    frames->count = 0;
    return done;
}

void instances_forget(struct store *store) {
    store->frames.count = 0;
}

const struct txn_hook instance_hook = {.before_commit = instances_flush,
                                       .rolled_back = instances_forget};

/* ---- rows ---- */

enum answer instance_rev(struct store *store, int64_t id, int64_t *rev, struct error *error) {
    const struct frame_change *change = change_find(store, id);
    if (!change)
        return db_value(&store->db, error, rev, "SELECT rev FROM instance WHERE id=?1", "i", id);
    *rev = change->rev;
    return YES;
}

enum answer instance_rev_beside(struct store *store, int64_t id, int64_t lane, int64_t *rev,
                                bool *insisted, struct error *error) {
    const struct frame_change *change = change_find(store, id);
    struct row *row =
        db_query(&store->db, error,
                 "SELECT rev, EXISTS(SELECT 1 FROM lane WHERE id=?2 AND until=?3) FROM instance"
                 " WHERE id=?1",
                 "iii", id, lane, TIME_NEVER);
    enum answer found = db_step(&store->db, row, error);
    if (found != YES)
        return found;
    *rev = change ? change->rev : row_int(row, 0);
    *insisted = row_int(row, 1) != 0;
    row_done(row);
    return YES;
}

static bool instance_insert(struct store *store, const struct unit_instance *one, int64_t rev,
                            struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO instance(id, version, rev, root, parent, started, key, tenant,"
                  " frame) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                  "iiizzittt", one->id, one->version, rev, one->root, one->parent, one->started,
                  one->key, one->tenant, one->frame);
}

bool instance_write(struct store *store, const struct unit_instance *one, int64_t rev,
                    struct error *error) {
    struct frames *frames = &store->frames;
    if (!one->rev)
        return instance_insert(store, one, rev, error);
    struct frame_change *change = change_find(store, one->id);
    const struct lasting_text frame = txn_text(store, one->frame, error);
    if (!frame.text)
        return false;
    if (!change && frames->count == FRAMES_KEPT && !instances_flush(store, error))
        return false;
    if (!change)
        change = &frames->list[frames->count++];
    *change = (struct frame_change){one->id, rev, frame};
    return true;
}

bool instance_remove(struct store *store, int64_t id, struct error *error) {
    struct frame_change *change = change_find(store, id);
    if (change)
        *change = store->frames.list[--store->frames.count];
    return db_run(&store->db, error, "DELETE FROM instance WHERE id=?1", "i", id);
}

/* ---- jobs with the frame at hand ---- */

void instance_show(const struct unit *unit, struct job *job, bool with_frame) {
    for (size_t i = 0; unit && job->instance_id && i < unit->instance_count; i++)
        if (unit->instances[i].id == job->instance_id) {
            job->version = unit->instances[i].version;
            job->frame_rev = with_frame ? unit->rev : 0;
            job->frame = with_frame ? unit->instances[i].frame : NULL;
            job->parent = unit->instances[i].parent;
            job->business_key = unit->instances[i].key;
        }
}
