#include "process/encoding.h"
#include <errno.h>
#include <iconv.h>
#include <stdio.h>
#include <strings.h>

#define DECLARATION "<?xml"
#define NAME_MAX_SIZE 40

static const char *past_space(const char *at, const char *end) {
    while (at < end && strchr(" \t\r\n", *at))
        at++;
    return at;
}

/* Copies the name between the quotes at `at`; false if it is none. Only letters, digits and . _ -
 * of it ever reach iconv. */
static bool name_at(const char *at, const char *end, char name[NAME_MAX_SIZE]) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (at == end || !strchr("'\"", *at))
        return false;
    const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
    size_t size = close ? (size_t)(close - at - 1) : 0;
    if (size == 0 || size >= NAME_MAX_SIZE)
        return false;
    memcpy(name, at + 1, size);
    name[size] = 0;
    return strspn(name, letters) == size;
}

/* The name that stands in the declaration, if any; false: none that can be read. */
static bool declared(const char *text, size_t size, char name[NAME_MAX_SIZE]) {
    if (size < strlen(DECLARATION) || memcmp(text, DECLARATION, strlen(DECLARATION)) != 0)
        return false;
    const char *end = memmem(text, size, "?>", 2);
    const char *at = end ? memmem(text, (size_t)(end - text), "encoding", 8) : NULL;
    if (!at)
        return false;
    at = past_space(at + 8, end);
    return at < end && *at == '=' && name_at(past_space(at + 1, end), end, name);
}

/* Those that expat has itself. Where UTF-16 is declared in single bytes, it says so. */
static bool is_expats(const char *name) {
    static const char *const names[] = {"UTF-8",    "UTF-16",   "UTF-16LE",
                                        "UTF-16BE", "US-ASCII", "ISO-8859-1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Appends the text as UTF-8; false: the byte at *at does not belong to the encoding. */
static bool turn(iconv_t table, const char *text, size_t size, struct text *out, size_t *at) {
    char *from = (char *)text, piece[4096];
    size_t left = size, made = 0;
    do {
        char *to = piece;
        size_t room = sizeof piece;
        made = iconv(table, left ? &from : NULL, &left, &to, &room);
        text_append(out, piece, sizeof piece - room);
        if (made == (size_t)-1 && errno != E2BIG) {
            *at = size - left;
            return false;
        }
    } while (left > 0 || made == (size_t)-1);
    return !out->failed;
}

static enum encoding_answer turned_by(iconv_t table, const char *name, const char *text,
                                      size_t size, struct text *out, char *refusal, size_t room,
                                      size_t *at) {
    if (!turn(table, text, size, out, at)) {
        snprintf(refusal, room, "byte 0x%02x is no text in the encoding \"%s\"",
                 *at < size ? (unsigned char)text[*at] : 0, name);
        return ENCODING_REFUSED;
    } else if (out->size < strlen(DECLARATION) || memcmp(out->data, text, strlen(DECLARATION))) {
        snprintf(refusal, room, "the encoding is not \"%s\", in which this line would be no XML",
                 name);
        return ENCODING_REFUSED;
    }
    return ENCODING_TURNED;
}

enum encoding_answer encoding_turn(const char *text, size_t size, struct text *out, char *refusal,
                                   size_t room, size_t *at) {
    char name[NAME_MAX_SIZE];
    *at = 0;
    if (!declared(text, size, name) || is_expats(name))
        return ENCODING_KNOWN;
    iconv_t table = iconv_open("UTF-8", name);
    if (table == (iconv_t)-1) {
        snprintf(refusal, room, "encoding \"%s\" is not known (expected one that iconv has)", name);
        return ENCODING_REFUSED;
    }
    enum encoding_answer answer = turned_by(table, name, text, size, out, refusal, room, at);
    iconv_close(table);
    return answer;
}
