/* group_commit.c - of the threads that wait, one leads and writes for all. gather.h says how long
 * they wait: the last thread to come leads. If some stay away, the first one leads. */
#include "engine/group_commit.h"
#include "base/thread.h"
#include "engine/create_list.h"
#include "engine/gather.h"
#include <stdlib.h>

/* A thread that waits for its jobs to be written; on its stack. */
struct waiter {
    struct create_entry entry; /* first */
    int64_t patience;          /* microseconds; not 0: it leads if the others do not come in time */
    struct semaphore called;   /* when it is to gather, and when it is answered */
};

struct group_commit {
    struct engine *engine;
    struct mutex mutex;
    struct create_entry *first, **end; /* for the next transaction, in order */
    size_t waiting;                    /* how many */
    struct gather gather;              /* how many it waits for, and how long */
    bool writing;                      /* some thread leads */
    struct waiter *gatherer; /* the waiter that leads if others stay away; NULL: none yet */
    struct create_list list; /* of the leading thread */
};

struct group_commit *group_commit_new(struct engine *engine, struct error *error) {
    struct group_commit *group = calloc(1, sizeof *group);
    if (!group) {
        error_no_memory(error);
        return NULL;
    }
    group->engine = engine;
    group->end = &group->first;
    mutex_init(&group->mutex);
    return group;
}

void group_commit_free(struct group_commit *group) {
    if (!group)
        return;
    mutex_free(&group->mutex);
    create_list_clear(&group->list);
    free(group);
}

/* ---- the thread that leads ---- */

static struct waiter *waiter_of(struct create_entry *entry) {
    return (struct waiter *)entry;
}

/* Takes all waiters off the list. */
static struct create_entry *take(struct group_commit *group) {
    mutex_lock(&group->mutex);
    struct create_entry *list = group->first;
    group->first = NULL;
    group->end = &group->first;
    group->waiting = 0;
    mutex_unlock(&group->mutex);
    return list;
}

/* Expects for the next transaction the present waiters and as many as were answered. Returns the
 * waiter that gathers them; NULL: none waits. */
static struct waiter *over(struct group_commit *group, size_t answered, int64_t took) {
    mutex_lock(&group->mutex);
    struct waiter *next = waiter_of(group->first);
    group->gather = gather_next(answered, group->waiting, took);
    group->writing = false;
    group->gatherer = next;
    if (next)
        next->patience = group->gather.patience;
    mutex_unlock(&group->mutex);
    return next;
}

static void lead(struct group_commit *group, const struct waiter *self) {
    int64_t began = clock_monotonic_us();
    struct create_entry *list = take(group), *next;
    size_t answered = 0;
    create_list_write(&group->list, group->engine, list);
    for (const struct create_entry *entry = list; entry; entry = entry->next)
        answered++;
    struct waiter *gatherer = over(group, answered, clock_monotonic_us() - began);
    if (gatherer)
        semaphore_post(&gatherer->called);
    for (; list; list = next) {
        next = list->next; /* once it is called its thread may be gone */
        if (waiter_of(list) != self)
            semaphore_post(&waiter_of(list)->called);
    }
}

/* ---- the threads that wait ---- */

/* Puts a waiter on the list. The last one to come leads. */
static enum gather_part join(struct group_commit *group, struct waiter *waiter) {
    mutex_lock(&group->mutex);
    *group->end = &waiter->entry;
    group->end = &waiter->entry.next;
    group->waiting++;
    enum gather_part part =
        gather_part(&group->gather, group->waiting, group->writing, group->gatherer != NULL);
    if (part == GATHER_LEADS) {
        group->writing = true;
        group->gatherer = NULL;
    } else if (part == GATHER_GATHERS) {
        group->gatherer = waiter;
        waiter->patience = group->gather.patience;
    }
    mutex_unlock(&group->mutex);
    return part;
}

/* Waits for the others. True: they did not come in time, and it leads; false: it is answered. */
static bool gather(struct group_commit *group, struct waiter *waiter) {
    bool called = semaphore_wait_for(&waiter->called, waiter->patience);
    mutex_lock(&group->mutex);
    bool leads = !called && group->gatherer == waiter;
    if (leads) {
        group->writing = true;
        group->gatherer = NULL;
    }
    mutex_unlock(&group->mutex);
    if (!called && !leads)
        semaphore_wait(&waiter->called);
    return leads;
}

/* Waits. True: it leads; false: it is answered. A waiter may be called to gather; before that the
 * leading thread may change its patience. */
static bool group_await(struct group_commit *group, struct waiter *waiter, enum gather_part part) {
    if (part == GATHER_WAITS)
        semaphore_wait(&waiter->called);
    return waiter->patience > 0 && gather(group, waiter);
}

bool group_commit_enqueue(struct group_commit *group, const struct engine_spec *specs, size_t count,
                          struct created *created, struct error *error) {
    struct waiter waiter = {.entry = {.specs = specs, .count = count, .created = created}};
    if (count == 0)
        return true;
    semaphore_init(&waiter.called);
    enum gather_part part = join(group, &waiter);
    if (part == GATHER_LEADS || group_await(group, &waiter, part))
        lead(group, &waiter);
    semaphore_free(&waiter.called);
    const struct error *why = &waiter.entry.error;
    return waiter.entry.fine || error_set(error, why->code, "%s", why->text);
}
