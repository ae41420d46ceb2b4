/* hooks.h - the hooks of a transaction, in their order (ground/txn_hook.h): the only list.
 *
 * Before the commit frames come first. Full bodies get a job. What is told becomes jobs, jobs move
 * the counters of their batches, and then all rows that are kept back are written. Those of units
 * are the last: what writes into their tables has them written before. After the commit others are
 * notified while the capacity is still known. The engine's own hooks follow, and the arena is freed
 * last. */
#pragma once

#include "store/rules/create/prelock.h"
#include "store/rules/ground/capacity.h"
#include "store/rules/ground/defined.h"
#include "store/rules/ground/frames.h"
#include "store/rules/job/tally.h"
#include "store/rules/place/mark.h"
#include "store/rules/place/occupancy.h"
#include "store/rules/place/parked_lanes.h"
#include "store/rules/place/places.h"
#include "store/rules/place/rate_limit.h"
#include "store/rules/process/signal_ahead.h"
#include "store/rules/process/turn.h"
#include "store/rules/process/waiting.h"
#include "store/rules/record/bulk.h"
#include "store/rules/record/tell.h"
#include "store/rules/work/outside_ended.h"

/* clang-format off */
#define TXN_HOOKS(...)                                                                             \
    {&catalog_hook, &fleet_hook, &frames_hook, &bodies_hook, &tell_hook, &batch_hook, &waiting_hook, &releases_hook,                        \
     &marks_hook, &bulk_hook, &unit_rows_hook, &parked_lanes_hook, &rate_limit_hook, &notify_hook, \
     &signals_ahead_hook, &defined_hook, &capacity_hook, &prelock_hook, &row_hook,                 \
     &outside_ended_hook, __VA_ARGS__, &occupancy_hook, &lasting_hook, NULL}
/* clang-format on */
