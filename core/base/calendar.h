/* calendar.h - the civil calendar in UTC, and instants as ISO 8601 text. Pure. */
#pragma once

#include "base/clock.h"
#include <stdint.h>

#define DAY_MS INT64_C(86400000)
#define TIME_FIRST (INT64_C(-719528) * DAY_MS)    /* 0000-01-01T00:00:00.000Z */
#define TIME_LAST (INT64_C(2932897) * DAY_MS - 1) /* 9999-12-31T23:59:59.999Z */

#define TIME_TEXT_SIZE 32 /* room for "2026-01-01T00:00:00.000Z" and any extreme */

/* "2026-01-01T00:00:00.000Z" into `text` (TIME_TEXT_SIZE bytes). TIME_NONE gives "". */
void time_format(time_ms time, char *text);

/* Days since 1970-01-01 of a civil date (proleptic Gregorian), and back. */
int64_t civil_to_days(int64_t year, int month, int day);
void civil_from_days(int64_t days, int64_t *year, int *month, int *day);

/* Quotient rounded down, for times before 1970. */
int64_t divide_down(int64_t value, int64_t by);
