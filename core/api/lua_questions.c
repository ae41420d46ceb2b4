#include "api/lua_engine.h"
#include "base/json.h"
#include "store/batch.h"
#include <stdlib.h>
#include <string.h>

/* What an engine can be asked. A list is asked for with filters, sort, descending, after, offset,
 * limit (arguments 2 to 7); lua/moonshift/query.lua says what they mean to users. */

typedef json_t *(*list_function)(struct engine *engine, const json_t *filters,
                                 const struct store_page *page, struct error *error);

static json_t *jobs(struct engine *engine, const json_t *filters, const struct store_page *page,
                    struct error *error) {
    return store_jobs(engine_store(engine), filters, page, clock_now(engine_clock(engine)), error);
}

static json_t *definitions(struct engine *engine, const json_t *filters,
                           const struct store_page *page, struct error *error) {
    return store_definitions(engine_store(engine), filters, page, clock_now(engine_clock(engine)),
                             error);
}

static json_t *incidents(struct engine *engine, const json_t *filters,
                         const struct store_page *page, struct error *error) {
    return store_incidents(engine_store(engine), filters, page, error);
}

static json_t *entries(struct engine *engine, const json_t *filters, const struct store_page *page,
                       struct error *error) {
    return store_log(engine_store(engine), filters, page, error);
}

static json_t *operations(struct engine *engine, const json_t *filters,
                          const struct store_page *page, struct error *error) {
    return store_operations(engine_store(engine), filters, page, error);
}

static json_t *batches(struct engine *engine, const json_t *filters, const struct store_page *page,
                       struct error *error) {
    return store_batches(engine_store(engine), filters, page, error);
}

static json_t *instances(struct engine *engine, const json_t *filters,
                         const struct store_page *page, struct error *error) {
    return store_suspended_instances(engine_store(engine), filters, page, error);
}

static struct store_page check_page(lua_State *L) {
    struct store_page page = {.sort = luaL_optstring(L, 3, NULL),
                              .descending = lua_toboolean(L, 4),
                              .after = luaL_optinteger(L, 5, 0),
                              .offset = luaL_optinteger(L, 6, 0),
                              .limit = (int)luaL_checkinteger(L, 7)};
    return page;
}

/* What the question has left out, as one more result. */
static int push_passed_over(lua_State *L, struct engine *engine) {
    if (!store_passed_over(engine_store(engine)))
        return 0;
    lua_pushliteral(L, STORE_PASSED_OVER);
    return 1;
}

static int list(lua_State *L, list_function function) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    struct store_page page = check_page(L);
    json_t **filters = api_box(L), **rows = api_box(L);
    *filters = engine ? api_object(L, 2, "filters", &error) : NULL;
    if (*filters && engine_settle(engine, *filters, &error))
        *rows = function(engine, *filters, &page, &error);
    return *rows ? api_push_rows(L, rows) + push_passed_over(L, engine) : api_fail(L, &error);
}

static int list_jobs(lua_State *L) {
    return list(L, jobs);
}

static int list_definitions(lua_State *L) {
    return list(L, definitions);
}

static int list_incidents(lua_State *L) {
    return list(L, incidents);
}

static int list_log(lua_State *L) {
    return list(L, entries);
}

/* walk_log(filters, sort, descending, key, limit): a page, and the key of the next one. */
static int walk_log(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    const char *text = luaL_optstring(L, 5, NULL);
    struct store_page page = {.sort = luaL_optstring(L, 3, NULL),
                              .descending = lua_toboolean(L, 4),
                              .limit = (int)luaL_checkinteger(L, 6)};
    json_t **filters = api_box(L), **key = api_box(L), **rows = api_box(L);
    *filters = engine ? api_object(L, 2, "filters", &error) : NULL;
    bool fine = *filters && engine_settle(engine, *filters, &error) &&
                (!text || (*key = json_read(text, strlen(text), "key", &error)));
    if (fine)
        *rows = store_log_walk(engine_store(engine), *filters, &page, key, &error);
    char *next = *rows ? json_write(*key, NULL) : NULL;
    if (*rows && !next)
        error_set(&error, ERROR_FAILED, "out of memory");
    if (!next)
        return api_fail(L, &error);
    lua_pushstring(L, next);
    free(next);
    api_push_rows(L, rows);
    lua_insert(L, -2);
    return 2;
}

static int list_operations(lua_State *L) {
    return list(L, operations);
}

static int list_instances(lua_State *L) {
    return list(L, instances);
}

static int list_batches(lua_State *L) {
    return list(L, batches);
}

static int count_jobs(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    json_t **filters = api_box(L);
    int64_t count = 0;
    *filters = engine ? api_object(L, 2, "filters", &error) : NULL;
    if (!*filters || !engine_settle(engine, *filters, &error) ||
        !store_jobs_count(engine_store(engine), *filters, clock_now(engine_clock(engine)), &count,
                          &error))
        return api_fail(L, &error);
    lua_pushinteger(L, count);
    return 1 + push_passed_over(L, engine);
}

static int one_job(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    lua_Integer id = luaL_checkinteger(L, 2);
    json_t **row = api_box(L);
    if (engine)
        *row = store_job(engine_store(engine), id, clock_now(engine_clock(engine)), &error);
    return *row ? api_push_rows(L, row) : api_fail(L, &error);
}

static int why(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    lua_Integer id = luaL_checkinteger(L, 2);
    json_t **answer = api_box(L);
    if (engine)
        *answer = store_why(engine_store(engine), id, clock_now(engine_clock(engine)), &error);
    return *answer ? api_push_report(L, answer) : api_fail(L, &error);
}

/* executors(all) */
static int executors(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    json_t **rows = api_box(L);
    if (engine)
        *rows = store_executors(engine_store(engine), lua_toboolean(L, 2),
                                clock_now(engine_clock(engine)), &error);
    return *rows ? api_push_report(L, rows) : api_fail(L, &error);
}

static int deployments(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    json_t **rows = api_box(L);
    if (engine)
        *rows = store_deployments(engine_store(engine), &error);
    return *rows ? api_push_report(L, rows) : api_fail(L, &error);
}

static int schedules(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    json_t **rows = api_box(L);
    if (engine)
        *rows = store_schedules(engine_store(engine), NULL, &error);
    return *rows ? api_push_rows(L, rows) : api_fail(L, &error);
}

static int stats(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    json_t **row = api_box(L);
    if (engine)
        *row = store_stats(engine_store(engine), clock_now(engine_clock(engine)), &error);
    return *row ? api_push_report(L, row) : api_fail(L, &error);
}

static int history(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    json_t **row = api_box(L);
    if (engine)
        *row = store_history(engine_store(engine), clock_now(engine_clock(engine)), &error);
    return *row ? api_push_report(L, row) : api_fail(L, &error);
}

static int settings(lua_State *L) {
    struct error error;
    struct engine *engine = lua_engine_open(L, &error);
    json_t **rows = api_box(L);
    if (!engine)
        return api_fail(L, &error);
    *rows = settings_to_json(engine_settings(engine));
    return api_push_report(L, rows);
}

static const luaL_Reg methods[] = {
    {"jobs", list_jobs},
    {"definitions", list_definitions},
    {"incidents", list_incidents},
    {"log", list_log},
    {"walk_log", walk_log},
    {"operations", list_operations},
    {"suspended_instances", list_instances},
    {"batches", list_batches},
    {"count_jobs", count_jobs},
    {"job", one_job},
    {"why", why},
    {"executors", executors},
    {"deployments", deployments},
    {"schedules", schedules},
    {"stats", stats},
    {"history", history},
    {"settings", settings},
    {NULL, NULL},
};

void lua_questions_register(lua_State *L) {
    luaL_setfuncs(L, methods, 0);
}
