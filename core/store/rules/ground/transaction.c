#include "store/rules/ground/transaction.h"
#include "store/rules/ground/txn_hook.h"
#include <stdalign.h>
#include <stddef.h>
#include <string.h>

#define BEGIN_WAIT 30000  /* ms until a writer gives up */
#define HURRIED_WAIT 1000 /* the same where somebody waits for its end */
#define HURRIED_LEAST 100 /* … and has no more time than that */
#define CONTENDED 1000    /* ms for which a wait for another writer is remembered */

/* ---- beginning ---- */

void store_set_impatient(struct store *store, int (*hurried)(void)) {
    store->patience.hurried = hurried;
    if (store->mode == STORE_READ) /* what is asked on the way to a change is part of it */
        store->db.hurried = hurried;
}

void store_budget(struct store *store, time_ms until) {
    store->patience.until = until;
}

time_ms transaction_patience(const struct store *store, time_ms begun) {
    const struct patience *patience = &store->patience;
    const int told = patience->hurried ? patience->hurried() : 0;
    const bool has_time = told == 0 || (told == 1 && patience->until);
    const time_ms most = begun + (has_time ? BEGIN_WAIT : HURRIED_WAIT);
    if (!told || !patience->until || patience->until > most)
        return most;
    return patience->until > begun + HURRIED_LEAST ? patience->until : begun + HURRIED_LEAST;
}

void transaction_waited(struct store *store) {
    store->patience.contended = clock_monotonic() + CONTENDED;
}

bool store_contended(const struct store *store) {
    return clock_monotonic() < store->patience.contended;
}

bool transaction_may_begin(struct store *store, struct error *error) {
    if (store->mode == STORE_READ)
        return error_set(error, ERROR_CONFLICT, "store \"%s\": opened for reading only",
                         store->db.name);
    return !store->writing ||
           error_set(error, ERROR_FAILED, "store \"%s\": a transaction is open already",
                     store->db.name);
}

bool transaction_late(struct store *store, time_ms begun, struct error *error) {
    double seconds = (double)((clock_monotonic() - begun + 50) / 100) / 10;
    return error_set(error, ERROR_BUSY,
                     "store \"%s\": busy: another process has been writing for %g s",
                     store->db.name, seconds);
}

/* ---- ending ---- */

static bool hooks_flush(struct store *store, bool ruled, struct error *error) {
    for (const struct txn_hook *const *hook = store->hooks; *hook; hook++)
        if ((*hook)->flush && !(ruled && (*hook)->unruled) && !(*hook)->flush(store, error))
            return false;
    return true;
}

bool transaction_before_rules(struct store *store, struct error *error) {
    return hooks_flush(store, true, error);
}

bool transaction_before_commit(struct store *store, struct error *error) {
    return hooks_flush(store, false, error);
}

void transaction_committed(struct store *store) {
    store->stored = store->meta;
    store->writing = false;
    for (const struct txn_hook *const *hook = store->hooks; *hook; hook++)
        if ((*hook)->committed)
            (*hook)->committed(store);
}

void transaction_rolled_back(struct store *store) {
    store->writing = false;
    memset(store->changes, 0, sizeof store->changes);
    for (const struct txn_hook *const *hook = store->hooks; *hook; hook++)
        if ((*hook)->drop)
            (*hook)->drop(store);
    store->meta = store->stored; /* a number that was not written says nothing */
}

/* ---- a part of it ---- */

static size_t point_size(const struct txn_hook *hook) {
    const size_t step = alignof(max_align_t);
    return (hook->size + step - 1) / step * step;
}

static void *own_state(struct store *store, const struct txn_hook *hook) {
    return (char *)store + hook->at;
}

static bool points_mark(struct store *store, char *point, struct error *error) {
    const char *end = point + TXN_POINTS;
    for (const struct txn_hook *const *at = store->hooks; *at; at++) {
        const struct txn_hook *hook = *at;
        if (hook->parts && hook->flush && !hook->flush(store, error))
            return false;
        if (point_size(hook) > (size_t)(end - point))
            return error_set(error, ERROR_FAILED, "no room for the points of a savepoint");
        if (hook->mark)
            hook->mark(store, point);
        else if (hook->size)
            memcpy(point, own_state(store, hook), hook->size);
        point += point_size(hook);
    }
    return true;
}

static bool points_return(struct store *store, const char *point, struct error *error) {
    bool done = true;
    for (const struct txn_hook *const *at = store->hooks; *at; at++) {
        const struct txn_hook *hook = *at;
        if (hook->parts)
            hook->drop(store);
        if (hook->back)
            done = hook->back(store, point, error) && done;
        else if (hook->size)
            memcpy(own_state(store, hook), point, hook->size);
        point += point_size(hook);
    }
    store->incidents = store->lines = store->kept = -1;
    return done;
}

bool txn_try(struct store *store, bool (*call)(struct store *store, void *arg, struct error *error),
             void *arg, bool *undone, struct error *error) {
    alignas(max_align_t) char points[TXN_POINTS];
    const struct meta meta = store->meta;
    struct error ignored = {0};
    *undone = false;
    if (!points_mark(store, points, error) || !db_run(&store->db, error, "SAVEPOINT part", ""))
        return false;
    if (call(store, arg, error) && db_run(&store->db, error, "RELEASE part", ""))
        return true;
    store->meta = meta;
    *undone = db_run(&store->db, &ignored, "ROLLBACK TO part", "") &&
              db_run(&store->db, &ignored, "RELEASE part", "") &&
              points_return(store, points, &ignored);
    return false;
}
