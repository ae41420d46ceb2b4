#include "engine/create_list.h"
#include "engine/engine_state.h"
#include <stdlib.h>
#include <string.h>

/* One transaction of the writing. */
struct attempt {
    struct create_list *list;
    struct create_entry *entries; /* those that are `now` take part */
    size_t count;                 /* of their specs */
    bool keyed;                   /* one has a key */
};

void create_list_clear(struct create_list *list) {
    free(list->specs);
    free(list->created);
    *list = (struct create_list){0};
}

/* ---- who takes part ---- */

static bool same_key(const struct create_entry *entry, const struct create_entry *other) {
    const struct store_request *one = &entry->request->asked;
    return other->now && other->request && other->request->asked.scope == one->scope &&
           strcmp(other->request->asked.key, one->key) == 0;
}

/* Two with one key are not written together. */
static bool waits_for_twin(const struct create_entry *entries, const struct create_entry *entry) {
    const struct create_entry *other = entries;
    while (entry->request && other != entry && !same_key(entry, other))
        other = other->next;
    return entry->request && other != entry;
}

static void gather(struct attempt *attempt) {
    attempt->count = 0;
    attempt->keyed = false;
    for (struct create_entry *entry = attempt->entries; entry; entry = entry->next) {
        entry->now = !entry->answered && !waits_for_twin(attempt->entries, entry);
        attempt->count += entry->now ? entry->count : 0;
        attempt->keyed = attempt->keyed || (entry->now && entry->request);
    }
}

static struct create_entry *first_of(struct create_entry *entry) {
    while (entry && !entry->now)
        entry = entry->next;
    return entry;
}

static struct create_entry *next_of(const struct create_entry *entry) {
    return first_of(entry->next);
}

/* ---- those with a key ---- */

static bool is_found(const struct create_entry *entry) {
    return entry->request && entry->request->found;
}

/* A key that was used for other content refuses its entry alone. */
static bool find_all(struct engine *engine, const struct attempt *attempt, struct job_spec *specs,
                     struct error *error) {
    struct create_entry *entry = first_of(attempt->entries);
    for (; entry; specs += entry->count, entry = next_of(entry)) {
        if (!entry->request || is_found(entry) ||
            engine_request_find(engine, entry->request, error))
            continue;
        if (error->code == ERROR_CONFLICT)
            specs->reply.creation = CREATION_REFUSED;
        return false;
    }
    return true;
}

/* A list of the specs that were not asked for before. */
static struct job_spec *link_new(const struct attempt *attempt, struct job_spec *specs) {
    struct job_spec *first = NULL, **end = &first;
    struct create_entry *entry = first_of(attempt->entries);
    for (; entry; specs += entry->count, entry = next_of(entry)) {
        for (size_t i = 0; !is_found(entry) && i < entry->count; i++) {
            *end = &specs[i];
            end = &specs[i].next;
        }
    }
    *end = NULL;
    return first;
}

static bool keep_all(struct engine *engine, const struct attempt *attempt,
                     const struct job_spec *specs, struct error *error) {
    struct created *created = attempt->list->created;
    struct create_entry *entry = first_of(attempt->entries);
    bool done = store_requests_purge(engine->store, engine_now(engine), error);
    for (size_t i = 0; i < attempt->count; i++)
        created[i] = specs[i].reply;
    for (; done && entry; created += entry->count, entry = next_of(entry))
        if (entry->request && !is_found(entry))
            done = engine_request_keep(engine, entry->request, created, entry->count, error);
    return done;
}

/* Another program may have got the same request meanwhile, so the gate is not shared. */
static bool write_keyed(struct engine *engine, struct job_spec *specs, void *arg,
                        struct error *error) {
    const struct attempt *attempt = arg;
    if (!store_begin(engine->store, STORE_TURN, error))
        return false;
    bool done = find_all(engine, attempt, specs, error);
    struct job_spec *new = done ? link_new(attempt, specs) : NULL;
    done = done && (!new || store_create(engine->store, new, 0, engine_now(engine), error)) &&
           keep_all(engine, attempt, specs, error);
    return engine_end(engine, done, error);
}

/* ---- the whole ---- */

static bool make_room(struct create_list *list, size_t count) {
    if (count <= list->room)
        return true;
    create_list_clear(list);
    list->specs = malloc(count * sizeof *list->specs);
    list->created = malloc(count * sizeof *list->created);
    list->room = list->specs && list->created ? count : 0;
    return list->room > 0;
}

/* *refused as engine_enqueue has it. */
static bool write_now(struct engine *engine, struct attempt *attempt, size_t *refused,
                      struct error *error) {
    struct create_list *list = attempt->list;
    struct engine_spec *specs;
    *refused = attempt->count;
    if (!make_room(list, attempt->count))
        return error_no_memory(error);
    specs = list->specs;
    for (struct create_entry *entry = first_of(attempt->entries); entry; entry = next_of(entry)) {
        memcpy(specs, entry->specs, entry->count * sizeof *specs);
        specs += entry->count;
    }
    return attempt->keyed
               ? engine_create(engine, list->specs, attempt->count, list->created, refused,
                               write_keyed, attempt, error)
               : engine_enqueue(engine, list->specs, attempt->count, list->created, refused, error);
}

/* Finds the entry that has the spec with this number; NULL: none has. */
static struct create_entry *entry_of(const struct attempt *attempt, size_t number) {
    struct create_entry *entry = first_of(attempt->entries);
    while (entry && number >= entry->count) {
        number -= entry->count;
        entry = next_of(entry);
    }
    return entry;
}

/* `wrong` alone, unless that is NULL. */
static void answer(const struct attempt *attempt, const struct create_entry *wrong, bool fine,
                   const struct error *error) {
    const struct created *created = attempt->list->created;
    struct create_entry *entry = first_of(attempt->entries);
    for (; entry; created += entry->count, entry = next_of(entry)) {
        if (wrong && wrong != entry)
            continue;
        entry->answered = true;
        entry->fine = fine;
        entry->error = *error;
        if (fine)
            memcpy(entry->created, created, entry->count * sizeof *created);
    }
}

void create_list_write(struct create_list *list, struct engine *engine,
                       struct create_entry *entries) {
    struct attempt attempt = {.list = list, .entries = entries};
    for (struct create_entry *entry = entries; entry; entry = entry->next)
        entry->answered = false;
    for (gather(&attempt); attempt.count; gather(&attempt)) {
        struct error error = {0};
        size_t refused;
        bool fine = write_now(engine, &attempt, &refused, &error);
        answer(&attempt, fine ? NULL : entry_of(&attempt, refused), fine, &error);
    }
}
