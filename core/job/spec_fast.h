/* spec_fast.h - reads a creator's JSON text without building an object of its payload and its
 * names. `enqueue --from` and enqueue_many do so many thousand times. */
#pragma once

#include "base/json_copy.h"
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
    json_t *rest; /* the other keys and their values, not looked at yet; NULL: none */
};

extern const struct job_field *const spec_names[SPEC_NAMES];

/* Reads a text of `size` bytes. The texts found are then the first *used bytes of `room`, which has
 * JSON_GROWTH times as many. False is no error: read the text with json_read. spec_fast_clear in
 * any case afterwards. */
bool spec_fast_read(struct spec_fast *fast, const char *text, size_t size, char *room,
                    size_t *used);

/* Keeps the value of another key; takes the reference. False: the key is there already or has a
 * place of its own, the value is an array or object, or memory is out. */
bool spec_fast_add(struct spec_fast *fast, const char *key, json_t *value);

void spec_fast_clear(struct spec_fast *fast);
