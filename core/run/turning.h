/* turning.h - the foreman's turns: when one may be tried, and what a failed one means. */
#ifndef MOONSHIFT_RUN_TURNING_H
#define MOONSHIFT_RUN_TURNING_H

#include "run/foreman_state.h"

/* One turn of the executor, unless it must not be tried yet; what it acquired goes to the pool. */
void turning_turn(struct foreman *foreman, time_ms now);
/* One step of filing ended jobs by their number and of sweeping their rows; foreman->untidy: others
 * are left. */
void turning_tidy(struct foreman *foreman);
/* One step of sweeping, between turns. */
void turning_sweep(struct foreman *foreman);
/* Moves the log into the database once it has grown past `pages`. */
void turning_checkpoint(struct foreman *foreman, int pages);

#endif
