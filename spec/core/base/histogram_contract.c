/* histogram_contract.c - how long things took, in classes. */
#include "../store/contract.h"
#include "base/histogram.h"

static void classed(struct contract *c) {
    struct histogram one = {0};
    histogram_add(&one, 0);
    histogram_add(&one, 100);
    histogram_add(&one, 101);
    histogram_add(&one, 1000000000);
    histogram_add(&one, 1000000001);
    EXPECT(one.counts[0] == 2 && one.counts[1] == 1);
    EXPECT(one.counts[HISTOGRAM_BOUNDS - 1] == 1 && one.counts[HISTOGRAM_BOUNDS] == 1);
    EXPECT(one.sum == 2000000202);
}

static void backwards(struct contract *c) {
    struct histogram one = {0};
    histogram_add(&one, -5000);
    EXPECT(one.counts[0] == 1 && one.sum == 0);
}

static void steps(struct contract *c) {
    EXPECT(histogram_bounds[0] == 100 && histogram_bounds[HISTOGRAM_BOUNDS - 1] == 1000000000);
    for (int i = 3; i < HISTOGRAM_BOUNDS; i++)
        EXPECT(histogram_bounds[i] == 10 * histogram_bounds[i - 3]);
    for (int i = 0; i < HISTOGRAM_BOUNDS; i++) {
        struct histogram one = {0};
        histogram_add(&one, histogram_bounds[i]);
        histogram_add(&one, histogram_bounds[i] + 1);
        EXPECT(one.counts[i] == 1 && one.counts[i + 1] == 1);
    }
}

static const struct check checks[] = {
    {"a span is in the class whose bound is not below it", classed},
    {"what ended before it began took nothing", backwards},
    {"bounds go by 1, 2 and 5, and each belongs to its class", steps},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
