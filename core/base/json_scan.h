/* json_scan.h - the words of a JSON text one after the other, as strict as json_read.
 *
 * For readers that make something else of a text than an object of jansson, many thousand times a
 * second. A reading that fails says nothing about the reason: json_read finds it in the same text.
 * It may also fail for a number of unusual length, which json_read can read. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct json_scan {
    const char *at, *end;
};

/* The bytes between two quotes: valid UTF-8 without control characters. */
struct json_piece {
    const char *text;
    size_t size;
    bool escaped; /* has backslashes, which are not looked at yet */
};

struct json_number {
    const char *text;
    size_t size;
    bool is_real;     /* `real` has its value, else `whole` */
    bool is_shortest; /* a real one that is written as json_write_real does */
    int64_t whole;
    double real;
};

static inline void json_scan_blanks(struct json_scan *scan) {
    while (scan->at < scan->end &&
           (*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\r' || *scan->at == '\n'))
        scan->at++;
}

/* The next byte behind white space, or 0. */
static inline char json_scan_next(struct json_scan *scan) {
    if (scan->at < scan->end && (unsigned char)*scan->at <= ' ')
        json_scan_blanks(scan);
    return scan->at < scan->end ? *scan->at : '\0';
}

static inline bool json_scan_take(struct json_scan *scan, char byte) {
    bool there = json_scan_next(scan) == byte && scan->at < scan->end;
    scan->at += there;
    return there;
}

/* True behind the last word. */
static inline bool json_scan_done(struct json_scan *scan) {
    return json_scan_next(scan) == '\0' && scan->at == scan->end;
}

/* `true`, `false` or `null`, whose size is known to the caller. */
static inline bool json_scan_word(struct json_scan *scan, const char *word, size_t size) {
    bool there = (size_t)(scan->end - scan->at) >= size && memcmp(scan->at, word, size) == 0;
    scan->at += there ? size : 0;
    return there;
}

/* Reads the text that begins with the quote at `at`, and moves behind its end. */
bool json_scan_text(struct json_scan *scan, struct json_piece *piece);

/* Reads the number at `at`. Whole numbers have 64 bits; a fraction or an exponent makes a double.
 */
bool json_scan_number(struct json_scan *scan, struct json_number *number);

/* The character behind the backslash at *at, which moves behind it: 1 to 0x10FFFF, or 0 for what is
 * no character. */
uint32_t json_escape_read(const char **at, const char *end);
/* Writes a character in UTF-8; returns its bytes, at most 4. */
size_t utf8_write(char *out, uint32_t character);

/* Writes the text without its escapes to `out`, which has room for piece->size bytes; *size becomes
 * its bytes. False: an escape is wrong. */
bool json_unescape(const struct json_piece *piece, char *out, size_t *size);

/* ---- the keys of one object ---- */

struct json_key {
    const char *text;
    size_t size;
    uint64_t mark; /* its size and first bytes */
};

/* Loads what there is of the first eight bytes, in some order. */
static inline uint64_t json_key_bytes(const char *text, size_t size) {
    uint64_t bytes = 0;
    uint32_t first = 0, last = 0;
    if (size >= sizeof bytes) {
        memcpy(&bytes, text, sizeof bytes);
    } else if (size >= sizeof first) {
        memcpy(&first, text, sizeof first);
        memcpy(&last, text + size - sizeof last, sizeof last);
        bytes = (uint64_t)last << 32 | first;
    } else if (size > 0) {
        first = (unsigned char)text[0];
        last = (unsigned char)text[size - 1];
        bytes = (uint64_t)(unsigned char)text[size / 2] << 16 | last << 8 | first;
    }
    return bytes;
}

/* Makes a key; the text stays the caller's. */
static inline struct json_key json_key(const char *text, size_t size) {
    return (struct json_key){text, size, json_key_bytes(text, size) ^ (uint64_t)size << 56};
}

static inline bool json_key_same(const struct json_key *one, const struct json_key *other) {
    return one->mark == other->mark && one->size == other->size &&
           memcmp(one->text, other->text, one->size) == 0;
}

/* True if two of the keys are the same. May change their order. */
bool json_keys_repeat(struct json_key *keys, size_t count);
