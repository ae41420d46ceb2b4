/* remote.h - the rows of workers outside among the executors (rules §24). */
#pragma once

#include "store/outside.h"
#include "store/rules/ground/state.h"

#define REMOTE_SEEN INT64_C(10000) /* ms; a fetch writes no more often that the worker was seen */
#define REMOTE_KEPT                                                                                \
    INT64_C(3600000) /* ms; the row of one that fetches no more, and holds nothing */

/* The owner of a lock, executor `e`, is a worker outside. */
#define IS_REMOTE(owner) "EXISTS(SELECT 1 FROM executor e WHERE e.id=" owner " AND e.kind=1)"

/* Finds or writes the row of the worker that asks. *self: the worker; its locks end by themselves.
 */
bool remote_join(struct store *store, const struct fetch *fetch, time_ms now, struct self *self,
                 struct error *error);
