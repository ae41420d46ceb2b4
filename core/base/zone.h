/* zone.h - time zones by their IANA name, from the system's tzdata. Pure but for reading the file.
 *
 * A zone that was found is kept for the life of the process; its pointer may be shared between
 * threads. The clock is never asked: instants come in, instants go out. */
#ifndef MOONSHIFT_BASE_ZONE_H
#define MOONSHIFT_BASE_ZONE_H

#include "base/clock.h"
#include "base/error.h"
#include "base/span.h"

struct zone;

/* Local calendar time. */
struct civil {
    int64_t year;
    int month, day; /* from 1 */
    int hour, minute, second, ms;
};

/* "Europe/Berlin", "UTC"; NULL or "" is UTC. Refuses what tzdata does not know (did you mean) and
 * names that leave its folder: `zone "Europe/Berln": unknown (did you mean "Europe/Berlin"?)`. */
const struct zone *zone_find(const char *name, struct error *error);
const char *zone_name(const struct zone *zone);

/* Seconds east of UTC at an instant. Good for every year, by the file's closing rule. */
int zone_offset(const struct zone *zone, time_ms at);

void zone_civil(const struct zone *zone, time_ms at, struct civil *civil);

/* The instant of a local time. A time that is skipped: the first instant after the gap; one that
 * comes twice: the first. */
time_ms zone_instant(const struct zone *zone, const struct civil *civil);

/* `from` plus a span in the zone: months and days are calendar steps that keep the local time, the
 * time part is elapsed time. Saturates at the year 9999. */
time_ms zone_add(const struct zone *zone, time_ms from, const struct span *span);

#endif
