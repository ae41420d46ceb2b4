#include "store/sqlite/db/pack.h"
#include <stdint.h>

#define NO_TEXT UINT32_MAX

void pack_text(struct packer *to, const char *text, size_t size) {
    uint32_t length = size < NO_TEXT ? (uint32_t)size : NO_TEXT - 1;
    pack_bytes(to, text ? &length : &(uint32_t){NO_TEXT}, sizeof length);
    if (!text)
        return;
    pack_bytes(to, text, size);
    pack_bytes(to, "", 1);
}

bool open_text(struct opener *from, const char **text, size_t *size) {
    uint32_t length;
    *text = NULL;
    *size = 0;
    if (!open_bytes(from, &length, sizeof length))
        return false;
    if (length == NO_TEXT)
        return true;
    if (length >= from->left || from->next[length] != 0)
        return false;
    *text = from->next;
    *size = length;
    from->next += length + 1;
    from->left -= length + 1;
    return true;
}

bool open_string(struct opener *from, const char **text) {
    size_t size;
    return open_text(from, text, &size) && (!*text || strlen(*text) == size);
}
