/* lua_engine.h - the engine as a Lua object; shared by the files lua_*.c. */
#pragma once

#include "engine/engine.h"
#include "lua/api.h"
#include "run/stepper.h"
#include <lauxlib.h>

#define ENGINE_TYPE "moonshift.core.engine"
#define CLOCK_TYPE "moonshift.core.clock"
#define EXECUTOR_TYPE "moonshift.core.executor"
#define JSON_TYPE "moonshift.core.json"

struct lua_engine {
    struct engine *engine;   /* NULL once closed */
    struct stepper *stepper; /* drives it on this thread; NULL once closed */
    struct settings settings;
    bool has_settings;
    json_t *paths;   /* the script folders, an array of texts; NULL: none */
    json_t *options; /* settings given to open */
    struct folder *folder;
    int thread;                      /* registry ref of the thread that is borrowed, or LUA_NOREF */
    struct script_borrowed borrowed; /* with that thread */
};

/* Argument 1 as an engine; raises for anything else. */
struct lua_engine *lua_engine_self(lua_State *L);
/* The same if it is open; NULL: `error` says that it is closed. */
struct engine *lua_engine_open(lua_State *L, struct error *error);

/* Methods of the other files, set on the table on top. */
void lua_creation_register(lua_State *L);
void lua_questions_register(lua_State *L);
void lua_commands_register(lua_State *L);
int lua_columns(lua_State *L);
void lua_batches_register(lua_State *L);

/* Pushes { done, failed } or, of a turn, { settled, acquired, done, failed, wait }. */
int lua_run_push(lua_State *L, const struct stepper_run *run, bool turned);

/* Constructors of `moonshift.core`. */
void lua_engine_register(lua_State *L);
void lua_clock_register(lua_State *L);
void lua_executor_register(lua_State *L);
void lua_face_register(lua_State *L);

/* Pushes a box that releases the JSON value put into it, whatever Lua raises meanwhile. */
json_t **api_box(lua_State *L);
/* Pushes the box's value (rows without their nulls: absent is nil) and empties the box. */
int api_push_rows(lua_State *L, json_t **box);
void api_strip_rows(json_t *rows);
/* The same at every depth, for rows without payloads. */
int api_push_report(lua_State *L, json_t **box);
int api_push_value(lua_State *L, json_t **box);
/* The table at `index` as JSON (new reference); an absent one is {}. NULL: error. */
json_t *api_object(lua_State *L, int index, const char *what, struct error *error);

/* The clock at `index`; NULL if there is none. Raises for anything else. */
struct clock *lua_clock_opt(lua_State *L, int index);
