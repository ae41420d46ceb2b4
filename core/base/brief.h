/* brief.h - a draft in the keys that most jobs have, read from its JSON text without building an
 * object: what `enqueue --from` and enqueue_many do many thousand times. */
#ifndef MOONSHIFT_BASE_BRIEF_H
#define MOONSHIFT_BASE_BRIEF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum brief_name {
    BRIEF_HANDLER,
    BRIEF_LANE,
    BRIEF_INSTANCE,
    BRIEF_ROOT,
    BRIEF_ACTIVITY,
    BRIEF_TENANT,
    BRIEF_CATEGORY,
    BRIEF_NAMES
};

struct brief {
    const char *names[BRIEF_NAMES]; /* NULL: absent; else valid UTF-8, NUL-terminated */
    size_t sizes[BRIEF_NAMES];
    const char *payload; /* JSON exactly as json_write has it; NULL: none */
    size_t payload_size;
    int64_t priority;
    bool priority_given;
    bool unchecked;
};

/* The key of a name in a draft: "handler", … */
const char *brief_key(enum brief_name name);

/* True if the text is an object with no other keys than these, in which everything is as plain as
 * it mostly is; its texts are then the first *used bytes of `room`, which has `size`. False says
 * nothing: read it with json_read. */
bool brief_read(struct brief *brief, const char *text, size_t size, char *room, size_t *used);

#endif
