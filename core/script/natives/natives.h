/* natives.h - what C gives to the Lua half of a script, as one table. Private to script/. */
#ifndef MOONSHIFT_SCRIPT_NATIVES_NATIVES_H
#define MOONSHIFT_SCRIPT_NATIVES_NATIVES_H

#include "script/script_state.h"

/* Pushes { paths, load, text, loading, is_store, print, rep, move, resume, wrap, close, execute,
 * popen, check_spec, now, job = { … } }; may raise for memory. */
void natives_push(struct script *script, lua_State *L);

/* The parts, each adding its functions to the table on top. */
void natives_add(struct script *script, lua_State *L, const luaL_Reg *functions);
void coroutine_add(struct script *script, lua_State *L);
void process_add(struct script *script, lua_State *L);
void verbs_add(struct script *script, lua_State *L);

#endif
