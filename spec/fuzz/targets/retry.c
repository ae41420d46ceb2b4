/* retry.c - retry configurations: counts within bounds, and no delay goes backwards. */
#include "time/retry.h"
#include "../fuzz.h"

static void due(const struct retry *retry) {
    static const int32_t left[] = {INT32_MAX, 65, 64, 3, 2, 1, 0, -1};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        for (size_t j = 0; j < fuzz_instant_count; j++) {
            time_ms now = fuzz_instants[j], then = retry_due(retry, left[i], now);
            PROMISE(then >= now && then <= TIME_LAST);
        }
}

/* The last run's delay is the list's last, the first's its first, when there are as many. */
static void order(const struct retry *retry) {
    int last = retry->count - 1;
    PROMISE(retry_due(retry, 1, 0) == span_add(0, &retry->delays[last]));
    PROMISE(retry_due(retry, retry->count + 1, 0) == span_add(0, &retry->delays[0]));
}

void fuzz_retry(const uint8_t *data, size_t size) {
    char *text = fuzz_copy(data, size);
    struct error error = {0};
    struct retry retry;
    if (retry_parse(text, &retry, &error)) {
        PROMISE(retry.runs >= 1 && retry.count >= 1 && retry.count <= RETRY_DELAYS_MAX);
        PROMISE(retry.count == 1 || retry.runs == retry.count + 1);
        due(&retry);
        order(&retry);
    } else
        fuzz_refusal(&error, text);
    free(text);
}
