/* waiting.h - the jobs that wait for a token of an instance (rules §23). */
#pragma once

#include "job/unit.h"
#include "store/rules/ground/state.h"
#include "store/rules/ground/txn_hook.h"

/* True if it has been asked (unit_ahead.h) which wait, and all but `running` may go with others
 * later: waiting_remove asks for no row of them then. */
bool waiting_may_go(const struct store *store, int64_t instance, int64_t token, int64_t running);

/* Cancels the jobs of a token but for `running`; token 0: of the whole instance, but not of
 * turns that stand outside of its frame, which go with their bodies. One that runs
 * loses its lock. */
bool waiting_remove(struct store *store, int64_t instance, int64_t token, int64_t running,
                    time_ms now, struct error *error);

/* Cancels the jobs of these tokens. */
bool waiting_remove_range(struct store *store, int64_t instance, struct token_range tokens,
                          time_ms now, struct error *error);

/* Those that go with others do so now. */
bool waiting_gone(struct store *store, struct error *error);

extern const struct txn_hook waiting_hook;
