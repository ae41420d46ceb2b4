#include "run/pool/estimate.h"
#include <stdlib.h>

enum { WEIGHT = 8, ROOM_FIRST = 16 };

void estimate_clear(struct estimate *estimate) {
    free(estimate->entries);
    *estimate = (struct estimate){0};
}

/* The entry of the definition, or the free one where it belongs. There is always a free one. */
static struct estimate_entry *find(const struct estimate *estimate, int64_t definition) {
    size_t at = (size_t)((uint64_t)definition * UINT64_C(0x9E3779B97F4A7C15) >> 32);
    at &= estimate->room - 1;
    while (estimate->entries[at].used && estimate->entries[at].definition != definition)
        at = (at + 1) & (estimate->room - 1);
    return &estimate->entries[at];
}

/* At most half of the table is used. */
static bool grow(struct estimate *estimate) {
    struct estimate old = *estimate;
    if (old.count * 2 < old.room)
        return true;
    size_t room = old.room ? old.room * 2 : ROOM_FIRST;
    struct estimate_entry *entries = calloc(room, sizeof *entries);
    if (!entries)
        return false;
    estimate->entries = entries;
    estimate->room = room;
    for (size_t i = 0; i < old.room; i++)
        if (old.entries[i].used)
            *find(estimate, old.entries[i].definition) = old.entries[i];
    free(old.entries);
    return true;
}

void estimate_note(struct estimate *estimate, int64_t definition, double ms) {
    double taken = ms > 0 ? ms : 0;
    if (!grow(estimate))
        return;
    struct estimate_entry *entry = find(estimate, definition);
    if (entry->used) {
        entry->ms += (taken - entry->ms) / WEIGHT;
        return;
    }
    *entry = (struct estimate_entry){.definition = definition, .ms = taken, .used = true};
    estimate->count++;
}

double estimate_run(const void *of, int64_t definition) {
    const struct estimate *estimate = of;
    const struct estimate_entry *entry = estimate->room ? find(estimate, definition) : NULL;
    return entry && entry->used ? entry->ms : UNKNOWN_RUN;
}

bool estimate_brief(const void *of, int64_t definition) {
    const struct estimate *estimate = of;
    const struct estimate_entry *entry = estimate->room ? find(estimate, definition) : NULL;
    return entry && entry->used && entry->ms <= BRIEF_RUN;
}

double estimate_left(double expected, double elapsed) {
    return elapsed < expected ? expected - elapsed : elapsed - expected;
}

double estimate_fills(double ms) {
    return ms < HORIZON ? ms : HORIZON;
}
