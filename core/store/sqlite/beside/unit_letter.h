/* unit_letter.h - what a command to a process did, as bytes: its unit, the jobs that it creates,
 * its entry in the log of operations, and the settings by which all of it is written. One process
 * lays it into the mailbox, and another one writes it (rules §23). */
#ifndef MOONSHIFT_STORE_SQLITE_BESIDE_UNIT_LETTER_H
#define MOONSHIFT_STORE_SQLITE_BESIDE_UNIT_LETTER_H

#include "job/outcome.h"
#include "job/settings.h"
#include "store/store.h"

struct unit_letter {
    struct outcome outcome; /* with a unit of its own; texts lie in the bytes */
    struct job job;         /* of the outcome: without an id */
    struct store_entry entry;
    struct settings settings; /* those of the reader, but for what the writer's say */
};

/* A number of the members of all lists: see codec_layout. */
uint32_t unit_letter_layout(void);

/* Returns the bytes used, or 0: it does not fit. */
size_t unit_letter_pack(const struct outcome *outcome, const struct store_entry *entry,
                        const struct settings *settings, void *room, size_t size);

/* False: that is no letter, or there is no memory. unit_letter_clear in any case. */
bool unit_letter_open(struct unit_letter *letter, const void *bytes, size_t size,
                      const struct settings *settings);
void unit_letter_clear(struct unit_letter *letter);

#endif
