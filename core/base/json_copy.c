#include "base/json_copy.h"
#include "base/json.h"
#include <stdlib.h>

static void put(struct json_copier *copier, const char *text, size_t size) {
    memcpy(copier->out, text, size);
    copier->out += size;
}

/* Copies what was read up to `to`; what is read behind `next` is copied later. */
static void put_read(struct json_copier *copier, const char *to, const char *next) {
    put(copier, copier->from, (size_t)(to - copier->from));
    copier->from = next;
}

static void leave_blanks(struct json_copier *copier) {
    const char *from = copier->scan.at;
    json_scan_blanks(&copier->scan);
    put_read(copier, from, copier->scan.at);
}

/* The next byte behind white space, or 0. */
static inline char next(struct json_copier *copier) {
    const struct json_scan *scan = &copier->scan;
    if (scan->at < scan->end && (unsigned char)*scan->at <= ' ')
        leave_blanks(copier);
    return scan->at < scan->end ? *scan->at : '\0';
}

static inline bool take(struct json_copier *copier, char byte) {
    bool there = next(copier) == byte;
    copier->scan.at += there;
    return there;
}

/* ---- texts and numbers ---- */

static void put_character(struct json_copier *copier, uint32_t character) {
    if (character < 0x20 || character == '"' || character == '\\')
        copier->out += json_write_escape(copier->out, (unsigned char)character);
    else
        copier->out += utf8_write(copier->out, character);
}

static bool put_escaped(struct json_copier *copier, const struct json_piece *piece) {
    const char *at = piece->text, *end = at + piece->size;
    while (at < end) {
        const char *next = memchr(at, '\\', (size_t)(end - at));
        put(copier, at, (size_t)((next ? next : end) - at));
        at = next ? next : end;
        uint32_t character = next ? json_escape_read(&at, end) : 0;
        if (next && character == 0)
            return false;
        if (next)
            put_character(copier, character);
    }
    return true;
}

/* *piece becomes what stands between the quotes in the copy. */
static bool copy_text(struct json_copier *copier, struct json_piece *piece) {
    if (!json_scan_text(&copier->scan, piece))
        return false;
    if (!piece->escaped)
        return true;
    put_read(copier, piece->text, copier->scan.at - 1);
    const char *text = copier->out;
    bool fine = put_escaped(copier, piece);
    *piece = (struct json_piece){.text = text, .size = (size_t)(copier->out - text)};
    return fine;
}

static bool copy_number(struct json_copier *copier) {
    struct json_number number;
    if (!json_scan_number(&copier->scan, &number))
        return false;
    if (number.is_real ? number.is_shortest : number.whole != 0 || number.size == 1)
        return true;
    put_read(copier, number.text, copier->scan.at);
    if (number.is_real)
        copier->out += json_write_real(copier->out, number.real);
    else /* -0 */
        *copier->out++ = '0';
    return true;
}

static bool copy_word(struct json_scan *scan) {
    return json_scan_word(scan, "true", 4) || json_scan_word(scan, "false", 5) ||
           json_scan_word(scan, "null", 4);
}

/* ---- arrays and objects ---- */

static bool copy_value(struct json_copier *copier, int depth);

static bool copy_array(struct json_copier *copier, int depth) {
    take(copier, '[');
    if (take(copier, ']'))
        return true;
    do {
        if (!copy_value(copier, depth + 1))
            return false;
    } while (take(copier, ','));
    return take(copier, ']');
}

/* Room for one key more. */
static bool keys_room(struct json_copier *copier) {
    if (copier->key_count < copier->key_room)
        return true;
    size_t room = copier->key_room ? 2 * copier->key_room : 64;
    struct json_key *keys = realloc(copier->keys, room * sizeof *keys);
    if (!keys)
        return false;
    copier->keys = keys;
    copier->key_room = room;
    return true;
}

/* Keys are compared as they are written, which is the same for the same text. */
static bool copy_member(struct json_copier *copier, int depth) {
    struct json_piece key;
    if (next(copier) != '"' || !copy_text(copier, &key) || !keys_room(copier))
        return false;
    copier->keys[copier->key_count++] = json_key(key.text, key.size);
    return take(copier, ':') && copy_value(copier, depth + 1);
}

static bool copy_object(struct json_copier *copier, int depth) {
    size_t first = copier->key_count;
    take(copier, '{');
    if (take(copier, '}'))
        return true;
    do {
        if (!copy_member(copier, depth))
            return false;
    } while (take(copier, ','));
    bool repeats = json_keys_repeat(copier->keys + first, copier->key_count - first);
    copier->key_count = first;
    return !repeats && take(copier, '}');
}

static bool copy_value(struct json_copier *copier, int depth) {
    struct json_piece piece;
    char byte = next(copier);
    if (byte == '"')
        return copy_text(copier, &piece);
    if (byte == '-' || (byte >= '0' && byte <= '9'))
        return copy_number(copier);
    if (byte != '{' && byte != '[')
        return copy_word(&copier->scan);
    if (depth > JSON_DEPTH)
        return false;
    return byte == '{' ? copy_object(copier, depth) : copy_array(copier, depth);
}

bool json_copy_value(struct json_copier *copier, int depth) {
    copier->from = copier->scan.at;
    bool fine = copy_value(copier, depth);
    put_read(copier, copier->scan.at, copier->scan.at);
    return fine;
}

void json_copier_clear(struct json_copier *copier) {
    free(copier->keys);
    copier->keys = NULL;
    copier->key_count = copier->key_room = 0;
}
