/* order.h - a command to a process as a job, which is walked where the process is (rules §23). */
#pragma once

#include "store/rules/ground/state.h"

/* Creates the job `process/<key>:command`, in the lane of its instance if it has one. */
bool order_create(struct store *store, struct store_order *order, time_ms now, struct error *error);
