/* conflict.h - when a job runs again that found another writer to be first (rules §8). Pure. */
#pragma once

#include "base/clock.h"

/* The wait in ms after the n-th conflict in a row, n >= 1: none after the first, then 10 doubling
 * to a minute. Up to a quarter less, by `seed`: those who met must not meet again. */
time_ms conflict_wait(int32_t n, int64_t seed);
