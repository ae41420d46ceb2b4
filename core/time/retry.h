/* retry.h - the textual retry configuration (rules §9; Camunda 7's failedJobRetryTimeCycle). Pure.
 */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "time/span.h"

#define RETRY_DELAYS_MAX 64
#define RETRY_FOREVER INT32_MAX /* "R/PT5M": shown and counted as this many runs */

struct retry {
    int32_t runs; /* configured number of runs in all, >= 1 */
    int count;    /* delays below, >= 1 */
    struct span delays[RETRY_DELAYS_MAX];
};

/* "R5/PT5M" five runs; "R/PT5M" without end; "R0/…" and "R1/…" one; "PT8M" two; "PT10M,PT17M" n+1.
 * Blanks around parts are allowed. Errors name the text, the position and what was expected. */
bool retry_parse(const char *text, struct retry *retry, struct error *error);

/* The delay after a failure that happened with `retries_before` runs left (before the decrement):
 * index clamp(n - (retries_before - 1), 0, n - 1), added to `now`. */
time_ms retry_due(const struct retry *retry, int32_t retries_before, time_ms now);
