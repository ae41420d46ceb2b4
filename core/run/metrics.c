#include "run/metrics.h"
#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 16 };

/* The row of a definition or the free one it would have; linear probing. */
static struct metrics_row *slot(struct metrics_row *rows, size_t room, int64_t definition) {
    size_t at = (size_t)((uint64_t)definition * 0x9e3779b97f4a7c15u >> 32) & (room - 1);
    while (rows[at].definition != 0 && rows[at].definition != definition)
        at = (at + 1) & (room - 1);
    return &rows[at];
}

static bool grow(struct metrics *metrics) {
    size_t room = metrics->room ? metrics->room * 2 : ROOM_FIRST;
    struct metrics_row *rows = calloc(room, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < metrics->room; i++)
        if (metrics->rows[i].definition != 0)
            *slot(rows, room, metrics->rows[i].definition) = metrics->rows[i];
    free(metrics->rows);
    metrics->rows = rows;
    metrics->room = room;
    return true;
}

static struct metrics_row *row_of(struct metrics *metrics, int64_t definition) {
    if ((metrics->used + 1) * 4 > metrics->room * 3 && !grow(metrics))
        return NULL;
    struct metrics_row *row = slot(metrics->rows, metrics->room, definition);
    metrics->used += row->definition == 0;
    row->definition = definition;
    return row;
}

void metrics_add(struct metrics *metrics, int64_t definition, enum metric metric, int64_t value) {
    if (value == 0)
        return;
    /* To have looked in vain is not worth a write: it goes along with the next. */
    metrics->dirty = metrics->dirty || metric != METRIC_ACQUISITIONS;
    metrics->total.values[metric] += value;
    struct metrics_row *row = definition ? row_of(metrics, definition) : NULL;
    if (row)
        row->values[metric] += value;
}

static bool write_row(const struct metrics_row *row, struct store *store, struct error *error) {
    for (int i = 0; i < METRIC_COUNT; i++)
        if (row->values[i] != 0 &&
            !store_metric_add(store, row->definition, (enum metric)i, row->values[i], error))
            return false;
    return true;
}

bool metrics_write(const struct metrics *metrics, struct store *store, struct error *error) {
    for (size_t i = 0; i < metrics->room; i++)
        if (metrics->rows[i].definition != 0 && !write_row(&metrics->rows[i], store, error))
            return false;
    return write_row(&metrics->total, store, error);
}

void metrics_written(struct metrics *metrics) {
    if (metrics->used > 0)
        memset(metrics->rows, 0, metrics->room * sizeof *metrics->rows);
    metrics->used = 0;
    memset(&metrics->total, 0, sizeof metrics->total);
    metrics->dirty = false;
}

void metrics_clear(struct metrics *metrics) {
    free(metrics->rows);
    memset(metrics, 0, sizeof *metrics);
}
