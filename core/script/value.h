/* value.h - Lua values and JSON, both ways; moonshift.null, moonshift.array, exact integers
 * (rules §1: payloads). */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "job/spec_fast.h"
#include <jansson.h>
#include <lua.h>

/* The Lua value at `index` as JSON: a new reference, or NULL with an error that names the path:
 * `payload.items[3]: cannot store a function (expected nil, boolean, number, text or table)`.
 * Tables: empty is {}, 1..n is an array, text keys an object, mixed keys, NaN, infinities, cycles,
 * depth over 100 and invalid UTF-8 are errors. Never raises. */
json_t *value_to_json(lua_State *L, int index, const char *what, struct error *error);

/* Appends to `out` what json_write makes of value_to_json, without building it. False:
 * value_to_json knows why not, and `out` is of no use. Never raises. */
bool value_to_text(lua_State *L, int index, struct text *out);

/* The same with the error of value_to_json; false leaves `out` empty. */
bool value_write(lua_State *L, int index, const char *what, struct text *out, struct error *error);

/* Reads the option of a creation that is on top of the stack, its key below, into `fast`. *name is
 * the place of a text that the caller keeps (enum spec_name), else untouched. False: job_spec_read
 * knows why not. */
bool value_to_spec(lua_State *L, struct spec_fast *fast, int *name);

/* Pushes a JSON value: null inside tables is moonshift.null, at the top nil. May raise for memory:
 * call it under protection. */
void value_push_json(lua_State *L, const json_t *value);

/* Pushes moonshift.null / marks the table on top as an array (keeps [] and {} apart). */
void value_push_null(lua_State *L);
void value_mark_array(lua_State *L);
/* Pushes the metatable that marks an array. */
void value_push_array_mark(lua_State *L);
