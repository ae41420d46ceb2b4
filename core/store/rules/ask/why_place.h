/* why_place.h - what an instance of a process waits for, in one sentence for each place. */
#pragma once

#include "store/rules/ground/state.h"

/* Of the facts of store_why_instance (store/rules/ask/processes.h): [{ token, activity, state, text
 * }], for the first 100 places where it stands. NULL: error. */
json_t *why_places(struct store *store, const json_t *facts, int64_t instance, time_ms now,
                   struct error *error);
