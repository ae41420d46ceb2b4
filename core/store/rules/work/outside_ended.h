/* outside_ended.h - counts what workers outside have ended (rules §16): it is written with what
 * they have done, once a transaction. */
#pragma once

#include "store/rules/ground/state.h"

/* A run has ended, of a job of this definition; its worker's number owned the lock. */
bool outside_ended_add(struct store *store, int64_t worker, int64_t definition, bool successful,
                       struct error *error);

extern const struct txn_hook outside_ended_hook;
