#include "time/rate.h"
#include "time/span.h"
#include <stdio.h>
#include <string.h>

enum { GRACE_MAX = 250, GRACE_BRIEF = 100, WINDOW_MIN = 100 };
enum { PARTS = 100 }; /* of a window, where not each millisecond is counted by itself */

static bool rate_refuse(const char *text, const char *expected, struct error *error) {
    return error_set(error, ERROR_INVALID, "rate \"%.100s\": expected %s", text, expected);
}

bool rate_parse(const char *text, struct rate *rate, struct error *error) {
    const char *slash = strchr(text, '/');
    struct error cause = {0};
    size_t digits = strspn(text, "0123456789");
    int32_t count = 0;
    *rate = (struct rate){0};
    if (!slash || digits == 0 || text + digits != slash)
        return rate_refuse(
            text, "a number of starts and a duration, such as \"10/1m\" or \"10/PT1M\"", error);
    for (const char *digit = text; digit < slash && count <= RATE_COUNT_MAX; digit++)
        count = count * 10 + (*digit - '0');
    if (count < 1 || count > RATE_COUNT_MAX)
        return rate_refuse(text, "1 to 10000 starts", error);
    if (!span_parse_ms(slash + 1, &rate->window, &cause))
        return error_set(error, ERROR_INVALID, "rate \"%.100s\": %s", text, cause.text);
    if (rate->window < WINDOW_MIN)
        return rate_refuse(text, "a duration of at least PT0.1S", error);
    rate->count = count;
    return true;
}

void rate_format(const struct rate *rate, char *text) {
    char window[TIME_TEXT_SIZE];
    span_format(rate->window, window);
    snprintf(text, RATE_TEXT_SIZE, "%d/%s", (int)rate->count, window);
}

time_ms rate_grace(const struct rate *rate, bool brief) {
    time_ms grace = rate->window / 10 < GRACE_MAX ? rate->window / 10 : GRACE_MAX;
    return brief && grace < GRACE_BRIEF ? GRACE_BRIEF : grace;
}

time_ms rate_counted(const struct rate *rate, time_ms at) {
    time_ms part = rate->count > RATE_EXACT ? (rate->window + PARTS - 1) / PARTS : 1;
    time_ms over = at % part;
    return over > 0 ? at + part - over : at;
}
