/* limit.h - how many jobs of a definition may be locked at once (rules §4: concurrency limits).
 *
 * Counted in the table limited: a row for each run of a definition with a limit, from its lock to
 * its end. What a dead process held counts until it is freed, what two executors hold counts once.
 * A run whose lock an operator has taken counts until it has really ended, as its lane is held. A
 * definition without a limit costs nothing. */
#ifndef MOONSHIFT_STORE_SQLITE_LIMIT_H
#define MOONSHIFT_STORE_SQLITE_LIMIT_H

#include "store/sqlite/connection.h"

/* The definition of the stream if it has a limit, else NULL. */
const struct catalog_definition *limit_of(const struct store *store, int64_t stream);

/* The job of the stream was locked: id, token and owner count. */
bool limit_locked(struct store *store, int64_t stream, const struct job *job, struct error *error);
/* The run with this token has ended: its place is free, for others too if the limit is theirs. */
bool limit_freed(struct store *store, int64_t stream, int64_t token, struct error *error);
/* What the executor ran and has no lock of any more has ended with it. */
bool limit_forget(struct store *store, int64_t owner, struct error *error);

/* What a new deployment says of the definition now counts for what is locked already. */
bool limit_changed(struct store *store, const struct definition *definition, struct error *error);

/* How many jobs more the executor `owner` may lock: INT64_MAX without a limit. -1: error. */
int64_t limit_free(struct store *store, const struct catalog_definition *definition, int64_t owner,
                   struct error *error);

/* What is free of each definition met in one acquisition. Zero-initialise. */
struct limits {
    struct limit_left {
        int64_t definition, left;
    } * list;
    size_t count;
};
/* 1 the joined executor may take jobs of the stream, 0 not now, -1 error. */
int limits_open(struct limits *limits, struct store *store, const struct catalog_stream *stream,
                struct error *error);
/* One was taken. True: that was the last place of its definition. */
bool limits_take(struct limits *limits, const struct catalog_stream *stream);
void limits_clear(struct limits *limits);

#endif
