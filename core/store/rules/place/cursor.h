/* cursor.h - walks the ready jobs of one stream in the order of their key (rank, place, id), or,
 * where another order than by priority is asked for, one priority level of it (rules §3). */
#pragma once

#include "store/rules/ground/engine.h"
#include "store/rules/place/limit.h"

struct head {
    int64_t rank, place, id, lane; /* lane 0: none */
    int64_t spot; /* by which the engine finds the row again; 0: by its key alone */
    /* Of the lane, as the row was read: it runs, or it is free and jobs are parked in it or not. */
    enum { LANE_UNSEEN, LANE_EMPTY, LANE_PARKS, LANE_RUNS } seen;
    int64_t owner; /* of a lane that was seen to run */
    bool alone;    /* its job is read by itself: what is done for others may change it */
};

/* A head to come. */
struct ahead {
    struct head head;
    struct job *job; /* NULL: not read */
};

struct cursor {
    int64_t stream;
    int64_t lane;               /* walks what is parked in (lane, stream, rank); 0: what is ready */
    bool timer;                 /* jobs of type timer */
    bool level;                 /* only the rank of `head` */
    bool dated;                 /* only jobs with a due date */
    const char *tenant;         /* only jobs of it; NULL: of any */
    int64_t rank_min, rank_max; /* of the stream; inclusive */
    bool paced;                 /* its definition has a rate */
    bool limited;               /* it has a limit */
    bool unread; /* what comes is plain, as far as is known: rows are not read along */
    bool bare;   /* what comes is bare (place_plain), as far as is known */
    struct head head;
    struct job *job;    /* the head's, if it was read along; owned */
    struct ahead *read; /* read ahead, NULL at first */
    int at, count, ask, room;
    int left;       /* of a lane: so many more fill its item */
    bool asked;     /* for rows to read ahead */
    int64_t placed; /* store->placed as the heads were read */
};

static inline bool order_has_levels(const struct acquire *order) {
    return !order->by_priority || order->aging > 0;
}

/* One that stands nowhere yet. */
struct cursor cursor_of(const struct acquire *order, const struct catalog_stream *stream);
/* Goes to the first row of the stream from a rank on; NO: none up to its rank_max. */
enum answer cursor_first(struct store *store, struct cursor *cursor, int64_t rank,
                         struct error *error);
/* Goes on; as many as are `wanted` may be read ahead. NO: at the end. */
enum answer cursor_next(struct store *store, struct cursor *cursor, int wanted,
                        struct error *error);

/* The stream in a row of a page. */
int64_t page_stream(struct row *row, enum page_rows rows);
/* Reads the job in a row of a page. A place whose job has no row is a row, too: without it, a page
 * would seem to be the last one. False: error, also for such a place. */
bool page_job(struct store *store, struct row *row, struct job *job, struct error *error);
/* Says that the job in a row of a page has no row of its own; false. */
bool page_missing(struct store *store, struct row *row, struct error *error);
/* Keeps the job of a head for the joined executor, unless it has to be read by itself. */
bool head_keep(struct store *store, struct head *head, struct job *job, struct job **kept,
               struct error *error);
/* Reads a row of a page, or of the cursor's own. */
bool ahead_read(struct store *store, struct row *row, struct cursor *cursor, enum page_rows rows,
                struct ahead *ahead, struct error *error);
/* Reads a parked row with its job. */
bool ahead_parked(struct store *store, struct row *row, struct ahead *ahead, struct error *error);
/* Makes room for so many rows that are read ahead. */
bool cursor_room(struct store *store, struct cursor *cursor, int count, struct error *error);
void cursor_clear(struct cursor *cursor);
