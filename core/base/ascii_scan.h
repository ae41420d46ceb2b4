/* ascii_scan.h - text looked at eight bytes at a time, for what reads or writes JSON many thousand
 * times a second. */
#pragma once

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

/* Marks those of eight bytes that need a look in a JSON text: all but ASCII without control
 * characters (but for delete), quotes and backslashes. The lowest mark is exact. */
static inline uint64_t ascii_looks(const char *at) {
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    uint64_t quote = bytes ^ ASCII_EACH('"'), backslash = bytes ^ ASCII_EACH('\\');
    return (bytes | (bytes - ASCII_EACH(0x20)) | ((quote - ASCII_EACH(0x01)) & ~quote) |
            ((backslash - ASCII_EACH(0x01)) & ~backslash)) &
           ASCII_EACH(0x80);
}

/* Bytes up to the first one that is a control character but delete, a quote, a backslash or no
 * ASCII; all, if none is. */
static inline size_t ascii_size(const char *text, size_t size) {
    size_t at = 0;
    uint64_t looks = 0;
    while (size - at >= 8 && !(looks = ascii_looks(text + at)))
        at += 8;
    if (looks && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        return at + (size_t)__builtin_ctzll(looks) / 8;
    for (; at < size; at++) {
        unsigned char byte = (unsigned char)text[at];
        if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\')
            break;
    }
    return at;
}
