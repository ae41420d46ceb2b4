/* create_list.h - the jobs of many creators in one transaction, with one sync (rules §1). */
#pragma once

#include "engine/intake.h"

/* What one creator asks for: all of it is written, or nothing. */
struct create_entry {
    struct create_entry *next;
    const struct engine_spec *specs; /* one or more */
    size_t count;
    struct created *created;        /* out: of each spec, unless the request is found */
    struct engine_request *request; /* its key; NULL: without one */
    bool fine;                      /* out: it is on the disk, or was before */
    struct error error;             /* out: else this */
    bool answered, now;             /* of the writing */
};

/* Room that is kept from one writing to the next. Zero-initialise. */
struct create_list {
    struct engine_spec *specs;
    struct created *created;
    size_t room;
};

/* Writes the entries. One that is refused is left out, and the others go on. Of two with the same
 * key the second one has the answer of the first. All are answered when it returns. */
void create_list_write(struct create_list *list, struct engine *engine,
                       struct create_entry *entries);
void create_list_clear(struct create_list *list);
