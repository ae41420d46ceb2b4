/* Those whose jobs have just been written mostly come back with the next ones at once. So a
 * transaction waits until as many ask for it as there were lately: half of the time that one takes,
 * at most. The last to come writes for all; if some stay away, the first one does. */
#include "api/group.h"
#include "run/thread.h"
#include <stdlib.h>
#include <string.h>

/* What one thread waits for; on its stack. */
struct asked {
    struct asked *next;
    const struct engine_draft *drafts;
    size_t count;
    struct engine_created *created;
    struct error error;
    bool fine;
    int64_t patience;        /* microseconds; not 0: it leads if the others do not come in time */
    struct semaphore called; /* when it is to gather, and when it is answered */
};

struct group {
    struct engine *engine;
    struct mutex mutex;
    struct asked *first, **end; /* those that wait for the next transaction */
    size_t waiting, expected;   /* how many; how many it waits for */
    bool writing;               /* some thread leads */
    struct asked *gatherer;     /* of those that wait; NULL: none yet */
    int64_t patience;           /* of a gatherer */
    /* Of the thread that leads: room for what it writes. */
    struct engine_draft *drafts;
    struct engine_created *created;
    size_t room;
};

struct group *group_new(struct engine *engine, struct error *error) {
    struct group *group = calloc(1, sizeof *group);
    if (!group) {
        error_set(error, ERROR_FAILED, "out of memory");
        return NULL;
    }
    group->engine = engine;
    group->end = &group->first;
    mutex_init(&group->mutex);
    return group;
}

void group_free(struct group *group) {
    if (!group)
        return;
    mutex_free(&group->mutex);
    free(group->drafts);
    free(group->created);
    free(group);
}

/* ---- the thread that leads ---- */

static size_t count_of(const struct asked *list) {
    size_t count = 0;
    for (; list; list = list->next)
        count += list->count;
    return count;
}

static bool make_room(struct group *group, size_t count) {
    if (count <= group->room)
        return true;
    free(group->drafts);
    free(group->created);
    group->drafts = malloc(count * sizeof *group->drafts);
    group->created = malloc(count * sizeof *group->created);
    group->room = group->drafts && group->created ? count : 0;
    return group->room > 0;
}

/* Writes a list as one; *refused as engine_enqueue has it. */
static bool write_list(struct group *group, const struct asked *list, size_t *refused,
                       struct error *error) {
    size_t count = count_of(list), at = 0;
    *refused = count;
    if (!make_room(group, count))
        return error_set(error, ERROR_FAILED, "out of memory");
    for (const struct asked *asked = list; asked; asked = asked->next) {
        memcpy(&group->drafts[at], asked->drafts, asked->count * sizeof *asked->drafts);
        at += asked->count;
    }
    return engine_enqueue(group->engine, group->drafts, count, group->created, refused, error);
}

static void answer(struct group *group, struct asked *list, bool fine, const struct error *error) {
    size_t at = 0;
    for (struct asked *asked = list; asked; asked = asked->next) {
        asked->fine = fine;
        if (fine)
            memcpy(asked->created, &group->created[at], asked->count * sizeof *asked->created);
        else
            asked->error = *error;
        at += asked->count;
    }
}

/* The link to whoever asked for the draft with this number; NULL: nobody did. */
static struct asked **link_of(struct asked **list, size_t number) {
    while (*list && number >= (*list)->count) {
        number -= (*list)->count;
        list = &(*list)->next;
    }
    return *list ? list : NULL;
}

/* Writes what is asked for; whoever asks for what is refused is left out, and the others go on.
 * Returns all of them, answered. */
static struct asked *write_all(struct group *group, struct asked *list) {
    struct asked *answered = NULL;
    while (list) {
        struct error error = {0};
        size_t refused;
        bool fine = write_list(group, list, &refused, &error);
        struct asked **wrong = fine ? NULL : link_of(&list, refused);
        struct asked **from = wrong ? wrong : &list;
        struct asked *now = *from, **end = &now;
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

/* Takes what waits. */
static struct asked *take(struct group *group) {
    mutex_lock(&group->mutex);
    struct asked *list = group->first;
    group->first = NULL;
    group->end = &group->first;
    group->waiting = 0;
    mutex_unlock(&group->mutex);
    return list;
}

/* The next transaction is for those who wait and for as many as were answered. Returns who is to
 * gather them; NULL: nobody waits. */
static struct asked *over(struct group *group, size_t answered, int64_t took) {
    mutex_lock(&group->mutex);
    struct asked *next = group->first;
    group->expected = answered + group->waiting;
    group->patience = took / 2 + 1;
    group->writing = false;
    group->gatherer = next;
    if (next)
        next->patience = group->patience;
    mutex_unlock(&group->mutex);
    return next;
}

static void lead(struct group *group, const struct asked *self) {
    int64_t began = clock_monotonic_us();
    struct asked *list = write_all(group, take(group));
    size_t answered = 0;
    for (const struct asked *asked = list; asked; asked = asked->next)
        answered++;
    struct asked *next = over(group, answered, clock_monotonic_us() - began);
    if (next)
        semaphore_post(&next->called);
    for (; list; list = next) {
        next = list->next; /* once it is called its thread may be gone */
        if (list != self)
            semaphore_post(&list->called);
    }
}

/* ---- the threads that wait ---- */

enum part { WAITS, GATHERS, LEADS };

/* The last one to come leads. */
static enum part join(struct group *group, struct asked *asked) {
    mutex_lock(&group->mutex);
    *group->end = asked;
    group->end = &asked->next;
    group->waiting++;
    bool complete = group->waiting >= group->expected;
    enum part part = group->writing            ? WAITS
                     : complete                ? LEADS
                     : group->gatherer == NULL ? GATHERS
                                               : WAITS;
    if (part == LEADS) {
        group->writing = true;
        group->gatherer = NULL;
    } else if (part == GATHERS) {
        group->gatherer = asked;
        asked->patience = group->patience;
    }
    mutex_unlock(&group->mutex);
    return part;
}

/* True: the others did not come in time, and it leads; false: it is answered. */
static bool gather(struct group *group, struct asked *asked) {
    bool called = semaphore_wait_for(&asked->called, asked->patience);
    mutex_lock(&group->mutex);
    bool leads = !called && group->gatherer == asked;
    if (leads) {
        group->writing = true;
        group->gatherer = NULL;
    }
    mutex_unlock(&group->mutex);
    if (!called && !leads)
        semaphore_wait(&asked->called);
    return leads;
}

/* True: it leads; false: it is answered. One that waits may be asked to gather; until it is called
 * for that, its patience is not its own to look at. */
static bool await(struct group *group, struct asked *asked, enum part part) {
    if (part == WAITS)
        semaphore_wait(&asked->called);
    return asked->patience > 0 && gather(group, asked);
}

bool group_enqueue(struct group *group, const struct engine_draft *drafts, size_t count,
                   struct engine_created *created, struct error *error) {
    struct asked asked = {.drafts = drafts, .count = count, .created = created};
    if (count == 0)
        return true;
    semaphore_init(&asked.called);
    enum part part = join(group, &asked);
    if (part == LEADS || await(group, &asked, part))
        lead(group, &asked);
    semaphore_free(&asked.called);
    return asked.fine || error_set(error, asked.error.code, "%s", asked.error.text);
}
