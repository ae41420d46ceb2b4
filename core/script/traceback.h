/* traceback.h - where a script is: the words of luaL_traceback. The name of a function is looked
 * for once, as the modules that are loaded have hundreds. Private to script/. */
#pragma once

#include <lua.h>

/* Pushes a table that keeps the names of functions as long as these live. May raise for memory. */
void traceback_push_names(lua_State *L);
/* Pushes the text of all calls from `level` on; `names` is the index of such a table. May raise for
 * memory. */
void traceback_push(lua_State *L, int names, int level);
