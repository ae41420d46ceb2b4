#include "base/histogram.h"

const int64_t histogram_bounds[HISTOGRAM_BOUNDS] = {
    100,      200,      500,       1000,      2000,      5000,      10000,   20000,
    50000,    100000,   200000,    500000,    1000000,   2000000,   5000000, 10000000,
    20000000, 50000000, 100000000, 200000000, 500000000, 1000000000};

/* The first class whose bound is not below, by halves. */
static int class_of(int64_t us) {
    int low = 0, high = HISTOGRAM_BOUNDS;
    while (low < high) {
        int middle = (low + high) / 2;
        if (histogram_bounds[middle] < us)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void histogram_add(struct histogram *histogram, int64_t us) {
    us = us > 0 ? us : 0;
    histogram_count(&histogram->counts[class_of(us)], 1);
    histogram_count(&histogram->sum, us);
}
