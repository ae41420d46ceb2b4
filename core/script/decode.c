#include "script/decode.h"
#include "base/ascii_scan.h"
#include "base/text.h"
#include "script/value.h"

enum { DEPTH_MAX = 24, DIGITS_MAX = 18 };

/* Whatever needs a second look ends the reading. */
struct scan {
    lua_State *L;
    const char *at, *end;
};

static bool take(struct scan *scan, char byte) {
    bool there = scan->at < scan->end && *scan->at == byte;
    scan->at += there;
    return there;
}

/* Bytes up to the closing quote; none of them is escaped. */
static bool text_size(const struct scan *scan, size_t *size) {
    size_t most = (size_t)(scan->end - scan->at), at = ascii_size(scan->at, most);
    bool plain = at < most && scan->at[at] == '"';
    while (!plain && at < most && (unsigned char)scan->at[at] >= 0x7f) {
        at++;
        at += ascii_size(scan->at + at, most - at);
    }
    *size = at;
    return at < most && scan->at[at] == '"' && (plain || utf8_valid(scan->at, at, NULL));
}

static bool push_text(struct scan *scan) {
    size_t size;
    if (!take(scan, '"') || !text_size(scan, &size))
        return false;
    lua_pushlstring(scan->L, scan->at, size);
    scan->at += size + 1;
    return true;
}

static bool is_digit(const struct scan *scan) {
    return scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9';
}

static bool push_integer(struct scan *scan) {
    bool negative = take(scan, '-');
    const char *from = scan->at;
    lua_Integer number = 0;
    for (; is_digit(scan) && scan->at - from < DIGITS_MAX; scan->at++)
        number = number * 10 + (*scan->at - '0');
    ptrdiff_t digits = scan->at - from;
    bool real = scan->at < scan->end && (*scan->at == '.' || *scan->at == 'e' || *scan->at == 'E');
    if (digits == 0 || is_digit(scan) || real || (*from == '0' && (digits > 1 || negative)))
        return false;
    lua_pushinteger(scan->L, negative ? -number : number);
    return true;
}

static bool take_word(struct scan *scan, const char *word) {
    size_t size = strlen(word);
    if ((size_t)(scan->end - scan->at) < size || memcmp(scan->at, word, size) != 0)
        return false;
    scan->at += size;
    return true;
}

static bool push_value(struct scan *scan, int depth);

static bool push_array(struct scan *scan, int depth) {
    lua_State *L = scan->L;
    scan->at++;
    lua_createtable(L, 0, 0);
    if (!take(scan, ']')) {
        lua_Integer count = 0;
        do {
            if (!push_value(scan, depth + 1))
                return false;
            lua_rawseti(L, -2, ++count);
        } while (take(scan, ','));
        if (!take(scan, ']'))
            return false;
    }
    value_mark_array(L);
    return true;
}

/* A key that is there already is refused, elsewhere. */
static bool push_member(struct scan *scan, int depth) {
    lua_State *L = scan->L;
    if (!push_text(scan) || !take(scan, ':'))
        return false;
    lua_pushvalue(L, -1);
    if (lua_rawget(L, -3) != LUA_TNIL)
        return false;
    lua_pop(L, 1);
    if (!push_value(scan, depth + 1))
        return false;
    lua_rawset(L, -3);
    return true;
}

static bool push_object(struct scan *scan, int depth) {
    scan->at++;
    lua_createtable(scan->L, 0, 0);
    if (take(scan, '}'))
        return true;
    do {
        if (!push_member(scan, depth))
            return false;
    } while (take(scan, ','));
    return take(scan, '}');
}

static bool push_word(struct scan *scan) {
    bool yes = take_word(scan, "true");
    if (yes || take_word(scan, "false"))
        lua_pushboolean(scan->L, yes);
    else if (take_word(scan, "null"))
        value_push_null(scan->L);
    else
        return false;
    return true;
}

static bool push_value(struct scan *scan, int depth) {
    if (depth > DEPTH_MAX || scan->at == scan->end || !lua_checkstack(scan->L, 8))
        return false;
    switch (*scan->at) {
    case '{':
        return push_object(scan, depth);
    case '[':
        return push_array(scan, depth);
    case '"':
        return push_text(scan);
    case 't':
    case 'f':
    case 'n':
        return push_word(scan);
    default:
        return push_integer(scan);
    }
}

bool decode_push(lua_State *L, const char *text, size_t size) {
    struct scan scan = {L, text, text + size};
    int top = lua_gettop(L);
    if (size == 0 || *text == 'n' || !push_value(&scan, 1) || scan.at != scan.end) {
        lua_settop(L, top);
        return false;
    }
    return true;
}
