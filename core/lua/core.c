#include "base/json.h"
#include "lua/lua_engine.h"
#include "process/xml.h"
#include "script/lpeg.h"
#include "script/rules.h"
#include "script/value.h"

int api_fail(lua_State *L, const struct error *error) {
    lua_pushnil(L);
    lua_pushstring(L, error->text);
    lua_pushstring(L, error_code_name(error->code));
    return 3;
}

json_t **api_box(lua_State *L) {
    json_t **box = lua_newuserdatauv(L, sizeof *box, 0);
    *box = NULL;
    luaL_setmetatable(L, JSON_TYPE);
    return box;
}

static int box_gc(lua_State *L) {
    json_t **box = luaL_checkudata(L, 1, JSON_TYPE);
    json_decref(*box);
    *box = NULL;
    return 0;
}

int api_push_value(lua_State *L, json_t **box) {
    value_push_json(L, *box);
    json_decref(*box);
    *box = NULL;
    return 1;
}

static void strip(json_t *row) {
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(row, next, key, value) if (json_is_null(value))
        json_object_del(row, key);
}

void api_strip_rows(json_t *rows) {
    strip(rows);
    for (size_t i = 0; i < json_array_size(rows); i++)
        strip(json_array_get(rows, i));
}

int api_push_rows(lua_State *L, json_t **box) {
    api_strip_rows(*box);
    return api_push_value(L, box);
}

static void strip_all(json_t *value) {
    const char *key;
    json_t *member;
    strip(value);
    json_object_foreach(value, key, member)
        strip_all(member);
    for (size_t i = 0; i < json_array_size(value); i++)
        strip_all(json_array_get(value, i));
}

int api_push_report(lua_State *L, json_t **box) {
    strip_all(*box);
    return api_push_value(L, box);
}

json_t *api_object(lua_State *L, int index, const char *what, struct error *error) {
    if (lua_isnoneornil(L, index))
        return json_object();
    luaL_checktype(L, index, LUA_TTABLE);
    json_t *object = value_to_json(L, index, what, error);
    if (!object || json_is_object(object))
        return object;
    json_decref(object);
    error_set(error, ERROR_INVALID, "%s: a list (expected a table with names)", what);
    return NULL;
}

static void box_register(lua_State *L) {
    luaL_newmetatable(L, JSON_TYPE);
    lua_pushcfunction(L, box_gc);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
}

int luaopen_moonshift_core(lua_State *L) {
    json_setup();
    lpeg_preload(L);
    box_register(L);
    lua_newtable(L);
    lua_clock_register(L);
    lua_engine_register(L);
    lua_executor_register(L);
    lua_face_register(L);
    luaL_requiref(L, "moonshift.rules", luaopen_moonshift_rules, 0); /* for moonshift.json */
    lua_setfield(L, -2, "rules");
    lua_pushcfunction(L, luaopen_moonshift_xml);
    lua_call(L, 0, 1);
    lua_setfield(L, -2, "xml");
    lua_pushcfunction(L, luaopen_moonshift_back_off);
    lua_call(L, 0, 1);
    lua_setfield(L, -2, "back_off");
    lua_pushcfunction(L, lua_columns);
    lua_setfield(L, -2, "columns");
    lua_pushstring(L, MOONSHIFT_VERSION);
    lua_setfield(L, -2, "version");
    return 1;
}
