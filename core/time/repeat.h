/* repeat.h - how a job repeats: what its creator said of it, and the dates that follow from that.
 * Pure. (rules §14) */
#pragma once

#include "time/cycle.h"
#include <jansson.h>

struct repeat {
    const char *text; /* as given: an ISO 8601 repetition or a cron expression */
    const char *zone; /* NULL: UTC */
    time_ms origin;   /* where the grid was fixed */
    bool starts;      /* the grid begins at the origin itself: the creator named it (at, after) */
};

/* False: the text or the zone is not readable, or `starts` and the text names a start as well. */
bool repeat_open(const struct repeat *repeat, struct cycle *cycle, struct error *error);

/* The first date of a cycle created at `now`: not before it; TIME_NEVER: none is left. */
time_ms repeat_first(const struct repeat *repeat, const struct cycle *cycle, time_ms now);

/* Adds at most `count` dates after an instant, each moved by `shift` ms, as { local, utc }: the
 * local text with the offset of the cycle's zone. False: no memory. */
bool repeat_dates(json_t *array, const struct cycle *cycle, time_ms after, time_ms shift,
                  int count);
/* One such object; NULL: no memory. */
json_t *repeat_date(const struct zone *zone, time_ms at);

#define LOCAL_TEXT_SIZE 48 /* room for "2026-03-29T08:00:00.000+02:00" and any extreme */
void repeat_local(const struct zone *zone, time_ms at, char *text);
