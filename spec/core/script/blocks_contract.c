/* blocks_contract.c - the small blocks of a Lua state: none lies in another one, and each keeps
 * what was written. */
#include "script/blocks.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 5000, ROUNDS = 200000, SIZE_MOST = 600 };

static int passed, failed;

static void check(const char *sentence, bool holds) {
    printf("%s - %s\n", holds ? "ok" : "not ok", sentence);
    *(holds ? &passed : &failed) += 1;
}

struct block {
    unsigned char *bytes;
    size_t size;
    unsigned char mark;
};

static bool is_whole(const struct block *block, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (block->bytes[i] != block->mark)
            return false;
    return true;
}

static bool resize(struct blocks *blocks, struct block *block, size_t size, unsigned char mark) {
    size_t kept = size < block->size ? size : block->size;
    unsigned char *bytes = blocks_resize(blocks, block->bytes, block->size, size);
    if (!bytes)
        return false;
    block->bytes = bytes;
    bool whole = is_whole(block, kept) && (uintptr_t)bytes % BLOCK_UNIT == 0;
    *block = (struct block){bytes, size, mark};
    memset(bytes, mark, size);
    return whole;
}

static bool give(struct blocks *blocks, struct block *block) {
    bool whole = is_whole(block, block->size);
    blocks_free(blocks, block->bytes, block->size);
    *block = (struct block){0};
    return whole;
}

/* Far more than the room holds, opened while some are there already. */
static void many_of_all_sizes(void) {
    static struct block list[MANY];
    struct blocks blocks = {0};
    bool fine = true;
    srand(1);
    for (int i = 0; fine && i < ROUNDS; i++) {
        struct block *block = &list[rand() % MANY];
        blocks.open = i > 1000;
        if (block->bytes && rand() % 3 == 0)
            fine = give(&blocks, block);
        else
            fine = resize(&blocks, block, (size_t)(1 + rand() % SIZE_MOST), (unsigned char)i);
    }
    check("blocks of all sizes keep what was written, while others come and go", fine);
    check("of the room no more is handed out than there is", blocks.cut <= BLOCKS_ROOM);
    for (int i = 0; i < MANY; i++)
        fine = give(&blocks, &list[i]) && fine;
    check("the last ones are whole, too", fine);
    blocks_close(&blocks);
}

static void one_again(void) {
    struct blocks blocks = {.open = true};
    void *first = blocks_resize(&blocks, NULL, 0, 40);
    blocks_free(&blocks, first, 40);
    void *second = blocks_resize(&blocks, NULL, 0, 33);
    check("a block that was given back is the next one of its size", first && first == second);
    check("a block that grows within its size stays",
          blocks_resize(&blocks, second, 33, 48) == second);
    blocks_free(&blocks, second, 48);
    blocks_close(&blocks);
}

static void closed(void) {
    struct blocks blocks = {0};
    void *block = blocks_resize(&blocks, NULL, 0, 40);
    check("before it is opened there is no room", block && !blocks.room);
    blocks_free(&blocks, block, 40);
    blocks_free(&blocks, NULL, 0);
    blocks_close(&blocks);
}

int main(void) {
    many_of_all_sizes();
    one_again();
    closed();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
