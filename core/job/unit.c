#include "job/unit.h"
#include "job/job.h"
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

static void show_turn(const struct unit *unit, const struct unit_turn *one, struct job *job,
                      bool with_frame) {
    job->version = one->version;
    job->body = one->body;
    job->body_token = one->body_token;
    job->frame_rev = with_frame ? unit->rev : 0;
    job->frame = with_frame ? one->frame : NULL;
    job->parent = one->parent;
    job->business_key = one->key;
}

void unit_show(const struct unit *unit, struct job *job, bool with_frame) {
    const int64_t turn = turn_of_token(job->execution);
    for (size_t i = 0; unit && turn && i < unit->turn_count; i++)
        if (unit->turns[i].id == turn)
            show_turn(unit, &unit->turns[i], job, with_frame);
    if (turn)
        return;
    for (size_t i = 0; unit && job->instance_id && i < unit->instance_count; i++)
        if (unit->instances[i].id == job->instance_id) {
            job->version = unit->instances[i].version;
            job->frame_rev = with_frame ? unit->rev : 0;
            job->frame = with_frame ? unit->instances[i].frame : NULL;
            job->parent = unit->instances[i].parent;
            job->business_key = unit->instances[i].key;
        }
}
