#include "api/lua_engine.h"
#include "base/span.h"

/* The operator's verbs. Argument 2 is a list of ids; each verb returns how many it touched. */

/* Raises for anything but a list of integers; the memory is Lua's. */
static struct ids check_ids(lua_State *L) {
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_Integer count = luaL_len(L, 2);
    int64_t *list = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *list, 0);
    for (lua_Integer i = 0; i < count; i++) {
        int is_integer = 0;
        lua_rawgeti(L, 2, i + 1);
        list[i] = lua_tointegerx(L, -1, &is_integer);
        if (!is_integer)
            luaL_error(L, "id %I is a %s (expected an integer)", i + 1, luaL_typename(L, -1));
        lua_pop(L, 1);
    }
    return (struct ids){list, (size_t)count};
}

static bool read_due(lua_State *L, int index, time_ms *due, struct error *error) {
    *due = TIME_NONE;
    return lua_isnoneornil(L, index) || time_parse(luaL_checkstring(L, index), due, error);
}

static int touched(lua_State *L, bool ok, struct ids ids, const struct error *error) {
    if (!ok)
        return api_fail(L, error);
    lua_pushinteger(L, (lua_Integer)ids.count);
    return 1;
}

/* set_retries(ids, n, set_due, due) */
static int set_retries(lua_State *L) {
    struct error error;
    time_ms due;
    struct engine *engine = lua_engine_open(L, &error);
    lua_Integer retries = luaL_checkinteger(L, 3);
    luaL_argcheck(L, retries >= 0 && retries <= INT32_MAX, 3, "0 or more retries expected");
    bool set_due = lua_toboolean(L, 4);
    struct ids ids = check_ids(L);
    bool ok = engine && read_due(L, 5, &due, &error) &&
              engine_set_retries(engine, ids, (int32_t)retries, set_due, due, &error);
    return touched(L, ok, ids, &error);
}

static int retry(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    struct ids ids = check_ids(L);
    return touched(L, engine && engine_retry(engine, ids, &error), ids, &error);
}

static int set_priority(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    lua_Integer priority = luaL_checkinteger(L, 3);
    struct ids ids = check_ids(L);
    return touched(L, engine && engine_set_priority(engine, ids, priority, &error), ids, &error);
}

/* set_due(ids, due, cascade) */
static int set_due(lua_State *L) {
    struct error error;
    time_ms due;
    struct engine *engine = lua_engine_open(L, &error);
    bool cascade = lua_toboolean(L, 4);
    struct ids ids = check_ids(L);
    bool ok =
        engine && read_due(L, 3, &due, &error) && engine_set_due(engine, ids, due, cascade, &error);
    return touched(L, ok, ids, &error);
}

/* recalculate_due(ids, from_creation) */
static int recalculate_due(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    bool from_creation = lua_toboolean(L, 3);
    struct ids ids = check_ids(L);
    bool ok = engine && engine_recalculate_due(engine, ids, from_creation, &error);
    return touched(L, ok, ids, &error);
}

static int set_suspended(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    bool suspended = lua_toboolean(L, 3);
    struct ids ids = check_ids(L);
    return touched(L, engine && engine_set_suspended(engine, ids, suspended, &error), ids, &error);
}

static int delete (lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    struct ids ids = check_ids(L);
    return touched(L, engine && engine_delete(engine, ids, &error), ids, &error);
}

static int cancel(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    struct ids ids = check_ids(L);
    return touched(L, engine && engine_cancel(engine, ids, &error), ids, &error);
}

/* override_priority(definition, priority or nil to clear, cascade) */
static int override_priority(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    struct store_override override = {.definition = luaL_checkinteger(L, 2),
                                      .priority = luaL_optinteger(L, 3, 0),
                                      .clear = lua_isnoneornil(L, 3),
                                      .cascade = lua_toboolean(L, 4)};
    struct ids ids = {NULL, 0};
    bool ok = engine && engine_override_priority(engine, &override, &ids.count, &error);
    return touched(L, ok, ids, &error);
}

/* suspend_definition(definition, suspended, include_jobs) */
static int suspend_definition(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    lua_Integer id = luaL_checkinteger(L, 2);
    bool suspended = lua_toboolean(L, 3), include_jobs = lua_toboolean(L, 4);
    struct ids ids = {NULL, 0};
    bool ok = engine &&
              engine_suspend_definition(engine, id, suspended, include_jobs, &ids.count, &error);
    return touched(L, ok, ids, &error);
}

/* drain_executor(name or id as text, draining) */
static int drain_executor(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    const char *who = luaL_checkstring(L, 2);
    struct ids ids = {NULL, 0};
    bool ok = engine && engine_drain_executor(engine, who, lua_toboolean(L, 3), &ids.count, &error);
    return touched(L, ok, ids, &error);
}

static int annotate(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    lua_Integer incident = luaL_checkinteger(L, 2);
    const char *note = luaL_checkstring(L, 3);
    if (!engine || !engine_annotate(engine, incident, note, &error))
        return api_fail(L, &error);
    lua_pushboolean(L, 1);
    return 1;
}

/* set_registered(deployment, executor or nil, registered) */
static int set_registered(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    lua_Integer deployment = luaL_checkinteger(L, 2);
    const char *executor = luaL_optstring(L, 3, NULL);
    struct ids ids = {NULL, 0};
    bool ok = engine && engine_set_registered(engine, deployment, executor, lua_toboolean(L, 4),
                                              &ids.count, &error);
    return touched(L, ok, ids, &error);
}

static const luaL_Reg methods[] = {
    {"set_retries", set_retries},
    {"retry", retry},
    {"set_priority", set_priority},
    {"set_due", set_due},
    {"recalculate_due", recalculate_due},
    {"set_suspended", set_suspended},
    {"delete", delete},
    {"cancel", cancel},
    {"override_priority", override_priority},
    {"suspend_definition", suspend_definition},
    {"drain_executor", drain_executor},
    {"annotate", annotate},
    {"set_registered", set_registered},
    {NULL, NULL},
};

void lua_verbs_register(lua_State *L) {
    luaL_setfuncs(L, methods, 0);
}
