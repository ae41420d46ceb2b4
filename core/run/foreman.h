/* foreman.h - what the loop does between two waits: turn, hand out items, tick, reload, stop. Knows
 * no libev and never waits itself. Everything on the loop's thread unless it says otherwise. */
#ifndef MOONSHIFT_RUN_FOREMAN_H
#define MOONSHIFT_RUN_FOREMAN_H

#include "run/loop.h"

struct foreman;

/* Opens the store, loads and deploys the folder, joins. `wake` is called from any thread when a
 * round has something to do. `options` must outlive the foreman. NULL: error. */
struct foreman *foreman_new(const struct loop_options *options, void (*wake)(void *arg), void *arg,
                            struct error *error);
/* False: a handler does not end; what its thread can reach is left behind. */
bool foreman_free(struct foreman *foreman);

/* The doorbell's file descriptor, or -1; foreman_rang once it is readable. */
int foreman_bell(const struct foreman *foreman);
void foreman_rang(struct foreman *foreman);

/* How often the end was asked for: 1 as TERM does, 2 at once. */
void foreman_stop(struct foreman *foreman, int times);
/* Load the folder again. */
void foreman_reload(struct foreman *foreman);

/* Everything there is to do now. False: it was the last round; nothing is locked any more. */
bool foreman_round(struct foreman *foreman);
/* Milliseconds until the next round unless something wakes the loop before; 0: at once. */
time_ms foreman_wait(struct foreman *foreman);

/* After the last round: true, or false with the error that ended it. */
bool foreman_verdict(const struct foreman *foreman, struct error *error);
/* Any thread. */
void foreman_status(struct foreman *foreman, struct loop_status *status);

#endif
