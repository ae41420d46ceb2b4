/* tzif.h - one compiled time zone file (RFC 9636, versions 1 to 4) as stretches of one offset.
 * (rules §14). Pure.
 *
 * Seconds are UTC since 1970, offsets are seconds east of UTC. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offsets lie strictly between these. */
#define TZIF_OFFSET_MIN (-25 * 3600)
#define TZIF_OFFSET_MAX (26 * 3600)

/* A day of the year and a time on it, when daylight saving starts or ends. */
struct tzif_day {
    char kind;       /* 'J': day 1-365 without 29 February, 'D': day 0-365, 'M': see below */
    int day;         /* of the year, or of the week */
    int month, week; /* 'M': the week-th such weekday of the month; 5 is the last */
    int32_t seconds; /* after midnight, local; -167 to 167 hours */
};

/* What holds after the last transition, for ever: the file's closing line. */
struct tzif_rule {
    int32_t standard, daylight; /* offsets */
    bool has_daylight;
    struct tzif_day start, end; /* of daylight saving */
};

struct tzif {
    size_t count;     /* of transitions */
    int64_t *seconds; /* when each happens, ascending */
    int32_t *offsets; /* from then on */
    int32_t first;    /* offset before the first */
    bool has_rule;
    struct tzif_rule rule;
};

/* A stretch of time, `from` <= second < `until`, in which the offset stays the same. */
struct tzif_stretch {
    int64_t from, until;
    int32_t offset;
};

/* Reads a file's bytes. NULL, or what is wrong with them ("is damaged"). After success the caller
 * releases with tzif_clear; after failure there is nothing to release. */
const char *tzif_read(struct tzif *tzif, const char *data, size_t size);
void tzif_clear(struct tzif *tzif);

/* The stretch that holds a second; the neighbours may have the same offset. */
struct tzif_stretch tzif_at(const struct tzif *tzif, int64_t second);
