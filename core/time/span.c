#include "time/span.h"
#include "base/json.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const int month_days[] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

int days_in_month(int64_t year, int month) {
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && leap ? 29 : month_days[month];
}

/* Where a text is being read; everything below stops at its NUL. */
struct reader {
    const char *kind, *example, *text, *at;
    struct error *error;
};

static bool refuse(const struct reader *reader, const char *at, const char *expected) {
    return error_set(reader->error, ERROR_INVALID, "%s \"%.100s\": %s (position %d), as in %s",
                     reader->kind, reader->text, expected, (int)(at - reader->text) + 1,
                     reader->example);
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool read_digits(struct reader *reader, int count, const char *what, int *value) {
    char expected[48];
    *value = 0;
    for (int i = 0; i < count; i++, reader->at++) {
        if (!is_digit(*reader->at)) {
            snprintf(expected, sizeof expected, "expected %s (%d digits)", what, count);
            return refuse(reader, reader->at, expected);
        }
        *value = *value * 10 + (*reader->at - '0');
    }
    return true;
}

/* `count` digits within bounds. */
static bool read_part(struct reader *reader, int count, const char *what, int low, int high,
                      int *value) {
    const char *start = reader->at;
    char problem[48];
    if (!read_digits(reader, count, what, value))
        return false;
    if (*value >= low && *value <= high)
        return true;
    snprintf(problem, sizeof problem, "%s %.*s is not in %02d-%02d", what, count, start, low, high);
    return refuse(reader, start, problem);
}

static bool read_sign(struct reader *reader, char sign, const char *expected) {
    if (*reader->at != sign)
        return refuse(reader, reader->at, expected);
    reader->at++;
    return true;
}

static bool read_date(struct reader *reader, int64_t *days) {
    int year, month, day;
    char problem[48];
    if (!read_digits(reader, 4, "year", &year) ||
        !read_sign(reader, '-', "expected - after the year") ||
        !read_part(reader, 2, "month", 1, 12, &month) ||
        !read_sign(reader, '-', "expected - after the month") ||
        !read_part(reader, 2, "day", 1, 31, &day))
        return false;
    if (day > days_in_month(year, month)) {
        snprintf(problem, sizeof problem, "day %02d is not in month %02d", day, month);
        return refuse(reader, reader->at - 2, problem);
    }
    *days = civil_to_days(year, month, day);
    return true;
}

/* ".5" as 500; digits beyond ms are cut. */
static bool read_fraction(struct reader *reader, int *ms) {
    int unit = 100;
    reader->at++;
    if (!is_digit(*reader->at))
        return refuse(reader, reader->at, "expected a digit after the decimal sign");
    for (; is_digit(*reader->at); reader->at++, unit /= 10)
        *ms += (*reader->at - '0') * unit;
    return true;
}

static bool read_clock(struct reader *reader, int64_t *of_day) {
    int hour, minute, second = 0, ms = 0;
    const char *start = reader->at;
    if (!read_part(reader, 2, "hour", 0, 24, &hour) ||
        !read_sign(reader, ':', "expected : after the hour") ||
        !read_part(reader, 2, "minute", 0, 59, &minute))
        return false;
    if (*reader->at == ':') {
        reader->at++;
        if (!read_part(reader, 2, "second", 0, 59, &second))
            return false;
        if ((*reader->at == '.' || *reader->at == ',') && !read_fraction(reader, &ms))
            return false;
    }
    if (hour == 24 && (minute || second || ms))
        return refuse(reader, start, "hour 24 is only in 24:00:00");
    *of_day = ((hour * 60 + minute) * 60 + second) * INT64_C(1000) + ms;
    return true;
}

/* The zone's distance from UTC; none is UTC. */
static bool read_zone(struct reader *reader, int64_t *offset, bool *zoned) {
    char sign = *reader->at;
    int hour, minute = 0;
    *offset = 0;
    *zoned = sign == 'Z' || sign == '+' || sign == '-';
    if (sign == 'Z')
        reader->at++;
    if (sign != '+' && sign != '-')
        return true;
    reader->at++;
    if (!read_part(reader, 2, "zone hour", 0, 23, &hour))
        return false;
    if (*reader->at == ':' || is_digit(*reader->at)) {
        reader->at += *reader->at == ':';
        if (!read_part(reader, 2, "zone minute", 0, 59, &minute))
            return false;
    }
    *offset = (hour * 60 + minute) * INT64_C(60000) * (sign == '-' ? -1 : 1);
    return true;
}

#define TIME_EXAMPLE "\"2026-12-24T18:00:00+01:00\""

bool time_parse_local(const char *text, time_ms *time, bool *zoned, struct error *error) {
    struct reader reader = {"time", TIME_EXAMPLE, text, text, error};
    int64_t days = 0, of_day = 0, offset = 0;
    *zoned = false;
    if (!read_date(&reader, &days))
        return false;
    if (*reader.at == 'T' || *reader.at == ' ') {
        reader.at++;
        if (!read_clock(&reader, &of_day) || !read_zone(&reader, &offset, zoned))
            return false;
        if (*reader.at)
            return refuse(&reader, reader.at, "expected Z, a zone such as +01:00, or the end");
    }
    if (*reader.at)
        return refuse(&reader, reader.at, "expected T or the end after the date");
    *time = days * DAY_MS + of_day - offset;
    if (*time < TIME_FIRST || *time > TIME_LAST)
        return refuse(&reader, text, "is not in the years 0000-9999 (UTC)");
    return true;
}

bool time_parse(const char *text, time_ms *time, struct error *error) {
    bool zoned;
    return time_parse_local(text, time, &zoned, error);
}

bool clock_parse(const char *text, time_ms *of_day, struct error *error) {
    struct reader reader = {"time", "\"08:00\"", text, text, error};
    if (!read_clock(&reader, of_day))
        return false;
    return !*reader.at || refuse(&reader, reader.at, "expected the end");
}

/* The parts of a duration in the order they must come in. A unit is worth so many months, days or
 * ms. */
static const struct unit {
    char letter;
    bool time;
    int64_t months, days, ms;
} units[] = {
    {'Y', false, 12, 0, 0},  {'M', false, 1, 0, 0},      {'W', false, 0, 7, 0},
    {'D', false, 0, 1, 0},   {'H', true, 0, 0, 3600000}, {'M', true, 0, 0, 60000},
    {'S', true, 0, 0, 1000},
};
#define UNITS ((int)(sizeof units / sizeof *units))

static int find_unit(char letter, bool time, int from) {
    for (int i = from; i < UNITS; i++)
        if (units[i].letter == letter && units[i].time == time)
            return i;
    return -1;
}

/* A number with an optional fraction: whole part, and fraction in 1e-9. */
static bool read_number(struct reader *reader, int64_t *whole, int64_t *nano, bool *fraction) {
    const char *start = reader->at;
    *whole = *nano = 0;
    if (!is_digit(*reader->at))
        return refuse(reader, reader->at, "expected a number");
    for (; is_digit(*reader->at); reader->at++)
        if (__builtin_mul_overflow(*whole, 10, whole) ||
            __builtin_add_overflow(*whole, *reader->at - '0', whole))
            return refuse(reader, start, "number is too large");
    *fraction = *reader->at == '.' || *reader->at == ',';
    if (!*fraction)
        return true;
    reader->at++;
    if (!is_digit(*reader->at))
        return refuse(reader, reader->at, "expected a digit after the decimal sign");
    for (int64_t unit = 100000000; is_digit(*reader->at); reader->at++, unit /= 10)
        *nano += (*reader->at - '0') * unit;
    return true;
}

static bool add_part(int64_t *sum, int64_t count, int64_t unit) {
    int64_t value;
    return !__builtin_mul_overflow(count, unit, &value) &&
           !__builtin_add_overflow(*sum, value, sum);
}

static bool read_unit(struct reader *reader, bool time, int *next, struct span *span) {
    const char *start = reader->at;
    int64_t whole, nano;
    bool fraction;
    if (!read_number(reader, &whole, &nano, &fraction))
        return false;
    int found = find_unit(*reader->at, time, *next);
    if (found < 0 && find_unit(*reader->at, time, 0) >= 0)
        return refuse(reader, reader->at, "unit is out of order");
    if (found < 0)
        return refuse(reader, reader->at, time ? "expected H, M or S" : "expected Y, M, W or D");
    const struct unit *unit = &units[found];
    if (fraction && (!time || reader->at[1]))
        return refuse(reader, start, "only the last of H, M or S may have a fraction");
    reader->at++;
    *next = found + 1;
    if (!add_part(&span->months, whole, unit->months) ||
        !add_part(&span->days, whole, unit->days) || !add_part(&span->ms, whole, unit->ms) ||
        !add_part(&span->ms, nano / 1000 * unit->ms / 1000000, 1))
        return refuse(reader, start, "duration is too large");
    return true;
}

/* Longer than any calendar here (10 000 years), and small enough to add up without overflow. */
static bool within_bounds(const struct span *span) {
    return span->months <= 120000 && span->days <= 3652425 &&
           span->ms <= (3652425 - span->days) * DAY_MS;
}

static bool iso_parse(struct reader *reader, struct span *span) {
    int next = 0;
    bool time = false;
    reader->at++;
    do {
        if (*reader->at == 'T' && !time) {
            time = true;
            reader->at++;
        }
        if (!read_unit(reader, time, &next, span))
            return false;
    } while (*reader->at);
    return true;
}

/* The units of "1w2d3h4m5s6ms", in the order they must come in. */
static const struct {
    const char *name;
    int64_t days, ms;
} shorts[] = {
    {"w", 7, 0}, {"d", 1, 0}, {"h", 0, 3600000}, {"m", 0, 60000}, {"s", 0, 1000}, {"ms", 0, 1},
};
#define SHORTS ((int)(sizeof shorts / sizeof *shorts))

static int find_short(const char *name, size_t size, int from) {
    for (int i = from; i < SHORTS; i++)
        if (strlen(shorts[i].name) == size && strncmp(shorts[i].name, name, size) == 0)
            return i;
    return -1;
}

static bool refuse_short(const struct reader *reader, const char *name, size_t size) {
    if (size == 1 && *name == 'M')
        return refuse(reader, name, "M may mean months: expected m for minutes, or P1M for months");
    if (find_short(name, size, 0) >= 0)
        return refuse(reader, name, "unit is out of order");
    return refuse(reader, name, "expected a unit: w, d, h, m, s or ms");
}

static bool read_short(struct reader *reader, int *next, struct span *span) {
    const char *start = reader->at;
    int64_t whole, nano;
    bool fraction;
    if (!read_number(reader, &whole, &nano, &fraction))
        return false;
    const char *name = reader->at;
    size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    int found = find_short(name, size, *next);
    if (found < 0)
        return refuse_short(reader, name, size);
    reader->at += size;
    if (*reader->at == ' ' && is_digit(reader->at[1]))
        reader->at++;
    if (fraction && (shorts[found].days || *reader->at))
        return refuse(reader, start, "only the last of h, m or s may have a fraction");
    *next = found + 1;
    if (!add_part(&span->days, whole, shorts[found].days) ||
        !add_part(&span->ms, whole, shorts[found].ms) ||
        !add_part(&span->ms, nano / 1000 * shorts[found].ms / 1000000, 1))
        return refuse(reader, start, "duration is too large");
    return true;
}

bool span_parse(const char *text, struct span *span, struct error *error) {
    struct reader reader = {"duration", "\"1h30m\" or \"PT1H30M\"", text, text, error};
    int next = 0;
    *span = (struct span){0};
    if (*text == 'P') {
        if (!iso_parse(&reader, span))
            return false;
    } else if (!is_digit(*text))
        return refuse(&reader, text, "expected a number with its unit, or P (ISO 8601)");
    else
        do {
            if (!read_short(&reader, &next, span))
                return false;
        } while (*reader.at);
    return within_bounds(span) || refuse(&reader, text, "is longer than 10000 years");
}

bool span_parse_ms(const char *text, time_ms *ms, struct error *error) {
    struct span span;
    if (!span_parse(text, &span, error))
        return false;
    if (span.months)
        return error_set(error, ERROR_INVALID,
                         "duration \"%.100s\": months have no fixed length here (use days, as in "
                         "\"30d\")",
                         text);
    *ms = span.days * DAY_MS + span.ms;
    return true;
}

time_ms time_add(time_ms time, int64_t ms) {
    if (__builtin_add_overflow(time, ms, &time) || time > TIME_LAST)
        return TIME_LAST;
    return time < TIME_FIRST ? TIME_FIRST : time;
}

time_ms span_add(time_ms from, const struct span *span) {
    from = time_add(from, 0);
    if (span->months) {
        int64_t days = divide_down(from, DAY_MS), year;
        int month, day;
        civil_from_days(days, &year, &month, &day);
        int64_t months = year * 12 + (month - 1) + span->months;
        year = months / 12;
        if (year > 9999)
            return TIME_LAST;
        month = (int)(months % 12) + 1;
        int last = days_in_month(year, month);
        from += (civil_to_days(year, month, day > last ? last : day) - days) * DAY_MS;
    }
    return time_add(time_add(from, span->days * DAY_MS), span->ms);
}

void span_format(time_ms ms, char *text) {
    const char *sign = ms < 0 ? "-" : "";
    uint64_t rest = ms < 0 ? 0 - (uint64_t)ms : (uint64_t)ms;
    uint64_t days = rest / (uint64_t)DAY_MS;
    unsigned of_day = (unsigned)(rest % (uint64_t)DAY_MS);
    unsigned hours = of_day / 3600000, minutes = of_day / 60000 % 60, seconds = of_day / 1000 % 60;
    unsigned fraction = of_day % 1000;
    char *at = text + sprintf(text, "%sP", sign);
    if (days)
        at += sprintf(at, "%lluD", (unsigned long long)days);
    if (of_day || rest == 0)
        *at++ = 'T';
    if (hours)
        at += sprintf(at, "%uH", hours);
    if (minutes)
        at += sprintf(at, "%uM", minutes);
    if (fraction) {
        at += sprintf(at, "%u.%03u", seconds, fraction);
        while (at[-1] == '0')
            at--;
        *at++ = 'S';
    } else if (seconds || rest == 0)
        at += sprintf(at, "%uS", seconds);
    *at = 0;
}

static void seconds_say(time_ms ms, char *text) {
    if (ms > 0 && ms < 1000)
        snprintf(text, TIME_TEXT_SIZE, "%lld ms", (long long)ms);
    else
        snprintf(text, TIME_TEXT_SIZE, "%.*f s", ms < 10000 && ms % 1000 >= 100, (double)ms / 1000);
}

void span_say(time_ms ms, char *text) {
    static const struct {
        const char *name;
        time_ms ms;
    } spans[] = {{"d", DAY_MS}, {"h", 3600000}, {"min", 60000}, {"s", 1000}};
    size_t unit = 0;
    while (unit < 3 && ms < spans[unit].ms)
        unit++;
    time_ms step = unit < 3 && ms < 10 * spans[unit].ms ? spans[unit + 1].ms : spans[unit].ms;
    time_ms whole = ms < 10000 ? ms : (ms + step / 2) / step * step;
    unit -= unit > 0 && whole >= spans[unit - 1].ms; /* rounded to one of the next unit */
    if (unit == 3) {
        seconds_say(whole, text);
        return;
    }
    long long rest = whole % spans[unit].ms / spans[unit + 1].ms;
    int size = snprintf(text, TIME_TEXT_SIZE, "%lld %s", (long long)(whole / spans[unit].ms),
                        spans[unit].name);
    if (rest)
        snprintf(text + size, TIME_TEXT_SIZE - (size_t)size, " %lld %s", rest,
                 spans[unit + 1].name);
}

bool span_from_json(const json_t *value, const char *what, struct span *span, struct error *error) {
    if (json_is_string(value)) {
        struct error cause = {0};
        return span_parse(json_string_value(value), span, &cause) ||
               error_set(error, cause.code, "%s: %s", what, cause.text);
    }
    double seconds = json_is_number(value) ? json_number_value(value) : -1;
    if (!(seconds >= 0 && seconds <= 3e11))
        return json_refuse(what, value, "seconds, or a duration such as \"5m\" or \"PT5M\"", error);
    *span = (struct span){.ms = llround(seconds * 1000)};
    return true;
}
