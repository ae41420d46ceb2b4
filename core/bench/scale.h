/* scale.h - the steps of a scale run: how a store comes by many rows, and what is measured there.
 * Private to scale*.c. */
#pragma once

#include "bench/rig.h"

enum { SCALE_EACH = 100, SCALE_LANE = 100000 }; /* jobs of an acquisition; jobs in one lane */

/* What a child process found out about one number of rows; 0: nothing yet. */
struct scale_found {
    double fill;                             /* rows a second */
    double ready, half_locked, lane, timers; /* microseconds of an acquisition, by job */
    double lane_met;                         /* milliseconds until the whole lane is known to run */
    double start;                            /* milliseconds to the first handler */
    int64_t memory, base;                    /* KB: at most, and before the executor was there */
};

/* How the rows of a fill differ from plain ones, ready at once and of ten priorities. */
struct scale_rows {
    int64_t count;
    bool later;       /* their dates are in the future */
    const char *lane; /* all in this one, and before all others */
    const char *doing;
};

/* Creates them, 10 000 a transaction. */
bool scale_fill(struct rig *rig, const struct scale_rows *rows, struct error *error);

/* The median of several acquisitions of SCALE_EACH jobs, by job; each is a transaction, and what
 * was acquired is settled in between. *met: milliseconds that it took until acquisitions were full.
 */
bool scale_acquire(struct rig *rig, double *found, double *met, struct error *error);
/* Another executor locks so many; it stays, and so does its connection. */
bool scale_lock(struct rig *rig, int64_t count, struct error *error);
/* An executor starts on what is there and works for a second at most. */
bool scale_start(struct rig *rig, struct scale_found *found, struct error *error);
