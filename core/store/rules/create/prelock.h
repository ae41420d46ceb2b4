/* prelock.h - new jobs that are locked as they are created: follow-ups in the lane of the run that
 * creates them, and jobs that would be acquired next anyway (rules §4). */
#pragma once

#include "store/rules/ground/state.h"

/* The jobs that a run has created are about to be written; and they are. */
void prelock_begin(struct store *store, struct outcome *creator);
void prelock_end(struct store *store);

/* YES: it is locked as soon as the caller writes its row of `locked`; NO: it has to be placed
 * (place_row). */
enum answer prelock(struct store *store, struct job *job, time_ms now, struct error *error);

/* What was noted goes with the transaction. */
extern const struct txn_hook prelock_hook;
