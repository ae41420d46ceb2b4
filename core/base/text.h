/* text.h - small helpers for text: growing buffers, UTF-8, "did you mean". */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A growing, always NUL-terminated buffer. Zero-initialise; free with text_clear. */
struct text {
    char *data;  /* NULL while empty */
    size_t size; /* bytes without the NUL */
    size_t room;
    bool failed; /* memory ran out: later appends do nothing */
};

/* Where so many more bytes may be written; the caller adds to `size` what they are, and a NUL.
 * NULL: no memory. */
char *text_make_room(struct text *text, size_t more);
void text_append(struct text *text, const char *data, size_t size);
/* The same, for few bytes of which there are many. */
static inline void text_push(struct text *text, const char *data, size_t size) {
    if (text->failed || size >= text->room - text->size) {
        text_append(text, data, size);
        return;
    }
    memcpy(text->data + text->size, data, size);
    text->size += size;
    text->data[text->size] = 0;
}
void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_clear(struct text *text);

/* True if `data` is well-formed UTF-8 (no surrogates, no overlong forms); else *offset is the first
 * bad byte. */
bool utf8_valid(const char *data, size_t size, size_t *offset);

/* Bytes of the byte order mark at the start of a file, with which editors of Windows save UTF-8; 0:
 * it has none. */
static inline size_t utf8_mark(const char *data, size_t size) {
    static const char mark[] = "\xEF\xBB\xBF";
    return size >= strlen(mark) && memcmp(data, mark, strlen(mark)) == 0 ? strlen(mark) : 0;
}

/* True if valid UTF-8 holds a control character (C0, DEL, C1). */
bool utf8_has_control(const char *text);

/* True if valid UTF-8 holds a character that steers a terminal: controls (C0, DEL, C1), line
 * and paragraph separators, and marks, overrides and isolates of writing direction. */
bool utf8_has_hidden(const char *text);

/* Appends the text with such characters spelled out as \u202e, but for those in `kept` (ASCII). */
void text_add_visible(struct text *out, const char *text, const char *kept);

/* A malloc'ed valid UTF-8, NUL-free copy of at most `max` bytes: bad bytes and NUL become U+FFFD,
 * cut at a character's edge. NULL: no memory. */
char *utf8_clean(const char *data, size_t size, size_t max);

/* Bytes of the first `characters` characters of valid UTF-8. */
size_t utf8_prefix(const char *text, size_t characters);

/* True if `word` is one of `names` (NULL-terminated). */
bool is_one_of(const char *word, const char *const *names);
/* The name in `names` (NULL-terminated) closest to `word`, if close enough to be meant; else NULL.
 */
const char *suggest(const char *word, const char *const *names);

/* The whole file into malloc'ed, NUL-terminated memory; *size without the NUL. NULL: errno says. */
char *file_read(const char *path, size_t *size);
/* The same of an open file, which is closed in any case. */
char *file_read_open(int file, size_t *size);

/* A positive number for a text (FNV-1a); the same in every version, because stores keep it. */
int64_t text_hash(const char *text);
