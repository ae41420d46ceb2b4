/* care.h - rows that a turn cannot deal with, and what is done with them (rules §8).
 *
 * Every row that is dealt with is noted. If the transaction fails, or its process dies, and no
 * other row was dealt with in it, then the one that is noted did it. */
#pragma once

#include "store/rules/ground/state.h"

/* Tokens of the loop's crash slot: below 0, as no run has one. Its job while rows are many: */
#define CARE_MANY INT64_MAX

static inline bool care_is_alone(const struct store *store) {
    return store->care.rows == 1;
}

/* Notes the job that is dealt with next. */
static inline void care_touch(struct store *store, int64_t job) {
    store->care.touched = job;
    if (care_is_alone(store))
        store_slot_set(store, store->care.slot, job, -1, 0);
}
