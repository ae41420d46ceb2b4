/* fetched.c - the jobs that workers outside hold, as they name them (rules §24). Where the engine
 * has sets, one question reads the locks of all, and one their rows. */
#include "store/outside.h"
#include "store/rules/ground/row.h"
#include "store/rules/process/frame_page.h"
#include "store/rules/work/work.h"
#include <stdlib.h>
#include <string.h>

/* What is read of them. */
struct fetched_jobs {
    struct set set; /* first */
    const char *worker;
    struct lock_named *list;
    size_t count;
};

/* ---- locks ---- */

#define LOCK                                                                                       \
    "SELECT l.id, l.token, l.owner, l.until, e.name FROM locked l JOIN executor e ON e.id=l.owner" \
    " WHERE l.id=?1 AND l.token=?2 AND e.kind=1"

/* Those of another worker count as lost. One may be named twice. */
static void lock_found(const struct fetched_jobs *jobs, struct row *row) {
    const int64_t id = row_int(row, 0), token = row_int(row, 1);
    if (jobs->worker && strcmp(row_text(row, 4), jobs->worker) != 0)
        return;
    for (size_t i = 0; i < jobs->count; i++) {
        struct lock_named *lock = &jobs->list[i];
        if (lock->id != id || lock->token != token)
            continue;
        lock->owner = row_int(row, 2);
        lock->until = row_int(row, 3);
    }
}

static bool read_locks(struct set *set, struct store *store, struct row *row, struct error *error) {
    enum answer step;
    while ((step = db_step(&store->db, row, error)) == YES)
        lock_found((struct fetched_jobs *)set, row);
    return step == NO;
}

static bool locks_one_by_one(struct fetched_jobs *jobs, struct store *store, struct error *error) {
    bool done = true;
    for (size_t i = 0; done && i < jobs->count; i++)
        done = read_locks(
            &jobs->set, store,
            db_query(&store->db, error, LOCK, "ii", jobs->list[i].id, jobs->list[i].token), error);
    return done;
}

/* ---- rows ---- */

/* The row of each; the first entry that names it has the job. */
static bool job_found(const struct fetched_jobs *jobs, struct store *store, struct row *row,
                      struct error *error) {
    struct job read;
    size_t at = 0;
    if (!row_read(store, row, &read, error))
        return false;
    while (at < jobs->count &&
           (jobs->list[at].id != read.id || !jobs->list[at].owner || jobs->list[at].job))
        at++;
    if (at == jobs->count)
        return true;
    struct lock_named *lock = &jobs->list[at];
    read.token = lock->token;
    read.owner = lock->owner;
    read.until = read.lock_expiration = lock->until;
    lock->job = job_copy(&read);
    return lock->job || db_no_memory(&store->db, error);
}

static bool read_jobs(struct set *set, struct store *store, struct row *row, struct error *error) {
    enum answer step;
    while ((step = db_step(&store->db, row, error)) == YES)
        if (!job_found((struct fetched_jobs *)set, store, row, error))
            return row_stop(row);
    return step == NO;
}

static bool rows_one_by_one(struct fetched_jobs *jobs, struct store *store, struct error *error) {
    bool done = true;
    for (size_t i = 0; done && i < jobs->count; i++)
        done =
            !jobs->list[i].owner ||
            read_jobs(&jobs->set, store,
                      db_query(&store->db, error, "SELECT " ROW_COLUMNS " FROM job j WHERE j.id=?1",
                               "i", jobs->list[i].id),
                      error);
    return done;
}

/* ---- all together ---- */

/* numbers: room for ids and tokens. */
static bool read_together(struct fetched_jobs *jobs, struct store *store, int64_t *numbers,
                          struct error *error) {
    struct set *set = &jobs->set;
    for (size_t i = 0; i < jobs->count; i++) {
        numbers[i] = jobs->list[i].id;
        numbers[jobs->count + i] = jobs->list[i].token;
    }
    *set = (struct set){.kind = SET_OUTSIDE,
                        .columns = {numbers, numbers + jobs->count},
                        .count = jobs->count,
                        .read = read_locks};
    if (!store->engine->set(store, set, error))
        return false;
    set->kind = SET_JOBS;
    set->read = read_jobs;
    set->count = 0;
    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->list[i].owner)
            numbers[set->count++] = jobs->list[i].id;
    return !set->count || store->engine->set(store, set, error);
}

static bool read_all(struct fetched_jobs *jobs, struct store *store, struct error *error) {
    if (!store->engine->sets || jobs->count < 2)
        return locks_one_by_one(jobs, store, error) && rows_one_by_one(jobs, store, error);
    int64_t *numbers = malloc(2 * jobs->count * sizeof *numbers);
    bool done =
        numbers ? read_together(jobs, store, numbers, error) : db_no_memory(&store->db, error);
    free(numbers);
    return done;
}

/* Gives the jobs their frames, in a chain meanwhile. */
static bool attach(const struct fetched_jobs *jobs, struct store *store, struct error *error) {
    struct job *first = NULL, **end = &first;
    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->list[i].job) {
            *end = jobs->list[i].job;
            end = &(*end)->next;
        }
    *end = NULL;
    bool done = frames_attach(store, &first, error);
    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->list[i].job) {
            jobs->list[i].job = first;
            first = first->next;
            jobs->list[i].job->next = NULL;
        }
    return done;
}

static void drop(struct lock_named *lock) {
    job_free(lock->job);
    lock->job = NULL;
}

bool store_fetched(struct store *store, const char *worker, struct lock_named *list, size_t count,
                   struct error *error) {
    struct fetched_jobs jobs = {.worker = worker, .list = list, .count = count};
    for (size_t i = 0; i < count; i++)
        list[i].owner = 0;
    bool done = read_all(&jobs, store, error) && attach(&jobs, store, error);
    for (size_t i = 0; i < count; i++)
        if (list[i].job && (!done || frame_is_gone(list[i].job)))
            drop(&list[i]);
    return done;
}
