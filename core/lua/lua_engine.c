#include "lua/lua_engine.h"
#include "engine/config.h"
#include "engine/home.h"
#include "script/value.h"
#include <string.h>

struct lua_engine *lua_engine_self(lua_State *L) {
    return luaL_checkudata(L, 1, ENGINE_TYPE);
}

struct engine *lua_engine_open(lua_State *L, struct error *error) {
    struct lua_engine *self = lua_engine_self(L);
    if (!self->engine)
        error_set(error, ERROR_CLOSED, "the engine is closed");
    return self->engine;
}

static void forget_refs(struct lua_engine *self) {
    struct script_borrowed *borrowed = &self->borrowed;
    self->thread = borrowed->modules = borrowed->handlers = LUA_NOREF;
    borrowed->missing = borrowed->http = LUA_NOREF;
}

static void release(lua_State *L, struct lua_engine *self) {
    stepper_free(self->stepper);
    engine_close(self->engine);
    self->stepper = NULL;
    self->engine = NULL;
    folder_release(self->folder);
    self->folder = NULL;
    if (self->has_settings)
        settings_clear(&self->settings);
    self->has_settings = false;
    json_decref(self->paths);
    json_decref(self->options);
    self->paths = self->options = NULL;
    luaL_unref(L, LUA_REGISTRYINDEX, self->thread);
    luaL_unref(L, LUA_REGISTRYINDEX, self->borrowed.modules);
    luaL_unref(L, LUA_REGISTRYINDEX, self->borrowed.handlers);
    luaL_unref(L, LUA_REGISTRYINDEX, self->borrowed.missing);
    luaL_unref(L, LUA_REGISTRYINDEX, self->borrowed.http);
    forget_refs(self);
}

static struct lua_engine *push(lua_State *L) {
    struct lua_engine *self = lua_newuserdatauv(L, sizeof *self, 1);
    memset(self, 0, sizeof *self);
    forget_refs(self);
    luaL_setmetatable(L, ENGINE_TYPE);
    return self;
}

static int field_ref(lua_State *L, const char *name) {
    if (lua_getfield(L, 1, name) != LUA_TNIL)
        return luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pop(L, 1);
    return LUA_NOREF;
}

/* A field of the options as JSON; NULL without an error if it is absent. */
static bool field_json(lua_State *L, const char *name, json_t **value, struct error *error) {
    bool given = lua_getfield(L, 1, name) != LUA_TNIL;
    *value = given ? value_to_json(L, -1, name, error) : NULL;
    lua_pop(L, 1);
    return !given || *value;
}

/* Handlers run on a thread of their own in the caller's state, so that a coroutine that called us
 * may go while the engine stays. */
static const struct script_borrowed *borrow(lua_State *L, struct lua_engine *self) {
    lua_getfield(L, 1, "borrow");
    bool wanted = lua_toboolean(L, -1);
    lua_pop(L, 1);
    if (!wanted)
        return NULL;
    self->borrowed.modules = field_ref(L, "modules");
    self->borrowed.handlers = field_ref(L, "handlers");
    self->borrowed.missing = field_ref(L, "missing");
    self->borrowed.http = field_ref(L, "http");
    self->borrowed.thread = lua_newthread(L);
    self->thread = luaL_ref(L, LUA_REGISTRYINDEX);
    return &self->borrowed;
}

static bool configure(lua_State *L, struct lua_engine *self, bool borrowed, struct error *error) {
    if (!field_json(L, "settings", &self->options, error) ||
        !field_json(L, "scripts", &self->paths, error))
        return false;
    if (self->paths || borrowed)
        self->folder = config_folder(self->paths, error);
    if ((self->paths || borrowed) && !self->folder)
        return false;
    self->has_settings = true;
    return config_settings(&self->settings, self->folder, self->paths, self->options, NULL,
                           error) &&
           home_check(&self->settings, error);
}

static int open_engine(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    struct error error = {0};
    struct lua_engine *self = push(L);
    struct engine_options options = {.settings = &self->settings, .mode = STORE_CREATE};
    options.borrowed = borrow(L, self);
    lua_getfield(L, 1, "clock");
    options.clock = lua_clock_opt(L, -1);
    lua_pop(L, 1);
    if (configure(L, self, options.borrowed, &error)) {
        options.folder = self->folder;
        self->engine = engine_open(&options, &error);
        self->stepper = self->engine ? stepper_new(self->engine, &error) : NULL;
    }
    if (self->stepper)
        return 1;
    release(L, self);
    return api_fail(L, &error);
}

static int close_engine(lua_State *L) {
    struct lua_engine *self = lua_engine_self(L);
    struct error error = {0};
    if (self->engine && !engine_idle(self->engine, &error))
        return api_fail(L, &error);
    release(L, self);
    lua_pushboolean(L, 1);
    return 1;
}

static int collect(lua_State *L) {
    release(L, lua_engine_self(L));
    return 0;
}

static int reload(lua_State *L) {
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    struct lua_engine *self = lua_engine_self(L);
    if (!engine)
        return api_fail(L, &error);
    if (!self->folder) {
        error_set(&error, ERROR_CONFLICT, "the engine has no script folder to reload");
        return api_fail(L, &error);
    }
    struct folder *folder = config_folder(self->paths, &error);
    bool ok = folder && engine_reload(engine, folder, &error);
    if (!ok) {
        folder_release(folder);
        return api_fail(L, &error);
    }
    folder_release(self->folder);
    self->folder = folder;
    lua_pushboolean(L, 1);
    return 1;
}

int lua_run_push(lua_State *L, const struct stepper_run *run, bool turned) {
    lua_createtable(L, 0, 5);
    lua_pushinteger(L, run->done);
    lua_setfield(L, -2, "done");
    lua_pushinteger(L, run->failed);
    lua_setfield(L, -2, "failed");
    if (!turned)
        return 1;
    lua_pushinteger(L, run->settled);
    lua_setfield(L, -2, "settled");
    lua_pushinteger(L, run->acquired);
    lua_setfield(L, -2, "acquired");
    lua_pushnumber(L, run->wait);
    lua_setfield(L, -2, "wait");
    return 1;
}

static int drain(lua_State *L) {
    struct error error = {0};
    struct stepper_run run;
    struct engine *engine = lua_engine_open(L, &error);
    lua_Integer max = luaL_checkinteger(L, 2);
    if (!engine || !stepper_drain(lua_engine_self(L)->stepper, max, &run, &error))
        return api_fail(L, &error);
    return lua_run_push(L, &run, false);
}

static int turn(lua_State *L) {
    struct error error = {0};
    struct stepper_run run;
    struct engine *engine = lua_engine_open(L, &error);
    if (!engine || !stepper_turn(lua_engine_self(L)->stepper, NULL, &run, &error))
        return api_fail(L, &error);
    return lua_run_push(L, &run, true);
}

/* Raises the value that the handler raised, if the state is borrowed; else the stored text. */
static int raise(lua_State *L, struct lua_engine *self, const struct error *error) {
    if (self->thread == LUA_NOREF) {
        lua_pushstring(L, error->text);
        return lua_error(L);
    }
    lua_rawgeti(L, LUA_REGISTRYINDEX, self->thread);
    lua_State *thread = lua_tothread(L, -1);
    engine_push_raised(self->engine);
    lua_xmove(thread, L, 1);
    if (lua_isnil(L, -1)) /* the store has refused what the handler asked for */
        lua_pushstring(L, error->text);
    return lua_error(L);
}

static int execute(lua_State *L) {
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    lua_Integer id = luaL_checkinteger(L, 2);
    json_t **result = api_box(L);
    if (!engine)
        return api_fail(L, &error);
    if (stepper_execute(lua_engine_self(L)->stepper, id, lua_toboolean(L, 3), result, &error))
        return api_push_value(L, result);
    if (error.code == ERROR_FAILED)
        return raise(L, lua_engine_self(L), &error);
    return api_fail(L, &error);
}

static const luaL_Reg methods[] = {
    {"close", close_engine}, {"reload", reload},   {"drain", drain},
    {"turn", turn},          {"execute", execute}, {NULL, NULL},
};

void lua_engine_register(lua_State *L) {
    luaL_newmetatable(L, ENGINE_TYPE);
    luaL_newlib(L, methods);
    lua_creation_register(L);
    lua_questions_register(L);
    lua_commands_register(L);
    lua_batches_register(L);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, collect);
    lua_setfield(L, -2, "__gc");
    lua_pushcfunction(L, close_engine);
    lua_setfield(L, -2, "__close");
    lua_pop(L, 1);
    lua_pushcfunction(L, open_engine);
    lua_setfield(L, -2, "open");
}
