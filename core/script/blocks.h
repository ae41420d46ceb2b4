/* blocks.h - memory of a Lua state for small blocks. Lua takes and gives back hundreds of them in a
 * run, and says the size of each as it gives it back: so none needs a head, and a list for each
 * size is enough.
 *
 * The blocks lie in one room, which is made with the first of them. Beyond it they come from
 * malloc, so a script with much data has no more memory than it asks for. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { BLOCK_UNIT = 16, BLOCK_MOST = 256, BLOCK_SIZES = BLOCK_MOST / BLOCK_UNIT };
enum { BLOCKS_ROOM = 512 * 1024 };

/* Zero-initialise: all blocks come from malloc until it is opened. */
struct blocks {
    bool open;
    char *room;                    /* NULL: none yet */
    size_t cut;                    /* bytes of it that have been handed out once */
    void *given_back[BLOCK_SIZES]; /* by size; the first bytes of each name the next */
};

/* A block of `size` bytes in the place of `block`, which has `before`; NULL and 0: a new one. What
 * fits is copied. NULL: no memory, the block stays; a smaller one is always had. */
void *blocks_resize(struct blocks *blocks, void *block, size_t before, size_t size);
void blocks_free(struct blocks *blocks, void *block, size_t size); /* NULL is fine */
/* Gives the room back: no block of it may be in use. */
void blocks_close(struct blocks *blocks);
