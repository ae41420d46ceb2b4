#include "base/json.h"
#include "engine/command/token.h"
#include "engine/fetch.h"
#include "engine/process/settle_list.h"
#include "engine/route.h"
#include "lua/lua_engine.h"
#include "script/value.h"
#include <stdlib.h>
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
static int stuck_push(lua_State *L, const struct stuck_runs *stuck) {
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, stuck->count);
    lua_setfield(L, -2, "runs");
    lua_pushinteger(L, stuck->job);
    lua_setfield(L, -2, "job");
    lua_pushstring(L, stuck->at);
    lua_setfield(L, -2, "text");
    return 1;
}

/* The ids of the jobs that clean the history. */
static int made_push(lua_State *L, const struct command_run *run) {
    lua_createtable(L, run->made_count, 0);
    for (int i = 0; i < run->made_count; i++) {
        lua_pushinteger(L, run->made[i]);
        lua_rawseti(L, -2, i + 1);
    }
    return 1;
}

/* Does one command: command(command, dry_run) -> how many it touched, or would touch; or a batch's
 * id and "batch". The second result of some commands:
 *   - with a date: the job that will do it;
 *   - of a cleaning of the history: the jobs that do it;
 *   - of activated jobs: those that stay suspended, as { jobs = 2, instance = 2 };
 *   - of deleted or cancelled jobs: the runs that could not be ended. */
static int command(lua_State *L) {
    struct error error = {0};
    struct command_run run = {.dry_run = lua_toboolean(L, 3)};
    struct engine *engine = lua_engine_open(L, &error);
    json_t **command = api_box(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    *command = engine ? api_object(L, 2, "command", &error) : NULL;
    if (!*command || !engine_command(engine, *command, &run, &error))
        return api_fail(L, &error);
    if (run.batch) {
        lua_pushinteger(L, run.batch);
        lua_pushliteral(L, "batch");
        return 2;
    }
    lua_pushinteger(L, (lua_Integer)run.touched);
    if (run.target == TARGET_PLAN)
        return 1 + made_push(L, &run);
    if (run.made_count) {
        lua_pushinteger(L, run.made[0]);
        return 2;
    }
    if (run.stuck.count > 0)
        return 1 + stuck_push(L, &run.stuck);
    return run.held.jobs ? 1 + held_push(L, command, &run.held) : 1;
}

/* process(command) -> what engine_process answers */
static int process(lua_State *L) {
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    json_t **command = api_box(L), **answer = api_box(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    *command = engine ? api_object(L, 2, "command", &error) : NULL;
    if (!*command || !engine_process(engine, *command, answer, &error))
        return api_fail(L, &error);
    return api_push_value(L, answer);
}

/* process_list(commands) -> what engine_process_list answers */
static int process_list(lua_State *L) {
    struct engine_order here = {.now = true};
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    json_t **commands = api_box(L), **answer = api_box(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    *commands = engine ? value_to_json(L, 2, "list", &error) : NULL;
    if (!*commands || !engine_process_list(engine, *commands, &here, answer, NULL, &error))
        return api_fail(L, &error);
    return api_push_value(L, answer);
}

enum { AROUND = 3 }; /* levels of an answer in which payloads stand */

typedef bool outside_ask(struct engine *engine, const json_t *question, struct text *answer,
                         struct error *error);

/* NULL: error. */
static json_t *answer_read(struct engine *engine, const json_t *question, outside_ask *ask,
                           struct error *error) {
    struct text text = {0};
    json_t *answer =
        ask(engine, question, &text, error)
            ? json_read_within(text.data, text.size, JSON_DEPTH + AROUND, "answer", error)
            : NULL;
    text_clear(&text);
    return answer;
}

/* Asks with a table, and pushes the answer. */
static int ask_outside(lua_State *L, outside_ask *ask) {
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    json_t **question = api_box(L), **answer = api_box(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    *question = engine ? api_object(L, 2, "question", &error) : NULL;
    *answer = *question ? answer_read(engine, *question, ask, &error) : NULL;
    if (!*answer)
        return api_fail(L, &error);
    api_strip_rows(json_object_get(*answer, "jobs"));
    return api_push_rows(L, answer);
}

/* fetch(question) -> what engine_fetch answers */
static int fetch(lua_State *L) {
    return ask_outside(L, engine_fetch);
}

/* settle(question) -> what engine_settle answers */
static int settle(lua_State *L) {
    return ask_outside(L, engine_settle);
}

/* create_token(described) -> the token */
static int create_token(lua_State *L) {
    char token[TOKEN_SIZE];
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    json_t **described = api_box(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    *described = engine ? api_object(L, 2, "token", &error) : NULL;
    if (!*described || !engine_token_create(engine, *described, token, &error))
        return api_fail(L, &error);
    lua_pushstring(L, token);
    return 1;
}

/* revoke_token(name) -> true */
static int revoke_token(lua_State *L) {
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    const char *name = luaL_checkstring(L, 2);
    if (!engine || !engine_token_revoke(engine, name, &error))
        return api_fail(L, &error);
    lua_pushboolean(L, true);
    return 1;
}

/* picture(question) -> what engine_picture answers */
static int picture(lua_State *L) {
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    json_t **question = api_box(L), **answer = api_box(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    *question = engine ? api_object(L, 2, "question", &error) : NULL;
    *answer = *question ? engine_picture(engine, *question, &error) : NULL;
    if (!*answer)
        return api_fail(L, &error);
    return api_push_value(L, answer);
}

/* All of them, or none. */
static bool create_all(struct engine *engine, const json_t *jobs, struct error *error) {
    const size_t count = json_array_size(jobs);
    struct engine_spec *specs = calloc(count + 1, sizeof *specs);
    struct created *created = calloc(count + 1, sizeof *created);
    for (size_t i = 0; specs && i < count; i++)
        specs[i].object = json_array_get(jobs, i);
    bool done = specs && created;
    if (!done)
        error_no_memory(error);
    else if (count)
        done = engine_enqueue(engine, specs, count, created, NULL, error);
    free(specs);
    free(created);
    return done;
}

/* receive(asked) -> what engine_route_answer answers, once its jobs are written */
static int receive(lua_State *L) {
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    json_t **asked = api_box(L), **answer = api_box(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    *asked = engine ? api_object(L, 2, "request", &error) : NULL;
    *answer = *asked ? engine_route_answer(engine, *asked, &error) : NULL;
    if (!*answer || !create_all(engine, json_object_get(*answer, "jobs"), &error))
        return api_fail(L, &error);
    return api_push_value(L, answer);
}

static const luaL_Reg methods[] = {
    {"command", command}, {"receive", receive},           {"fetch", fetch},
    {"settle", settle},   {"process", process},           {"process_list", process_list},
    {"picture", picture}, {"create_token", create_token}, {"revoke_token", revoke_token},
    {NULL, NULL},
};

void lua_commands_register(lua_State *L) {
    luaL_setfuncs(L, methods, 0);
}
