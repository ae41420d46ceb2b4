/* histogram.h - how long things took, in classes of 1, 2 and 5 times a power of ten from 100 us to
 * 1000 s. One thread adds, without a lock; any thread reads meanwhile. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

enum { HISTOGRAM_BOUNDS = 22 };

/* The longest span of each class, in microseconds. */
extern const int64_t histogram_bounds[HISTOGRAM_BOUNDS];

/* Zero-initialise. */
struct histogram {
    _Atomic int64_t counts[HISTOGRAM_BOUNDS + 1]; /* the last class: all that took longer */
    _Atomic int64_t sum;                          /* microseconds */
};

/* What takes less than nothing, since a clock was set, took nothing. */
void histogram_add(struct histogram *histogram, int64_t us);

/* Adds to a counter that no other thread writes. */
static inline void histogram_count(_Atomic int64_t *counter, int64_t value) {
    int64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + value, memory_order_relaxed);
}
