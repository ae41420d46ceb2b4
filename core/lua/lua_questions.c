#include "lua/lua_engine.h"
#include <string.h>

/* ask(kind, filters, question): the one way in for every question; lua/moonshift/query.lua and
 * engine.lua say what they mean to users. Filters and question may be absent. */

/* The question with its filters, in the box. NULL: error. */
static json_t *question_read(lua_State *L, json_t **box, json_t **filters, struct error *error) {
    *filters = api_object(L, 3, "filters", error);
    *box = *filters ? api_object(L, 4, "question", error) : NULL;
    if (*box && json_object_set(*box, "filters", *filters) != 0)
        error_no_memory(error);
    return *box;
}

/* A payload keeps its nulls; an answer that holds none drops them at every depth. */
static int answer_push(lua_State *L, enum ask_kind kind, json_t **answer) {
    bool report = kind == ASK_WHY || kind == ASK_EXECUTORS || kind == ASK_DEPLOYMENTS ||
                  kind == ASK_GAPS || kind == ASK_STATS || kind == ASK_HISTORY;
    if (json_is_integer(*answer)) {
        lua_pushinteger(L, json_integer_value(*answer));
        return 1;
    }
    return report ? api_push_report(L, answer) : api_push_rows(L, answer);
}

/* rows, key */
static int walk_push(lua_State *L, json_t *answer, json_t **rows) {
    json_decref(*rows);
    *rows = json_incref(json_object_get(answer, "rows"));
    api_push_rows(L, rows);
    lua_pushstring(L, json_string_value(json_object_get(answer, "key")));
    return 2;
}

static enum ask_kind kind_find(const char *name) {
    int kind = 0;
    while (kind < ASK_KINDS && strcmp(engine_ask_table((enum ask_kind)kind)->name, name) != 0)
        kind++;
    return (enum ask_kind)kind;
}

static int ask(lua_State *L) {
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    enum ask_kind kind = kind_find(luaL_checkstring(L, 2));
    lua_settop(L, 4);
    luaL_argcheck(L, kind != ASK_KINDS, 2, "no kind of question");
    json_t **filters = api_box(L), **question = api_box(L), **answer = api_box(L);
    if (engine && question_read(L, question, filters, &error))
        *answer = engine_ask(engine, kind, *question, &error);
    if (!*answer)
        return api_fail(L, &error);
    if (kind == ASK_WALK)
        return walk_push(L, *answer, filters);
    const char *warning = engine_ask_warning(engine);
    int count = answer_push(L, kind, answer);
    if (!warning)
        return count;
    lua_pushstring(L, warning);
    return count + 1;
}

static void columns_push(lua_State *L, const struct ask_column *column) {
    lua_newtable(L);
    for (lua_Integer i = 1; column->name; column++, i++) {
        lua_createtable(L, 2, 0);
        lua_pushstring(L, column->name);
        lua_rawseti(L, -2, 1);
        lua_pushstring(L, ask_type_name(column->type));
        lua_rawseti(L, -2, 2);
        lua_rawseti(L, -2, i);
    }
}

/* Those of the table, and the columns that rows are found by. */
static void filters_push(lua_State *L, const struct ask_table *table) {
    lua_newtable(L);
    for (const struct filter *filter = table->filters; filter && filter->name; filter++) {
        lua_pushboolean(L, true);
        lua_setfield(L, -2, filter->name);
    }
    for (const struct ask_column *column = table->columns; column->name; column++)
        if (column->use == ASK_FIND || column->use == ASK_BOTH) {
            lua_pushboolean(L, true);
            lua_setfield(L, -2, column->name);
        }
}

/* columns() -> { jobs = { { "id", "integer" }, … }, … }, { jobs = { id = true, … }, … }: the
 * columns of each kind of rows, and its filters */
int lua_columns(lua_State *L) {
    lua_settop(L, 0);
    lua_newtable(L);
    lua_newtable(L);
    for (int kind = 0; kind < ASK_KINDS; kind++) {
        const struct ask_table *table = engine_ask_table((enum ask_kind)kind);
        if (!table->columns)
            continue;
        columns_push(L, table->columns);
        lua_setfield(L, 1, table->name);
        filters_push(L, table);
        lua_setfield(L, 2, table->name);
    }
    return 2;
}

static int settings(lua_State *L) {
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    json_t **rows = api_box(L);
    if (!engine)
        return api_fail(L, &error);
    *rows = settings_to_json(engine_settings(engine));
    return api_push_report(L, rows);
}

static const luaL_Reg methods[] = {
    {"ask", ask},
    {"settings", settings},
    {NULL, NULL},
};

void lua_questions_register(lua_State *L) {
    luaL_setfuncs(L, methods, 0);
}
