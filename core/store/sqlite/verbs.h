/* verbs.h - changes of jobs that are part of a larger verb: no entry in the operation log of their
 * own; otherwise as in store.h. */
#ifndef MOONSHIFT_STORE_SQLITE_VERBS_H
#define MOONSHIFT_STORE_SQLITE_VERBS_H

#include "store/sqlite/connection.h"

#define VERB_IDS 1000 /* more is a batch */

bool verbs_set_priority(struct store *store, struct ids ids, int64_t priority, time_ms now,
                        struct error *error);
bool verbs_set_suspended(struct store *store, struct ids ids, bool suspended, time_ms now,
                         struct error *error);

#endif
