/* handle.h - `job`, the object that handlers, priorities and strategies see. Private to script/. */
#pragma once

#include "script/script_state.h"

/* A userdata; its user value keeps the decoded payload. */
struct handle {
    struct script *script;
    const struct job *job; /* NULL once its call has ended */
    struct run *run;       /* NULL: fields only (a priority, a strategy) */
    json_t *json;          /* while it is being turned into Lua */
    int anchor;            /* registry ref: it outlives the stack that an error takes down */
    bool decoded;
};

/* Pushes the metatable that all handles share, made once: `methods` and `engine` are functions of
 * lua/moonshift/job.lua, on top of the stack and popped. May raise. */
void handle_prepare(struct script *script, lua_State *L);

/* Pushes the array of the names of a job's fields; methods and the engine are none. */
void handle_push_fields(lua_State *L);

/* Pushes a new object for `job`. It must be ended before `job` goes. May raise for memory. */
struct handle *handle_push(struct script *script, lua_State *L, const struct job *job,
                           struct run *run);
void handle_end(struct handle *handle); /* NULL is fine */

/* The object at argument 1, with a running handler behind it; else raises. */
struct handle *handle_check(lua_State *L);
/* The same, also where its handler does not run: for what is only read. */
struct handle *handle_look(lua_State *L);
