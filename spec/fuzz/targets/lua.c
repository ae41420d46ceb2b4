/* lua.c - payloads on their way into Lua and back: equal, with [] and {} and integers kept apart.
 */
#include "../fuzz.h"
#include "base/json.h"
#include "script/value.h"
#include <lauxlib.h>

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

void fuzz_lua(const uint8_t *data, size_t size) {
    json_t *value = json_read((const char *)data, size, "payload", NULL);
    if (!value)
        return;
    lua_State *L = luaL_newstate();
    PROMISE(L);
    there_and_back(L, value);
    lua_close(L);
    json_decref(value);
}
