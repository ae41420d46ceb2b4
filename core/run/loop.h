/* loop.h - gives rounds to the runners of one or several engines and sleeps in between, until the
 * next due date, a doorbell, an outcome or a signal (rules §5, §15). */
#pragma once

#include "run/runner.h"

struct loop;

struct loop_options { /* all but `ended` may be NULL; called on the loop's thread */
    void (*ended)(void *arg, struct runner *runner); /* the runner had its last round */
    void (*drained)(void *arg); /* all runners are drained; after every round */
    void (*tick)(void *arg);    /* once a second */
    void (*stop)(void *arg);    /* TERM or INT came: the program only */
    void (*reload)(void *arg);  /* HUP came */
    void (*tell)(void *arg);    /* USR2 came */
    void *arg;
};

/* NULL: error. */
struct loop *loop_new(const struct loop_options *options, struct error *error);
/* Frees the loop, not its runners. Each has had its last round, or the loop was never run. NULL is
 * fine. */
void loop_free(struct loop *loop);

/* Gives rounds to the runners until loop_end was called and none is left. */
void loop_run(struct loop *loop);

/* ---- any thread ---- */

/* Makes the loop give a round now. It takes the loop as `void *`, as it is the `wake` of runners.
 */
void loop_wake(void *loop);
/* Gives the runner to this loop. False: no memory. */
bool loop_add(struct loop *loop, struct runner *runner);
/* Ends loop_run once no runner is left. */
void loop_end(struct loop *loop);
/* True if all its runners were drained after the last round. */
bool loop_drained(const struct loop *loop);
