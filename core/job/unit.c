#include "job/unit.h"
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

struct unit *unit_new(void) {
    return calloc(1, sizeof(struct unit));
}

void unit_free(struct unit *unit) {
    if (!unit)
        return;
    arena_clear(&unit->arena);
    free(unit);
}

void *unit_room(struct unit *unit, size_t count, size_t size) {
    size_t bytes = count * size + alignof(max_align_t);
    char *room = arena_room(&unit->arena, bytes);
    if (!room)
        return NULL;
    arena_keep(&unit->arena, bytes);
    room += -(uintptr_t)room % alignof(max_align_t);
    return memset(room, 0, count * size);
}

char *unit_text(struct unit *unit, const char *text, size_t size) {
    char *copy = arena_room(&unit->arena, size + 1);
    if (!copy)
        return NULL;
    arena_keep(&unit->arena, size + 1);
    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}
