/* left.c - removes or completes what a dead process has left of a batch or an intake (rules §1,
 * §17). Each is written in several transactions. The writer is dead if its sign of life is gone. */
#include "store/rules/batch/batch.h"
#include "store/rules/create/intake.h"
#include "store/rules/ground/engine.h"
#include "store/rules/record/operation.h"
#include <stdio.h>

enum { PARTS = 100 }; /* of a batch that go at once */

/* The first row of `sql` after `from` whose sign of life is gone. */
static enum answer left_find(struct store *store, struct store_left *left, bool batches,
                             int64_t *id, struct error *error) {
    enum answer found = NO;
    for (*id = 0;;) {
        found = batches
                    ? db_value(&store->db, error, id,
                               "SELECT id FROM batch WHERE state=0 AND id>?1 ORDER BY id"
                               " LIMIT 1",
                               "i", *id)
                    : db_value(&store->db, error, id,
                               "SELECT id FROM intake WHERE id>?1 ORDER BY id LIMIT 1", "i", *id);
        if (found != YES ||
            !store->engine->sign_alive(store, batches ? SIGN_BATCH(*id) : SIGN_INTAKE(*id)))
            return found;
        left->living = true;
    }
}

/* ---- intakes ---- */

static bool tell_removed(struct store *store, const struct intake *intake, struct store_left *left,
                         time_ms now, struct error *error) {
    left->removed = intake->removed;
    return operation_write(store, "remove_unfinished", "jobs", (int)intake->removed, NULL, NULL,
                           now, error);
}

static bool clear_intake(struct store *store, int64_t id, struct store_left *left, time_ms now,
                         struct error *error) {
    struct intake intake;
    bool more = false;
    left->more = true;
    if (!intake_load(store, id, &intake, error))
        return false;
    if (intake.released)
        return intake_place(store, &intake, &more, now, error);
    return intake_remove(store, &intake, &more, error) &&
           (more || tell_removed(store, &intake, left, now, error));
}

/* ---- batches ---- */

static bool tell_batch(struct store *store, int64_t id, int64_t ids, struct store_left *left,
                       time_ms now, struct error *error) {
    char entity[32];
    left->batch = id;
    snprintf(entity, sizeof entity, "batch %lld", (long long)id);
    return operation_write(store, "remove_unfinished", entity, (int)ids, NULL, NULL, now, error);
}

static bool clear_batch(struct store *store, int64_t id, struct store_left *left, time_ms now,
                        struct error *error) {
    struct batch batch;
    left->more = true;
    if (!batch_load(store, id, &batch, error) ||
        !db_run(&store->db, error,
                "DELETE FROM batch_part WHERE (batch, n) IN (SELECT batch, n FROM batch_part"
                " WHERE batch=?1 LIMIT ?2)",
                "in", id, (int)PARTS))
        return false;
    if (db_changes(&store->db) == PARTS)
        return true;
    return db_run(&store->db, error, "DELETE FROM batch_config WHERE batch=?1", "i", id) &&
           db_run(&store->db, error, "DELETE FROM batch WHERE id=?1", "i", id) &&
           tell_batch(store, id, batch.ids, left, now, error);
}

/* ---- one step ---- */

/* Looked for again, now that nobody else writes: its creator may have ended it meanwhile. */
static bool clear(struct store *store, struct store_left *left, time_ms now, struct error *error) {
    int64_t id = 0;
    enum answer found = left_find(store, left, false, &id, error);
    if (found != NO)
        return found == YES && clear_intake(store, id, left, now, error);
    found = left_find(store, left, true, &id, error);
    return found == NO || (found == YES && clear_batch(store, id, left, now, error));
}

bool store_clear_left(struct store *store, struct store_left *left, time_ms now,
                      struct error *error) {
    bool own = false;
    int64_t id = 0;
    *left = (struct store_left){0};
    enum answer found =
        store->kind != STORE_MEMORY ? left_find(store, left, false, &id, error) : NO;
    if (found == NO && store->kind != STORE_MEMORY)
        found = left_find(store, left, true, &id, error);
    if (found != YES)
        return found == NO;
    if (!unit_begin(store, STORE_COMMAND, &own, error))
        return false;
    return unit_end(store, own, clear(store, left, now, error), error);
}

/* ---- as a store is opened ---- */

/* YES: an intake was released and is not in its places yet. */
static enum answer has_released(struct store *store, struct error *error) {
    int64_t one = 0;
    return db_value(&store->db, error, &one, "SELECT 1 FROM intake WHERE released=1 LIMIT 1", "");
}

static bool clear_writer(struct store *store, time_ms now, struct error *error) {
    struct store_left left = {.more = true};
    enum answer released = YES;
    while (left.more && released == YES) {
        if (!store_clear_left(store, &left, now, error))
            return false;
        released = has_released(store, error);
    }
    return released != FAILED;
}

static bool clear_reader(struct store *store, time_ms now, struct error *error) {
    struct error ignored = {0};
    enum answer released = has_released(store, error);
    if (released != YES)
        return released == NO;
    struct store *writer = store_open(store->url, STORE_WRITE, store->settings, &ignored);
    if (writer)
        clear_writer(writer, now, &ignored);
    store_close(writer);
    return true;
}

bool store_clear_opened(struct store *store, time_ms now, struct error *error) {
    if (store->kind == STORE_MEMORY)
        return true;
    return store->mode == STORE_READ ? clear_reader(store, now, error)
                                     : clear_writer(store, now, error);
}
