/* ascii_scan.h - text looked at eight bytes at a time, for what reads or writes JSON many thousand
 * times a second. */
#ifndef MOONSHIFT_BASE_ASCII_SCAN_H
#define MOONSHIFT_BASE_ASCII_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ASCII_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* A byte of them is 0. */
static inline bool ascii_has_zero(uint64_t bytes) {
    return (bytes - ASCII_EACH(0x01)) & ~bytes & ASCII_EACH(0x80);
}

/* Eight bytes of ASCII. */
static inline bool ascii_only(const char *at) {
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return !(bytes & ASCII_EACH(0x80));
}

/* The same, and none of them is NUL. */
static inline bool ascii_without_nul(const char *at) {
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return !(bytes & ASCII_EACH(0x80)) && !ascii_has_zero(bytes);
}

/* Eight bytes of a JSON text that need no look: ASCII, no control characters but for delete, no
 * quote and no backslash. */
static inline bool ascii_is_text(const char *at) {
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return !((bytes | (bytes - ASCII_EACH(0x20))) & ASCII_EACH(0x80)) &&
           !ascii_has_zero(bytes ^ ASCII_EACH('"')) && !ascii_has_zero(bytes ^ ASCII_EACH('\\'));
}

/* Bytes up to the first one that is a control character but delete, a quote, a backslash or no
 * ASCII; all, if none is. */
static inline size_t ascii_size(const char *text, size_t size) {
    size_t at = 0;
    while (size - at >= 8 && ascii_is_text(text + at))
        at += 8;
    for (; at < size; at++) {
        unsigned char byte = (unsigned char)text[at];
        if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\')
            break;
    }
    return at;
}

#endif
