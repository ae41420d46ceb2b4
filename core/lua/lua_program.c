#include "lua/lua_program.h"
#include "base/clock.h"
#include "base/embedded.h"
#include "lua/api.h"
#include "script/value.h"
#include <lauxlib.h>
#include <lualib.h>
#include <string.h>

/* "moonshift" and "moonshift.engine" out of the program itself. */
static int search(lua_State *L) {
    const char *name = luaL_checkstring(L, 1);
    const char *file = luaL_gsub(L, name, ".", "/");
    const char *path =
        lua_pushfstring(L, strcmp(name, "moonshift") == 0 ? "lua/%s/init.lua" : "lua/%s.lua", file);
    const struct embedded *found = embedded_find(path);
    if (!found) {
        lua_pushfstring(L, "no embedded module '%s'", name);
        return 1;
    }
    if (luaL_loadbufferx(L, found->text, found->size, path, "t") != LUA_OK)
        return lua_error(L);
    return 1;
}

static int tell(lua_State *L) {
    const struct lua_program *program = lua_touserdata(L, lua_upvalueindex(1));
    lua_pushboolean(L, !program->tell || program->tell(program->arg, luaL_checkinteger(L, 1)));
    return 1;
}

static int now(lua_State *L) {
    lua_pushinteger(L, clock_monotonic_us());
    return 1;
}

static void add_modules(lua_State *L) {
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_moonshift_core);
    lua_setfield(L, -2, "moonshift.core");
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "searchers");
    lua_pushcfunction(L, search); /* before the disk: it belongs to this program */
    lua_rawseti(L, -2, 2);
    lua_settop(L, 0);
}

/* In a protected call: the program is the light userdata at 1; leaves its result. */
static int run(lua_State *L) {
    const struct lua_program *program = lua_touserdata(L, 1);
    const struct embedded *file = embedded_find(program->path);
    luaL_openlibs(L);
    add_modules(L);
    if (!file)
        return luaL_error(L, "no embedded file %s", program->path);
    if (luaL_loadbufferx(L, file->text, file->size, program->path, "t") != LUA_OK)
        return lua_error(L);
    value_push_json(L, program->asked);
    lua_pushlightuserdata(L, (void *)program);
    lua_pushcclosure(L, tell, 1);
    lua_pushcfunction(L, now);
    lua_call(L, 3, 1);
    return 1;
}

json_t *lua_program_run(const struct lua_program *program, struct error *error) {
    lua_State *L = luaL_newstate();
    json_t *result = NULL;
    if (!L) {
        error_no_memory(error);
        return NULL;
    }
    lua_pushcfunction(L, run);
    lua_pushlightuserdata(L, (void *)program);
    if (lua_pcall(L, 1, 1, 0) == LUA_OK)
        result = value_to_json(L, -1, "result", error);
    else
        error_set(error, ERROR_FAILED, "%s", luaL_tolstring(L, -1, NULL));
    lua_close(L);
    return result;
}
