#include "api/lua_engine.h"
#include "base/json.h"
#include "script/value.h"
#include <string.h>

/* `box` holds the object from now on. */
static int held_push(lua_State *L, json_t **box, const struct held *held) {
    json_decref(*box);
    *box = held_to_json(held);
    if (!*box)
        return luaL_error(L, "out of memory");
    value_push_json(L, *box);
    return 1;
}

/* { runs = 1, job = 4, text = "a run of job 4 on …" } */
static int stuck_push(lua_State *L, const struct store_stuck *stuck) {
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, stuck->count);
    lua_setfield(L, -2, "runs");
    lua_pushinteger(L, stuck->job);
    lua_setfield(L, -2, "job");
    lua_pushstring(L, stuck->at);
    lua_setfield(L, -2, "text");
    return 1;
}

/* operate(order) -> how many it touched, and of an order with a date the job that will do it, of
 * activated jobs those that stay suspended, as { jobs = 2, instance = 2 }, of deleted or cancelled
 * ones the runs that could not be ended; or a batch's id and "batch": every verb of
 * lua/moonshift/engine.lua and definitions.lua. */
static int operate(lua_State *L) {
    struct error error;
    struct engine_operated operated = {0};
    struct engine *engine = lua_engine_open(L, &error);
    json_t **order = api_box(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    *order = engine ? api_object(L, 2, "order", &error) : NULL;
    if (!*order || !engine_operate(engine, *order, &operated, &error))
        return api_fail(L, &error);
    if (operated.batch) {
        lua_pushinteger(L, operated.batch);
        lua_pushliteral(L, "batch");
        return 2;
    }
    lua_pushinteger(L, (lua_Integer)operated.touched);
    if (operated.job) {
        lua_pushinteger(L, operated.job);
        return 2;
    }
    if (operated.stuck.count > 0)
        return 1 + stuck_push(L, &operated.stuck);
    return operated.held.jobs ? 1 + held_push(L, order, &operated.held) : 1;
}

static int touched(lua_State *L, bool ok, size_t count, const struct error *error) {
    if (!ok)
        return api_fail(L, error);
    lua_pushinteger(L, (lua_Integer)count);
    return 1;
}

/* preview(order) -> how many it would touch; writes nothing. */
static int preview(lua_State *L) {
    struct error error;
    size_t count = 0;
    struct engine *engine = lua_engine_open(L, &error);
    json_t **order = api_box(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    *order = engine ? api_object(L, 2, "order", &error) : NULL;
    bool ok = *order && store_preview(engine_store(engine), *order, &count,
                                      clock_now(engine_clock(engine)), &error);
    return touched(L, ok, count, &error);
}

/* A name, which no zero byte may cut short; NULL: there is none. */
static const char *verb_name(lua_State *L, int index) {
    size_t size = 0;
    const char *name = luaL_optlstring(L, index, NULL, &size);
    luaL_argcheck(L, !name || strlen(name) == size, index, "control characters are not allowed");
    return name;
}

/* drain_executor(name or id as text, draining) */
static int drain_executor(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    const char *who = luaL_checkstring(L, 2);
    size_t count = 0;
    bool ok = engine && engine_drain_executor(engine, who, lua_toboolean(L, 3), &count, &error);
    return touched(L, ok, count, &error);
}

/* set_registered(deployment, executor or nil, registered) */
static int set_registered(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    lua_Integer deployment = luaL_checkinteger(L, 2);
    const char *executor = verb_name(L, 3);
    size_t count = 0;
    bool ok = engine && engine_set_registered(engine, deployment, executor, lua_toboolean(L, 4),
                                              &count, &error);
    return touched(L, ok, count, &error);
}

/* delete_deployment(id, try) */
static int delete_deployment(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    int64_t id = luaL_checkinteger(L, 2);
    bool ok = engine && engine_delete_deployments(engine, &id, 1, lua_toboolean(L, 3), &error);
    return touched(L, ok, 1, &error);
}

/* clean_history() -> the ids of the jobs that do it */
static int clean_history(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    int64_t ids[STORE_CLEANERS];
    int count = 0;
    if (!engine || !engine_clean_history(engine, ids, &count, &error))
        return api_fail(L, &error);
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
        lua_pushinteger(L, ids[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

static const luaL_Reg methods[] = {
    {"clean_history", clean_history},
    {"operate", operate},
    {"preview", preview},
    {"delete_deployment", delete_deployment},
    {"drain_executor", drain_executor},
    {"set_registered", set_registered},
    {NULL, NULL},
};

void lua_verbs_register(lua_State *L) {
    luaL_setfuncs(L, methods, 0);
}
