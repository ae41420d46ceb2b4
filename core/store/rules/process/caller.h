/* caller.h - instances that called others, while they are suspended: no unit goes on in them, and
 * the job that would waits for their activation (rules §23). */
#pragma once

#include "job/outcome.h"
#include "store/rules/ground/state.h"

/* Says which suspended instance the unit would go on in, besides the one that it is of; 0: none,
 * -1: error. One that the unit cancels does not go on, nor does the caller of one. `alike`: it may
 * be of several. */
int64_t caller_held(struct store *store, const struct unit *unit, bool alike, struct error *error);
/* "instance 7, which has called, is suspended" */
bool caller_refuse(int64_t id, struct error *error);

/* Makes of a success that a suspended caller refuses a run that is not counted. */
bool caller_hold(struct outcome *outcome, int64_t id);

/* YES: an instance that called this one, directly or not, is suspended. */
enum answer caller_waited_for(struct store *store, int64_t instance, struct error *error);

/* Lets the jobs go that waited for the activation of an instance, or of those of a process. */
bool caller_release(struct store *store, int64_t instance, time_ms now, struct error *error);
bool caller_release_process(struct store *store, const char *key, time_ms now, struct error *error);
