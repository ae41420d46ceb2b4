/* estimate.h - how long the runs of each handler take, by those that have ended so far (rules §6).
 *
 * The estimate of a handler is an average in which each new run has a weight of one eighth. A
 * handler of which no run has ended yet is expected to take UNKNOWN_RUN, so that an executor tries
 * a hundred of its jobs for each worker before it takes more. There is no clock in it, no
 * thread and no store: it is told what was measured. */
#pragma once

#include "job/job.h"

enum { UNKNOWN_RUN = 1 }; /* ms */
enum { HORIZON = 100 };   /* ms: an executor takes what is going to begin within so long */
enum { SOON = 20 };       /* ms: of short runs that must begin at once it takes so much work */
enum { BRIEF_RUN = 5 };   /* ms: that is one */

struct estimate_entry {
    int64_t definition;
    double ms;
    bool used;
};

struct estimate {
    struct estimate_entry *entries; /* a hash table, a power of two long */
    size_t count, room;
};

void estimate_clear(struct estimate *estimate);

/* A run of the definition has taken so many ms. Without memory it is not noted. */
void estimate_note(struct estimate *estimate, int64_t definition, double ms);
/* What a run of it is expected to take, in ms; as struct horizon asks for it. */
double estimate_run(const void *estimate, int64_t definition);

/* True if runs of it have ended, and took so little that a start and its end are almost one. */
bool estimate_brief(const void *estimate, int64_t definition);

/* For how long a run goes on that was expected to take `expected` and has gone on for `elapsed`.
 * One that has outlived its estimate is expected to go on for as long as it is over it. */
double estimate_left(double expected, double elapsed);
/* How much of a worker's time until the horizon a run of so many ms fills. */
double estimate_fills(double ms);
