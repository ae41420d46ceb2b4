#include "script/traceback.h"
#include <lauxlib.h>
#include <stdbool.h>
#include <string.h>

enum { FIRST = 10, LAST = 11 }; /* calls that a long one shows */

void traceback_push_names(lua_State *L) {
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
}

/* Pushes the text under which a table has the function. */
static bool push_key(lua_State *L, int table, int function) {
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING || !lua_rawequal(L, -1, function))
            continue;
        lua_pop(L, 1);
        return true;
    }
    return false;
}

/* Pushes its name in one of the modules. Globals are those of a module, too. */
static bool push_member(lua_State *L, int loaded, int function) {
    for (lua_pushnil(L); lua_next(L, loaded); lua_pop(L, 1)) {
        if (lua_type(L, -2) != LUA_TSTRING || !lua_istable(L, -1) ||
            !push_key(L, lua_gettop(L), function))
            continue;
        const char *module = lua_tostring(L, -3);
        if (strcmp(module, LUA_GNAME) != 0)
            lua_pushfstring(L, "%s.%s", module, lua_tostring(L, -1));
        return true;
    }
    return false;
}

/* Pushes what is kept as the name of the function: a text, or false. */
static void push_found(lua_State *L, int function) {
    int top = lua_gettop(L);
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (lua_istable(L, -1) && (push_key(L, top + 1, function) || push_member(L, top + 1, function)))
        lua_pushfstring(L, "function '%s'", lua_tostring(L, -1));
    else
        lua_pushboolean(L, false);
    lua_replace(L, top + 1);
    lua_settop(L, top + 1);
}

/* Puts its name, or false, in the place of the function on top. */
static void name(lua_State *L, int names) {
    int function = lua_gettop(L);
    lua_pushvalue(L, function);
    if (lua_rawget(L, names) == LUA_TNIL) {
        lua_pop(L, 1);
        push_found(L, function);
        lua_pushvalue(L, function);
        lua_pushvalue(L, -2);
        lua_rawset(L, names);
    }
    lua_replace(L, function);
}

/* Puts words in the place of the name on top. */
static void describe(lua_State *L, const lua_Debug *call) {
    if (lua_isstring(L, -1))
        return;
    lua_pop(L, 1);
    if (*call->namewhat)
        lua_pushfstring(L, "%s '%s'", call->namewhat, call->name);
    else if (*call->what == 'm')
        lua_pushliteral(L, "main chunk");
    else if (*call->what == 'C')
        lua_pushliteral(L, "?");
    else
        lua_pushfstring(L, "function <%s:%d>", call->short_src, call->linedefined);
}

static void add_call(luaL_Buffer *text, lua_State *L, int names, lua_Debug *call) {
    lua_getinfo(L, "Slnt", call);
    if (call->currentline > 0)
        lua_pushfstring(L, "\n\t%s:%d: in ", call->short_src, call->currentline);
    else
        lua_pushfstring(L, "\n\t%s: in ", call->short_src);
    luaL_addvalue(text);
    lua_getinfo(L, "f", call);
    name(L, names);
    describe(L, call);
    luaL_addvalue(text);
    if (call->istailcall)
        luaL_addstring(text, "\n\t(...tail calls...)");
}

static bool is_there(lua_State *L, int level) {
    lua_Debug call;
    return lua_getstack(L, level, &call);
}

/* The number of calls; each look at one walks the stack, so it is found by halves. */
static int depth(lua_State *L) {
    int least = 0, most = 1;
    while (is_there(L, most))
        most *= 2;
    while (least < most) {
        int middle = least + (most - least) / 2;
        if (is_there(L, middle))
            least = middle + 1;
        else
            most = middle;
    }
    return least;
}

void traceback_push(lua_State *L, int names, int level) {
    luaL_Buffer text;
    lua_Debug call;
    int end = depth(L), skipped = end - level - FIRST - LAST;
    luaL_checkstack(L, LUA_MINSTACK, NULL);
    luaL_buffinit(L, &text);
    luaL_addstring(&text, "stack traceback:");
    for (int at = level; lua_getstack(L, at, &call); at++) {
        add_call(&text, L, names, &call);
        if (skipped <= 0 || at != level + FIRST - 1)
            continue;
        lua_pushfstring(L, "\n\t...\t(skipping %d levels)", skipped);
        luaL_addvalue(&text);
        at += skipped;
    }
    luaL_pushresult(&text);
}
