/* span.c - ISO 8601 durations: bounded, never backwards, and the shortest text reads back. */
#include "time/span.h"
#include "../fuzz.h"

static void length(const char *text, const struct span *span) {
    struct error error = {0};
    char written[TIME_TEXT_SIZE];
    time_ms ms = -1, again = -1;
    bool fixed = span_parse_ms(text, &ms, &error);
    PROMISE(fixed == !span->months);
    if (!fixed) {
        fuzz_refusal(&error, text);
        return;
    }
    PROMISE(ms == span->days * DAY_MS + span->ms);
    span_format(ms, written);
    PROMISE(strlen(written) < sizeof written);
    PROMISE(span_parse_ms(written, &again, NULL) && again == ms);
}

static void moves_on(const struct span *span) {
    for (size_t i = 0; i < fuzz_instant_count; i++) {
        time_ms from = fuzz_instants[i], to = span_add(from, span);
        PROMISE(to >= from && to <= TIME_LAST);
    }
}

void fuzz_span(const uint8_t *data, size_t size) {
    char *text = fuzz_copy(data, size), written[TIME_TEXT_SIZE];
    struct error error = {0};
    struct span span;
    if (span_parse(text, &span, &error)) {
        PROMISE(span.months >= 0 && span.days >= 0 && span.ms >= 0);
        length(text, &span);
        moves_on(&span);
    } else
        fuzz_refusal(&error, text);
    if (size >= sizeof(time_ms)) {
        time_ms ms;
        memcpy(&ms, data, sizeof ms);
        span_format(ms, written);
        PROMISE(strlen(written) < sizeof written);
    }
    free(text);
}
