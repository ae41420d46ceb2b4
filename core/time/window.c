#include "time/window.h"
#include <string.h>
#include <strings.h>

enum { DAY_MINUTES = 1440, MINUTE = 60000, EVERY_DAY = 127, AHEAD = 9 };

/* ---- from text ---- */

static const char *const days[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

/* The day at *at, which moves behind it; -1: there is none. */
static int read_day(const char **at) {
    for (int i = 0; i < 7; i++)
        if (strncasecmp(*at, days[i], 3) == 0) {
            *at += 3;
            return i;
        }
    return -1;
}

/* "mon" or "fri-mon" and blanks. */
static bool read_days(const char **at, unsigned *mask) {
    int first = read_day(at), last = first;
    if (first < 0)
        return false;
    if (**at == '-') {
        ++*at;
        last = read_day(at);
    }
    if (last < 0 || **at != ' ')
        return false;
    for (int day = first;; day = (day + 1) % 7) {
        *mask |= 1U << day;
        if (day == last)
            break;
    }
    *at += strspn(*at, " ");
    return true;
}

static bool read_digits(const char **at, int *number) {
    if (strspn(*at, "0123456789") != 2)
        return false;
    *number = ((*at)[0] - '0') * 10 + (*at)[1] - '0';
    *at += 2;
    return true;
}

static bool read_minutes(const char **at, int *minutes) {
    int hour, minute;
    if (!read_digits(at, &hour) || *(*at)++ != ':' || !read_digits(at, &minute) || minute > 59)
        return false;
    *minutes = hour * 60 + minute;
    return *minutes <= DAY_MINUTES;
}

static bool read_stretch(const char *text, struct stretch *stretch) {
    const char *at = text + strspn(text, " ");
    *stretch = (struct stretch){.to = DAY_MINUTES};
    bool named = (*at < '0' || *at > '9') && strcasecmp(at, "off") != 0;
    if (named && !read_days(&at, &stretch->days))
        return false;
    if (strcasecmp(at, "off") == 0)
        return stretch->off = true;
    if (!read_minutes(&at, &stretch->from) || stretch->from == DAY_MINUTES || *at++ != '-' ||
        !read_minutes(&at, &stretch->to) || *at)
        return false;
    if (stretch->to <= stretch->from)
        stretch->to += DAY_MINUTES;
    return true;
}

static bool refuse(const char *text, struct error *error) {
    return error_set(error, ERROR_INVALID,
                     "window \"%.60s\": expected \"22:00-06:00\", \"sat-sun 20:00-10:00\" or "
                     "\"sun off\"",
                     text);
}

bool window_read(struct window *window, const json_t *texts, const char *zone,
                 struct error *error) {
    *window = (struct window){.zone = zone_find(zone, error)};
    if (!window->zone)
        return false;
    if (json_array_size(texts) > WINDOW_MAX)
        return error_set(error, ERROR_INVALID, "window: %zu entries (at most %d)",
                         json_array_size(texts), WINDOW_MAX);
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const char *text = json_string_value(json_array_get(texts, i));
        if (!text || !read_stretch(text, &window->list[i]))
            return refuse(text ? text : "?", error);
        window->count++;
    }
    return true;
}

/* ---- from a window to instants ---- */

static unsigned named_days(const struct window *window) {
    unsigned named = 0;
    for (int i = 0; i < window->count; i++)
        named |= window->list[i].days;
    return named;
}

static bool is_on(const struct window *window, const struct stretch *stretch, int64_t day) {
    unsigned bit = 1U << (day + 3 - 7 * divide_down(day + 3, 7)); /* day 0 was a Thursday */
    unsigned own = stretch->days ? stretch->days : EVERY_DAY & ~named_days(window);
    return !stretch->off && (own & bit);
}

static int64_t local_day(const struct window *window, time_ms now) {
    return divide_down(zone_local(window->zone, now), DAY_MS);
}

static time_ms instant(const struct window *window, int64_t day, int minutes) {
    return zone_instant(window->zone, day * DAY_MS + (time_ms)minutes * MINUTE);
}

time_ms window_closes(const struct window *window, time_ms now) {
    time_ms closes = TIME_NONE;
    int64_t today = local_day(window, now);
    for (int i = 0; i < window->count; i++)
        for (int64_t day = today - 1; day <= today; day++) {
            const struct stretch *stretch = &window->list[i];
            if (!is_on(window, stretch, day) || instant(window, day, stretch->from) > now)
                continue;
            time_ms end = instant(window, day, stretch->to);
            if (end > now && end > closes)
                closes = end;
        }
    return closes;
}

time_ms window_opens(const struct window *window, time_ms now) {
    time_ms opens = TIME_NEVER;
    int64_t today = local_day(window, now);
    for (int i = 0; i < window->count; i++)
        for (int64_t day = today - 1; day <= today + AHEAD; day++) {
            const struct stretch *stretch = &window->list[i];
            time_ms start = instant(window, day, stretch->from);
            if (is_on(window, stretch, day) && start > now && start < opens &&
                instant(window, day, stretch->to) > start) /* else the clocks skip it whole */
                opens = start;
        }
    return opens;
}
