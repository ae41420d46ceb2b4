/* merge.h - the best ready job of all streams an executor serves, one after the other (rules §3).
 *
 * The heads of a cursor for each stream or level are merged in a heap, so the cost grows with
 * streams and levels, never with rows. */
#pragma once

#include "store/rules/place/cursor.h"

struct merge {
    const struct acquire *order; /* `own` */
    struct acquire own;          /* as asked for; with fair share always by place */
    struct cursor *cursors;      /* a heap, the best first */
    size_t count, room;
    int wanted; /* jobs that may still be taken: no more are read ahead */
    struct limits limits;
};

/* How many of `most` jobs are read at once on a server, so that payloads and frames have about so
 * many bytes, as those before had them. */
int merge_wanted(const struct store *store, int most, int64_t bytes);
/* Looks at every stream with ready jobs; of those that their rate holds up only at when they may go
 * on. After rate_limit_begin. */
bool merge_begin(struct merge *merge, struct store *store, const struct acquire *acquire,
                 struct error *error);
/* The best head, or NULL at the end. Valid until merge_next. */
static inline const struct cursor *merge_best(const struct merge *merge) {
    return merge->count ? &merge->cursors[0] : NULL;
}
/* The best head stands before `other`, which need not be part of the merge. */
bool merge_before(const struct merge *merge, const struct cursor *other);
/* The best head's job as it was read along, now the caller's: locked for the joined executor but
 * for its token. NULL: it has to be read. What a job that repeats was is read anew: what is done
 * for others may have changed it. */
struct job *merge_job(struct merge *merge);
/* Where sets are taken: reads the jobs of all ready heads that came without, if the best is one. */
bool merge_fill(struct merge *merge, struct store *store, struct error *error);
/* Goes on behind the best head; the rows seen so far may be deleted meanwhile. */
bool merge_next(struct merge *merge, struct store *store, struct error *error);
/* A job was taken, `taken` is a copy of its cursor: a definition that is full now, or has started
 * as many as its rate allows, is not looked at any further. `places`: how many it has taken under a
 * limit; 0: one that was counted before. */
bool merge_took_limited(struct merge *merge, struct store *store, const struct cursor *taken,
                        int places, struct error *error);
static inline bool merge_took(struct merge *merge, struct store *store, const struct cursor *taken,
                              int places, struct error *error) {
    return !merge->limits.count || merge_took_limited(merge, store, taken, places, error);
}
/* Leaves out what is ready of the definition of this stream. */
void merge_leave(struct merge *merge, struct store *store, int64_t stream);
/* Leaves the best head and all behind it out; true. */
bool merge_drop(struct merge *merge);
/* The first jobs that are parked in (lane, stream, rank), as they have been read. */
struct parked {
    struct ahead *rows;
    int count, asked; /* fewer than were asked for: there are no more */
};
/* A job of a lane was taken: those of its stream and rank that are parked behind it take part too,
 * so that the lane goes on best first. `taken` is a copy of its cursor. `known`: NULL, or what has
 * been read of them, which goes to the merge. */
bool merge_follow(struct merge *merge, struct store *store, const struct cursor *taken,
                  struct parked *known, struct error *error);
/* Ready jobs are left: the best of them. */
bool merge_left(const struct merge *merge, struct sort_key *best);
/* Of a drain: notes whether a ready job is left that would be taken but for its limit or its rate.
 * What was taken stands in `ready` no more. */
bool merge_held(const struct merge *merge, struct store *store, struct error *error);
void merge_end(struct merge *merge);
