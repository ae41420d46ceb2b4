/* lua.c - payloads on their way into Lua and back: equal, with [] and {} and integers kept apart;
 * and the way without jansson takes and makes the same. */
#include "../fuzz.h"
#include "base/json.h"
#include "base/text.h"
#include "script/decode.h"
#include "script/value.h"
#include <lauxlib.h>
#include <math.h>

#define DEPTH 100

static int depth_of(const json_t *value) {
    int deepest = 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        int depth = depth_of(json_array_get(value, i));
        deepest = depth > deepest ? depth : deepest;
    }
    for (void *at = json_object_iter((json_t *)(uintptr_t)value); at;
         at = json_object_iter_next((json_t *)(uintptr_t)value, at)) {
        int depth = depth_of(json_object_iter_value(at));
        deepest = depth > deepest ? depth : deepest;
    }
    return json_is_array(value) || json_is_object(value) ? deepest + 1 : 0;
}

static int push(lua_State *L) {
    value_push_json(L, lua_touserdata(L, 1));
    return 1;
}

static void there_and_back(lua_State *L, json_t *value) {
    struct error error = {0};
    lua_pushcfunction(L, push);
    lua_pushlightuserdata(L, value);
    PROMISE(lua_pcall(L, 1, 1, 0) == LUA_OK && lua_gettop(L) == 1);
    json_t *again = value_to_json(L, -1, "payload", &error);
    PROMISE(lua_gettop(L) == 1);
    if (depth_of(value) > DEPTH) {
        PROMISE(!again);
        fuzz_refusal(&error, NULL);
    } else
        PROMISE(again && json_equal(value, again));
    json_decref(again);
    lua_settop(L, 0);
}

/* ---- without jansson ---- */

struct input {
    const char *text;
    size_t size;
    bool taken;
};

static int decode(lua_State *L) {
    struct input *input = lua_touserdata(L, 1);
    int top = lua_gettop(L);
    input->taken = decode_push(L, input->text, input->size);
    PROMISE(lua_gettop(L) == top + input->taken);
    return input->taken;
}

/* What may be left to jansson, which takes it: a number of a hundred bytes, and one with a zero
 * byte behind it. */
static bool is_unusual(const char *text, size_t size) {
    size_t run = 0;
    for (size_t i = 0; i < size && run < 100; i++)
        run = text[i] && strchr("+-.0123456789Ee", text[i]) ? run + 1 : 0;
    return run >= 100 || memchr(text, 0, size);
}

/* The value on top is `value`, to the last bit of its numbers, and is written the same. */
static void same(lua_State *L, json_t *value) {
    struct error error = {0};
    struct text text = {0};
    json_t *again = value_to_json(L, -1, "payload", &error);
    PROMISE(again && json_equal(value, again));
    char *first = json_write(value, NULL), *second = json_write(again, NULL);
    size_t length = strlen(second);
    PROMISE(value_to_text(L, -1, &text) && text.size == length &&
            memcmp(text.data, second, length) == 0);
    if (!json_is_object(value) && !json_is_array(value)) /* Lua has no order of keys */
        PROMISE(strcmp(first, second) == 0);
    free(first);
    free(second);
    text_clear(&text);
    json_decref(again);
}

/* Equal numbers have equal digits: json_equal takes -0.0 for 0.0. */
static void same_numbers(lua_State *L, json_t *value) {
    size_t i;
    json_t *element;
    json_array_foreach(value, i, element) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        if (json_is_array(element) || json_is_number(element))
            same_numbers(L, element);
        lua_pop(L, 1);
    }
    if (json_is_real(value))
        PROMISE(!lua_isinteger(L, -1) &&
                signbit(lua_tonumber(L, -1)) == signbit(json_real_value(value)));
}

static void in_one_pass(lua_State *L, const char *text, size_t size, json_t *value) {
    struct input input = {text, size, false};
    lua_pushcfunction(L, decode);
    lua_pushlightuserdata(L, &input);
    PROMISE(lua_pcall(L, 1, LUA_MULTRET, 0) == LUA_OK && lua_gettop(L) == input.taken);
    PROMISE(input.taken == (value && !json_is_null(value)) || (value && is_unusual(text, size)));
    if (input.taken) {
        luaL_checkstack(L, 200, NULL);
        same(L, value);
        same_numbers(L, value);
    }
    lua_settop(L, 0);
}

void fuzz_lua(const uint8_t *data, size_t size) {
    json_t *value = json_read((const char *)data, size, "payload", NULL);
    lua_State *L = luaL_newstate();
    PROMISE(L);
    in_one_pass(L, (const char *)data, size, value);
    if (value)
        there_and_back(L, value);
    lua_close(L);
    json_decref(value);
}
