/* rate.h - how many jobs of a definition may start in any window of a length (rules §20): its text.
 */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>

#define RATE_TEXT_SIZE 48
#define RATE_COUNT_MAX 10000
#define RATE_EXACT 1000 /* starts a window that are counted to the millisecond */

struct rate {
    int32_t count;  /* starts; 0: no rate */
    time_ms window; /* in any span of this length */
};

/* Reads "10/PT1M". Errors name the text: `rate "10": expected a number of starts and a duration,
 * such as "10/PT1M"`. */
bool rate_parse(const char *text, struct rate *rate, struct error *error);
/* "10/PT1M" into `text` (RATE_TEXT_SIZE bytes). */
void rate_format(const struct rate *rate, char *text);

/* The instant at which a job is locked is known, that of its start a little later; so long it may
 * take, and so long is added to what is remembered of it. `brief`: its run is going to end soon,
 * and from then on more is known. */
time_ms rate_grace(const struct rate *rate, bool brief);

/* The instant as which a start is counted: up to RATE_EXACT starts as it is, of more of them the
 * end of its part of the window. */
time_ms rate_counted(const struct rate *rate, time_ms at);
