/* limit.h - how many jobs of a definition may be locked at once (rules §4: concurrency limits).
 *
 * Counted in the table limited: a row for each run of a definition with a limit, from its lock to
 * its end. What a dead process held counts until it is freed, what two executors hold counts once.
 * A run whose lock an operator has taken counts until it has really ended, as its lane is held. A
 * definition without a limit costs nothing. */
#pragma once

#include "store/rules/ground/state.h"
#include <stdlib.h>

/* The definition of the stream if it has a limit, else NULL. */
const struct catalog_definition *limit_find(const struct store *store, int64_t stream);
static inline const struct catalog_definition *limit_of(const struct store *store, int64_t stream) {
    return store->catalog.limited ? limit_find(store, stream) : NULL;
}

/* How many jobs more the executor `owner` may lock: INT64_MAX without a limit. -1: error. */
int64_t limit_free(struct store *store, const struct catalog_definition *definition, int64_t owner,
                   struct error *error);

/* What is free of each definition met in one acquisition, by its limit and by its rate.
 * Zero-initialise. */
struct limits {
    struct limit_left {
        int64_t definition, places, starts;
    } * list;
    size_t count;
};
/* YES: the joined executor may take jobs of the stream; NO: not now. After rate_limit_begin. */
enum answer limits_ask(struct limits *limits, struct store *store,
                       const struct catalog_stream *stream, struct error *error);
static inline enum answer limits_open(struct limits *limits, struct store *store,
                                      const struct catalog_stream *stream, struct error *error) {
    const struct catalog_definition *definition = stream->definition;
    bool limited = definition->limit || definition->cluster_limit || definition->rate.count;
    return limited ? limits_ask(limits, store, stream, error) : YES;
}
/* A job was started that has taken so many places. True: it has left no place, or it was the last
 * start that the rate allows. */
bool limits_take(struct limits *limits, const struct catalog_stream *stream, int places);
/* True if it has been asked for, and no job of the definition may be taken now. */
bool limits_closed(const struct limits *limits, int64_t definition);
/* True if a place of the definition is left, which has been asked for. */
bool limits_has(const struct limits *limits, int64_t definition);
/* Takes a place of it that several jobs are to share. */
void limits_share(struct limits *limits, int64_t definition);
/* The last start of the stream's definition was taken: when does its rate allow another one? */
bool limits_full(struct store *store, const struct catalog_stream *stream, struct error *error);
static inline void limits_clear(struct limits *limits) {
    free(limits->list);
    *limits = (struct limits){0};
}
