/* kept.h - the first lines of a file as they were read, so that these need not be read again. They
 * take 64 MiB at most, and at most a 32nd of the memory of the machine or the container. */
#pragma once

#include "base/arena.h"
#include "cli/words/lines.h"
#include "engine/engine.h"

struct kept_line {
    struct engine_spec spec;
    off_t at; /* where its text begins in the file */
    size_t size;
    int64_t number;
};

/* Zero-initialise. */
struct kept {
    struct kept_line *list;
    size_t count, room;
    size_t bytes, most;    /* of all that is kept, about; and how many may be */
    struct arena texts;    /* of the specs */
    bool full;             /* nothing more is kept */
    struct lines_mark end; /* behind the last one */
    size_t bad;            /* bad lines among them */
};

/* Keeps the next good line and takes its spec, whose texts are in `texts`. False: there is no room,
 * or the spec needs much of it. Nothing is kept behind it. */
bool kept_add(struct kept *kept, const struct kept_line *line);

void kept_clear(struct kept *kept);
