/* rate.c - rates: within bounds, and what is written reads back the same. */
#include "time/rate.h"
#include "../fuzz.h"

void fuzz_rate(const uint8_t *data, size_t size) {
    char *text = fuzz_copy(data, size), written[RATE_TEXT_SIZE];
    struct error error = {0};
    struct rate rate, again;
    if (rate_parse(text, &rate, &error)) {
        PROMISE(rate.count >= 1 && rate.count <= RATE_COUNT_MAX && rate.window >= 100);
        PROMISE(rate_grace(&rate, false) >= 0 && rate_grace(&rate, false) < rate.window);
        rate_format(&rate, written);
        PROMISE(rate_parse(written, &again, &error));
        PROMISE(again.count == rate.count && again.window == rate.window);
    } else
        fuzz_refusal(&error, text);
    free(text);
}
