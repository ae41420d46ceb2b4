/* The request behind http.request: see transfer.h. What it is given has been checked by
 * lua/moonshift/http.lua. */
#include "script/natives/natives.h"
#include "script/transfer.h"
#include <stdio.h>

/* request_key() -> a text for this job that all its attempts have, and the call of its walk */
static int native_request_key(lua_State *L) {
    const struct script *script = script_of(L);
    const struct job *job = script->run ? script->run->outcome->job : NULL;
    if (!job)
        return luaL_error(L, "http.request: no job runs here");
    lua_pushfstring(L, "%I-%I", (LUAI_UACINT)job->id, (LUAI_UACINT)job->created);
    lua_pushstring(L, script->call); /* NULL: nil */
    return 2;
}

/* trace() -> the traceparent of what this run asks for; nil: it has none */
static int native_trace(lua_State *L) {
    const struct script *script = script_of(L);
    const struct job *job = script->run ? script->run->outcome->job : NULL;
    char trace[TRACE_SIZE];
    if (!job || !job->trace)
        return 0;
    job_trace(job, trace);
    lua_pushstring(L, trace);
    return 1;
}

/* muted() -> why no request can be made now; nil: it can */
static int native_muted(lua_State *L) {
    lua_pushstring(L, script_of(L)->mute);
    return 1;
}

/* The list at `index` as texts that Lua keeps. */
static const char *const *read_headers(lua_State *L, int index) {
    luaL_checktype(L, index, LUA_TTABLE);
    size_t count = lua_rawlen(L, index);
    const char **headers = lua_newuserdatauv(L, (count + 1) * sizeof *headers, 0);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, index, (lua_Integer)i + 1);
        headers[i] = luaL_checkstring(L, -1);
        lua_pop(L, 1);
    }
    headers[count] = NULL;
    return headers;
}

static int push_answer(lua_State *L) {
    const struct transfer *transfer = lua_touserdata(L, 1);
    lua_pushinteger(L, transfer->status);
    lua_pushlstring(L, transfer->head.data ? transfer->head.data : "", transfer->head.size);
    lua_pushlstring(L, transfer->answer.data ? transfer->answer.data : "", transfer->answer.size);
    return 3;
}

/* request(method, url, headers, body | nil, timeout in ms, follow, max, ca | nil) -> status, head,
 * body; or nil, message, code */
static int native_request(lua_State *L) {
    struct script *script = script_of(L);
    struct transfer transfer = {.state = &script->state,
                                .allow = script->settings->http_allow,
                                .deny = script->settings->http_deny,
                                .method = luaL_checkstring(L, 1),
                                .url = luaL_checkstring(L, 2),
                                .timeout = luaL_checkinteger(L, 5),
                                .follow = (int)luaL_checkinteger(L, 6),
                                .max = (size_t)luaL_checkinteger(L, 7),
                                .ca = luaL_optstring(L, 8, NULL)};
    transfer.body = luaL_optlstring(L, 4, NULL, &transfer.body_size);
    transfer.headers = read_headers(L, 3);
    luaL_checkstack(L, 4, NULL);
    transfer_run(&transfer);
    lua_pushcfunction(L, push_answer);
    lua_pushlightuserdata(L, &transfer);
    int status = transfer.fault == TRANSFER_DONE ? lua_pcall(L, 1, 3, 0) : LUA_OK;
    transfer_clear(&transfer);
    if (status != LUA_OK)
        return lua_error(L);
    if (transfer.fault == TRANSFER_CANCELLED)
        state_check(&script->state, L);
    if (transfer.fault == TRANSFER_DONE)
        return 3;
    lua_pushnil(L);
    lua_pushstring(L, transfer.message);
    lua_pushstring(L, transfer_fault_name(transfer.fault));
    return 3;
}

void http_add(struct script *script, lua_State *L) {
    static const luaL_Reg functions[] = {{"request", native_request},
                                         {"request_key", native_request_key},
                                         {"muted", native_muted},
                                         {"trace", native_trace},
                                         {NULL, NULL}};
    script_add(script, L, functions);
}
