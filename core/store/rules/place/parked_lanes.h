/* parked_lanes.h - in which lanes jobs may be parked, so that most lanes need not be asked for
 * (rules §4). Only with an engine that takes no sets.
 *
 * The lanes are kept as bits of a hash: a bit that is not set is certain. They are read once, and
 * again after another connection has written. */
#pragma once

#include "store/rules/ground/state.h"

/* NO: no job of the lane is parked; YES: some may be. In a transaction. */
enum answer parked_lanes_may(struct store *store, int64_t lane, struct error *error);
/* A job of the lane is parked now. */
void parked_lanes_add(struct store *store, int64_t lane);
extern const struct txn_hook parked_lanes_hook;
