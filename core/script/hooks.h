/* hooks.h - the hooks of a folder, called with the events of jobs. Private to script/. */
#pragma once

#include "script/script_state.h"

/* After a run, its outcome decided. */
void hooks_run(struct run *run);

/* The native behind job:_tell of the stock handler moonshift/hook. */
int hooks_tell(lua_State *L);
