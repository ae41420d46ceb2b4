#include "engine/batch.h"
#include "lua/lua_engine.h"
#include "script/value.h"

/* Batches as lua/moonshift/batches.lua makes them: begun, filled in parts, started. */

static int answer(lua_State *L, bool ok, const struct error *error) {
    if (!ok)
        return api_fail(L, error);
    lua_pushboolean(L, 1);
    return 1;
}

/* batch_check(spec): whether batch_begin would take it */
static int batch_check(lua_State *L) {
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    json_t **spec = api_box(L);
    *spec = engine ? api_object(L, 2, "batch", &error) : NULL;
    return answer(L,
                  *spec && engine_batch_check(engine, *spec, &error) &&
                      engine_batch_plan(engine, *spec, &error),
                  &error);
}

static bool config_resolve(struct engine *engine, json_t *spec, struct error *error) {
    const json_t *given = json_object_get(spec, "config");
    json_t *config = given ? engine_resolve_times(engine, given, error) : NULL;
    return !given ||
           (config && (json_object_set_new(spec, "config", config) == 0 || error_no_memory(error)));
}

/* batch_begin(spec) -> id */
static int batch_begin(lua_State *L) {
    struct error error = {0};
    int64_t id = 0;
    struct engine *engine = lua_engine_open(L, &error);
    json_t **spec = api_box(L);
    *spec = engine ? api_object(L, 2, "batch", &error) : NULL;
    if (!*spec || !config_resolve(engine, *spec, &error) ||
        !engine_batch_begin(engine, *spec, &id, &error))
        return api_fail(L, &error);
    lua_pushinteger(L, id);
    return 1;
}

/* batch_add(id, list) */
static int batch_add(lua_State *L) {
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    int64_t id = luaL_checkinteger(L, 2);
    json_t **ids = api_box(L);
    *ids = engine ? value_to_json(L, 3, "ids", &error) : NULL;
    return answer(L, *ids && engine_batch_add(engine, id, *ids, &error), &error);
}

/* The list that a query is of. */
static enum ask_kind list_of(lua_State *L, int index) {
    const char *const names[] = {"jobs", "instances", "past", NULL};
    const enum ask_kind kinds[] = {ASK_JOBS, ASK_PROCESS_INSTANCES, ASK_PAST};
    return kinds[luaL_checkoption(L, index, NULL, names)];
}

/* batch_takes(type, list): whether ids of the type may be those of the list */
static int batch_takes_list(lua_State *L) {
    struct error error = {0};
    return answer(L, batch_takes(luaL_checkstring(L, 2), list_of(L, 3), &error), &error);
}

/* batch_find(id, list, filters, after) -> after, more */
static int batch_find(lua_State *L) {
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    int64_t id = luaL_checkinteger(L, 2), after = luaL_checkinteger(L, 5);
    enum ask_kind of = list_of(L, 3);
    bool more = false;
    json_t **filters = api_box(L);
    *filters = engine ? api_object(L, 4, "filters", &error) : NULL;
    json_t *asked = *filters ? engine_resolve_times(engine, *filters, &error) : NULL;
    bool found = asked && engine_batch_find(engine, id, of, asked, &after, &more, &error);
    json_decref(asked);
    if (!found)
        return api_fail(L, &error);
    lua_pushinteger(L, after);
    lua_pushboolean(L, more);
    return 2;
}

static int batch_start(lua_State *L) {
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    int64_t id = luaL_checkinteger(L, 2);
    return answer(L, engine && engine_batch_start(engine, id, &error), &error);
}

static int batch_abandon(lua_State *L) {
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    int64_t id = luaL_checkinteger(L, 2);
    if (engine)
        engine_batch_abandon(engine, id);
    return 0;
}

static const luaL_Reg methods[] = {
    {"batch_check", batch_check},     {"batch_takes", batch_takes_list},
    {"batch_begin", batch_begin},     {"batch_add", batch_add},
    {"batch_find", batch_find},       {"batch_start", batch_start},
    {"batch_abandon", batch_abandon}, {NULL, NULL},
};

void lua_batches_register(lua_State *L) {
    luaL_setfuncs(L, methods, 0);
}
