#include "api/lua_engine.h"
#include "script/value.h"
#include <string.h>

/* engine:enqueue and engine:enqueue_many. No Lua function that can raise is called while C memory
 * is held, except through value_to_json, which never raises. */

static bool add_payload(lua_State *L, int index, json_t *spec, struct error *error) {
    if (lua_isnoneornil(L, index))
        return true;
    json_t *payload = value_to_json(L, index, "payload", error);
    return payload && json_object_set_new_nocheck(spec, "payload", payload) == 0;
}

/* The options as a draft's object; handler and payload have their own places. */
static json_t *read_options(lua_State *L, int index, struct error *error) {
    if (lua_isnoneornil(L, index))
        return json_object();
    json_t *spec = value_to_json(L, index, "options", error);
    const char *taken = json_object_get(spec, "handler")   ? "handler"
                        : json_object_get(spec, "payload") ? "payload"
                                                           : NULL;
    if (spec && json_is_object(spec) && !taken)
        return spec;
    if (taken)
        error_set(error, ERROR_INVALID, "options: unknown key \"%s\"", taken);
    else if (spec)
        error_set(error, ERROR_INVALID, "options: a list (expected a table with names)");
    json_decref(spec);
    return NULL;
}

/* handler, payload, options at `index` and the two after it. */
static json_t *read_spec(lua_State *L, int index, struct error *error) {
    size_t size;
    const char *handler = lua_tolstring(L, index, &size);
    json_t *spec = read_options(L, index + 2, error);
    if (!spec)
        return NULL;
    json_t *name = json_stringn(handler, size);
    if (!name)
        error_set(error, ERROR_INVALID, "handler: not valid UTF-8 (expected a name)");
    else if (json_object_set_new_nocheck(spec, "handler", name) == 0 &&
             add_payload(L, index + 1, spec, error))
        return spec;
    json_decref(spec);
    return NULL;
}

static int enqueue(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    luaL_checktype(L, 2, LUA_TSTRING);
    if (!lua_isnoneornil(L, 4))
        luaL_checktype(L, 4, LUA_TTABLE);
    if (!engine)
        return api_fail(L, &error);
    struct engine_created created = {0};
    json_t *spec = read_spec(L, 2, &error);
    json_t *specs = spec ? json_array() : NULL;
    bool ok = specs && json_array_append_new(specs, spec) == 0 &&
              engine_enqueue(engine, specs, &created, &error);
    json_decref(specs);
    if (!ok)
        return api_fail(L, &error);
    lua_pushinteger(L, created.id);
    lua_pushstring(L, creation_name(created.creation));
    return 2;
}

/* Checks the shape of every entry before any memory is held. */
static lua_Integer check_entries(lua_State *L) {
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_Integer count = luaL_len(L, 2);
    for (lua_Integer i = 1; i <= count; i++) {
        if (lua_rawgeti(L, 2, i) != LUA_TTABLE)
            return luaL_error(L, "entry %I: a %s (expected { handler, payload, options })", i,
                              luaL_typename(L, -1));
        if (lua_rawgeti(L, -1, 1) != LUA_TSTRING)
            return luaL_error(L, "entry %I: handler is a %s (expected a name)", i,
                              luaL_typename(L, -1));
        int options = lua_rawgeti(L, -2, 3);
        if (options != LUA_TNIL && options != LUA_TTABLE)
            return luaL_error(L, "entry %I: options is a %s (expected a table)", i,
                              luaL_typename(L, -1));
        lua_pop(L, 3);
    }
    return count;
}

static json_t *read_entries(lua_State *L, lua_Integer count, struct error *error) {
    json_t *specs = json_array();
    for (lua_Integer i = 1; specs && i <= count; i++) {
        int entry = lua_gettop(L) + 1;
        lua_rawgeti(L, 2, i);
        for (int part = 1; part <= 3; part++)
            lua_rawgeti(L, entry, part);
        struct error cause;
        json_t *spec = read_spec(L, entry + 1, &cause);
        lua_settop(L, entry - 1);
        if (spec && json_array_append_new(specs, spec) == 0)
            continue;
        error_set(error, cause.code, "entry %lld: %s", (long long)i, cause.text);
        json_decref(specs);
        return NULL;
    }
    return specs;
}

/* ids, outcomes */
static int push_created(lua_State *L, const struct engine_created *created, lua_Integer count) {
    lua_createtable(L, (int)count, 0);
    lua_createtable(L, (int)count, 0);
    for (lua_Integer i = 0; i < count; i++) {
        lua_pushinteger(L, created[i].id);
        lua_rawseti(L, -3, i + 1);
        lua_pushstring(L, creation_name(created[i].creation));
        lua_rawseti(L, -2, i + 1);
    }
    return 2;
}

static int enqueue_many(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    lua_Integer count = check_entries(L);
    struct engine_created *created = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *created, 0);
    luaL_checkstack(L, 8, NULL);
    if (!engine)
        return api_fail(L, &error);
    json_t *specs = read_entries(L, count, &error);
    bool ok = specs && engine_enqueue(engine, specs, created, &error);
    json_decref(specs);
    return ok ? push_created(L, created, count) : api_fail(L, &error);
}

static const luaL_Reg methods[] = {
    {"enqueue", enqueue},
    {"enqueue_many", enqueue_many},
    {NULL, NULL},
};

void lua_creation_register(lua_State *L) {
    luaL_setfuncs(L, methods, 0);
}
