/* seen.h - where a running handler was last seen: the line, and the C function that the line had
 * called (rules §8: a handler that does not end is named). Written by the script's own thread, from
 * its hook or from inside a signal; any thread may read. */
#pragma once

#include "script/script.h"
#include <lua.h>
#include <stdatomic.h>
#include <stdint.h>

enum { SEEN_WORDS = 8 }; /* 64 bytes a name */

struct seen {
    _Atomic int line; /* 0: not seen yet */
    _Atomic uint64_t file[SEEN_WORDS], function[SEEN_WORDS];
};

void seen_forget(struct seen *seen);
/* The innermost line of Lua that runs in this coroutine. From its hook. */
void seen_note(struct seen *seen, lua_State *L);
/* The same from a signal that came at any instant: what cannot be read is left out. Only where
 * script_guard was called. */
void seen_note_guarded(struct seen *seen, lua_State *L);
/* "handlers/a.lua:3 (in find)", or "before its first line". */
void seen_text(const struct seen *seen, char text[SCRIPT_SEEN]);
