#include "engine/config.h"
#include "job/acquisitions.h"
#include "job/store_url.h"
#include "lua/lua_engine.h"
#include "run/executor.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An executor as a Lua object: an executor of run/ from start to stop, with store connections of
 * its own. */

enum stage { INACTIVE, RUNNING, ENDED };

/* An engine that it serves. */
struct served {
    struct served *next;
    struct lua_engine *engine;        /* kept alive by the executor's table of engines */
    struct settings settings;         /* as this executor turns it */
    struct attached_engine *attached; /* NULL unless the executor runs */
    struct runner_status last;
    struct error error; /* that ended it; ERROR_NONE: none */
};

struct lua_executor {
    json_t *options;
    struct settings settings; /* the executor's own, as its first engine has them */
    bool has_settings;
    struct served *served;    /* in the order they came */
    struct executor *started; /* NULL unless started */
    enum stage stage;
    struct runner_status last; /* the sums, once it was stopped */
};

static struct lua_executor *self(lua_State *L) {
    return luaL_checkudata(L, 1, EXECUTOR_TYPE);
}

/* ---- settings ---- */

/* An executor inherits its engine's settings; without an engine it has the defaults. */
static bool read_settings(struct settings *settings, const struct lua_engine *engine,
                          const json_t *options, struct error *error) {
    if (!engine)
        return config_settings(settings, NULL, NULL, NULL, options, error);
    return config_settings(settings, engine->folder, engine->paths, engine->options, options,
                           error);
}

/* The executor's own settings are fixed by its first engine, or by starting without one. */
static bool fix_settings(struct lua_executor *executor, const struct lua_engine *engine,
                         struct error *error) {
    if (executor->has_settings)
        return true;
    executor->has_settings = read_settings(&executor->settings, engine, executor->options, error);
    if (!executor->has_settings)
        settings_clear(&executor->settings);
    return executor->has_settings;
}

/* ---- engines ---- */

static struct served **find(struct lua_executor *executor, const struct lua_engine *engine) {
    struct served **at = &executor->served;
    while (*at && (*at)->engine != engine)
        at = &(*at)->next;
    return at;
}

static void served_free(struct served *served) {
    if (served->engine->engine)
        stepper_leave(served->engine->stepper, &served->settings);
    settings_clear(&served->settings);
    free(served);
}

static struct served *served_new(struct lua_executor *executor, struct lua_engine *engine,
                                 struct error *error) {
    struct served *served = calloc(1, sizeof *served);
    if (!served) {
        error_no_memory(error);
        return NULL;
    }
    served->engine = engine;
    if (fix_settings(executor, engine, error) &&
        read_settings(&served->settings, engine, executor->options, error) &&
        acquisitions_apply(&served->settings, &executor->settings, error))
        return served;
    served_free(served);
    return NULL;
}

static bool startable(const struct lua_engine *served, struct error *error) {
    if (!served->engine)
        return error_set(error, ERROR_CLOSED, "the engine is closed");
    return engine_startable(served->engine, error);
}

static bool launch(struct lua_executor *executor, struct served *served, struct error *error) {
    struct engine *engine = served->engine->engine;
    struct attached_engine_options options = {.settings = &served->settings,
                                              .clock = engine_clock(engine),
                                              .folder = engine_folder(engine),
                                              .read = config_folder,
                                              .paths = served->engine->paths};
    served->error.code = ERROR_NONE;
    served->attached = executor_attach(executor->started, &options, error);
    return served->attached != NULL;
}

/* The table of the engines it keeps alive, on top of the stack; `value` for the one at 2. */
static void hold(lua_State *L, bool value) {
    lua_getiuservalue(L, 1, 1);
    lua_pushvalue(L, 2);
    value ? lua_pushboolean(L, 1) : lua_pushnil(L);
    lua_settable(L, -3);
    lua_pop(L, 1);
}

/* executor:add(engine) */
static int add(lua_State *L) {
    struct error error = {0};
    struct lua_executor *executor = self(L);
    struct lua_engine *engine = luaL_checkudata(L, 2, ENGINE_TYPE);
    struct served *served = NULL, **at = find(executor, engine);
    if (*at)
        error_set(&error, ERROR_CONFLICT, "the executor serves this engine already");
    else if (!engine->engine)
        error_set(&error, ERROR_CLOSED, "the engine is closed");
    else if (!executor->started || startable(engine, &error))
        served = served_new(executor, engine, &error);
    if (served && executor->started && !launch(executor, served, &error)) {
        served_free(served);
        served = NULL;
    }
    if (!served)
        return api_fail(L, &error);
    *at = served;
    hold(L, true);
    lua_pushboolean(L, 1);
    return 1;
}

/* executor:remove(engine) */
static int remove_engine(lua_State *L) {
    struct error error = {0};
    struct lua_executor *executor = self(L);
    struct served **at = find(executor, luaL_checkudata(L, 2, ENGINE_TYPE)), *served = *at;
    if (!served) {
        error_set(&error, ERROR_NOT_FOUND, "the executor does not serve this engine");
        return api_fail(L, &error);
    }
    *at = served->next;
    bool fine = !served->attached || executor_detach(executor->started, served->attached, &error);
    served_free(served);
    hold(L, false);
    lua_pushboolean(L, 1);
    return fine ? 1 : api_fail(L, &error);
}

/* executor(options) */
static int new_executor(lua_State *L) {
    struct error error = {0};
    struct settings scratch = {0}; /* a wrong option is refused at once */
    json_t **options = api_box(L);
    *options = api_object(L, 1, "options", &error);
    bool fine = *options && read_settings(&scratch, NULL, *options, &error);
    settings_clear(&scratch);
    if (!fine)
        return api_fail(L, &error);
    struct lua_executor *executor = lua_newuserdatauv(L, sizeof *executor, 1);
    memset(executor, 0, sizeof *executor);
    luaL_setmetatable(L, EXECUTOR_TYPE);
    lua_newtable(L);
    lua_setiuservalue(L, -2, 1);
    executor->options = json_incref(*options);
    return 1;
}

/* ---- running ---- */

static bool all_startable(struct lua_executor *executor, struct error *error) {
    for (struct served *served = executor->served; served; served = served->next)
        if (!startable(served->engine, error))
            return false;
    return true;
}

static bool launch_all(struct lua_executor *executor, struct error *error) {
    struct executor_options options = {.settings = &executor->settings};
    executor->started = executor_new(&options, error);
    bool fine = executor->started != NULL;
    for (struct served *served = executor->served; fine && served; served = served->next)
        fine = launch(executor, served, error);
    if (fine && executor_start(executor->started, error))
        return true;
    for (struct served *served = executor->served; served; served = served->next)
        served->attached = NULL;
    executor_free(executor->started);
    executor->started = NULL;
    return false;
}

static int start(lua_State *L) {
    struct error error = {0};
    struct lua_executor *executor = self(L);
    if (executor->started)
        error_set(&error, ERROR_CONFLICT, "the executor has been started already");
    else if (all_startable(executor, &error) && fix_settings(executor, NULL, &error) &&
             launch_all(executor, &error)) {
        executor->stage = RUNNING;
        lua_pushboolean(L, 1);
        return 1;
    }
    return api_fail(L, &error);
}

static bool is_fine(struct served *served) {
    return served->attached ? attached_engine_fine(served->attached, &served->error)
                            : served->error.code == ERROR_NONE;
}

/* Stops as TERM does and waits for the threads; nothing stays locked. */
static void halt(struct lua_executor *executor) {
    if (!executor->started)
        return;
    executor_stop(executor->started);
    executor_status(executor->started, &executor->last);
    for (struct served *served = executor->served; served; served = served->next) {
        attached_engine_status(served->attached, &served->last);
        is_fine(served);
        served->attached = NULL;
    }
    executor_free(executor->started);
    executor->started = NULL;
    executor->stage = ENDED;
}

/* The error that ended one of its engines; NULL: none. */
static const struct error *trouble(struct lua_executor *executor) {
    for (struct served *served = executor->served; served; served = served->next)
        if (!is_fine(served))
            return &served->error;
    return NULL;
}

static int stop(lua_State *L) {
    struct lua_executor *executor = self(L);
    halt(executor);
    const struct error *error = trouble(executor);
    if (error)
        return api_fail(L, error);
    lua_pushboolean(L, 1);
    return 1;
}

/* executor:reload(engine) */
static int reload(lua_State *L) {
    struct served *served = *find(self(L), luaL_checkudata(L, 2, ENGINE_TYPE));
    if (served && served->attached)
        attached_engine_reload(served->attached);
    return 0;
}

static void sum_up(struct stepper_run *sum, const struct stepper_run *run) {
    sum->done += run->done;
    sum->failed += run->failed;
    sum->settled += run->settled;
    sum->acquired += run->acquired;
    sum->wait = run->wait < sum->wait ? run->wait : sum->wait;
}

static int turn(lua_State *L) {
    struct error error = {0};
    struct stepper_run run, sum = {.wait = INFINITY};
    struct lua_executor *executor = self(L);
    for (struct served *served = executor->served; served; served = served->next) {
        struct stepper *stepper = served->engine->stepper;
        bool fine = stepper ? stepper_turn(stepper, &served->settings, &run, &error)
                            : error_set(&error, ERROR_CLOSED, "the engine is closed");
        if (!fine)
            return api_fail(L, &error);
        sum_up(&sum, &run);
    }
    return lua_run_push(L, &sum, true);
}

/* ---- status ---- */

static void set_text(lua_State *L, const char *name, const char *value) {
    lua_pushstring(L, value);
    lua_setfield(L, -2, name);
}

static void set_status(lua_State *L, const struct runner_status *status) {
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {{"done", status->done},       {"failed", status->failed},
                  {"stale", status->stale},     {"acquired", status->acquired},
                  {"running", status->running}, {"waiting", status->waiting},
                  {"stuck", status->stuck}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        lua_pushinteger(L, counts[i].value);
        lua_setfield(L, -2, counts[i].name);
    }
    lua_pushboolean(L, status->paused);
    lua_setfield(L, -2, "paused");
    lua_pushboolean(L, status->away);
    lua_setfield(L, -2, "away");
    lua_pushboolean(L, status->exhausted);
    lua_setfield(L, -2, "exhausted");
    lua_pushboolean(L, status->draining);
    lua_setfield(L, -2, "draining");
}

static void set_state(lua_State *L, enum stage stage, bool failed) {
    static const char *const names[] = {"inactive", "running", "stopped"};
    set_text(L, "state", failed ? "failed" : names[stage]);
}

/* Its part of the table on top; true unless it has failed. */
static bool push_served(lua_State *L, struct lua_executor *executor, struct served *served) {
    bool fine = is_fine(served);
    char store[STORE_SHOWN];
    if (served->attached)
        attached_engine_status(served->attached, &served->last);
    lua_createtable(L, 0, 12);
    set_status(L, &served->last);
    set_state(L, executor->stage, !fine);
    set_text(L, "store", store_url_show(served->settings.store, store));
    set_text(L, "acquisition", served->settings.acquisition);
    if (served->last.name[0])
        set_text(L, "owner", served->last.name);
    if (!fine)
        set_text(L, "error", served->error.text);
    return fine;
}

/* How many engines it has; *failed: how many of them have. */
static int push_engines(lua_State *L, struct lua_executor *executor, int *failed) {
    int count = *failed = 0;
    lua_newtable(L);
    for (struct served *served = executor->served; served; served = served->next) {
        *failed += !push_served(L, executor, served);
        lua_rawseti(L, -2, ++count);
    }
    return count;
}

static int status(lua_State *L) {
    struct lua_executor *executor = self(L);
    int failed, count;
    lua_createtable(L, 0, 12);
    count = push_engines(L, executor, &failed);
    lua_setfield(L, -2, "engines");
    if (executor->started)
        executor_status(executor->started, &executor->last);
    set_status(L, &executor->last);
    set_state(L, executor->stage, failed > 0 && (failed == count || executor->stage == ENDED));
    set_text(L, "name", executor->has_settings ? executor->settings.name : NULL);
    const struct error *error = trouble(executor);
    if (error)
        set_text(L, "error", error->text);
    return 1;
}

static int collect(lua_State *L) {
    struct lua_executor *executor = self(L);
    halt(executor);
    for (struct served *next; executor->served; executor->served = next) {
        next = executor->served->next;
        served_free(executor->served);
    }
    if (executor->has_settings)
        settings_clear(&executor->settings);
    executor->has_settings = false;
    json_decref(executor->options);
    executor->options = NULL;
    return 0;
}

static const luaL_Reg methods[] = {
    {"start", start},          {"stop", stop},     {"turn", turn},     {"add", add},
    {"remove", remove_engine}, {"status", status}, {"reload", reload}, {NULL, NULL},
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
