#include "store/rules/place/spared.h"
#include "store/rules/ground/capacity.h"

void spared_turn(struct store *store) {
    struct spared *spared = &store->spared;
    id_set_clear(&spared->before);
    spared->before = spared->now;
    spared->now = (struct id_set){0};
}

enum answer spared_add(struct store *store, int64_t job, struct error *error) {
    bool fresh = false;
    if (id_set_has(&store->spared.before, job))
        return NO;
    if (id_set_add(&store->spared.now, job, &fresh))
        return YES;
    db_no_memory(&store->db, error);
    return FAILED;
}

void spared_look(struct store *store) {
    if (!store->spared.now.count && !store->spared.before.count)
        return;
    store->changed = store->changed || !store->open.capacity;
    capacity_blind(store);
}

void spared_clear(struct store *store) {
    id_set_clear(&store->spared.before);
    id_set_clear(&store->spared.now);
}
