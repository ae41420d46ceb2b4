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
    bool leads;              /* it is its turn to write for all; else it is answered */
    struct semaphore called; /* once, if it has to wait */
};

struct group {
    struct engine *engine;
    struct mutex mutex;
    struct asked *first, **end; /* those that wait for the next transaction */
    bool writing;               /* some thread leads */
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
    mutex_unlock(&group->mutex);
    return list;
}

/* The next one to lead; it takes what waits by then. NULL: nobody waits. */
static struct asked *successor(struct group *group) {
    mutex_lock(&group->mutex);
    struct asked *next = group->first;
    group->writing = next != NULL;
    mutex_unlock(&group->mutex);
    return next;
}

/* Writes what waits; the next transaction is under way before the others are told of this one. */
static void lead(struct group *group, const struct asked *self) {
    struct asked *list = write_all(group, take(group)), *next = successor(group);
    if (next) {
        next->leads = true;
        semaphore_post(&next->called);
    }
    for (; list; list = next) {
        next = list->next; /* once it is called its thread may be gone */
        if (list != self)
            semaphore_post(&list->called);
    }
}

/* True: it leads at once. */
static bool join(struct group *group, struct asked *asked) {
    mutex_lock(&group->mutex);
    bool leads = !group->writing;
    *group->end = asked;
    group->end = &asked->next;
    group->writing = true;
    mutex_unlock(&group->mutex);
    return leads;
}

bool group_enqueue(struct group *group, const struct engine_draft *drafts, size_t count,
                   struct engine_created *created, struct error *error) {
    struct asked asked = {.drafts = drafts, .count = count, .created = created};
    if (count == 0)
        return true;
    semaphore_init(&asked.called);
    bool leads = join(group, &asked);
    if (!leads) {
        semaphore_wait(&asked.called);
        leads = asked.leads;
    }
    if (leads)
        lead(group, &asked);
    semaphore_free(&asked.called);
    return asked.fine || error_set(error, asked.error.code, "%s", asked.error.text);
}
