#include "store/rules/ground/id_set.h"
#include <stdlib.h>

enum { ROOM_FIRST = 64 };

static struct id_block *ids_find(const struct id_set *set, int64_t number) {
    size_t at = (size_t)((uint64_t)number * UINT64_C(0x9e3779b97f4a7c15) >> 20);
    struct id_block *block = &set->blocks[at & (set->room - 1)];
    while (block->ids && block->number != number)
        block = &set->blocks[++at & (set->room - 1)];
    return block;
}

/* At most half of the places are taken. */
static bool grow(struct id_set *set) {
    struct id_set wide = {.room = set->room ? set->room * 2 : ROOM_FIRST, .count = set->count};
    if (set->count * 2 < set->room)
        return true;
    if (!(wide.blocks = calloc(wide.room, sizeof *wide.blocks)))
        return false;
    for (size_t i = 0; i < set->room; i++)
        if (set->blocks[i].ids)
            *ids_find(&wide, set->blocks[i].number) = set->blocks[i];
    free(set->blocks);
    *set = wide;
    return true;
}

bool id_set_add(struct id_set *set, int64_t id, bool *fresh) {
    uint64_t bit = UINT64_C(1) << (id & 63);
    if (!grow(set))
        return false;
    struct id_block *block = ids_find(set, id >> 6);
    set->count += block->ids == 0;
    *fresh = !(block->ids & bit);
    *block = (struct id_block){id >> 6, block->ids | bit};
    return true;
}

bool id_set_has(const struct id_set *set, int64_t id) {
    return set->room && ids_find(set, id >> 6)->ids & UINT64_C(1) << (id & 63);
}

void id_set_clear(struct id_set *set) {
    free(set->blocks);
    *set = (struct id_set){0};
}
