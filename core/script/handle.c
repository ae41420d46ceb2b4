#include "script/handle.h"
#include "base/json.h"
#include "base/span.h"
#include "base/text.h"
#include "script/decode.h"
#include "script/value.h"
#include <string.h>

enum field {
    FIELD_ID = 1,
    FIELD_TYPE,
    FIELD_HANDLER,
    FIELD_PAYLOAD,
    FIELD_PRIORITY,
    FIELD_DUE,
    FIELD_REPEAT,
    FIELD_RETRIES,
    FIELD_ATTEMPT,
    FIELD_CRASHES,
    FIELD_CONFLICTS,
    FIELD_LOCK_OWNER,
    FIELD_LOCK_EXPIRATION,
    FIELD_TOKEN,
    FIELD_EXCLUSIVE,
    FIELD_LANE,
    FIELD_INSTANCE,
    FIELD_ROOT,
    FIELD_ACTIVITY,
    FIELD_DEFINITION,
    FIELD_DEPLOYMENT,
    FIELD_CATEGORY,
    FIELD_TENANT,
    FIELD_BATCH,
    FIELD_CONFIG,
    FIELD_SUSPENDED,
    FIELD_STATE,
    FIELD_CREATED,
    FIELD_MESSAGE,
    FIELD_FAILED_ACTIVITY,
    FIELD_REV,
    FIELD_UNIQUE,
    FIELD_ENGINE,
};

static const char *const names[] = {"id",
                                    "type",
                                    "handler",
                                    "payload",
                                    "priority",
                                    "due",
                                    "repeat",
                                    "retries",
                                    "attempt",
                                    "crashes",
                                    "conflicts",
                                    "lock_owner",
                                    "lock_expiration",
                                    "token",
                                    "exclusive",
                                    "lane",
                                    "instance",
                                    "root",
                                    "activity",
                                    "definition",
                                    "deployment",
                                    "category",
                                    "tenant",
                                    "batch",
                                    "config",
                                    "suspended",
                                    "state",
                                    "created",
                                    "message",
                                    "failed_activity",
                                    "rev",
                                    "unique",
                                    "engine",
                                    NULL};

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

static int push_integer(lua_State *L, int64_t value) {
    lua_pushinteger(L, value);
    return 1;
}

static int push_boolean(lua_State *L, bool value) {
    lua_pushboolean(L, value);
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
    struct error error;
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

static int push_other(lua_State *L, const struct job *job, enum field field) {
    switch (field) {
    case FIELD_LANE:
        return push_text(L, job->lane);
    case FIELD_INSTANCE:
        return push_text(L, job->instance);
    case FIELD_ROOT:
        return push_text(L, job->root);
    case FIELD_ACTIVITY:
        return push_text(L, job->activity);
    case FIELD_CATEGORY:
        return push_text(L, job->category);
    case FIELD_TENANT:
        return push_text(L, job->tenant);
    case FIELD_UNIQUE:
        return push_text(L, job->unique_key);
    case FIELD_REPEAT:
        return push_text(L, job->repeat);
    case FIELD_LOCK_OWNER:
        return push_text(L, job->lock_owner);
    case FIELD_MESSAGE:
        return push_text(L, job->message);
    case FIELD_FAILED_ACTIVITY:
        return push_text(L, job->failed_activity);
    case FIELD_DEFINITION:
        return push_id(L, job->definition);
    case FIELD_DEPLOYMENT:
        return push_id(L, job->deployment);
    case FIELD_BATCH:
        return push_id(L, job->batch);
    case FIELD_REV:
        return push_integer(L, job->rev);
    case FIELD_LOCK_EXPIRATION:
        return push_time(L, job->lock_expiration);
    default:
        return push_text(L, NULL);
    }
}

static int push_field(lua_State *L, struct handle *handle, enum field field) {
    const struct job *job = handle->job;
    switch (field) {
    case FIELD_PAYLOAD:
        return push_payload(L, handle);
    case FIELD_CONFIG:
        return push_config(L, handle);
    case FIELD_ID:
        return push_id(L, job->id);
    case FIELD_TYPE:
        return push_text(L, job_type_name(job->type));
    case FIELD_HANDLER:
        return push_text(L, job->handler);
    case FIELD_PRIORITY:
        return push_integer(L, job->priority);
    case FIELD_DUE:
        return push_time(L, job->due);
    case FIELD_CREATED:
        return push_time(L, job->created);
    case FIELD_RETRIES:
        return push_integer(L, job->retries);
    case FIELD_ATTEMPT:
        return push_integer(L, job->attempt);
    case FIELD_CRASHES:
        return push_integer(L, job->crashes);
    case FIELD_CONFLICTS:
        return push_integer(L, job->conflicts);
    case FIELD_TOKEN:
        return push_id(L, job->token);
    case FIELD_EXCLUSIVE:
        return push_boolean(L, job->exclusive);
    case FIELD_SUSPENDED:
        return push_boolean(L, job->suspended);
    case FIELD_STATE:
        return push_state(L, job);
    default:
        return push_other(L, job, field);
    }
}

void handle_push_fields(lua_State *L) {
    lua_newtable(L);
    for (int i = 0; i < FIELD_ENGINE - 1; i++) {
        lua_pushstring(L, names[i]);
        lua_rawseti(L, -2, i + 1);
    }
}

/* ---- the metatable ---- */

static int refuse_name(lua_State *L) {
    const char *name = luaL_tolstring(L, 2, NULL);
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
    if (field != FIELD_ENGINE)
        return push_field(L, handle, (enum field)field);
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
    for (int i = 0; names[i]; i++) {
        lua_pushinteger(L, i + 1);
        lua_setfield(L, -2, names[i]);
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
struct handle *handle_check(lua_State *L) {
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
    else if (!handle->run)
        refuse_call(L, "not available here (only while the job's handler runs)");
    return handle;
}
