/* xml.c - XML as elements: what is read and written again reads back the same; a refusal has words
 * and a place in the text. */
#include "process/xml.h"
#include "../fuzz.h"
#include "base/text.h"
#include <lauxlib.h>

/* Calls read(text) and leaves its four results on the stack. */
static void read_text(lua_State *L, const char *text, size_t size) {
    luaopen_moonshift_xml(L);
    lua_getfield(L, -1, "read");
    lua_replace(L, -2);
    lua_pushlstring(L, text, size);
    PROMISE(lua_pcall(L, 1, 4, 0) == LUA_OK);
}

static void refused(lua_State *L, const char *text, size_t size) {
    size_t length, lines = 1;
    const char *message = lua_tolstring(L, -3, &length);
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n' || text[i] == '\r'; /* expat ends a line at both */
    PROMISE(message && length > 0 && utf8_valid(message, length, NULL));
    PROMISE(message[length - 1] != '.' && message[length - 1] != '\n');
    PROMISE(lua_tointeger(L, -2) >= 1 && (size_t)lua_tointeger(L, -2) <= lines);
    PROMISE(lua_tointeger(L, -1) >= 1 && (size_t)lua_tointeger(L, -1) <= size + 1);
}

static void escape(struct text *out, const char *data, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (strchr("<>&\"\t\n\r", data[i]))
            text_add(out, "&#%d;", data[i]);
        else
            text_append(out, data + i, 1);
}

/* The namespace that has a prefix of its own, and no other may have. */
static bool is_reserved(const char *ns, size_t size) {
    static const char reserved[] = "http://www.w3.org/XML/1998/namespace";
    return size == sizeof reserved - 1 && memcmp(ns, reserved, size) == 0;
}

/* The field `key` of the table on top, escaped. */
static void add_field(lua_State *L, struct text *out, const char *key) {
    size_t size;
    lua_getfield(L, -1, key);
    const char *data = lua_tolstring(L, -1, &size);
    PROMISE(data && utf8_valid(data, size, NULL));
    escape(out, data, size);
    lua_pop(L, 1);
}

static void add_name(lua_State *L, struct text *out) {
    size_t size = 0;
    lua_getfield(L, -1, "ns");
    const char *ns = lua_tolstring(L, -1, &size);
    if (ns)
        text_add(out, is_reserved(ns, size) ? "xml:" : "n:");
    lua_pop(L, 1);
    add_field(L, out, "name");
}

static void add_attributes(lua_State *L, struct text *out) {
    lua_getfield(L, -1, "attributes");
    for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
        const char *name = lua_tostring(L, -1), *space = strrchr(name, ' ');
        if (space && is_reserved(name, (size_t)(space - name))) {
            text_add(out, " xml:%s=\"", space + 1);
        } else if (space) {
            text_add(out, " xmlns:a%d=\"", (int)i);
            escape(out, name, (size_t)(space - name));
            text_add(out, "\" a%d:%s=\"", (int)i, space + 1);
        } else {
            text_add(out, " %s=\"", name);
        }
        lua_pop(L, 1);
        lua_getfield(L, -1, name);
        size_t size;
        const char *value = lua_tolstring(L, -1, &size);
        escape(out, value, size);
        text_add(out, "\"");
        lua_pop(L, 1);
    }
    lua_pop(L, 2);
}

/* Writes the element on top; its text stands before its children. */
static void add_element(lua_State *L, struct text *out) {
    luaL_checkstack(L, 8, NULL);
    text_add(out, "<");
    add_name(L, out);
    size_t size = 0;
    lua_getfield(L, -1, "ns");
    const char *ns = lua_tolstring(L, -1, &size);
    bool spaced = ns && !is_reserved(ns, size);
    lua_pop(L, 1);
    text_add(out, spaced ? " xmlns:n=\"" : "");
    if (spaced)
        add_field(L, out, "ns");
    text_add(out, spaced ? "\"" : "");
    add_attributes(L, out);
    text_add(out, ">");
    add_field(L, out, "text");
    lua_getfield(L, -1, "children");
    for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
        add_element(L, out);
        lua_pop(L, 1);
    }
    lua_pop(L, 2);
    text_add(out, "</");
    add_name(L, out);
    text_add(out, ">");
}

void fuzz_xml(const uint8_t *data, size_t size) {
    lua_State *L = luaL_newstate();
    struct text first = {0}, second = {0};
    PROMISE(L);
    read_text(L, (const char *)data, size);
    if (lua_isnil(L, 1)) {
        refused(L, (const char *)data, size);
    } else {
        lua_settop(L, 1);
        add_element(L, &first);
        lua_settop(L, 0);
        read_text(L, first.data, first.size);
        PROMISE(lua_istable(L, 1));
        lua_settop(L, 1);
        add_element(L, &second);
        PROMISE(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
    }
    text_clear(&first);
    text_clear(&second);
    lua_close(L);
}
