#include "script/handle.h"
#include "base/json.h"
#include "base/text.h"
#include "script/decode.h"
#include "script/value.h"
#include <string.h>

/* Of `job`, by number from 1: those of the list, then two that are made here. */
enum { FIELD_CONFIG = JOB_FIELD_COUNT + 1, FIELD_ENGINE, FIELD_END };

static const char *field_name(int field) {
    if (field <= JOB_FIELD_COUNT)
        return job_fields[field - 1].key;
    return field == FIELD_CONFIG ? "config" : "engine";
}

/* ---- fields ---- */

static int push_text(lua_State *L, const char *text) {
    lua_pushstring(L, text); /* NULL: nil */
    return 1;
}

static int push_id(lua_State *L, int64_t id) {
    if (id == 0)
        lua_pushnil(L);
    else
        lua_pushinteger(L, id);
    return 1;
}

static int push_time(lua_State *L, time_ms time) {
    char text[TIME_TEXT_SIZE];
    if (time == TIME_NONE)
        return push_text(L, NULL);
    time_format(time, text);
    return push_text(L, text);
}

static void decode(lua_State *L, struct handle *handle, const char *text, size_t size,
                   const char *what) {
    struct error error = {0};
    if (!text) {
        lua_newtable(L);
        return;
    }
    if (decode_push(L, text, size))
        return;
    handle->json = json_read(text, size, what, &error);
    if (!handle->json)
        luaL_error(L, "%s", error.text);
    value_push_json(L, handle->json);
    json_decref(handle->json);
    handle->json = NULL;
}

static int push_payload(lua_State *L, struct handle *handle) {
    if (!handle->decoded) {
        decode(L, handle, handle->job->payload, handle->job->payload_size, "payload");
        lua_setiuservalue(L, 1, 1);
        handle->decoded = true;
    }
    lua_getiuservalue(L, 1, 1);
    return 1;
}

/* Of its batch; nil if it has none. */
static int push_config(lua_State *L, struct handle *handle) {
    const struct job *job = handle->job;
    if (!job->batch)
        return push_text(L, NULL);
    decode(L, handle, job->config, job->config ? strlen(job->config) : 0, "config");
    return 1;
}

static int push_state(lua_State *L, const struct job *job) {
    return push_text(L, job->token ? "locked" : job_state_name(job->state));
}

static int push_field(lua_State *L, struct handle *handle, const struct job_field *field) {
    const struct job *job = handle->job;
    int64_t number = job_field_number(job, field);
    switch (field->type) {
    case FIELD_TEXT:
        return push_text(L, job_field_text(job, field));
    case FIELD_ID:
        return push_id(L, number);
    case FIELD_TIME:
        return push_time(L, number);
    case FIELD_KIND:
        return push_text(L, job_type_name(job->type));
    case FIELD_STATE:
        return push_state(L, job);
    case FIELD_BLOB:
        return push_payload(L, handle);
    case FIELD_FLAG:
    case FIELD_MASK:
        lua_pushboolean(L, number != 0);
        return 1;
    case FIELD_NUMBER:
    case FIELD_COUNT:
        lua_pushinteger(L, number);
        return 1;
    }
    return 0;
}

void handle_push_fields(lua_State *L) {
    lua_newtable(L);
    for (int field = 1, count = 0; field < FIELD_ENGINE; field++) {
        if (!field_name(field))
            continue;
        lua_pushstring(L, field_name(field));
        lua_rawseti(L, -2, ++count);
    }
}

/* ---- the metatable ---- */

static int refuse_name(lua_State *L) {
    const char *name = luaL_tolstring(L, 2, NULL), *names[FIELD_END];
    int count = 0;
    for (int field = 1; field < FIELD_END; field++)
        if (field_name(field))
            names[count++] = field_name(field);
    names[count] = NULL;
    const char *meant = suggest(name, names);
    if (meant)
        return luaL_error(L, "job has no field \"%s\" (did you mean \"%s\"?)", name, meant);
    return luaL_error(L, "job has no field \"%s\"", name);
}

/* Upvalues: field numbers and methods by name; the function that makes job.engine. */
static int read_member(lua_State *L) {
    struct handle *handle = lua_touserdata(L, 1);
    if (!handle->job)
        return luaL_error(L, "job is used after its run ended");
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    lua_rawget(L, lua_upvalueindex(1));
    if (lua_type(L, 3) == LUA_TFUNCTION)
        return 1;
    int field = (int)lua_tointeger(L, 3);
    if (field == 0)
        return refuse_name(L);
    if (field == FIELD_CONFIG)
        return push_config(L, handle);
    if (field != FIELD_ENGINE)
        return push_field(L, handle, &job_fields[field - 1]);
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

static int refuse_write(lua_State *L) {
    return luaL_error(L, "cannot set job.%s (a job is read-only)", luaL_tolstring(L, 2, NULL));
}

static int to_text(lua_State *L) {
    struct handle *handle = lua_touserdata(L, 1);
    if (handle->job)
        lua_pushfstring(L, "job %I (%s)", (LUAI_UACINT)handle->job->id, handle->job->handler);
    else
        lua_pushliteral(L, "job (ended)");
    return 1;
}

static void add_fields(lua_State *L) {
    for (int field = 1; field < FIELD_END; field++) {
        if (!field_name(field))
            continue;
        lua_pushinteger(L, field);
        lua_setfield(L, -2, field_name(field));
    }
}

void handle_prepare(struct script *script, lua_State *L) {
    int engine = lua_gettop(L), methods = engine - 1;
    lua_newtable(L);
    lua_pushvalue(L, methods);
    add_fields(L);
    lua_pushvalue(L, engine);
    lua_pushcclosure(L, read_member, 2);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, refuse_write);
    lua_setfield(L, -2, "__newindex");
    lua_pushcfunction(L, to_text);
    lua_setfield(L, -2, "__tostring");
    lua_pushliteral(L, "moonshift.job");
    lua_setfield(L, -2, "__name");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    script->handle = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_settop(L, methods - 1);
}

struct handle *handle_push(struct script *script, lua_State *L, const struct job *job,
                           struct run *run) {
    struct handle *handle = lua_newuserdatauv(L, sizeof *handle, 1);
    *handle = (struct handle){.script = script, .job = job, .run = run};
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->handle);
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    handle->anchor = luaL_ref(L, LUA_REGISTRYINDEX);
    return handle;
}

void handle_end(struct handle *handle) {
    if (!handle)
        return;
    json_decref(handle->json);
    int anchor = handle->anchor;
    lua_State *L = handle->script->state.main;
    *handle = (struct handle){0};
    luaL_unref(L, LUA_REGISTRYINDEX, anchor);
}

/* Raised where the handler called a method of lua/moonshift/job.lua, two functions above us. */
static void refuse_call(lua_State *L, const char *text) {
    luaL_where(L, 3);
    lua_pushstring(L, text);
    lua_concat(L, 2);
    lua_error(L);
}

/* Methods are natives of their script: a handle is recognised by its metatable. */
struct handle *handle_look(lua_State *L) {
    struct script *script = script_of(L);
    bool ours = false;
    if (lua_type(L, 1) == LUA_TUSERDATA && lua_getmetatable(L, 1)) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, script->handle);
        ours = lua_rawequal(L, -1, -2);
        lua_pop(L, 2);
    }
    struct handle *handle = ours ? lua_touserdata(L, 1) : NULL;
    if (!handle)
        refuse_call(L, "not a job (expected a call with a colon, as in job:log(…))");
    else if (!handle->job)
        refuse_call(L, "job is used after its run ended");
    return handle;
}

struct handle *handle_check(lua_State *L) {
    struct handle *handle = handle_look(L);
    if (!handle->run)
        refuse_call(L, "not available here (only while the job's handler runs)");
    return handle;
}
