#include "time/retry.h"
#include "base/clamp.h"
#include <string.h>

static bool refuse(const char *text, const char *at, const char *expected, struct error *error) {
    return error_set(error, ERROR_INVALID, "retry \"%.100s\": %s (position %d)", text, expected,
                     (int)(at - text) + 1);
}

static const char *skip_blanks(const char *at) {
    return at + strspn(at, " \t\r\n");
}

/* "R5/" or "R/" at `*at`; runs stays 0 if there is none. */
static bool read_runs(const char *text, const char **at, int32_t *runs, struct error *error) {
    if (**at != 'R')
        return true;
    const char *start = ++*at;
    int64_t count = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        if ((count = count * 10 + (**at - '0')) > RETRY_FOREVER)
            return refuse(text, start, "expected at most 2147483647 runs", error);
    *runs = *at == start ? RETRY_FOREVER : (int32_t)clamp(count, 1, RETRY_FOREVER);
    *at = skip_blanks(*at);
    if (**at != '/')
        return refuse(text, *at, "expected / and a duration, as in \"R5/PT5M\"", error);
    *at = skip_blanks(*at + 1);
    return true;
}

/* One duration up to a comma or the end; leaves `*at` there. */
static bool read_delay(const char *text, const char **at, struct span *delay, struct error *error) {
    char part[128];
    struct error cause = {0};
    size_t size = strcspn(*at, ",");
    while (size > 0 && strchr(" \t\r\n", (*at)[size - 1]))
        size--;
    if (size >= sizeof part)
        return refuse(text, *at, "duration is too long", error);
    memcpy(part, *at, size);
    part[size] = 0;
    if (!span_parse(part, delay, &cause))
        return error_set(error, ERROR_INVALID, "retry \"%.100s\": %s", text, cause.text);
    *at += strcspn(*at, ",");
    return true;
}

bool retry_parse(const char *text, struct retry *retry, struct error *error) {
    const char *at = skip_blanks(text);
    retry->runs = retry->count = 0;
    if (!read_runs(text, &at, &retry->runs, error))
        return false;
    for (;; at = skip_blanks(at + 1)) {
        if (retry->count == RETRY_DELAYS_MAX)
            return refuse(text, at, "expected at most 64 delays", error);
        if (!read_delay(text, &at, &retry->delays[retry->count], error))
            return false;
        retry->count++;
        if (!*at)
            break;
        if (retry->runs)
            return refuse(text, at, "expected one delay after a number of runs", error);
    }
    if (!retry->runs)
        retry->runs = retry->count + 1;
    return true;
}

time_ms retry_due(const struct retry *retry, int32_t retries_before, time_ms now) {
    int64_t index = retry->count - ((int64_t)retries_before - 1);
    int64_t last = retry->count - 1;
    index = clamp(index, 0, last);
    return span_add(now, &retry->delays[index]);
}
