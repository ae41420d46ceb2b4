/* peers.h - the other executors of the store, as last read; and whom a transaction should wake
 * (rules §5). */
#ifndef MOONSHIFT_STORE_SQLITE_PEERS_H
#define MOONSHIFT_STORE_SQLITE_PEERS_H

#include "base/clock.h"
#include "base/error.h"
#include <jansson.h>
#include <stddef.h>

enum executor_state { EXECUTOR_GONE, EXECUTOR_LIVE, EXECUTOR_OVERDUE };

struct peer {
    int64_t id, priority_min, priority_max;
    time_ms lease;
    time_ms lease_boot; /* since the present boot; TIME_NONE: of another one, or not known */
    enum executor_state state;
    bool draining;      /* it takes nothing more */
    json_t *categories; /* NULL: all */
    json_t *handlers;   /* an object with their names; NULL: not published */
};

struct peers {
    int64_t version; /* of meta.executors; 0: to be read */
    size_t count;
    struct peer *list;
};

#define WAKE_STREAMS 16

/* What became takable in the open transaction, per stream. */
struct wake {
    bool everybody;
    int count;
    struct {
        int64_t stream, priority_min, priority_max;
    } list[WAKE_STREAMS];
};

struct store;

bool peers_refresh(struct store *store, int64_t version, struct error *error);
void peers_clear(struct peers *peers);

/* How long a lease goes on, in ms: by the clock of this boot where that is known, so that no step
 * of the wall clock ends it. */
time_ms lease_left(time_ms lease, time_ms lease_boot, time_ms now);

void wake_note(struct wake *wake, int64_t stream, int64_t priority);
/* After COMMIT: rings whom it concerns and forgets. */
void wake_ring(struct store *store);

#endif
