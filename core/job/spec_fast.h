/* spec_fast.h - reads a creator's JSON text that has only the keys of most jobs, without building
 * an object. `enqueue --from` and enqueue_many do so many thousand times. */
#ifndef MOONSHIFT_JOB_SPEC_FAST_H
#define MOONSHIFT_JOB_SPEC_FAST_H

#include "job/job.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum spec_name {
#define ENTRY(member, type, key, source, column, said, ...) JOB_SAID_##said(SPEC_NAME_##member, )
    JOB_FIELDS(ENTRY)
#undef ENTRY
        SPEC_NAMES
};

struct spec_fast {
    const char *names[SPEC_NAMES]; /* NULL: absent; else valid UTF-8, NUL-terminated */
    size_t sizes[SPEC_NAMES];
    const char *payload; /* JSON exactly as json_write has it; NULL: none */
    size_t payload_size;
    int64_t priority;
    bool priority_given;
    bool unchecked;
};

extern const struct job_field *const spec_names[SPEC_NAMES];

/* Reads `text` if it is an object with no other keys than these, and with nothing unusual in it.
 * The texts found are then the first *used bytes of `room`, which has `size`. False is no error:
 * read the text with json_read. */
bool spec_fast_read(struct spec_fast *fast, const char *text, size_t size, char *room,
                    size_t *used);

#endif
