#include "time/cron.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum field { SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, YEAR };

enum { FIELDS = YEAR + 1 };

static const struct {
    const char *name;
    int min, max;
    const char *names; /* of three letters each, from min on */
    const char *expected;
} fields[] = {
    [SECOND] = {"second", 0, 59, "", "expected a second (0-59)"},
    [MINUTE] = {"minute", 0, 59, "", "expected a minute (0-59)"},
    [HOUR] = {"hour", 0, 23, "", "expected an hour (0-23)"},
    [DAY] = {"day", 1, 31, "", "expected a day (1-31, L, L-3, 15W or LW)"},
    [MONTH] = {"month", 1, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC",
               "expected a month (1-12 or JAN-DEC)"},
    [WEEKDAY] = {"weekday", 0, 7, "SUNMONTUEWEDTHUFRISAT",
                 "expected a weekday (0-7 or SUN-SAT, FRIL, FRI#2)"},
    [YEAR] = {"year", CRON_YEAR_FIRST, CRON_YEAR_LAST, "", "expected a year (1970-2099)"},
};

static const struct {
    const char *name, *text;
} macros[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
};

/* Where a text is being read; everything below stops at its NUL. */
struct reader {
    const char *text, *at;
    enum field field;
    struct cron *cron;
    struct error *error;
};

static bool refuse(const struct reader *reader, const char *at, const char *problem) {
    return error_set(reader->error, ERROR_INVALID, "cron \"%.100s\": %s (position %d)",
                     reader->text, problem, (int)(at - reader->text) + 1);
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *at) {
    while (is_blank(*at))
        at++;
    return at;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static char upper(char c) {
    return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

static bool take(struct reader *reader, char c) {
    bool found = upper(*reader->at) == c;
    reader->at += found;
    return found;
}

/* A number between bounds; `what` names it in the error. */
static bool read_number(struct reader *reader, const char *what, int min, int max, int *value) {
    char problem[96];
    const char *start = reader->at;
    size_t size = strspn(start, "0123456789");
    *value = 0;
    for (; is_digit(*reader->at); reader->at++)
        *value = *value > max ? *value : *value * 10 + (*reader->at - '0');
    if (size > 0 && *value >= min && *value <= max)
        return true;
    if (size == 0)
        snprintf(problem, sizeof problem, "expected a number (%s %d-%d)", what, min, max);
    else
        snprintf(problem, sizeof problem, "%s %.*s is not in %d-%d", what,
                 size > 20 ? 20 : (int)size, start, min, max);
    return refuse(reader, start, problem);
}

/* ---- what other programs write ---- */

#define SPREAD "write one value, and jitter = \"PT1H\" beside the cycle"

/* "Mon" of "Monday" was read; a longer beginning of the name is not taken for another word. */
static bool refuse_long_name(const struct reader *reader, const char *name) {
    static const char *const whole[] = {"January",   "February", "March",  "April",     "May",
                                        "June",      "July",     "August", "September", "October",
                                        "November",  "December", "Sunday", "Monday",    "Tuesday",
                                        "Wednesday", "Thursday", "Friday", "Saturday"};
    const char *word = reader->at;
    char problem[96];
    size_t size = 3;
    while (upper(word[size]) >= 'A' && upper(word[size]) <= 'Z')
        size++;
    for (size_t i = 0; size > 3 && i < sizeof whole / sizeof *whole; i++)
        if (size <= strlen(whole[i]) && !strncasecmp(whole[i], word, size)) {
            snprintf(problem, sizeof problem, "names have three letters (write %.3s for %.*s)",
                     name, (int)size, word);
            return refuse(reader, word, problem);
        }
    return true;
}

/* A random value, of cronie and systemd or of Jenkins, where a value is expected or ends. */
static bool refuse_spread(const struct reader *reader) {
    const char *at = reader->at;
    if (*at == '~')
        return refuse(reader, at, "a random value is no date of a cycle (" SPREAD ")");
    return upper(*at) != 'H' || !strchr("/,( \t", at[1]) ||
           refuse(reader, at, "H is of Jenkins, a value for each job (" SPREAD ")");
}

static bool refuse_zone(const struct reader *reader) {
    const char *zone = strchr(reader->at, '=');
    size_t name = zone ? (size_t)(zone - reader->at) : 0;
    char problem[200];
    if ((name != 2 || strncasecmp(reader->at, "TZ", name) != 0) &&
        (name != 7 || strncasecmp(reader->at, "CRON_TZ", name) != 0))
        return true;
    int size = (int)strcspn(++zone, " \t");
    snprintf(problem, sizeof problem,
             "the zone stands beside the cycle (write zone = \"%.*s\", on the command line "
             "--zone %.*s)",
             size < 40 ? size : 40, zone, size < 40 ? size : 40, zone);
    return refuse(reader, reader->at, problem);
}

/* "@every 5m" is a repetition. */
static bool refuse_every(const struct reader *reader) {
    static const char every[] = "@every";
    char problem[96];
    if (strncasecmp(reader->at, every, sizeof every - 1) != 0)
        return true;
    const char *span = skip_blanks(reader->at + sizeof every - 1);
    int size = (int)strcspn(span, " \t");
    if (size == 0 || size > 40)
        span = "5m", size = 2;
    snprintf(problem, sizeof problem, "a span is a cycle of its own (write \"R/%.*s\")", size,
             span);
    return refuse(reader, reader->at, problem);
}

static bool read_value(struct reader *reader, int *value) {
    enum field field = reader->field;
    const char *names = fields[field].names;
    if (is_digit(*reader->at))
        return read_number(reader, fields[field].name, fields[field].min, fields[field].max, value);
    if (!refuse_spread(reader))
        return false;
    for (int i = 0; names[3 * i]; i++)
        if (!strncasecmp(reader->at, names + 3 * i, 3)) {
            if (!refuse_long_name(reader, names + 3 * i))
                return false;
            reader->at += 3;
            *value = fields[field].min + i;
            return true;
        }
    return refuse(reader, reader->at, fields[field].expected);
}

static void set_values(struct reader *reader, int from, int to, int step) {
    struct cron *cron = reader->cron;
    for (int value = from; value <= to; value += step) {
        switch (reader->field) {
        case SECOND:
            cron->seconds |= UINT64_C(1) << value;
            break;
        case MINUTE:
            cron->minutes |= UINT64_C(1) << value;
            break;
        case HOUR:
            cron->hours |= UINT32_C(1) << value;
            break;
        case DAY:
            cron->days |= UINT32_C(1) << value;
            break;
        case MONTH:
            cron->months |= UINT32_C(1) << value;
            break;
        case WEEKDAY:
            cron->weekdays |= UINT32_C(1) << value % 7;
            break;
        case YEAR:
            cron->years[(value - CRON_YEAR_FIRST) / 64] |= UINT64_C(1)
                                                           << (value - CRON_YEAR_FIRST) % 64;
        }
    }
}

/* "/n" if there is one; else the step stays 1. */
static bool read_step(struct reader *reader, int *step) {
    char what[16];
    *step = 1;
    if (!take(reader, '/'))
        return true;
    snprintf(what, sizeof what, "%s step", fields[reader->field].name);
    return read_number(reader, what, 1, fields[reader->field].max, step);
}

/* A value as it is written: by its name where `named`. */
static void add_value(char *out, size_t room, const struct reader *reader, bool named, int value) {
    size_t size = strlen(out);
    if (named)
        snprintf(out + size, room - size, "%.3s",
                 fields[reader->field].names + 3 * (value - fields[reader->field].min));
    else
        snprintf(out + size, room - size, "%d", value);
}

/* 22-2: nothing says whether the night or a slip of the pen was meant. */
static bool refuse_backwards(struct reader *reader, const char *start, int from, int to) {
    char problem[128], instead[32] = "";
    bool named = !is_digit(*start);
    int min = fields[reader->field].min,
        max = reader->field == WEEKDAY ? 6 : fields[reader->field].max;
    static const char *const behind[] = {"-", ",", "-", ""};
    const int parts[] = {from, max, min, to};
    for (size_t i = 0; i < 4; i++) {
        if (i == 2 && to == min)
            continue;
        add_value(instead, sizeof instead, reader, named, parts[i]);
        strcat(instead, behind[i]);
    }
    snprintf(problem, sizeof problem, "%s range %.*s runs backwards (write %s)",
             fields[reader->field].name, (int)(reader->at - start), start, instead);
    return refuse(reader, start, problem);
}

/* "-b" behind `from`, if there is one. Sunday ends a week as well as it begins one. */
static bool read_end(struct reader *reader, const char *start, int from, int *to, bool *range) {
    *range = take(reader, '-');
    *to = from;
    if (!*range)
        return true;
    if (!read_value(reader, to))
        return false;
    if (reader->field == WEEKDAY && *to == 0 && from > 0)
        *to = 7;
    return *to >= from || refuse_backwards(reader, start, from, *to);
}

/* What may follow a weekday: FRIL, FRI#2. */
static bool read_weekday_mark(struct reader *reader, int weekday, bool *done) {
    int nth;
    *done = true;
    if (take(reader, 'L')) {
        reader->cron->last_weekdays |= (uint8_t)(1u << weekday % 7);
        return true;
    }
    if (take(reader, '#')) {
        if (!read_number(reader, "weekday number", 1, 5, &nth))
            return false;
        reader->cron->nth_weekdays[weekday % 7] |= (uint8_t)(1u << nth);
        return true;
    }
    *done = false;
    return true;
}

static bool read_range(struct reader *reader) {
    const char *start = reader->at;
    int from, to, step;
    bool done, range;
    if (!read_value(reader, &from))
        return false;
    if (reader->field == DAY && take(reader, 'W')) {
        reader->cron->near_days |= UINT32_C(1) << from;
        return true;
    }
    if (reader->field == WEEKDAY) {
        if (!read_weekday_mark(reader, from, &done))
            return false;
        if (done)
            return true;
    }
    if (!read_end(reader, start, from, &to, &range))
        return false;
    if (!range && *reader->at == '/')
        to = fields[reader->field].max;
    if (!read_step(reader, &step))
        return false;
    set_values(reader, from, to, step);
    return true;
}

/* L, L-n, LW in the day field; the L is gone. */
static bool read_last_day(struct reader *reader) {
    int back = 0;
    if (take(reader, 'W')) {
        reader->cron->last_near = true;
        return true;
    }
    if (take(reader, '-') && !read_number(reader, "days before the last", 1, 30, &back))
        return false;
    reader->cron->last_days |= UINT32_C(1) << back;
    return true;
}

static bool ends_item(char c) {
    return c == ',' || c == '\0' || is_blank(c);
}

/* One item of a list. */
static bool read_item(struct reader *reader) {
    int step;
    if (take(reader, '*') || take(reader, '?')) {
        if (!read_step(reader, &step))
            return false;
        set_values(reader, fields[reader->field].min, fields[reader->field].max, step);
        return true;
    }
    if (reader->field == DAY && take(reader, 'L'))
        return read_last_day(reader);
    return read_range(reader);
}

static bool read_field(struct reader *reader, enum field field) {
    char problem[64];
    const bool starred = *reader->at == '*' || *reader->at == '?';
    reader->field = field;
    reader->cron->frequent |= field <= HOUR && starred;
    reader->cron->starred_day |= (field == DAY || field == WEEKDAY) && starred;
    for (;;) {
        if (!read_item(reader))
            return false;
        if (!ends_item(*reader->at)) {
            if (!refuse_spread(reader))
                return false;
            snprintf(problem, sizeof problem, "expected a comma or the end of the %s",
                     fields[field].name);
            return refuse(reader, reader->at, problem);
        }
        if (!take(reader, ','))
            return true;
    }
}

/* The number of fields, or 0 after an error at the first that is missing or too many. */
static int count_fields(const struct reader *reader) {
    char problem[100];
    int count = 0;
    const char *at = skip_blanks(reader->at), *eighth = NULL;
    for (; *at; at = skip_blanks(at), count++) {
        if (count == FIELDS)
            eighth = at;
        while (*at && !is_blank(*at))
            at++;
    }
    if (count >= 5 && count <= FIELDS)
        return count;
    snprintf(problem, sizeof problem,
             "expected 5 fields, 6 with the seconds first or 7 with the year last, not %d", count);
    refuse(reader, eighth ? eighth : at, problem);
    return 0;
}

/* The calendar repeats itself after 400 years, weekdays included. */
static bool matches_ever(const struct cron *cron) {
    for (int64_t year = CRON_YEAR_FIRST; year < CRON_YEAR_FIRST + 400; year++)
        for (int month = 1; month <= 12 && cron_has_year(cron, year); month++)
            if (cron->months >> month & 1 && cron_month_days(cron, year, month))
                return true;
    return false;
}

static bool read_fields(struct reader *reader) {
    int count = count_fields(reader);
    const char *day = reader->at;
    if (count == 0)
        return false;
    const int first = count == 5 ? MINUTE : SECOND;
    reader->cron->both = count >= 6;
    reader->cron->seconds = count == 5; /* without the field: second 0 */
    reader->cron->some_years = count == FIELDS;
    for (int i = first; i < first + count; i++) {
        reader->at = skip_blanks(reader->at);
        if (i == DAY)
            day = reader->at;
        if (!read_field(reader, (enum field)i))
            return false;
    }
    return matches_ever(reader->cron) || refuse(reader, day, "there is no such date");
}

static bool read_macro(struct reader *reader) {
    size_t size = strlen(reader->at);
    while (size > 0 && is_blank(reader->at[size - 1]))
        size--;
    if (size == strlen(CRON_START) && !strncasecmp(CRON_START, reader->at, size))
        return true;
    for (size_t i = 0; i < sizeof macros / sizeof *macros; i++)
        if (strlen(macros[i].name) == size && !strncasecmp(macros[i].name, reader->at, size)) {
            struct reader inner = {macros[i].text, macros[i].text, MINUTE, reader->cron, NULL};
            return read_fields(&inner);
        }
    if (!refuse_every(reader))
        return false;
    return refuse(reader, reader->at,
                  "expected @yearly, @monthly, @weekly, @daily, @hourly or fields");
}

bool cron_parse(const char *text, struct cron *cron, struct error *error) {
    struct reader reader = {text, skip_blanks(text), MINUTE, cron, error};
    *cron = (struct cron){0};
    if (!refuse_zone(&reader))
        return false;
    return *reader.at == '@' ? read_macro(&reader) : read_fields(&reader);
}
