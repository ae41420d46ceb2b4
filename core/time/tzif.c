#include "time/tzif.h"
#include "time/span.h"
#include <stdlib.h>
#include <string.h>

#define DAY INT64_C(86400)
#define HEADER_SIZE 44

static const char damaged[] = "is damaged";
static const char no_memory[] = "cannot be read: out of memory";

static int64_t read_number(const unsigned char *data, int bytes) {
    uint64_t value = data[0] & 0x80 ? UINT64_MAX : 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | data[i];
    return (int64_t)value;
}

/* One block of the file: a header's counts, and how many bytes a time takes. */
struct block {
    const unsigned char *data; /* behind the header */
    size_t utc_flags, wall_flags, leaps, times, types, letters;
    size_t time_size;
};

static size_t block_size(const struct block *block) {
    return block->times * (block->time_size + 1) + block->types * 6 + block->letters +
           block->leaps * (block->time_size + 4) + block->wall_flags + block->utc_flags;
}

static size_t count_at(const unsigned char *data) {
    int64_t value = read_number(data, 4);
    return value < 0 ? SIZE_MAX : (size_t)value;
}

/* A header and its block at `data`; false if they do not lie within `size` bytes. */
static bool read_block(struct block *block, const unsigned char *data, size_t size,
                       size_t time_size) {
    if (size < HEADER_SIZE || memcmp(data, "TZif", 4))
        return false;
    size_t *counts[] = {&block->utc_flags, &block->wall_flags, &block->leaps,
                        &block->times,     &block->types,      &block->letters};
    for (int i = 0; i < 6; i++) {
        *counts[i] = count_at(data + 20 + 4 * i);
        if (*counts[i] > size)
            return false;
    }
    block->data = data + HEADER_SIZE;
    block->time_size = time_size;
    return block->types > 0 && block->types <= 256 && block_size(block) <= size - HEADER_SIZE;
}

static bool offset_is_sane(int64_t offset) {
    return offset > TZIF_OFFSET_MIN && offset < TZIF_OFFSET_MAX;
}

static bool read_transitions(struct tzif *tzif, const struct block *block) {
    const unsigned char *indexes = block->data + block->times * block->time_size;
    const unsigned char *types = indexes + block->times;
    for (size_t i = 0; i < block->types; i++)
        if (!offset_is_sane(read_number(types + 6 * i, 4)))
            return false;
    for (size_t i = 0; i < block->times; i++) {
        if (indexes[i] >= block->types)
            return false;
        tzif->seconds[i] = read_number(block->data + i * block->time_size, (int)block->time_size);
        tzif->offsets[i] = (int32_t)read_number(types + 6 * indexes[i], 4);
        if (i > 0 && tzif->seconds[i] <= tzif->seconds[i - 1])
            return false;
    }
    tzif->count = block->times;
    tzif->first = (int32_t)read_number(types, 4);
    return true;
}

/* The closing line is a POSIX TZ text: CET-1CEST,M3.5.0,M10.5.0/3 */
struct reader {
    const char *at, *end;
};

static char peek(const struct reader *reader) {
    return reader->at < reader->end ? *reader->at : '\0';
}

static bool take(struct reader *reader, char c) {
    bool found = peek(reader) == c && reader->at < reader->end;
    reader->at += found;
    return found;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool read_count(struct reader *reader, int low, int high, int *value) {
    if (!is_digit(peek(reader)))
        return false;
    for (*value = 0; is_digit(peek(reader)); reader->at++)
        if ((*value = *value * 10 + (*reader->at - '0')) > high)
            return false;
    return *value >= low;
}

/* "CET" or "<+0330>": of no use here, but it must be there. */
static bool skip_name(struct reader *reader) {
    const char *start = reader->at;
    if (take(reader, '<')) {
        while (peek(reader) && peek(reader) != '>')
            reader->at++;
        return take(reader, '>');
    }
    while ((peek(reader) | 32) >= 'a' && (peek(reader) | 32) <= 'z')
        reader->at++;
    return reader->at - start >= 3;
}

/* [+-]hh[:mm[:ss]] */
static bool read_clock(struct reader *reader, int hours_max, int32_t *seconds) {
    int hour, minute = 0, second = 0;
    bool negative = take(reader, '-');
    if (!negative)
        take(reader, '+');
    if (!read_count(reader, 0, hours_max, &hour))
        return false;
    if (take(reader, ':') && !read_count(reader, 0, 59, &minute))
        return false;
    if (take(reader, ':') && !read_count(reader, 0, 59, &second))
        return false;
    *seconds = (hour * 3600 + minute * 60 + second) * (negative ? -1 : 1);
    return true;
}

/* POSIX counts offsets west of UTC. */
static bool read_offset(struct reader *reader, int32_t *offset) {
    if (!read_clock(reader, 24, offset))
        return false;
    *offset = -*offset;
    return true;
}

static bool read_day(struct reader *reader, struct tzif_day *day) {
    bool ok;
    if (!take(reader, ','))
        return false;
    if (take(reader, 'M')) {
        day->kind = 'M';
        ok = read_count(reader, 1, 12, &day->month) && take(reader, '.') &&
             read_count(reader, 1, 5, &day->week) && take(reader, '.') &&
             read_count(reader, 0, 6, &day->day);
    } else {
        day->kind = take(reader, 'J') ? 'J' : 'D';
        ok = read_count(reader, day->kind == 'J', 365, &day->day);
    }
    day->seconds = 2 * 3600;
    return ok && (!take(reader, '/') || read_clock(reader, 167, &day->seconds));
}

static bool read_rule(struct reader *reader, struct tzif_rule *rule) {
    if (!skip_name(reader) || !read_offset(reader, &rule->standard))
        return false;
    if (reader->at == reader->end)
        return true;
    rule->has_daylight = true;
    rule->daylight = rule->standard + 3600;
    if (!skip_name(reader) || (peek(reader) != ',' && !read_offset(reader, &rule->daylight)))
        return false;
    return read_day(reader, &rule->start) && read_day(reader, &rule->end) &&
           offset_is_sane(rule->daylight) && reader->at == reader->end;
}

/* "\n<rule>\n" behind the second block; an empty rule says nothing about later times. */
static bool read_closing(struct tzif *tzif, const char *data, size_t size) {
    const char *end = size > 0 && *data == '\n' ? memchr(data + 1, '\n', size - 1) : NULL;
    if (!end)
        return false;
    struct reader reader = {data + 1, end};
    tzif->has_rule = reader.at < reader.end;
    return !tzif->has_rule || read_rule(&reader, &tzif->rule);
}

static const char *fill(struct tzif *tzif, const struct block *block, const char *end) {
    if (block->leaps > 0)
        return "counts leap seconds (expected one that does not)";
    tzif->seconds = calloc(block->times + 1, sizeof *tzif->seconds);
    tzif->offsets = calloc(block->times + 1, sizeof *tzif->offsets);
    if (!tzif->seconds || !tzif->offsets)
        return no_memory;
    if (!read_transitions(tzif, block))
        return damaged;
    const char *closing = (const char *)block->data + block_size(block);
    if (block->time_size == 8 && !read_closing(tzif, closing, (size_t)(end - closing)))
        return damaged;
    return NULL;
}

const char *tzif_read(struct tzif *tzif, const char *data, size_t size) {
    struct block block;
    const char *end = data + size;
    const unsigned char *at = (const unsigned char *)data;
    *tzif = (struct tzif){0};
    if (!read_block(&block, at, size, 4))
        return damaged;
    if (at[4] >= '2') { /* the same again with 64-bit times */
        size_t skip = HEADER_SIZE + block_size(&block);
        if (!read_block(&block, at + skip, size - skip, 8))
            return damaged;
    }
    const char *problem = fill(tzif, &block, end);
    if (problem)
        tzif_clear(tzif);
    return problem;
}

void tzif_clear(struct tzif *tzif) {
    free(tzif->seconds);
    free(tzif->offsets);
    *tzif = (struct tzif){0};
}

static bool is_leap(int64_t year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int weekday(int64_t days) {
    int of_week = (int)((days + 4) % 7); /* 1970-01-01 was a Thursday */
    return of_week < 0 ? of_week + 7 : of_week;
}

static int64_t month_day(int64_t year, const struct tzif_day *day) {
    int64_t first = civil_to_days(year, day->month, 1);
    int64_t next =
        day->month == 12 ? civil_to_days(year + 1, 1, 1) : civil_to_days(year, day->month + 1, 1);
    int64_t found = first + (day->day - weekday(first) + 7) % 7 + (day->week - 1) * 7;
    return found < next ? found : found - 7;
}

/* The second of a year at which the rule's day comes, `offset` being in force until then. */
static int64_t day_second(int64_t year, const struct tzif_day *day, int32_t offset) {
    int64_t days;
    if (day->kind == 'M')
        days = month_day(year, day);
    else if (day->kind == 'J')
        days = civil_to_days(year, 1, 1) + day->day - 1 + (day->day >= 60 && is_leap(year));
    else
        days = civil_to_days(year, 1, 1) + day->day;
    return days * DAY + day->seconds - offset;
}

static void note(int64_t event, int64_t second, int64_t *before, struct tzif_stretch *stretch) {
    if (event <= second && event > *before)
        *before = event;
    if (event > second && event < stretch->until)
        stretch->until = event;
}

/* Where both events fall together (daylight saving all the year), the start wins. A year's event
 * may come a week before that year begins or after it has ended. */
static struct tzif_stretch rule_at(const struct tzif_rule *rule, int64_t second) {
    struct tzif_stretch stretch = {INT64_MIN, INT64_MAX, rule->standard};
    if (!rule->has_daylight)
        return stretch;
    int64_t year, starts = INT64_MIN, ends = INT64_MIN;
    int month, day;
    civil_from_days(second / DAY - (second % DAY < 0), &year, &month, &day);
    for (int64_t y = year - 2; y <= year + 2; y++) {
        note(day_second(y, &rule->start, rule->standard), second, &starts, &stretch);
        note(day_second(y, &rule->end, rule->daylight), second, &ends, &stretch);
    }
    stretch.from = starts > ends ? starts : ends;
    if (starts >= ends)
        stretch.offset = rule->daylight;
    return stretch;
}

/* How many transitions lie at or before a second. */
static size_t passed(const struct tzif *tzif, int64_t second) {
    size_t low = 0, high = tzif->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tzif->seconds[middle] <= second)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct tzif_stretch tzif_at(const struct tzif *tzif, int64_t second) {
    struct tzif_stretch stretch = {INT64_MIN, INT64_MAX, tzif->first};
    size_t before = passed(tzif, second);
    if (before == tzif->count && tzif->has_rule)
        stretch = rule_at(&tzif->rule, second);
    else if (before > 0)
        stretch.offset = tzif->offsets[before - 1];
    if (before > 0 && tzif->seconds[before - 1] > stretch.from)
        stretch.from = tzif->seconds[before - 1];
    if (before < tzif->count)
        stretch.until = tzif->seconds[before];
    return stretch;
}
