/* intake.h - creates many jobs in steps, visible all at once or not at all (rules §1), and removes
 * what a creator that died has left.
 *
 * An intake reserves its ids when it begins. Its rows are written as those of other jobs are, but
 * they are in no place: no question finds them, and no executor runs them. One short transaction
 * releases it; then its jobs are there whatever happens, and are put into their places in steps.
 * While it is filled, the creator holds a sign of life. */
#pragma once

#include "store/store.h"

struct store_intake {
    int64_t id;         /* 0: none */
    int64_t next, last; /* ids that it has not given yet */
    bool bare;          /* its jobs have no more than a payload, as far as they are written */
};

/* Begins one for at most `count` jobs. In a transaction of its own. */
bool store_intake_begin(struct store *store, struct store_intake *intake, int64_t count,
                        time_ms now, struct error *error);

/* As store_create. A job that would replace a visible one is CREATION_REPLACED, but nothing is
 * written for it: create it in the transaction that releases the intake. */
bool store_intake_add(struct store *store, struct store_intake *intake, struct job_spec *specs,
                      time_ms now, struct error *error);

/* In the open transaction: with its commit the jobs are there. *more: store_intake_step puts the
 * rest of them into their places. */
bool store_intake_release(struct store *store, const struct store_intake *intake, bool *more,
                          time_ms now, struct error *error);

/* In a transaction of its own: the next rows of a released intake get their places; the next rows
 * of another one are removed. *more: call again. */
bool store_intake_step(struct store *store, const struct store_intake *intake, bool *more,
                       time_ms now, struct error *error);

/* Its creator has no more to do with it. What is left of it is for store_clear_left. */
void store_intake_leave(struct store *store, struct store_intake *intake);

struct store_left {
    bool more;       /* there is more to do: call again */
    bool living;     /* another creator is still filling something: look again later */
    int64_t batch;   /* one that was being filled, and is gone now; 0: none */
    int64_t removed; /* jobs of an intake that is gone now, as in the log of operations */
};

/* One step for those who died: a released intake is put into its places, one that was being filled
 * goes, and so does a batch that was being filled. In a transaction of its own, if there is
 * anything to do. */
bool store_clear_left(struct store *store, struct store_left *left, time_ms now,
                      struct error *error);

/* As a store is opened, so that no question finds a part of what is released: its jobs get their
 * places. A store that may only be read asks for it through a connection of its own; where that may
 * not be, it is not done. Of the rest a store that may be written does one step. */
bool store_clear_opened(struct store *store, time_ms now, struct error *error);
