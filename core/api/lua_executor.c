#include "api/config.h"
#include "api/lua_engine.h"
#include "base/json.h"
#include "run/loop.h"
#include "run/thread.h"
#include "script/value.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* An executor as a Lua object: one loop in one thread, with a store connection of its own. */

enum stage { INACTIVE, RUNNING, ENDED, BROKEN };

struct lua_executor {
    struct lua_engine *engine; /* kept alive as user value 1 */
    struct settings settings;
    bool has_settings;
    json_t *paths; /* our own copy: read by the loop's reload thread */
    struct clock *clock;
    struct loop *loop; /* NULL unless started */
    struct thread thread;
    struct error error; /* of the loop; read once the stage is BROKEN */
    atomic_int stage;
    struct loop_status last; /* of the loop that was stopped */
};

static struct lua_executor *self(lua_State *L) {
    return luaL_checkudata(L, 1, EXECUTOR_TYPE);
}

static bool configure(struct lua_executor *executor, const json_t *options, struct error *error) {
    const struct lua_engine *engine = executor->engine;
    executor->has_settings = settings_init(&executor->settings, error);
    return executor->has_settings &&
           config_apply(&executor->settings, engine->folder, engine->paths, error) &&
           (!engine->options ||
            settings_apply(&executor->settings, ORIGIN_OPTION, engine->options, NULL, error)) &&
           settings_apply(&executor->settings, ORIGIN_OPTION, options, NULL, error) &&
           settings_check(&executor->settings, error);
}

/* executor(engine, options) */
static int new_executor(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    if (!engine)
        return api_fail(L, &error);
    json_t **options = api_box(L);
    *options = api_object(L, 2, "options", &error);
    struct lua_executor *executor = lua_newuserdatauv(L, sizeof *executor, 1);
    memset(executor, 0, sizeof *executor);
    luaL_setmetatable(L, EXECUTOR_TYPE);
    lua_pushvalue(L, 1);
    lua_setiuservalue(L, -2, 1);
    executor->engine = lua_engine_self(L);
    executor->clock = clock_retain(engine_clock(engine));
    executor->paths = json_deep_copy(executor->engine->paths);
    if (*options && configure(executor, *options, &error))
        return 1;
    return api_fail(L, &error);
}

static struct folder *read_again(void *arg, struct error *error) {
    struct lua_executor *executor = arg;
    return config_folder(executor->paths, error);
}

static void *run(void *arg) {
    struct lua_executor *executor = arg;
    bool ok = loop_run(executor->loop, &executor->error);
    atomic_store(&executor->stage, ok ? ENDED : BROKEN);
    return NULL;
}

static bool startable(struct lua_executor *executor, struct error *error) {
    struct engine *engine = executor->engine->engine;
    if (!engine)
        return error_set(error, ERROR_CLOSED, "the engine is closed");
    if (executor->loop)
        return error_set(error, ERROR_CONFLICT, "the executor has been started already");
    if (!store_path(engine_store(engine)))
        return error_set(error, ERROR_CONFLICT,
                         "an executor on a store in memory cannot be started (expected turn or "
                         "drain)");
    if (clock_is_virtual(executor->clock))
        return error_set(error, ERROR_CONFLICT,
                         "an executor on a virtual clock cannot be started (expected turn or "
                         "drain)");
    if (!engine_folder(engine))
        return error_set(error, ERROR_CONFLICT, "the engine has no scripts to run");
    return true;
}

static bool launch(struct lua_executor *executor, struct error *error) {
    struct loop_options options = {.store_url = executor->settings.store,
                                   .settings = &executor->settings,
                                   .clock = executor->clock,
                                   .folder = engine_folder(executor->engine->engine),
                                   .reload = read_again,
                                   .arg = executor};
    executor->loop = loop_new(&options, error);
    if (!executor->loop)
        return false;
    atomic_store(&executor->stage, RUNNING);
    if (thread_start(&executor->thread, run, executor))
        return true;
    loop_free(executor->loop);
    executor->loop = NULL;
    atomic_store(&executor->stage, INACTIVE);
    return error_set(error, ERROR_FAILED, "the system gives no thread for the executor");
}

static int start(lua_State *L) {
    struct error error;
    struct lua_executor *executor = self(L);
    if (!startable(executor, &error) || !launch(executor, &error))
        return api_fail(L, &error);
    lua_pushboolean(L, 1);
    return 1;
}

/* Stops as TERM does and waits for the thread; nothing stays locked. */
static void halt(struct lua_executor *executor) {
    if (!executor->loop)
        return;
    loop_stop(executor->loop);
    thread_join(&executor->thread);
    loop_status(executor->loop, &executor->last);
    loop_free(executor->loop);
    executor->loop = NULL;
}

static int stop(lua_State *L) {
    struct lua_executor *executor = self(L);
    halt(executor);
    if (atomic_load(&executor->stage) == BROKEN)
        return api_fail(L, &executor->error);
    lua_pushboolean(L, 1);
    return 1;
}

static int reload(lua_State *L) {
    struct lua_executor *executor = self(L);
    if (executor->loop)
        loop_reload(executor->loop);
    return 0;
}

static int turn(lua_State *L) {
    struct error error;
    struct engine_run run;
    struct lua_executor *executor = self(L);
    struct engine *engine = executor->engine->engine;
    if (!engine) {
        error_set(&error, ERROR_CLOSED, "the engine is closed");
        return api_fail(L, &error);
    }
    if (!engine_turn_as(engine, &executor->settings, &run, &error))
        return api_fail(L, &error);
    return lua_run_push(L, &run, true);
}

static void set_count(lua_State *L, const char *name, int64_t value) {
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
}

static void push_loop(lua_State *L, struct lua_executor *executor) {
    struct loop_status status = executor->last;
    if (executor->loop)
        loop_status(executor->loop, &status);
    set_count(L, "done", status.done);
    set_count(L, "failed", status.failed);
    set_count(L, "stale", status.stale);
    set_count(L, "acquired", status.acquired);
    set_count(L, "running", status.running);
    set_count(L, "waiting", status.waiting);
    lua_pushboolean(L, status.paused);
    lua_setfield(L, -2, "paused");
    lua_pushboolean(L, status.draining);
    lua_setfield(L, -2, "draining");
}

static int status(lua_State *L) {
    static const char *const names[] = {"inactive", "running", "stopped", "failed"};
    struct lua_executor *executor = self(L);
    int stage = atomic_load(&executor->stage);
    lua_createtable(L, 0, 10);
    lua_pushstring(L, names[stage]);
    lua_setfield(L, -2, "state");
    lua_pushstring(L, executor->settings.name);
    lua_setfield(L, -2, "name");
    push_loop(L, executor);
    if (stage == BROKEN) {
        lua_pushstring(L, executor->error.text);
        lua_setfield(L, -2, "error");
    }
    return 1;
}

static int collect(lua_State *L) {
    struct lua_executor *executor = self(L);
    halt(executor);
    if (executor->engine && executor->engine->engine)
        engine_leave(executor->engine->engine, &executor->settings);
    executor->engine = NULL;
    if (executor->has_settings)
        settings_clear(&executor->settings);
    executor->has_settings = false;
    json_decref(executor->paths);
    executor->paths = NULL;
    if (executor->clock)
        clock_release(executor->clock);
    executor->clock = NULL;
    return 0;
}

static const luaL_Reg methods[] = {
    {"start", start},   {"stop", stop},     {"turn", turn},
    {"status", status}, {"reload", reload}, {NULL, NULL},
};

void lua_executor_register(lua_State *L) {
    luaL_newmetatable(L, EXECUTOR_TYPE);
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, collect);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    lua_pushcfunction(L, new_executor);
    lua_setfield(L, -2, "executor");
}
