/* instant.h - instants as people write them: ISO 8601, "now", "+1h", "tomorrow 08:00" (rules §14).
 * The clock is never asked. */
#pragma once

#include "time/zone.h"
#include <jansson.h>

/* Where a time without a zone is meant: a named zone, or the one of a shell. "Local" is as zone.h
 * has it. */
struct wall {
    time_ms (*instant)(const void *arg, time_ms local);
    time_ms (*local)(const void *arg, time_ms at);
    const void *arg;
};

struct wall wall_of_zone(const struct zone *zone);

/* Reads an instant in one of four forms:
 *   - ISO 8601; without a zone it is in the zone of `wall`;
 *   - "now";
 *   - "yesterday", "today" or "tomorrow", perhaps followed by a time of day;
 *   - "+" or "-" and a duration, whose weeks and days keep the time of day.
 * *exact (may be NULL) is set if the text names its zone itself. Errors show examples. */
bool instant_parse(const char *text, const struct wall *wall, time_ms now, time_ms *time,
                   bool *exact, struct error *error);

/* "2026-12-24T18:00:00+01:00" into `text` (INSTANT_TEXT_SIZE bytes), as the wall shows it. */
#define INSTANT_TEXT_SIZE 48
void instant_format(time_ms at, const struct wall *wall, char *text);

/* An operator's command or filters with instants in UTC: the texts at "at", "due", "removal_time",
 * "before", "after", and at keys that end in "_before" or "_after", here and in the objects "query"
 * and "filters". Other words, such as "never", are left to the reader of the key. A new reference;
 * NULL: error. */
json_t *instants_resolve(const json_t *object, const struct zone *zone, time_ms now,
                         struct error *error);
