/* span_contract.c - lengths of time as people say them. */
#include "time/span.h"
#include <stdio.h>
#include <string.h>

int main(void) {
    static const struct {
        time_ms ms;
        const char *said;
    } cases[] = {
        {0, "0 s"},
        {16, "16 ms"},
        {1000, "1 s"},
        {2500, "2.5 s"},
        {9999, "10.0 s"},
        {59471, "59 s"},
        {59900, "1 min"},
        {90000, "1 min 30 s"},
        {599900, "10 min"},
        {3599471, "1 h"},
        {3541000, "59 min"},
        {5400000, "1 h 30 min"},
        {36000000, "10 h"},
        {86399999, "1 d"},
        {129600000, "1 d 12 h"},
        {INT64_C(864000000) * 40, "400 d"},
    };
    int passed = 0, failed = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[TIME_TEXT_SIZE];
        span_say(cases[i].ms, text);
        bool holds = strcmp(text, cases[i].said) == 0;
        printf("%s - %lld ms are \"%s\"\n", holds ? "ok" : "not ok", (long long)cases[i].ms, text);
        *(holds ? &passed : &failed) += 1;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
