/* stepper.h - drives an engine on the caller's thread, one turn at a time: no loop, no pool, and
 * its clock may be a virtual one. The other driver is the loop (executor.h).
 *
 * The stepper is an executor of the store from its first turn. On a file it leaves the store once a
 * drain or an execution has ended. */
#pragma once

#include "engine/engine.h"

struct stepper;

/* The engine is borrowed. NULL: no memory. */
struct stepper *stepper_new(struct engine *engine, struct error *error);
/* Gives locks back; before the engine is closed. NULL is fine. */
void stepper_free(struct stepper *stepper);

struct stepper_run {
    int64_t done, failed;
    double wait; /* seconds until the next turn has something to do; INFINITY: unknown */
    int settled, acquired;
};
/* Runs all that is due now, at most `max` runs (error beyond). */
bool stepper_drain(struct stepper *stepper, int64_t max, struct stepper_run *run,
                   struct error *error);
/* One turn: settles, acquires, runs, settles. Under these settings (range, categories, name; NULL:
 * the engine's own): the stepper leaves the store and joins it again when they change. They must
 * outlive the engine or the next call. */
bool stepper_turn(struct stepper *stepper, const struct settings *settings, struct stepper_run *run,
                  struct error *error);
/* Runs one job by hand. False: refused, or the handler failed; the error then has the stored text.
 * *result: the handler's result as a new reference (NULL: none). */
bool stepper_execute(struct stepper *stepper, int64_t id, bool force, json_t **result,
                     struct error *error);

/* Leaves the store if it was joined under these settings; the next turn joins it again. */
void stepper_leave(struct stepper *stepper, const struct settings *settings);
