/* progress.h - how far a long command is, on a terminal. */
#pragma once

#include "base/clock.h"

struct progress {
    bool on;
    time_ms shown; /* monotonic */
};

/* "writing 12000 of 50000" in place of the last one, ten times a second at most; `of` 0: unknown.
 */
void progress_show(struct progress *progress, const char *doing, int64_t done, int64_t of);

/* Takes the line away, so that something else can be said. */
void progress_end(struct progress *progress);
