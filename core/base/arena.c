#include "base/arena.h"
#include <stdlib.h>

/* Bytes of the first block, and of the largest, unless a text is longer. Each is twice as large as
 * the one before. The first one is below 1 KiB: for more, glibc's malloc first merges what is free.
 */
#define BLOCK_FIRST ((size_t)960)
#define BLOCK_MAX ((size_t)256 * 1024)

struct arena_block {
    struct arena_block *next;
    size_t room, used;
    char data[];
};

char *arena_room(struct arena *arena, size_t size) {
    struct arena_block *block = arena->first;
    if (!block || block->room - block->used < size) {
        size_t room = block ? 2 * block->room : BLOCK_FIRST;
        room = room < BLOCK_MAX ? room : BLOCK_MAX;
        room = room < size ? size : room;
        block = malloc(sizeof *block + room);
        if (!block)
            return NULL;
        *block = (struct arena_block){.next = arena->first, .room = room};
        arena->first = block;
    }
    return block->data + block->used;
}

void arena_keep(struct arena *arena, size_t size) {
    if (arena->first)
        arena->first->used += size;
}

static void drop(struct arena_block *block) {
    for (struct arena_block *next; block; block = next) {
        next = block->next;
        free(block);
    }
}

void arena_empty(struct arena *arena) {
    if (!arena->first)
        return;
    drop(arena->first->next);
    arena->first->next = NULL;
    arena->first->used = 0;
}

void arena_clear(struct arena *arena) {
    drop(arena->first);
    arena->first = NULL;
}
