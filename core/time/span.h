/* span.h - instants and durations, as text and as milliseconds (rules §14).
 * Pure. */
#pragma once

#include "base/calendar.h"
#include "base/error.h"
#include <jansson.h>
#include <stddef.h>

/* A duration with its calendar part apart: P1M and P1D are calendar steps, PT24H is elapsed time.
 */
struct span {
    int64_t months; /* years * 12 + months */
    int64_t days;   /* weeks * 7 + days */
    time_ms ms;     /* the time part */
};

/* The sum, kept between TIME_FIRST and TIME_LAST. */
time_ms time_add(time_ms time, int64_t ms);

/* Reads an ISO 8601 instant: date, optional time (T or blank; fraction up to ms, further digits are
 * cut), optional zone (Z, +hh:mm, +hhmm, +hh); without zone it is UTC. Years 0000-9999. Errors name
 * the text and the position, and show an example: `time "2026-02-30": day 30 is not in month 02
 * (position 9), as in …`. */
bool time_parse(const char *text, time_ms *time, struct error *error);

/* The same; *zoned: the text names a zone. If not, *time is what a wall clock shows, as if in UTC
 * (instant.h). */
bool time_parse_local(const char *text, time_ms *time, bool *zoned, struct error *error);

/* "08:00", "08:00:15.5": ms since midnight; 24:00 is the end of the day. */
bool clock_parse(const char *text, time_ms *of_day, struct error *error);

/* Reads "P1Y2M3W4DT5H6M7.5S" (any part may be absent, not all; fraction in the last part H, M or
 * S), or the same as people write it: "1w2d3h4m5s", "1h 30m", "1.5h", "500ms". There m is minutes;
 * months need P1M. Negative durations are refused, overflow is an error. */
bool span_parse(const char *text, struct span *span, struct error *error);

/* As one number of ms, a day counted as 24 h; calendar months are refused where a fixed length is
 * needed (timeouts, waits): `duration "P1M": months have no fixed length here (use days)`. */
bool span_parse_ms(const char *text, time_ms *ms, struct error *error);

/* `from` plus the span in UTC: months first (day clamped to the month's end), then days, then ms.
 * Saturates at the year 9999. */
time_ms span_add(time_ms from, const struct span *span);

/* Shortest ISO text of a length, e.g. 300000 -> "PT5M"; `text` has TIME_TEXT_SIZE bytes. */
void span_format(time_ms ms, char *text);

/* The same as people say it: "1 h", "59 min", "1 min 30 s", "2.5 s". From ten of a unit on that
 * unit alone, rounded. */
void span_say(time_ms ms, char *text);

int days_in_month(int64_t year, int month);

/* A span as people give it: a text, or a number of seconds that is not negative. `what`
 * names the key: `after: duration "5x": expected a unit: …`. */
bool span_from_json(const json_t *value, const char *what, struct span *span, struct error *error);
