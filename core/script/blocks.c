#include "script/blocks.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool is_small(size_t size) {
    return size <= BLOCK_MOST;
}

/* The list of a size above 0. */
static size_t list_of(size_t size) {
    return (size - 1) / BLOCK_UNIT;
}

static bool is_ours(const struct blocks *blocks, const void *block) {
    return (uintptr_t)block - (uintptr_t)blocks->room < BLOCKS_ROOM && blocks->room;
}

static void *cut(struct blocks *blocks, size_t size) {
    size_t whole = (list_of(size) + 1) * BLOCK_UNIT;
    if (!blocks->room)
        blocks->room = malloc(BLOCKS_ROOM);
    if (!blocks->room || blocks->cut + whole > BLOCKS_ROOM)
        return malloc(size);
    char *block = blocks->room + blocks->cut;
    blocks->cut += whole;
    return block;
}

static void *take(struct blocks *blocks, size_t size) {
    if (!blocks->open || !is_small(size))
        return malloc(size);
    void **list = &blocks->given_back[list_of(size)], *block = *list;
    if (!block)
        return cut(blocks, size);
    memcpy(list, block, sizeof *list);
    return block;
}

void blocks_free(struct blocks *blocks, void *block, size_t size) {
    if (!is_ours(blocks, block)) {
        free(block);
        return;
    }
    void **list = &blocks->given_back[list_of(size)];
    memcpy(block, list, sizeof *list);
    *list = block;
}

void *blocks_resize(struct blocks *blocks, void *block, size_t before, size_t size) {
    if (!block)
        return take(blocks, size);
    bool ours = is_ours(blocks, block);
    if (!ours && (!blocks->open || !is_small(size)))
        return realloc(block, size);
    if (ours && is_small(size) && list_of(size) == list_of(before))
        return block;
    void *fresh = take(blocks, size);
    if (!fresh)
        return size < before ? block : NULL;
    memcpy(fresh, block, before < size ? before : size);
    blocks_free(blocks, block, before);
    return fresh;
}

void blocks_close(struct blocks *blocks) {
    free(blocks->room);
    *blocks = (struct blocks){0};
}
