/* coroutine.resume, wrap and close that tell the state which coroutine runs, so that a deadline
 * reaches all of them: those made while the folder was loaded, too. */
#include "script/natives/natives.h"

/* Resumes `co` with the `args` values on top of L. The number of results, pushed on L, or -1 with
 * the error on top. Raises nothing, so that the state never keeps a coroutine that ended. */
static int resume(struct state *state, lua_State *L, lua_State *co, int args) {
    int results;
    if (!lua_checkstack(co, args)) {
        lua_pushliteral(L, "too many arguments to resume");
        return -1;
    }
    lua_xmove(L, co, args);
    lua_State *before = state_enter(state, co);
    int status = lua_resume(co, L, args, &results);
    state_leave(state, before);
    if (status != LUA_OK && status != LUA_YIELD) {
        lua_xmove(co, L, 1);
        return -1;
    }
    if (lua_checkstack(L, results + 1)) {
        lua_xmove(co, L, results);
        return results;
    }
    lua_pop(co, results);
    lua_pushliteral(L, "too many results to resume");
    return -1;
}

static lua_State *check_thread(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTHREAD);
    return lua_tothread(L, 1);
}

static int native_resume(lua_State *L) {
    lua_State *co = check_thread(L);
    int results = resume(state_of(L), L, co, lua_gettop(L) - 1);
    lua_pushboolean(L, results >= 0);
    lua_insert(L, results >= 0 ? -(results + 1) : -2);
    return results >= 0 ? results + 1 : 2;
}

static int reset(lua_State *co, lua_State *from) {
#if LUA_VERSION_RELEASE_NUM >= 50406
    return lua_closethread(co, from);
#else
    (void)from;
    return lua_resetthread(co);
#endif
}

/* Closes what a coroutine left open; its error, if any, on top of L. */
static bool close_coroutine(struct state *state, lua_State *L, lua_State *co) {
    lua_State *before = state_enter(state, co);
    int status = reset(co, L);
    state_leave(state, before);
    if (status == LUA_OK)
        return true;
    lua_xmove(co, L, 1);
    return false;
}

static bool ended_in_error(lua_State *co) {
    int status = lua_status(co);
    return status != LUA_OK && status != LUA_YIELD;
}

/* As coroutine.wrap does: the coroutine is closed, a text gets the place of the call. */
static int fail_wrapped(struct state *state, lua_State *L, lua_State *co) {
    if (ended_in_error(co)) {
        lua_pushvalue(L, -1);
        lua_xmove(L, co, 1);
        if (!close_coroutine(state, L, co))
            lua_remove(L, -2);
    }
    if (lua_type(L, -1) == LUA_TSTRING) {
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

static int call_wrapped(lua_State *L) {
    struct state *state = state_of(L);
    lua_State *co = lua_tothread(L, lua_upvalueindex(2));
    int results = resume(state, L, co, lua_gettop(L));
    return results >= 0 ? results : fail_wrapped(state, L, co);
}

static int native_wrap(lua_State *L) {
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_State *co = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, co, 1);
    lua_pushcclosure(L, call_wrapped, 2);
    return 1;
}

/* A coroutine that waits in a yield, or one that has ended or not begun. */
static bool may_close(lua_State *L, lua_State *co) {
    lua_Debug frame;
    return co != L && (lua_status(co) != LUA_OK || lua_getstack(co, 0, &frame) == 0);
}

static int native_close(lua_State *L) {
    lua_State *co = check_thread(L);
    if (!may_close(L, co))
        return luaL_error(L, "cannot close a running coroutine");
    if (close_coroutine(state_of(L), L, co)) {
        lua_pushboolean(L, 1);
        return 1;
    }
    lua_pushboolean(L, 0);
    lua_insert(L, -2);
    return 2;
}

void coroutine_add(struct script *script, lua_State *L) {
    static const luaL_Reg functions[] = {
        {"resume", native_resume}, {"wrap", native_wrap}, {"close", native_close}, {NULL, NULL}};
    script_add(script, L, functions);
}
