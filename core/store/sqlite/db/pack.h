/* pack.h - bytes and texts, one after the other in a buffer: what one process lays into the mailbox
 * and another one reads there. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* What is written. `full`: something did not fit, and nothing was written from there on. */
struct packer {
    char *next;
    size_t left;
    bool full;
};

/* Most are numbers, so the compiler sees their size. */
static inline void pack_bytes(struct packer *to, const void *bytes, size_t size) {
    to->full = to->full || size > to->left;
    if (to->full)
        return;
    memcpy(to->next, bytes, size);
    to->next += size;
    to->left -= size;
}
/* NULL is another text than "". */
void pack_text(struct packer *to, const char *text, size_t size);

/* What is read. */
struct opener {
    const char *next;
    size_t left;
};

/* False: the bytes are not there. */
static inline bool open_bytes(struct opener *from, void *bytes, size_t size) {
    if (size > from->left)
        return false;
    memcpy(bytes, from->next, size);
    from->next += size;
    from->left -= size;
    return true;
}
/* The text lies in the buffer and ends with a zero. */
bool open_text(struct opener *from, const char **text, size_t *size);
/* False also for a text with a zero inside. */
bool open_string(struct opener *from, const char **text);
