/* outbox.h - jobs that programs ask for in transactions of their own on a server (rules §1). A row
 * is there once its transaction has been committed. It goes with the commit that makes its job. */
#pragma once

#include "store/store.h"

/* True if the last turn has seen a row that is to become a job, or the bell has told of one since.
 * Never of a file. */
bool store_outbox_waits(const struct store *store);

/* The next rows in the order of their commits, at most `most`, and of few MiB: { id, place, at,
 * handler, payload, options }, the last two as texts. A new reference; NULL: error. */
json_t *store_outbox(struct store *store, int most, struct error *error);

/* In the open transaction: removes those of the rows that are still there. Another executor may
 * have made jobs of the rest: there[i] says so. */
bool store_outbox_take(struct store *store, const json_t *rows, bool *there, struct error *error);

/* Keeps a row of which no job can be made, and opens an incident. Once that is resolved the row is
 * tried again. In a transaction of its own; nothing happens if the row is gone. */
bool store_outbox_refuse(struct store *store, const json_t *row, const char *why, time_ms now,
                         struct error *error);
