#include "script/decode.h"
#include "base/json.h"
#include "base/json_scan.h"
#include "script/value.h"
#include <lauxlib.h>

/* Members or elements that wait on the stack, so that their table is made as large as it must be.
 */
enum { WAIT_MAX = 32 };

enum { SHORT_MAX = 512 }; /* bytes of a text that loses its escapes without memory of its own */

enum { SHAPE_MAX = 16 };

/* The keys of the first object in an array. The next ones mostly have the same in the same order:
 * then these are taken, and neither read nor looked up again. */
struct shape {
    int base; /* stack index of the first one; there is room for SHAPE_MAX */
    int count;
    bool whole; /* all have been learned */
    struct {
        struct json_piece quoted; /* as it is written, its quotes included */
        struct json_key key;
    } keys[SHAPE_MAX];
};

struct decoder {
    struct json_scan scan;
    lua_State *L;
    int mark; /* stack index of the metatable of arrays */
};

/* `shape`: of the array that it is an element of, or NULL. */
static bool push_value(struct decoder *decoder, int depth, struct shape *shape);

/* ---- texts and numbers ---- */

static bool push_long_unescaped(lua_State *L, const struct json_piece *piece) {
    luaL_Buffer buffer;
    size_t size = 0;
    char *room = luaL_buffinitsize(L, &buffer, piece->size);
    bool fine = json_unescape(piece, room, &size);
    luaL_pushresultsize(&buffer, size);
    return fine;
}

static bool push_unescaped(lua_State *L, const struct json_piece *piece) {
    char room[SHORT_MAX];
    size_t size;
    if (piece->size > sizeof room)
        return push_long_unescaped(L, piece);
    if (!json_unescape(piece, room, &size))
        return false;
    lua_pushlstring(L, room, size);
    return true;
}

static bool push_text(struct decoder *decoder) {
    struct json_piece piece;
    if (!json_scan_text(&decoder->scan, &piece))
        return false;
    if (piece.escaped)
        return push_unescaped(decoder->L, &piece);
    lua_pushlstring(decoder->L, piece.text, piece.size);
    return true;
}

static bool push_number(struct decoder *decoder) {
    struct json_number number;
    if (!json_scan_number(&decoder->scan, &number))
        return false;
    if (number.is_real)
        lua_pushnumber(decoder->L, number.real);
    else
        lua_pushinteger(decoder->L, number.whole);
    return true;
}

static bool push_word(struct decoder *decoder) {
    struct json_scan *scan = &decoder->scan;
    bool yes = json_scan_word(scan, "true", 4);
    if (yes || json_scan_word(scan, "false", 5))
        lua_pushboolean(decoder->L, yes);
    else if (json_scan_word(scan, "null", 4))
        value_push_null(decoder->L);
    else
        return false;
    return true;
}

/* ---- arrays ---- */

/* The table of what waits above its place on the stack, which is taken by it. */
static void fill_array(lua_State *L, int place) {
    int count = lua_gettop(L) - place;
    lua_createtable(L, count, 0);
    lua_replace(L, place);
    for (; count > 0; count--)
        lua_rawseti(L, place, count);
}

static bool push_elements(struct decoder *decoder, int place, int depth, struct shape *shape) {
    lua_State *L = decoder->L;
    lua_Integer count = 0;
    do {
        if (!push_value(decoder, depth + 1, shape))
            return false;
        if (++count == WAIT_MAX)
            fill_array(L, place);
        else if (count > WAIT_MAX)
            lua_rawseti(L, place, count);
    } while (json_scan_take(&decoder->scan, ','));
    if (count < WAIT_MAX)
        fill_array(L, place);
    return json_scan_take(&decoder->scan, ']');
}

/* Pushes the array's table. */
static bool push_table(struct decoder *decoder, int depth, struct shape *shape) {
    lua_State *L = decoder->L;
    lua_pushnil(L);
    int place = lua_gettop(L);
    if (json_scan_take(&decoder->scan, ']'))
        fill_array(L, place);
    else if (!push_elements(decoder, place, depth, shape))
        return false;
    lua_pushvalue(L, decoder->mark);
    lua_setmetatable(L, place);
    return true;
}

static bool push_array(struct decoder *decoder, int depth) {
    lua_State *L = decoder->L;
    struct shape shape;
    decoder->scan.at++;
    if (json_scan_next(&decoder->scan) != '{')
        return push_table(decoder, depth, NULL);
    shape.base = lua_gettop(L) + 1;
    shape.count = 0;
    shape.whole = false;
    lua_settop(L, shape.base + SHAPE_MAX - 1);
    if (!push_table(decoder, depth, &shape))
        return false;
    lua_copy(L, -1, shape.base);
    lua_settop(L, shape.base);
    return true;
}

/* ---- objects ---- */

static void fill_object(lua_State *L, int place) {
    int count = (lua_gettop(L) - place) / 2;
    lua_createtable(L, 0, count);
    lua_replace(L, place);
    for (; count > 0; count--)
        lua_rawset(L, place);
}

static bool push_known_key(struct decoder *decoder, const struct shape *shape, size_t at,
                           struct json_key *key) {
    struct json_scan *scan = &decoder->scan;
    if (!shape || !shape->whole || at >= (size_t)shape->count)
        return false;
    const struct json_piece *quoted = &shape->keys[at].quoted;
    if ((size_t)(scan->end - scan->at) < quoted->size ||
        memcmp(scan->at, quoted->text, quoted->size) != 0)
        return false;
    scan->at += quoted->size;
    *key = shape->keys[at].key;
    lua_pushvalue(decoder->L, shape->base + (int)at);
    return true;
}

static void learn_key(struct decoder *decoder, struct shape *shape, const char *from,
                      const struct json_key *key) {
    int at = shape->count++;
    shape->keys[at].quoted.text = from;
    shape->keys[at].quoted.size = (size_t)(decoder->scan.at - from);
    shape->keys[at].key = *key;
    lua_copy(decoder->L, -1, shape->base + at);
}

/* *known: it is that of the shape at this place. */
static bool push_key(struct decoder *decoder, struct shape *shape, size_t at, struct json_key *key,
                     bool *known) {
    size_t size;
    if (json_scan_next(&decoder->scan) != '"')
        return false;
    const char *from = decoder->scan.at;
    *known = push_known_key(decoder, shape, at, key);
    if (*known)
        return true;
    if (!push_text(decoder))
        return false;
    const char *text = lua_tolstring(decoder->L, -1, &size);
    *key = json_key(text, size);
    if (shape && !shape->whole && at < SHAPE_MAX)
        learn_key(decoder, shape, from, key);
    return true;
}

/* Into a table that is there: a key that it has is refused. */
static bool set_member(lua_State *L, int place) {
    lua_pushvalue(L, -2);
    bool fresh = lua_rawget(L, place) == LUA_TNIL;
    lua_pop(L, 1);
    lua_rawset(L, place);
    return fresh;
}

static bool push_members(struct decoder *decoder, int place, int depth, struct shape *shape) {
    struct json_key keys[WAIT_MAX], key;
    size_t count = 0;
    bool known, all_known = true; /* those of a shape do not repeat */
    do {
        if (!push_key(decoder, shape, count, &key, &known) ||
            !json_scan_take(&decoder->scan, ':') || !push_value(decoder, depth + 1, NULL))
            return false;
        all_known = all_known && known;
        if (count >= WAIT_MAX) {
            if (!set_member(decoder->L, place))
                return false;
            continue;
        }
        keys[count++] = key;
        if (count < WAIT_MAX)
            continue;
        if (json_keys_repeat(keys, count))
            return false;
        fill_object(decoder->L, place);
    } while (json_scan_take(&decoder->scan, ','));
    if (count < WAIT_MAX) {
        if (!all_known && json_keys_repeat(keys, count))
            return false;
        fill_object(decoder->L, place);
    }
    return json_scan_take(&decoder->scan, '}');
}

static bool push_object(struct decoder *decoder, int depth, struct shape *shape) {
    decoder->scan.at++;
    lua_pushnil(decoder->L);
    int place = lua_gettop(decoder->L);
    if (json_scan_take(&decoder->scan, '}')) {
        fill_object(decoder->L, place);
        return true;
    }
    if (!push_members(decoder, place, depth, shape))
        return false;
    if (shape)
        shape->whole = true;
    return true;
}

/* ---- values ---- */

static bool push_value(struct decoder *decoder, int depth, struct shape *shape) {
    char byte = json_scan_next(&decoder->scan);
    if (byte == '"')
        return push_text(decoder);
    if (byte == '-' || (byte >= '0' && byte <= '9'))
        return push_number(decoder);
    if (byte != '{' && byte != '[')
        return push_word(decoder);
    if (depth > JSON_DEPTH || !lua_checkstack(decoder->L, 2 * WAIT_MAX + SHAPE_MAX + 8))
        return false;
    return byte == '{' ? push_object(decoder, depth, shape) : push_array(decoder, depth);
}

bool decode_push(lua_State *L, const char *text, size_t size) {
    struct decoder decoder = {.scan = {text, text + size}, .L = L};
    int top = lua_gettop(L);
    if (json_scan_next(&decoder.scan) == 'n') /* nothing, at the top */
        return false;
    value_push_array_mark(L);
    decoder.mark = top + 1;
    if (!push_value(&decoder, 1, NULL) || !json_scan_done(&decoder.scan)) {
        lua_settop(L, top);
        return false;
    }
    lua_replace(L, decoder.mark);
    return true;
}
