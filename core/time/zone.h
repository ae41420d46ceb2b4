/* zone.h - time zones by their IANA name, from the system's tzdata (rules §14). Pure but for
 * reading the file.
 *
 * A zone that was found is kept for the life of the process; its pointer may be shared between
 * threads. The clock is never asked: instants come in, instants go out. "Local" times are calendar
 * times of the zone counted as if they were UTC: ms since 1970-01-01T00:00 on the wall. */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "time/span.h"

struct zone;

/* "Europe/Berlin", "UTC"; NULL or "" is UTC, which needs no tzdata. Refuses what tzdata does not
 * know (did you mean) and names that leave its folder (TZDIR, else /usr/share/zoneinfo):
 * `zone "Europe/Berln": unknown (did you mean "Europe/Berlin"?)`. */
const struct zone *zone_find(const char *name, struct error *error);
const char *zone_name(const struct zone *zone);

/* Visits every name that tzdata knows, in no order. */
void zone_each(void (*visit)(const char *name, void *arg), void *arg);

/* Seconds east of UTC at an instant. Good for every year, by the file's closing rule. */
int zone_offset(const struct zone *zone, time_ms at);

time_ms zone_local(const struct zone *zone, time_ms at);

/* The instant of a local time. A time that is skipped: the first instant after the gap; one that
 * comes twice: the first. */
time_ms zone_instant(const struct zone *zone, time_ms local);

/* The latest local time that was on the wall up to an instant: later than zone_local while a
 * stretch is repeated. A local time beyond it, and no other, has its zone_instant after `at`. */
time_ms zone_reached(const struct zone *zone, time_ms at);

/* The first instant after `at` from which the offset may be another one; beyond TIME_LAST: none. */
time_ms zone_change(const struct zone *zone, time_ms at);

/* `from` plus a span in the zone: months and days are calendar steps that keep the local time, the
 * time part is elapsed time. Saturates at the year 9999. */
time_ms zone_add(const struct zone *zone, time_ms from, const struct span *span);
