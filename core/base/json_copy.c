#include "base/json_copy.h"
#include "base/json.h"
#include <stdlib.h>

static void put(struct json_copier *copier, const char *text, size_t size) {
    memcpy(copier->out, text, size);
    copier->out += size;
}

static bool take(struct json_copier *copier, char byte) {
    if (!json_scan_take(&copier->scan, byte))
        return false;
    *copier->out++ = byte;
    return true;
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

static bool copy_text(struct json_copier *copier) {
    struct json_piece piece;
    if (!json_scan_text(&copier->scan, &piece))
        return false;
    *copier->out++ = '"';
    if (!piece.escaped)
        put(copier, piece.text, piece.size);
    else if (!put_escaped(copier, &piece))
        return false;
    *copier->out++ = '"';
    return true;
}

static bool copy_number(struct json_copier *copier) {
    struct json_number number;
    if (!json_scan_number(&copier->scan, &number))
        return false;
    if (number.is_real)
        copier->out += json_write_real(copier->out, number.real);
    else if (number.whole == 0) /* also -0 */
        *copier->out++ = '0';
    else
        put(copier, number.text, number.size);
    return true;
}

static bool copy_word(struct json_copier *copier) {
    const char *from = copier->scan.at;
    if (!json_scan_word(&copier->scan, "true", 4) && !json_scan_word(&copier->scan, "false", 5) &&
        !json_scan_word(&copier->scan, "null", 4))
        return false;
    put(copier, from, (size_t)(copier->scan.at - from));
    return true;
}

/* ---- arrays and objects ---- */

static bool copy_array(struct json_copier *copier, int depth) {
    take(copier, '[');
    if (take(copier, ']'))
        return true;
    do {
        if (!json_copy_value(copier, depth + 1))
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
    const char *key = copier->out;
    if (json_scan_next(&copier->scan) != '"' || !copy_text(copier) || !keys_room(copier))
        return false;
    copier->keys[copier->key_count++] = json_key(key, (size_t)(copier->out - key));
    return take(copier, ':') && json_copy_value(copier, depth + 1);
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

bool json_copy_value(struct json_copier *copier, int depth) {
    char byte = json_scan_next(&copier->scan);
    if (byte == '"')
        return copy_text(copier);
    if (byte == '-' || (byte >= '0' && byte <= '9'))
        return copy_number(copier);
    if (byte != '{' && byte != '[')
        return copy_word(copier);
    if (depth > JSON_DEPTH)
        return false;
    return byte == '{' ? copy_object(copier, depth) : copy_array(copier, depth);
}

void json_copier_clear(struct json_copier *copier) {
    free(copier->keys);
    copier->keys = NULL;
    copier->key_count = copier->key_room = 0;
}
