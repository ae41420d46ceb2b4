/* group_commit.c - of the threads that wait, one leads and writes for all. gather.h says how long
 * they wait: the last thread to come leads. If some stay away, the first one leads. */
#include "engine/group_commit.h"
#include "base/thread.h"
#include "engine/gather.h"
#include <stdlib.h>
#include <string.h>

/* A thread that waits for its jobs to be written; on its stack. */
struct waiter {
    struct waiter *next;
    const struct engine_spec *specs;
    size_t count;
    struct created *created;
    struct error error;
    bool fine;
    int64_t patience;        /* microseconds; not 0: it leads if the others do not come in time */
    struct semaphore called; /* when it is to gather, and when it is answered */
};

struct group_commit {
    struct engine *engine;
    struct mutex mutex;
    struct waiter *first, **end; /* for the next transaction, in order */
    size_t waiting;              /* how many */
    struct gather gather;        /* how many it waits for, and how long */
    bool writing;                /* some thread leads */
    struct waiter *gatherer;     /* the waiter that leads if others stay away; NULL: none yet */
    /* Room for what the leading thread writes. */
    struct engine_spec *specs;
    struct created *created;
    size_t room;
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
    free(group->specs);
    free(group->created);
    free(group);
}

/* ---- the thread that leads ---- */

static size_t count_of(const struct waiter *list) {
    size_t count = 0;
    for (; list; list = list->next)
        count += list->count;
    return count;
}

static bool make_room(struct group_commit *group, size_t count) {
    if (count <= group->room)
        return true;
    free(group->specs);
    free(group->created);
    group->specs = malloc(count * sizeof *group->specs);
    group->created = malloc(count * sizeof *group->created);
    group->room = group->specs && group->created ? count : 0;
    return group->room > 0;
}

/* Writes a list as one; *refused as engine_enqueue has it. */
static bool write_list(struct group_commit *group, const struct waiter *list, size_t *refused,
                       struct error *error) {
    size_t count = count_of(list), at = 0;
    *refused = count;
    if (!make_room(group, count))
        return error_no_memory(error);
    for (const struct waiter *waiter = list; waiter; waiter = waiter->next) {
        memcpy(&group->specs[at], waiter->specs, waiter->count * sizeof *waiter->specs);
        at += waiter->count;
    }
    return engine_enqueue(group->engine, group->specs, count, group->created, refused, error);
}

static void answer(struct group_commit *group, struct waiter *list, bool fine,
                   const struct error *error) {
    size_t at = 0;
    for (struct waiter *waiter = list; waiter; waiter = waiter->next) {
        waiter->fine = fine;
        if (fine)
            memcpy(waiter->created, &group->created[at], waiter->count * sizeof *waiter->created);
        else
            waiter->error = *error;
        at += waiter->count;
    }
}

/* Finds the link to the waiter that has the spec with this number; NULL: none has. */
static struct waiter **link_of(struct waiter **list, size_t number) {
    while (*list && number >= (*list)->count) {
        number -= (*list)->count;
        list = &(*list)->next;
    }
    return *list ? list : NULL;
}

/* Writes the specs of all waiters. A waiter whose spec is refused is left out, and the others go
 * on. Returns all of them, answered. */
static struct waiter *group_write(struct group_commit *group, struct waiter *list) {
    struct waiter *answered = NULL;
    while (list) {
        struct error error = {0};
        size_t refused;
        bool fine = write_list(group, list, &refused, &error);
        struct waiter **wrong = fine ? NULL : link_of(&list, refused);
        struct waiter **from = wrong ? wrong : &list;
        struct waiter *now = *from, **end = &now;
        if (wrong) {
            *from = now->next;
            now->next = NULL;
        } else {
            list = NULL;
        }
        answer(group, now, fine, &error);
        while (*end)
            end = &(*end)->next;
        *end = answered;
        answered = now;
    }
    return answered;
}

/* Takes all waiters off the list. */
static struct waiter *take(struct group_commit *group) {
    mutex_lock(&group->mutex);
    struct waiter *list = group->first;
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
    struct waiter *next = group->first;
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
    struct waiter *list = group_write(group, take(group));
    size_t answered = 0;
    for (const struct waiter *waiter = list; waiter; waiter = waiter->next)
        answered++;
    struct waiter *next = over(group, answered, clock_monotonic_us() - began);
    if (next)
        semaphore_post(&next->called);
    for (; list; list = next) {
        next = list->next; /* once it is called its thread may be gone */
        if (list != self)
            semaphore_post(&list->called);
    }
}

/* ---- the threads that wait ---- */

/* Puts a waiter on the list. The last one to come leads. */
static enum gather_part join(struct group_commit *group, struct waiter *waiter) {
    mutex_lock(&group->mutex);
    *group->end = waiter;
    group->end = &waiter->next;
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
    struct waiter waiter = {.specs = specs, .count = count, .created = created};
    if (count == 0)
        return true;
    semaphore_init(&waiter.called);
    enum gather_part part = join(group, &waiter);
    if (part == GATHER_LEADS || group_await(group, &waiter, part))
        lead(group, &waiter);
    semaphore_free(&waiter.called);
    return waiter.fine || error_set(error, waiter.error.code, "%s", waiter.error.text);
}
