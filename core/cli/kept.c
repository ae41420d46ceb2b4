#include "cli/kept.h"
#include <stdlib.h>

enum { BYTES_MAX = 8 << 20, KEYS_BYTES = 512 }; /* the latter for an object of a few keys */

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
    kept->bytes += line->size + sizeof *line + (line->spec.fast.rest ? KEYS_BYTES : 0);
    kept->full = kept->full || line->spec.object || kept->bytes > BYTES_MAX || !grow(kept);
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
