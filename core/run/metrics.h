/* metrics.h - counters that wait for the next flush (rules §16): in total and by definition. */
#pragma once

#include "store/store.h"

struct metrics_row {
    int64_t definition; /* 0: the total, in row 0 */
    int64_t values[METRIC_COUNT];
};

/* Zero-initialise; free with metrics_clear. Rows are found by hashing the definition's id. */
struct metrics {
    struct metrics_row *rows; /* `room` of them, a power of two; row 0 apart */
    size_t room, used;
    struct metrics_row total;
    bool dirty; /* something is there to write */
};

/* Counts in total and, unless `definition` is 0, for it. Out of memory: in total only. */
void metrics_add(struct metrics *metrics, int64_t definition, enum metric metric, int64_t value);
/* Writes what is there inside an open transaction; metrics_written after the commit. */
bool metrics_write(const struct metrics *metrics, struct store *store, struct error *error);
void metrics_written(struct metrics *metrics);
void metrics_clear(struct metrics *metrics);
