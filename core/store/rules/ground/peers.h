/* peers.h - the other executors of the store, as last read; and which of them a transaction
 * notifies (rules §5). */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "store/rules/ground/txn_hook.h"
#include <jansson.h>
#include <stddef.h>

enum executor_state { EXECUTOR_GONE, EXECUTOR_LIVE, EXECUTOR_OVERDUE };

struct peer {
    int64_t id, priority_min, priority_max;
    time_ms lease;
    time_ms lease_boot; /* since the present boot; TIME_NONE: of another one, or not known */
    enum executor_state state;
    bool draining;      /* it takes nothing more */
    bool listens;       /* it takes nothing at all: it is told of work of its topics */
    json_t *topics;     /* an object with their names */
    json_t *categories; /* NULL: all */
    json_t *handlers;   /* an object with their names; NULL: not published */
    json_t *processes;  /* the same of the keys of processes */
};

struct peers {
    int64_t version; /* of meta.executors; 0: to be read */
    size_t count;
    struct peer *list;
};

#define RING_STREAMS 16

/* What became takable in the open transaction, per stream. */
struct ring {
    bool everybody;
    int count;
    struct {
        int64_t stream, priority_min, priority_max;
        bool later; /* a lock of it ends by itself: for those alone who listen */
    } list[RING_STREAMS];
};

/* Reads the other executors again if those held are not of meta.executors. meta_read does that, so
 * they are known in every transaction. */
bool peers_refresh(struct store *store, struct error *error);
void peers_clear(struct peers *peers);

/* How long a lease goes on, in ms: by the clock of this boot where that is known, so that no step
 * of the wall clock ends it. */
time_ms lease_left(time_ms lease, time_ms lease_boot, time_ms now);
/* How long this executor's locks may not be taken; 0 or less: they may. */
time_ms peer_spared(const struct store *store, const struct peer *peer, time_ms now);

void ring_note(struct ring *ring, int64_t stream, int64_t priority);
/* A job of the stream was locked, and may be taken over once its time has passed. */
void ring_note_until(struct ring *ring, int64_t stream);
/* A rollback forgets them, and the lease. */
extern const struct txn_hook fleet_hook;
/* After the commit those are notified whom it concerns. */
extern const struct txn_hook notify_hook;
