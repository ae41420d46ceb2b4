/* outside_ended.h - counts what workers outside have ended (rules §16): it is written with what
 * they have done, once a transaction. */
#ifndef MOONSHIFT_STORE_RULES_WORK_OUTSIDE_ENDED_H
#define MOONSHIFT_STORE_RULES_WORK_OUTSIDE_ENDED_H

#include "store/rules/ground/state.h"

/* A run has ended, of a job of this definition; its worker's number owned the lock. */
bool outside_ended_add(struct store *store, int64_t worker, int64_t definition, bool successful,
                       struct error *error);

extern const struct txn_hook outside_ended_hook;

#endif
