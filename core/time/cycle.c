#include "time/cycle.h"
#include <ctype.h>
#include <string.h>

#define PARTS_MAX 2
#define PART_SIZE 64

static const char *const misfires[] = {"once", "all", "skip"};

bool misfire_parse(const char *text, enum misfire *misfire, struct error *error) {
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, misfires[i])) {
            *misfire = (enum misfire)i;
            return true;
        }
    return error_set(error, ERROR_INVALID,
                     "misfire \"%.100s\": expected \"once\", \"all\" or \"skip\"", text);
}

const char *misfire_name(enum misfire misfire) {
    return misfires[misfire];
}

/* A repetition taken apart: R3/a/b. */
struct repetition {
    const char *text;
    const char *at[PARTS_MAX]; /* where each part begins in the text */
    char part[PARTS_MAX][PART_SIZE];
    int count;
    struct error *error;
};

static bool refuse(const struct repetition *repetition, const char *at, const char *problem) {
    return error_set(repetition->error, ERROR_INVALID, "cycle \"%.100s\": %s (position %d)",
                     repetition->text, problem, (int)(at - repetition->text) + 1);
}

/* The cause's own position counts within the part that it quotes. */
static bool refuse_part(const struct repetition *repetition, const struct error *cause) {
    return error_set(repetition->error, ERROR_INVALID, "cycle \"%.100s\": %s", repetition->text,
                     cause->text);
}

/* "R3/" or "R/" in front; *rest is what follows. */
static bool read_times(const struct repetition *repetition, int32_t *times, const char **rest) {
    const char *start = repetition->text + 1, *at = start;
    int64_t count = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        if ((count = count * 10 + (*at - '0')) >= INT32_MAX)
            return refuse(repetition, start, "expected at most 2147483646 firings");
    if (at > start && count == 0)
        return refuse(repetition, start, "expected at least one firing");
    if (*at != '/')
        return refuse(repetition, at, "expected / and a duration, as in \"R3/PT1H\"");
    *times = at == start ? INT32_MAX : (int32_t)count;
    *rest = at + 1;
    return true;
}

static bool split(struct repetition *repetition, const char *at) {
    for (;; at++) {
        size_t size = strcspn(at, "/");
        if (repetition->count == PARTS_MAX)
            return refuse(repetition, at - 1, "expected the end");
        if (size == 0)
            return refuse(repetition, at,
                          "expected a duration such as 5m or PT5M, or an instant such as "
                          "2026-12-24T18:00");
        if (size >= PART_SIZE)
            return refuse(repetition, at, "duration or instant is too long");
        memcpy(repetition->part[repetition->count], at, size);
        repetition->part[repetition->count][size] = 0;
        repetition->at[repetition->count++] = at;
        at += size;
        if (!*at)
            return true;
    }
}

static bool read_period(const struct repetition *repetition, int part, struct span *period) {
    struct error cause = {0};
    if (!span_parse(repetition->part[part], period, &cause))
        return refuse_part(repetition, &cause);
    if (!period->months && !period->days && !period->ms)
        return refuse(repetition, repetition->at[part], "expected a period longer than zero");
    return true;
}

static bool read_instant(const struct repetition *repetition, int part, const struct zone *zone,
                         time_ms *time) {
    const char *text = repetition->part[part], *clock = strpbrk(text, "T ");
    struct error cause = {0};
    if (strspn(text, "0123456789") != 4)
        return refuse(repetition, repetition->at[part],
                      "expected a duration such as 5m or PT5M, or an instant such as "
                      "2026-12-24T18:00");
    if (!time_parse(text, time, &cause))
        return refuse_part(repetition, &cause);
    if (!clock || !strpbrk(clock, "Z+-"))
        *time = zone_instant(zone, *time);
    return true;
}

/* "PT5M" and "5m"; an instant has four digits and a sign. */
static bool is_duration(const struct repetition *repetition, int part) {
    if (part >= repetition->count)
        return false;
    const char *text = repetition->part[part], *unit = text + strspn(text, "0123456789.,");
    return *text == 'P' || (unit > text && strchr("wdhmsM", *unit) && *unit);
}

/* R/duration, R/duration/end: the grid begins a period after the origin. */
static bool read_from_origin(const struct repetition *repetition, struct cycle *cycle) {
    cycle->lead = 1;
    if (!read_period(repetition, 0, &cycle->period))
        return false;
    if (repetition->count == 1)
        return true;
    if (is_duration(repetition, 1))
        return refuse(repetition, repetition->at[1], "expected an instant, the end");
    return read_instant(repetition, 1, cycle->zone, &cycle->end);
}

/* R/start/duration, R/start/end. */
static bool read_from_start(const struct repetition *repetition, struct cycle *cycle) {
    time_ms second;
    if (!read_instant(repetition, 0, cycle->zone, &cycle->anchor))
        return false;
    if (repetition->count == 1)
        return refuse(repetition, repetition->at[0] + strlen(repetition->at[0]),
                      "expected / and a duration after the start");
    if (is_duration(repetition, 1))
        return read_period(repetition, 1, &cycle->period);
    if (!read_instant(repetition, 1, cycle->zone, &second))
        return false;
    cycle->period.ms = second - cycle->anchor;
    return cycle->period.ms > 0 ||
           refuse(repetition, repetition->at[1], "expected an end after the start");
}

static bool read_repetition(const char *text, struct cycle *cycle, struct error *error) {
    struct repetition repetition = {.text = text, .error = error};
    const char *rest = text;
    if (!read_times(&repetition, &cycle->times, &rest) || !split(&repetition, rest))
        return false;
    return is_duration(&repetition, 0) ? read_from_origin(&repetition, cycle)
                                       : read_from_start(&repetition, cycle);
}

/* Firing n of the grid. A count that overflows is beyond all calendars. */
static time_ms point(const struct cycle *cycle, int64_t n) {
    struct span span;
    if (__builtin_mul_overflow(cycle->period.months, n, &span.months) ||
        __builtin_mul_overflow(cycle->period.days, n, &span.days) ||
        __builtin_mul_overflow(cycle->period.ms, n, &span.ms))
        return TIME_LAST;
    return zone_add(cycle->zone, cycle->anchor, &span);
}

/* A guess at which firing comes after an instant, not too high: months have 30.436875 days on the
 * average of the calendar's 400 years, and no calendar strays by four periods from that. */
static int64_t guess(const struct cycle *cycle, time_ms after) {
    const struct span *period = &cycle->period;
    if (after <= cycle->anchor)
        return 0;
    int64_t length = period->months * INT64_C(2629746000) + period->days * DAY_MS + period->ms;
    int64_t n = (after - cycle->anchor) / length;
    return period->months || period->days ? n - 4 : n;
}

static time_ms next_point(const struct cycle *cycle, time_ms after) {
    int64_t n = guess(cycle, after);
    if (n < cycle->lead)
        n = cycle->lead;
    time_ms next = point(cycle, n);
    while (next <= after)
        next = point(cycle, ++n);
    if (cycle->times < INT32_MAX && n - cycle->lead >= cycle->times)
        return TIME_NEVER;
    return next > cycle->end || next >= TIME_LAST ? TIME_NEVER : next;
}

time_ms cycle_next(const struct cycle *cycle, time_ms after) {
    if (after >= TIME_LAST)
        return TIME_NEVER;
    return cycle->is_cron ? cron_next(&cycle->cron, cycle->zone, after) : next_point(cycle, after);
}

/* A day or a span stands for itself, it does not repeat. */
static bool refuse_single(const char *text, struct error *error) {
    time_ms time;
    struct span span;
    if (text[0] == 'P' || span_parse(text, &span, NULL))
        return error_set(error, ERROR_INVALID,
                         "cycle \"%.100s\": does not repeat (write \"R/%.100s\", or use after for "
                         "one run)",
                         text, text);
    if (time_parse(text, &time, NULL))
        return error_set(error, ERROR_INVALID,
                         "cycle \"%.100s\": does not repeat (use at for one run)", text);
    return true;
}

/* "r3/pt1h": letters of durations and of instants are capitals. */
static bool refuse_small(const char *text, struct error *error) {
    char capitals[100];
    size_t size = strlen(text), digits = strspn(text + (size > 0), "0123456789");
    if (text[0] != 'r' || text[1 + digits] != '/' || size >= sizeof capitals)
        return true;
    bool iso = strpbrk(text, "pP") != NULL;
    for (size_t i = 0; i <= size; i++)
        capitals[i] = (char)(i == 0 || iso ? toupper((unsigned char)text[i]) : text[i]);
    return error_set(error, ERROR_INVALID, "cycle \"%s\": expected capitals (write \"%s\")", text,
                     capitals);
}

bool cycle_parse(const char *text, const struct zone *zone, time_ms origin, struct cycle *cycle,
                 struct error *error) {
    *cycle = (struct cycle){
        .zone = zone, .times = INT32_MAX, .anchor = time_add(origin, 0), .end = TIME_NEVER};
    if (text[0] == 'R') {
        if (!read_repetition(text, cycle, error))
            return false;
        cycle->first = cycle_next(cycle, TIME_NONE);
        return true;
    }
    if (!refuse_small(text, error) || !refuse_single(text, error) ||
        !cron_parse(text, &cycle->cron, error))
        return false;
    cycle->is_cron = true;
    cycle->first = cycle_next(cycle, origin);
    return true;
}
