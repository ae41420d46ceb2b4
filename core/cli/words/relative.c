#include "cli/words/relative.h"
#include "time/span.h"
#include <stdio.h>
#include <string.h>

/* In the largest unit of which there are at least two. */
static void length_write(time_ms ms, char *text) {
    static const struct {
        const char *name;
        time_ms ms;
    } units[] = {{"d", DAY_MS}, {"h", 3600000}, {"min", 60000}, {"s", 1000}};
    size_t i = 0;
    while (i < 3 && ms < 2 * units[i].ms)
        i++;
    snprintf(text, RELATIVE_SIZE / 2, "%lld %s", (long long)(ms / units[i].ms), units[i].name);
}

bool relative_time(const char *iso, time_ms now, char *text) {
    char length[RELATIVE_SIZE / 2];
    time_ms at;
    if (strlen(iso) != 24 || iso[23] != 'Z' || !time_parse(iso, &at, NULL))
        return false;
    time_ms away = at > now ? at - now : now - at;
    length_write(away, length);
    if (away < 1000)
        strcpy(text, "now");
    else
        snprintf(text, RELATIVE_SIZE, at > now ? "in %s" : "%s ago", length);
    return true;
}
