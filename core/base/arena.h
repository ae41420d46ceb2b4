/* arena.h - memory for many short texts that end together. */
#pragma once

#include <stddef.h>

/* Zero-initialise; free with arena_clear. */
struct arena {
    struct arena_block *first; /* the one being filled */
};

/* So many bytes, which stay where they are; the next call gives the same ones again unless they are
 * kept. NULL: no memory. */
char *arena_room(struct arena *arena, size_t size);
/* The first so many of them are in use. */
void arena_keep(struct arena *arena, size_t size);

/* Nothing is in use any more; one block stays for what comes next. */
void arena_empty(struct arena *arena);
void arena_clear(struct arena *arena);
