#include "store/rules/place/limit.h"
#include "store/rules/place/places.h"
#include "store/rules/place/rate_limit.h"
#include <stdlib.h>

static bool limited(const struct catalog_definition *definition) {
    return definition->limit || definition->cluster_limit;
}

const struct catalog_definition *limit_find(const struct store *store, int64_t stream) {
    const struct catalog_stream *of = catalog_stream(&store->catalog, stream);
    return of && limited(of->definition) ? of->definition : NULL;
}

static int64_t free_of(int64_t limit, int64_t locked) {
    return limit > locked ? limit - locked : 0;
}

int64_t limit_free(struct store *store, const struct catalog_definition *definition, int64_t owner,
                   struct error *error) {
    int64_t own = 0, all = 0;
    if (!limited(definition))
        return INT64_MAX;
    if (!places_uncounted(store, error))
        return -1;
    if (definition->limit &&
        db_value(&store->db, error, &own,
                 "SELECT count(*) FROM limited WHERE definition=?1 AND owner=?2", "ii",
                 definition->id, owner) == FAILED)
        return -1;
    if (definition->cluster_limit &&
        db_value(&store->db, error, &all, "SELECT count(*) FROM limited WHERE definition=?1", "i",
                 definition->id) == FAILED)
        return -1;
    int64_t here = definition->limit ? free_of(definition->limit, own) : INT64_MAX;
    int64_t there = definition->cluster_limit ? free_of(definition->cluster_limit, all) : INT64_MAX;
    return here < there ? here : there;
}

static struct limit_left *limits_find(const struct limits *limits, int64_t definition) {
    for (size_t i = 0; i < limits->count; i++)
        if (limits->list[i].definition == definition)
            return &limits->list[i];
    return NULL;
}

static bool limits_add(struct limits *limits, struct limit_left left) {
    struct limit_left *list = realloc(limits->list, (limits->count + 1) * sizeof *list);
    if (!list)
        return false;
    limits->list = list;
    list[limits->count++] = left;
    return true;
}

/* What its rate lets start now: INT64_MAX without one. If nothing, it is noted when the next may.
 * -1: error. */
static int64_t limits_paced(struct store *store, const struct catalog_definition *definition,
                            struct error *error) {
    int64_t left = INT64_MAX;
    time_ms at = TIME_NEVER;
    if (!definition->rate.count)
        return left;
    if (!rate_limit_left(store, definition, &left, &at, error))
        return -1;
    if (at < store->rate_clock.next)
        store->rate_clock.next = at;
    return left > 0 ? left : 0;
}

enum answer limits_ask(struct limits *limits, struct store *store,
                       const struct catalog_stream *stream, struct error *error) {
    const struct catalog_definition *definition = stream->definition;
    const struct limit_left *known = limits_find(limits, definition->id);
    struct limit_left left = {.definition = definition->id};
    if (known)
        return known->places > 0 && known->starts > 0 ? YES : NO;
    left.places = limit_free(store, definition, store->self.id, error);
    left.starts = left.places < 0 ? -1 : limits_paced(store, definition, error);
    if (left.starts < 0)
        return FAILED;
    if (!limits_add(limits, left)) {
        db_no_memory(&store->db, error);
        return FAILED;
    }
    return left.places > 0 && left.starts > 0 ? YES : NO;
}

bool limits_take(struct limits *limits, const struct catalog_stream *stream, int places) {
    struct limit_left *left =
        limits->count && stream ? limits_find(limits, stream->definition->id) : NULL;
    if (!left)
        return false;
    left->places -= places;
    left->starts--;
    return left->starts <= 0 || (places > 0 && left->places <= 0);
}

bool limits_closed(const struct limits *limits, int64_t definition) {
    const struct limit_left *left = limits_find(limits, definition);
    return left && (left->places <= 0 || left->starts <= 0);
}

bool limits_has(const struct limits *limits, int64_t definition) {
    return limits_find(limits, definition)->places > 0;
}

void limits_share(struct limits *limits, int64_t definition) {
    limits_find(limits, definition)->places--;
}

bool limits_full(struct store *store, const struct catalog_stream *stream, struct error *error) {
    return limits_paced(store, stream->definition, error) >= 0;
}

int64_t store_definitions_number(const struct store *store) {
    return store->catalog.version;
}

bool store_bounded(const struct store *store, const struct job *job) {
    return limit_of(store, job->stream) || rate_limit_of(store, job->stream);
}
