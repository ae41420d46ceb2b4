/* id_set.h - the ids that a batch has been given, to find those given again.
 *
 * A hash table of blocks of 64 neighbours: ids that lie close together cost a bit each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_set {
    struct id_block {
        int64_t number;
        uint64_t ids; /* a bit each; 0: the place is free */
    } * blocks;
    size_t room, count; /* room: a power of two, or 0 */
};

/* *fresh: the id was not there. False: no memory. */
bool id_set_add(struct id_set *set, int64_t id, bool *fresh);
bool id_set_has(const struct id_set *set, int64_t id);
void id_set_clear(struct id_set *set);
