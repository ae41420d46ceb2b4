/* cron.h - cron expressions: five fields, six with the seconds first, or seven with the year last
 * (rules §14). Pure.
 *
 * Names (JAN, MON; in any case), ranges (1-5, FRI-SUN; 22-2 is refused), lists, steps (a/n, *,
 * a-b/n), L, L-n, nW, LW, d#n, dL, ? as *, and @yearly @annually @monthly @weekly @daily @midnight
 * @hourly, and @reboot, which never matches. Day of week 0-7, 0 and 7 are Sunday. With both days
 * set, five fields mean or (cron), six and seven mean and (Spring, Quartz). A day field that begins
 * with * or ? is not set. A day that a month does not have (31, 31W, L-30, MON#5) is left out in
 * it. */
#pragma once

#include "time/zone.h"
#include <stdint.h>

struct cron {
    uint64_t seconds, minutes; /* bit n: the value n */
    uint32_t hours, days, months, weekdays;
    uint32_t last_days;      /* L-n, bit n; bit 0 is L */
    uint32_t near_days;      /* nW, bit n */
    uint8_t nth_weekdays[7]; /* d#n, bit n */
    uint8_t last_weekdays;   /* dL, bit d */
    bool last_near;          /* LW */
    bool starred_day;        /* the day or weekday field begins with * or ? */
    bool frequent;           /* the second, minute or hour field begins with * or ? */
    bool both;               /* six fields: both days must match, as with a starred one */
    bool some_years;         /* seven: only those of `years`, bit n: the year CRON_YEAR_FIRST + n */
    uint64_t years[3];
};

#define CRON_START "@reboot" /* no date: of what runs as an executor starts */

enum { CRON_YEAR_FIRST = 1970, CRON_YEAR_LAST = 2099 };

static inline bool cron_has_year(const struct cron *cron, int64_t year) {
    if (!cron->some_years)
        return true;
    int64_t at = year - CRON_YEAR_FIRST;
    return year <= CRON_YEAR_LAST && at >= 0 && cron->years[at / 64] >> at % 64 & 1;
}

/* Errors name the text, the field and the position: `cron "61 * * * *": minute 61 is not in 0-59
 * (position 1)`. Eight fields and more, and expressions that never match (30 February), are
 * refused. */
bool cron_parse(const char *text, struct cron *cron, struct error *error);

/* The days of a month that match, bit n: day n; the month itself is not looked at. */
uint32_t cron_month_days(const struct cron *cron, int64_t year, int month);

/* The first match after `after` (never at it), in the zone. A frequent expression is one of elapsed
 * time: a local time that DST skips does not count, one that it repeats counts twice. For all
 * others a skipped one counts right after the gap, a repeated one the first time. TIME_NEVER: none
 * until the year 9999. The search is bounded: whole months, days and hours are jumped over. */
time_ms cron_next(const struct cron *cron, const struct zone *zone, time_ms after);
