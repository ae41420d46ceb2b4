/* changed.h - what the open transaction changes of the state on which commands to processes walk.
 *
 * A handler that a command calls must not rest on what a power cut may take back. An engine that
 * shows commits before they are on the disk notes with each of them which instances it has changed.
 * So a command waits for the disk only if its own instance is not there yet. Instances share slots:
 * that costs a wait, and hides none. */
#ifndef MOONSHIFT_STORE_RULES_GROUND_CHANGED_H
#define MOONSHIFT_STORE_RULES_GROUND_CHANGED_H

#include "store/rules/ground/state.h"

static inline unsigned changed_slot(int64_t instance) {
    return (unsigned)((uint64_t)instance * UINT64_C(0x9e3779b97f4a7c15) >> 32) %
           CHANGED_INSTANCES;
}

static inline void changed_note(struct store *store, int64_t instance) {
    const unsigned slot = changed_slot(instance);
    store->changes[slot / 64] |= UINT64_C(1) << slot % 64;
}

/* Something that belongs to no instance, or to many: definitions, versions, tasks. */
static inline void changed_note_common(struct store *store) {
    store->changes[CHANGED_COMMON / 64] |= UINT64_C(1) << CHANGED_COMMON % 64;
}

#endif
