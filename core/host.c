/* host.c - a Lua interpreter with moonshift.core inside, for specs only: `make asan` and `make
 * tsan` run the suite in an instrumented one. Takes `-e code` and a script with its arguments. */
#include "lua/api.h"
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <string.h>

static int traceback(lua_State *L) {
    const char *text = luaL_tolstring(L, 1, NULL);
    luaL_traceback(L, L, text, 1);
    return 1;
}

static void set_arguments(lua_State *L, int argc, char **argv, int script) {
    lua_newtable(L);
    for (int i = 0; i < argc; i++) {
        lua_pushstring(L, argv[i]);
        lua_rawseti(L, -2, i - script);
    }
    lua_setglobal(L, "arg");
}

/* True if `status` is LUA_OK; else prints the message on top. */
static bool check(lua_State *L, int status) {
    if (status != LUA_OK)
        fprintf(stderr, "host: %s\n", lua_tostring(L, -1));
    return status == LUA_OK;
}

/* Calls the chunk on top with the arguments after the script's name. */
static bool call(lua_State *L, int argc, char **argv, int script) {
    int count = 0;
    for (int i = script + 1; i < argc; i++, count++)
        lua_pushstring(L, argv[i]);
    return check(L, lua_pcall(L, count, 0, 1));
}

static bool run(lua_State *L, int argc, char **argv) {
    int script = 1;
    while (script + 1 < argc && strcmp(argv[script], "-e") == 0)
        script += 2;
    set_arguments(L, argc, argv, script);
    for (int i = 2; i < script; i += 2)
        if (!check(L, luaL_loadstring(L, argv[i])) || !call(L, 0, argv, script))
            return false;
    if (script >= argc)
        return true;
    return check(L, luaL_loadfile(L, argv[script])) && call(L, argc, argv, script);
}

int main(int argc, char **argv) {
    lua_State *L = luaL_newstate();
    if (!L)
        return 1;
    luaL_openlibs(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_moonshift_core);
    lua_setfield(L, -2, "moonshift.core");
    lua_settop(L, 0);
    lua_pushcfunction(L, traceback);
    bool fine = run(L, argc, argv);
    lua_close(L);
    return fine ? 0 : 1;
}
