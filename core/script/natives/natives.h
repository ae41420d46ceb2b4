/* natives.h - what C gives to the Lua half of a script, as one table. Private to script/. */
#pragma once

#include "script/script_state.h"

/* The parts, each adding its functions to the table on top. */
void coroutine_add(struct script *script, lua_State *L);
void process_add(struct script *script, lua_State *L);
void http_add(struct script *script, lua_State *L);
void verbs_add(struct script *script, lua_State *L);
