/* seat.h - the Lua states of a worker, one for each generation of each engine that it has met
 * (rules §13): made when first needed, closed when nobody needs it any more. Private to crew.c and
 * worker.c. */
#ifndef MOONSHIFT_RUN_SEAT_H
#define MOONSHIFT_RUN_SEAT_H

#include "run/crew.h"

struct seat {
    struct seat *next;
    struct client *client;
    int generation;
    struct script *script;        /* NULL: not open yet, or it could not be opened */
    time_ms retry_at, retry_wait; /* monotonic, ms; 0: it could so far */
};

/* ---- the mutex is held ---- */

/* NULL: there is none. */
struct seat *seat_find(const struct worker *worker, const struct client *client, int generation);
/* NULL: no memory. */
struct seat *seat_make(struct worker *worker, struct client *client, int generation);
/* One whose engine has left or whose generation has been replaced; NULL: none. */
struct seat *seat_stale(struct pool *pool, struct worker *worker);
/* NULL: it has been replaced. */
const struct deployment *seat_generation(const struct seat *seat);

/* ---- the worker's thread; the mutex is not held ---- */

/* The seat that serves a handler, made if there is none. While it is not open, *folder is a
 * reference to what it is to be opened on, else NULL. NULL: no memory. */
struct seat *seat_serving(struct worker *worker, struct client *client, const char *handler,
                          struct folder **folder);
/* Its script was opened, or could not be (NULL): then it is tried again later by itself, and if no
 * thread can, all that waits is given back. `runs`: the item in hand is run on it. */
void seat_opened(struct worker *worker, struct seat *seat, struct script *script, bool runs);
/* Nobody may look at the script any more: the caller closes it, with the rest of this item still to
 * run (NULL: none). */
struct script *seat_closing(struct worker *worker, struct seat *seat, struct item *item);
/* It is taken away and freed. */
void seat_closed(struct worker *worker, struct seat *seat);

#endif
