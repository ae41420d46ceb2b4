/* log_sync.h - syncs the write-ahead log behind the gate, where other stores can write meanwhile.
 *
 * A commit is seen by others as soon as it is in the log, and may be acknowledged once the log is
 * synced. A sync covers all that is in the log before it begins. So a store that has read what
 * another one committed syncs for it before it tells anything of that: each end of a transaction
 * and each snapshot of a question comes through log_sync_seen. The gate's page has the place in the
 * log up to which it is synced, so most of these calls only compare two numbers.
 *
 * A log whose sync failed may have a hole that only the next power cut shows, and others may have
 * seen what is lost there. So nobody writes behind that place, moves the log or tells of it. Once
 * no other store is open for writing, the next one that is opened moves the log into the database.
 */
#pragma once

#include "base/error.h"
#include "store/store.h"

/* Syncs the log if it holds anything that is not known to be on the disk. Outside of a transaction
 * that writes. False: the store is broken. `error` may be NULL. */
bool log_sync_seen(struct store *store, struct error *error);

/* Syncs the log if it holds a change of this instance, or of what instances share, that is not
 * known to be on the disk. */
bool log_sync_seen_of(struct store *store, int64_t instance, struct error *error);
/* Around a commit: the page has the place of what it changes (state.h). In between, and if the
 * process ends there, that counts as being nowhere on the disk. */
void log_sync_mark(struct store *store);
void log_sync_marked(struct store *store);

/* False: a sync of this log has failed, in this process or another. */
bool log_sync_sound(struct store *store, struct error *error);

/* What a sync is taken to last, in microseconds, after one that took `took`; 0 before: not known. A
 * shorter one counts at once, and a longer one by a sixteenth: its process may have been kept from
 * the processor. */
int64_t log_sync_took(int64_t before, int64_t took);

/* Moves such a log into the database, if no other store is open for writing. */
void log_sync_mend(struct store *store);
