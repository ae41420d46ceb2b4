/* suspect_list.h - which jobs are suspects (place/suspects.h), as last read. */
#pragma once

#include "store/rules/ground/state.h"

/* In a transaction: reads which jobs are suspects, unless that is known. An executor that vanishes
 * is the only source of new ones. */
bool suspects_refresh(struct store *store, struct error *error);
void suspects_clear(struct suspects *suspects);
/* Where the list has the job; NULL: it does not. */
int64_t *suspects_at(const struct suspects *suspects, int64_t job);
bool suspects_find(const struct store *store, int64_t job);
static inline bool suspects_has(const struct store *store, int64_t job) {
    return store->suspects.count && suspects_find(store, job);
}
