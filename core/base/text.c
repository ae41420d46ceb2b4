#include "base/text.h"
#include "base/ascii_scan.h"
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool text_reserve(struct text *text, size_t more) {
    if (text->failed || more > SIZE_MAX / 4 - text->size)
        return false;
    size_t need = text->size + more + 1;
    if (need <= text->room)
        return true;
    size_t room = need < 64 ? 64 : need + need / 2;
    char *data = realloc(text->data, room);
    if (!data)
        return false;
    text->data = data;
    text->room = room;
    return true;
}

char *text_make_room(struct text *text, size_t more) {
    text->failed = !text_reserve(text, more);
    return text->failed ? NULL : text->data + text->size;
}

void text_append(struct text *text, const char *data, size_t size) {
    if (!text_reserve(text, size)) {
        text->failed = true;
        return;
    }
    if (size)
        memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = 0;
}

/* Returns the length of the whole; it is written if that is less than the room that is left. */
__attribute__((format(printf, 2, 0))) static int text_try(struct text *text, const char *format,
                                                          va_list arguments) {
    size_t room = text->failed ? 0 : text->room - text->size;
    return vsnprintf(room ? text->data + text->size : NULL, room, format, arguments);
}

void text_add(struct text *text, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = text_try(text, format, arguments);
    bool fits = length >= 0 && (size_t)length < text->room - text->size && !text->failed;
    if (!fits && length >= 0 && text_reserve(text, (size_t)length)) {
        text_try(text, format, again);
        fits = true;
    }
    va_end(again);
    va_end(arguments);
    if (fits)
        text->size += (size_t)length;
    else
        text->failed = true;
    if (text->data)
        text->data[text->size] = 0;
}

void text_clear(struct text *text) {
    free(text->data);
    *text = (struct text){0};
}

/* Bytes of the well-formed character at `data`, 0 if there is none (Unicode 15, table 3-7). */
static size_t character(const unsigned char *data, size_t size) {
    unsigned char first = data[0], low = 0x80, high = 0xBF;
    if (first < 0x80)
        return 1;
    if (first < 0xC2 || first > 0xF4)
        return 0;
    size_t length = (size_t)2 + (first >= 0xE0) + (first >= 0xF0);
    if (size < length)
        return 0;
    if (first == 0xE0)
        low = 0xA0;
    else if (first == 0xED)
        high = 0x9F;
    else if (first == 0xF0)
        low = 0x90;
    else if (first == 0xF4)
        high = 0x8F;
    if (data[1] < low || data[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((data[i] & 0xC0) != 0x80)
            return 0;
    return length;
}

bool utf8_valid(const char *data, size_t size, size_t *offset) {
    size_t at = 0;
    while (size - at >= 8 && ascii_only(data + at))
        at += 8;
    while (at < size) {
        size_t length = character((const unsigned char *)data + at, size - at);
        if (length == 0) {
            if (offset)
                *offset = at;
            return false;
        }
        at += length;
    }
    return true;
}

bool utf8_has_control(const char *text) {
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if (*at < 0x20 || *at == 0x7F || (*at == 0xC2 && at[1] < 0xA0)) /* C1 lies behind 0xC2 */
            return true;
    return false;
}

/* Bytes of the character at `at` if it is one that text_add_visible spells out; else 0. */
static inline size_t hidden(const unsigned char *at) {
    if (at[0] >= 0x20 && at[0] < 0x7F)
        return 0;
    if (at[0] < 0x80)
        return at[0] != 0;
    if (at[0] == 0xC2)
        return at[1] >= 0x80 && at[1] < 0xA0 ? 2 : 0;
    if (at[0] == 0xD8)
        return at[1] == 0x9C ? 2 : 0;
    if (at[0] != 0xE2 || (at[1] != 0x80 && at[1] != 0x81))
        return 0;
    if (at[1] == 0x80)
        return at[2] == 0x8E || at[2] == 0x8F || (at[2] >= 0xA8 && at[2] <= 0xAE) ? 3 : 0;
    return at[2] >= 0xA6 && at[2] <= 0xA9 ? 3 : 0;
}

/* Of a character of up to three bytes. */
static unsigned code_point(const unsigned char *at, size_t bytes) {
    if (bytes == 1)
        return at[0];
    if (bytes == 2)
        return (at[0] & 0x1Fu) << 6 | (at[1] & 0x3Fu);
    return (at[0] & 0x0Fu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
}

bool utf8_has_hidden(const char *text) {
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if (hidden(at))
            return true;
    return false;
}

void text_add_visible(struct text *out, const char *text, const char *kept) {
    const unsigned char *at = (const unsigned char *)text, *from = at;
    while (*at) {
        size_t bytes = hidden(at);
        if (bytes && strchr(kept, *at))
            bytes = 0;
        if (bytes) {
            text_append(out, (const char *)from, (size_t)(at - from));
            text_add(out, "\\u%04x", code_point(at, bytes));
            from = at + bytes;
        }
        at += bytes ? bytes : 1;
    }
    text_append(out, (const char *)from, (size_t)(at - from));
}

/* Bytes of the well-formed character at `data`, 0 if there is none or it is NUL. */
static size_t good_character(const char *data, size_t size) {
    return *data ? character((const unsigned char *)data, size) : 0;
}

/* Bytes of such characters at the beginning, as many as `max` bytes hold. */
static size_t good_size(const char *data, size_t size, size_t max) {
    size_t at = 0, length = 0, least = size < max ? size : max;
    while (least - at >= 8 && ascii_without_nul(data + at))
        at += 8;
    while (at < size && (length = good_character(data + at, size - at)) && length <= max - at)
        at += length;
    return at;
}

char *utf8_clean(const char *data, size_t size, size_t max) {
    static const char bad[] = "\xEF\xBF\xBD";
    struct text clean = {0};
    size_t at = good_size(data, size, max);
    text_append(&clean, data, at);
    while (at < size && !good_character(data + at, size - at) && clean.size + 3 <= max) {
        size_t good = good_size(data + at + 1, size - at - 1, max - clean.size - 3);
        text_append(&clean, bad, 3);
        text_append(&clean, data + at + 1, good);
        at += 1 + good;
    }
    if (clean.failed)
        text_clear(&clean);
    return clean.data;
}

size_t utf8_prefix(const char *text, size_t characters) {
    size_t at = 0;
    while (text[at] && characters-- > 0) {
        do
            at++;
        while (((unsigned char)text[at] & 0xC0) == 0x80);
    }
    return at;
}

#define WORD_MAX 64 /* longer words have no near neighbour worth naming */

static size_t smallest(size_t a, size_t b, size_t c) {
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Edits that turn one word into the other: insert, delete, replace, swap neighbours. */
static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size) {
    unsigned char rows[3][WORD_MAX + 1];
    for (size_t j = 0; j <= b_size; j++)
        rows[0][j] = (unsigned char)j;
    for (size_t i = 1; i <= a_size; i++) {
        unsigned char *row = rows[i % 3], *above = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
        row[0] = (unsigned char)i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t replace = above[j - 1] + (size_t)(a[i - 1] != b[j - 1]);
            size_t best = smallest(replace, above[j] + 1u, row[j - 1] + 1u);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = smallest(best, before[j - 2] + 1u, best);
            row[j] = (unsigned char)best;
        }
    }
    return rows[a_size % 3][b_size];
}

bool is_one_of(const char *word, const char *const *names) {
    while (*names && strcmp(*names, word) != 0)
        names++;
    return *names != NULL;
}

/* How many edits lead from a word of so many letters to one that may be meant. */
static size_t edits_meant(size_t letters) {
    if (letters < 5)
        return letters > 1;
    return letters < 12 ? 2 : letters / 4;
}

const char *suggest(const char *word, const char *const *names) {
    size_t size = strlen(word);
    if (size == 0 || size > WORD_MAX)
        return NULL;
    const char *closest = NULL;
    size_t least = edits_meant(size - strspn(word, "-")) + 1;
    for (; *names; names++) {
        size_t length = strlen(*names);
        if (length > WORD_MAX)
            continue;
        size_t edits = distance(word, size, *names, length);
        if (edits < least) {
            least = edits;
            closest = *names;
        }
    }
    return closest;
}

static char *read_all(FILE *file, size_t *size) {
    struct text text = {0};
    char part[16384];
    size_t got;
    text_append(&text, "", 0);
    while ((got = fread(part, 1, sizeof part, file)) > 0)
        text_append(&text, part, got);
    int reason = text.failed ? ENOMEM : 0;
    if (ferror(file))
        reason = errno;
    fclose(file);
    if (reason) {
        text_clear(&text);
        errno = reason;
        return NULL;
    }
    *size = text.size;
    return text.data;
}

char *file_read(const char *path, size_t *size) {
    FILE *file = fopen(path, "rbe");
    return file ? read_all(file, size) : NULL;
}

char *file_read_open(int file, size_t *size) {
    FILE *stream = fdopen(file, "rb");
    if (stream)
        return read_all(stream, size);
    int reason = errno;
    close(file);
    errno = reason;
    return NULL;
}

int64_t text_hash(const char *text) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
    int64_t id = (int64_t)((hash ^ hash >> 63) & INT64_MAX);
    return id ? id : 1;
}
