/* unit_letter.h - what a command to a process did, as bytes: its unit, the jobs that it creates and
 * its entry in the log of operations. One process lays it into the mailbox, and another one writes
 * it (rules §23). */
#pragma once

#include "job/outcome.h"
#include "store/sqlite/db/pack.h"
#include "store/store.h"

struct unit_letter {
    struct outcome outcome; /* with a unit of its own; texts lie in the bytes */
    struct job job;         /* of the outcome: without an id */
    struct store_entry entry;
};

/* A number of the members of all lists: see codec_layout. */
uint32_t unit_letter_layout(void);

void unit_letter_pack(struct packer *to, const struct outcome *outcome,
                      const struct store_entry *entry);

/* False: that is no letter, or there is no memory. unit_letter_clear in any case. */
bool unit_letter_open(struct opener *from, struct unit_letter *letter);
void unit_letter_clear(struct unit_letter *letter);
