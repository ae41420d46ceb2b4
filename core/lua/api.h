/* api.h - Lua calls C: the objects that `require "moonshift"` is made of. One file per type, static
 * functions, one luaL_Reg table at the bottom. Expected failure returns nil, message, code; misuse
 * raises. */
#pragma once

#include "base/error.h"
#include <lua.h>

/* `moonshift.core`, the C module behind lua/moonshift/init.lua. */
int luaopen_moonshift_core(lua_State *L);

/* `core.back_off`: the waits and pages of run/back_off.h as functions, for specs. */
int luaopen_moonshift_back_off(lua_State *L);

/* Pushes nil, message, code; returns 3. */
int api_fail(lua_State *L, const struct error *error);
