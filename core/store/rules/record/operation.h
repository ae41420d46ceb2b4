/* operation.h - the operation log: who changed what, one entry a call (rules §11). */
#pragma once

#include "store/rules/ground/state.h"

#define OPERATION_COLUMNS "at, who, verb, entity, count, old, new, query, jobs, instance"

/* One entry a call, or, while store->journal names an entry, more of that one. `before` and `after`
 * are shown as they are; NULL: none, or not the same for all. Of activated jobs it also says how
 * many stay suspended, and why (store->journal.held). */
bool operation_write(struct store *store, const char *verb, const char *entity, int count,
                     const char *before, const char *after, time_ms now, struct error *error);

/* The same of jobs. The entry keeps their ids, but not where it goes on in another transaction, and
 * the filters that found them (store->journal.query). */
bool operation_write_ids(struct store *store, const char *verb, const char *entity, struct ids ids,
                         const char *before, const char *after, time_ms now, struct error *error);

/* Puts the batch, and the filters it was filled by, into the entry just written. */
bool operation_of_batch(struct store *store, int64_t batch, struct error *error);

/* A removal time as the log has it: an instant, "never" or "computed". */
void removal_name(time_ms removal, char name[TIME_TEXT_SIZE]);
