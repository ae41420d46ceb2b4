#include "script/lpeg.h"

#ifdef LPEG_BY_REQUIRE

void lpeg_preload(lua_State *L) {
    (void)L;
}

#else

#include <lauxlib.h>
#include <lua-lpeg.h>
#include <stdbool.h>

/* True if the table of the registry has a field "lpeg". */
static bool knows(lua_State *L, const char *table) {
    luaL_getsubtable(L, LUA_REGISTRYINDEX, table);
    bool found = lua_getfield(L, -1, "lpeg") != LUA_TNIL;
    lua_pop(L, 2);
    return found;
}

void lpeg_preload(lua_State *L) {
    if (knows(L, LUA_LOADED_TABLE) || knows(L, LUA_PRELOAD_TABLE))
        return;
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_lpeg);
    lua_setfield(L, -2, "lpeg");
    lua_pop(L, 1);
}

#endif
