/* decode.h - JSON text to Lua values without anything between (rules §1: payloads). */
#pragma once

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

/* Pushes what value_push_json makes of json_read, in one pass over the text. False: nothing is
 * pushed, and json_read knows why, or takes a null or a number of unusual length. May raise for
 * memory: call it under protection. */
bool decode_push(lua_State *L, const char *text, size_t size);
