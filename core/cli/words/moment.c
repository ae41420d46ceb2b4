#include "cli/words/moment.h"
#include "time/instant.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

/* The C library knows the zone of the shell: TZ, else the machine's. */
static time_ms shell_local(const void *arg, time_ms at) {
    (void)arg;
    struct tm tm;
    time_t seconds = (time_t)divide_down(at, 1000);
    if (!localtime_r(&seconds, &tm))
        return at;
    return at + (time_ms)tm.tm_gmtoff * 1000;
}

static time_ms shell_instant(const void *arg, time_ms local) {
    (void)arg;
    int64_t days = divide_down(local, DAY_MS), year;
    int month, day, ms = (int)(local - days * DAY_MS);
    civil_from_days(days, &year, &month, &day);
    struct tm tm = {.tm_year = (int)year - 1900,
                    .tm_mon = month - 1,
                    .tm_mday = day,
                    .tm_hour = ms / 3600000,
                    .tm_min = ms / 60000 % 60,
                    .tm_sec = ms / 1000 % 60,
                    .tm_isdst = -1};
    return (time_ms)mktime(&tm) * 1000 + ms % 1000;
}

static const struct wall shell = {shell_instant, shell_local, NULL};

bool moment_read(const char *what, const char *text, time_ms *at, struct error *error) {
    char shown[INSTANT_TEXT_SIZE];
    struct error cause = {0};
    bool exact;
    tzset();
    if (!instant_parse(text, &shell, clock_now(clock_system()), at, &exact, &cause))
        return error_set(error, cause.code, "%s: %s", what, cause.text);
    instant_format(*at, &shell, shown);
    if (!exact)
        fprintf(stderr, "moonshift: %s %s\n", what + strspn(what, "-"), shown);
    return true;
}
