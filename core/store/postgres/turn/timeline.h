/* timeline.h - is the server the one that has written last?
 *
 * An asynchronous standby that is promoted lacks the last commits. It would hand out ids and tokens
 * a second time, and executors would hold locks for jobs that have ended for them. A server that a
 * dump was restored on lacks them as well. Each transaction that writes compares the number of the
 * server's timeline with the one in `meta`, before it does anything. */
#pragma once

#include "base/error.h"
#include <stdint.h>

struct store;

/* SQL: the number, on a primary. Another table of the same name is another timeline, too. */
#define TIMELINE                                                                                   \
    "('meta'::regclass::oid::bigint<<32"                                                           \
    " | ('x'||substr(pg_walfile_name(pg_current_wal_insert_lsn()),1,8))::bit(32)::bigint)"

enum { TIMELINE_TRIES = 3 }; /* servers that may take over while one transaction begins */

/* In a transaction that has begun. False: it is to be rolled back, and the server followed. */
bool timeline_is_known(struct store *store);
/* The transaction is committed. */
void timeline_committed(struct store *store);
/* Ids below this one were given outside of one. */
void timeline_given(struct store *store, int64_t id);

/* In a transaction of its own, alone. Moves ids and tokens on where nobody has done so yet, and
 * looks whether the server has all that this process has committed, and nothing besides. False: it
 * has not, and `error` says how much is lost; or another error. An executor has given back all
 * locks then: it may go on, and its runs are refused. It must not if its registration is lost,
 * which is ERROR_IO. */
bool timeline_follow(struct store *store, struct error *error);
