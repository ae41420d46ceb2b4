/* libraries.h - the C libraries that every Lua state has besides its own rules.
 *
 * This room only declares the list. core/process/libraries.c fills it, because a room includes
 * nothing from a room below it. */
#pragma once

#include <lauxlib.h>

/* Loaded by their names when a script asks for them; the last has no name. */
extern const luaL_Reg script_libraries[];
