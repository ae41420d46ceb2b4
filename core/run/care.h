/* care.h - how many rows a turn may deal with, after turns have failed or killed their process
 * (rules §8). Pure: no store, no clock.
 *
 * A turn that fails because of what a row says fails again. So the next one deals with half as many
 * rows, down to one. A row that fails alone three times in a row is set aside, and the others go
 * on. Every turn that works doubles the number, until it is any again. */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include <stdint.h>

struct care {
    int most;      /* rows; 0: any number */
    int64_t row;   /* that failed alone last, */
    int fails;     /* and how often in a row */
    int asides;    /* rows that were set aside since a turn has dealt with one */
    time_ms grows; /* monotonic: the number stays until then */
};

enum care_verdict {
    CARE_NONE,  /* no row is to blame */
    CARE_HALF,  /* try again at once, with fewer rows */
    CARE_LATER, /* try this row again */
    CARE_ASIDE  /* it is care->row */
};

/* A turn that dealt with so many rows has failed; `touched`: the job that it dealt with last, 0:
 * none. */
enum care_verdict care_failed(struct care *care, int rows, int64_t touched,
                              const struct error *error);
/* A turn has worked; `rows`: it has dealt with some. */
void care_worked(struct care *care, bool rows, time_ms at);
/* A process has died in a turn with so many rows. */
void care_inherit(struct care *care, int rows, time_ms at);
/* So many of what may be dealt with, or fewer. */
static inline int care_limit(const struct care *care, int rows) {
    return care->most && care->most < rows ? care->most : rows;
}
