/* durations.h - how long jobs wait and run, and how long commits take, for the network face
 * (docs/monitoring.md). An executor without a face keeps none.
 *
 * The thread of the executor's loop adds; any thread reads meanwhile, without a lock. */
#pragma once

#include "base/histogram.h"
#include "job/outcome.h"

enum { DURATIONS_HANDLERS = 200 }; /* the first that run have a histogram each */

#define DURATIONS_OTHER "other" /* … and the rest this one */

struct durations;

/* NULL: no memory. */
struct durations *durations_new(void);
/* Behind the executor. NULL is fine. */
void durations_free(struct durations *durations);

/* ---- the loop's thread; NULL: none are kept ---- */

/* A run that is settled. One that was given back unrun does not count. */
void durations_run(struct durations *durations, const struct outcome *outcome);
void durations_commit(struct durations *durations, double ms);

/* ---- any thread ---- */

/* From the due date, or the creation, to the start of the run. */
const struct histogram *durations_start_delay(const struct durations *durations);
const struct histogram *durations_commits(const struct durations *durations);
/* The runs of a handler. `at`: 0 to DURATIONS_HANDLERS; the last are those of all others. NULL:
 * there are none. */
const struct histogram *durations_runs(const struct durations *durations, size_t at,
                                       const char **handler);
