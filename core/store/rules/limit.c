#include "store/rules/limit.h"
#include "store/rules/rate_limit.h"
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

static bool limits_add(struct limits *limits, int64_t definition, int64_t left) {
    struct limit_left *list = realloc(limits->list, (limits->count + 1) * sizeof *list);
    if (!list)
        return false;
    limits->list = list;
    list[limits->count++] = (struct limit_left){definition, left};
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

static int64_t limits_left(struct store *store, const struct catalog_definition *definition,
                           struct error *error) {
    int64_t left = limit_free(store, definition, store->self.id, error);
    int64_t paced = left < 0 ? left : limits_paced(store, definition, error);
    return paced < left ? paced : left;
}

enum answer limits_ask(struct limits *limits, struct store *store,
                       const struct catalog_stream *stream, struct error *error) {
    const struct catalog_definition *definition = stream->definition;
    const struct limit_left *known = limits_find(limits, definition->id);
    int64_t left = known ? known->left : limits_left(store, definition, error);
    if (left < 0)
        return FAILED;
    if (!known && !limits_add(limits, definition->id, left)) {
        db_no_memory(&store->db, error);
        return FAILED;
    }
    return left > 0 ? YES : NO;
}

bool limits_take(struct limits *limits, const struct catalog_stream *stream) {
    struct limit_left *left =
        limits->count && stream ? limits_find(limits, stream->definition->id) : NULL;
    return left && --left->left <= 0;
}

bool limits_full(struct store *store, const struct catalog_stream *stream, struct error *error) {
    return limits_paced(store, stream->definition, error) >= 0;
}
