/* loop.h - libev around the turns of one or several engines, in turn: sleeps until the next due
 * date, a doorbell, an outcome or a signal (rules §5, §15). loop.c is the only part that includes
 * ev.h. */
#ifndef MOONSHIFT_RUN_LOOP_H
#define MOONSHIFT_RUN_LOOP_H

#include "run/foreman.h"

struct loop;

struct loop_options { /* all but `ended` may be NULL; called on the loop's thread */
    void (*ended)(void *arg, struct foreman *foreman); /* it had its last round and was let go */
    void (*drained)(void *arg);                        /* all its foremen are; after every round */
    void (*tick)(void *arg);                           /* once a second */
    void (*stop)(void *arg);                           /* TERM or INT came: the program only */
    void (*reload)(void *arg);                         /* HUP came */
    void (*tell)(void *arg);                           /* USR2 came */
    void *arg;
};

/* NULL: error. */
struct loop *loop_new(const struct loop_options *options, struct error *error);
/* All foremen have been let go, or it was never run: they are not freed. NULL is fine. */
void loop_free(struct loop *loop);

/* Gives rounds to the foremen until loop_end was called and none is left. */
void loop_run(struct loop *loop);

/* Any thread. loop_wake takes the loop as `void *`: it is the `wake` of foremen. */
void loop_wake(void *loop);
/* The foreman is this loop's from now on. False: no memory. */
bool loop_add(struct loop *loop, struct foreman *foreman);
void loop_end(struct loop *loop);
/* Its foremen were drained after the last round. */
bool loop_drained(const struct loop *loop);

#endif
