/* lpeg.h - LPeg, which reads expressions, as the module "lpeg" of a state. */
#pragma once

#include <lua.h>

/* Lets `require "lpeg"` give the linked library. A copy that the state has stays: patterns of two
 * copies must not meet in one state. Built with LPEG_BY_REQUIRE, it does nothing: `require` looks
 * for an installed module. */
void lpeg_preload(lua_State *L);
