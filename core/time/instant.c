#include "time/instant.h"
#include "base/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static time_ms zone_to_instant(const void *arg, time_ms local) {
    return zone_instant(arg, local);
}

static time_ms zone_to_local(const void *arg, time_ms at) {
    return zone_local(arg, at);
}

struct wall wall_of_zone(const struct zone *zone) {
    return (struct wall){zone_to_instant, zone_to_local, zone};
}

static bool refuse(const char *text, const char *why, struct error *error) {
    return error_set(error, ERROR_INVALID,
                     "time \"%.100s\": %s, such as \"2026-12-24 18:00\", \"tomorrow 08:00\", "
                     "\"+1h\" or \"now\"",
                     text, why);
}

/* Days keep the time of the day, the rest is elapsed time. */
static bool relative_parse(const char *text, const struct wall *wall, time_ms now, time_ms *time,
                           struct error *error) {
    struct span span;
    if (!span_parse(text + 1, &span, error))
        return false;
    bool back = *text == '-';
    if (back && span.months)
        return refuse(text, "months are not counted backwards, expected a time", error);
    if (span.months || span.days) {
        time_ms local = wall->local(wall->arg, now);
        struct span days = {.months = span.months, .days = span.days};
        local = back ? time_add(local, -span.days * DAY_MS) : span_add(local, &days);
        now = time_add(wall->instant(wall->arg, local), 0);
    }
    *time = time_add(now, back ? -span.ms : span.ms);
    return true;
}

static const struct {
    const char *name;
    int days;
} words[] = {{"yesterday", -1}, {"today", 0}, {"tomorrow", 1}};
#define WORDS (sizeof words / sizeof *words)

/* The day that the text begins with, or -1. */
static int find_word(const char *text) {
    size_t size = strcspn(text, " ");
    for (size_t i = 0; i < WORDS; i++)
        if (strlen(words[i].name) == size && strncmp(text, words[i].name, size) == 0)
            return (int)i;
    return -1;
}

static bool day_parse(const char *text, int word, const struct wall *wall, time_ms now,
                      time_ms *time, struct error *error) {
    const char *clock = text + strlen(words[word].name);
    time_ms of_day = 0;
    struct error cause = {0};
    if (*clock && !clock_parse(clock + 1, &of_day, &cause))
        return error_set(error, ERROR_INVALID, "time \"%.100s\": %s", text, cause.text);
    time_ms midnight = divide_down(wall->local(wall->arg, now), DAY_MS) + words[word].days;
    *time = time_add(wall->instant(wall->arg, midnight * DAY_MS + of_day), 0);
    return true;
}

/* A word that is known stands here, however wrong what follows is. */
static bool is_word(const char *text) {
    return strcmp(text, "now") == 0 || *text == '+' || *text == '-' || find_word(text) >= 0;
}

bool instant_parse(const char *text, const struct wall *wall, time_ms now, time_ms *time,
                   bool *exact, struct error *error) {
    bool zoned = strcmp(text, "now") == 0;
    int word = find_word(text);
    if (exact)
        *exact = zoned;
    if (zoned) {
        *time = now;
        return true;
    }
    if (*text == '+' || *text == '-')
        return relative_parse(text, wall, now, time, error);
    if (word >= 0)
        return day_parse(text, word, wall, now, time, error);
    if (*text < '0' || *text > '9')
        return refuse(text, "expected a time", error);
    if (!time_parse_local(text, time, &zoned, error))
        return false;
    if (!zoned)
        *time = time_add(wall->instant(wall->arg, *time), 0);
    if (exact)
        *exact = zoned;
    return true;
}

void instant_format(time_ms at, const struct wall *wall, char *text) {
    time_ms local = wall->local(wall->arg, at);
    int minutes = (int)((local - at) / 60000);
    char utc[TIME_TEXT_SIZE];
    time_format(local, utc);
    utc[strlen(utc) - (strcmp(utc + 19, ".000Z") == 0 ? 5 : 1)] = '\0'; /* .000Z or Z */
    snprintf(text, INSTANT_TEXT_SIZE, "%s%c%02d:%02d", utc, minutes < 0 ? '-' : '+',
             abs(minutes) / 60, abs(minutes) % 60);
}

static bool ends_with(const char *key, const char *end) {
    size_t size = strlen(key), tail = strlen(end);
    return size > tail && strcmp(key + size - tail, end) == 0;
}

static bool is_instant(const char *key) {
    return strcmp(key, "at") == 0 || strcmp(key, "due") == 0 || strcmp(key, "removal_time") == 0 ||
           strcmp(key, "before") == 0 || strcmp(key, "after") == 0 || ends_with(key, "_before") ||
           ends_with(key, "_after");
}

static bool member_settle(json_t *object, const char *key, const struct wall *wall, time_ms now,
                          struct error *error) {
    const char *text = json_string_value(json_object_get(object, key));
    time_ms time;
    struct error cause = {0};
    bool digit = text && *text >= '0' && *text <= '9';
    if (!digit && (!text || !is_word(text)))
        return true;
    if (!instant_parse(text, wall, now, &time, NULL, &cause))
        return error_set(error, ERROR_INVALID, "%s: %s", key, cause.text);
    return json_put_time(object, key, time) || error_no_memory(error);
}

static bool members_settle(json_t *object, const struct wall *wall, time_ms now,
                           struct error *error) {
    const char *key;
    void *next;
    json_t *value;
    json_object_foreach_safe(object, next, key, value) {
        if (is_instant(key) && !member_settle(object, key, wall, now, error))
            return false;
    }
    return true;
}

/* The same of an object inside. */
static bool part_settle(json_t *object, const char *key, const struct wall *wall, time_ms now,
                        struct error *error) {
    const json_t *part = json_object_get(object, key);
    json_t *own = json_copy(json_unchanged(part));
    if (!part || (own && json_object_set_new(object, key, own) == 0))
        return members_settle(own, wall, now, error);
    return error_no_memory(error);
}

json_t *instants_resolve(const json_t *object, const struct zone *zone, time_ms now,
                         struct error *error) {
    struct wall wall = wall_of_zone(zone);
    json_t *own = json_copy(json_unchanged(object));
    bool fine = own || error_no_memory(error);
    fine = fine && members_settle(own, &wall, now, error) &&
           part_settle(own, "query", &wall, now, error) &&
           part_settle(own, "filters", &wall, now, error);
    return json_kept(own, fine);
}
