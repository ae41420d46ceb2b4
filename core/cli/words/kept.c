#include "cli/words/kept.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { KEYS_BYTES = 512 }; /* for an object of a few keys */
enum { BYTES_MAX = 64 << 20, BYTES_LEAST = 1 << 20, MEMORY_PART = 32 };

/* What a container may have; else as much as the machine has. */
static unsigned long long memory_of(void) {
    unsigned long long limit,
        all = (unsigned long long)sysconf(_SC_PHYS_PAGES) * (unsigned)sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/sys/fs/cgroup/memory.max", "r");
    if (file && fscanf(file, "%llu", &limit) == 1 && limit < all)
        all = limit;
    if (file)
        fclose(file);
    return all;
}

static size_t most_of(void) {
    unsigned long long part = memory_of() / MEMORY_PART;
    if (part < BYTES_LEAST)
        return BYTES_LEAST;
    return part < BYTES_MAX ? (size_t)part : BYTES_MAX;
}

static bool grow(struct kept *kept) {
    if (kept->count < kept->room)
        return true;
    size_t room = kept->room ? 2 * kept->room : 256;
    struct kept_line *list = realloc(kept->list, room * sizeof *list);
    if (!list)
        return false;
    kept->list = list;
    kept->room = room;
    return true;
}

bool kept_add(struct kept *kept, const struct kept_line *line) {
    kept->most = kept->most ? kept->most : most_of();
    kept->bytes += line->size + sizeof *line + (line->spec.fast.rest ? KEYS_BYTES : 0);
    kept->full = kept->full || line->spec.object || kept->bytes > kept->most || !grow(kept);
    if (kept->full)
        return false;
    kept->list[kept->count++] = *line;
    return true;
}

void kept_clear(struct kept *kept) {
    for (size_t i = 0; i < kept->count; i++)
        engine_spec_clear(&kept->list[i].spec);
    free(kept->list);
    arena_clear(&kept->texts);
    *kept = (struct kept){.full = true};
}
