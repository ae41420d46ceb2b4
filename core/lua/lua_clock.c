#include "lua/lua_engine.h"
#include "time/span.h"
#include <math.h>

/* A clock as a Lua object: now, advance, set. Its texts are literals of a program or a spec, so a
 * wrong one raises. */

static struct clock *self(lua_State *L) {
    return *(struct clock **)luaL_checkudata(L, 1, CLOCK_TYPE);
}

struct clock *lua_clock_opt(lua_State *L, int index) {
    if (lua_isnoneornil(L, index))
        return NULL;
    return *(struct clock **)luaL_checkudata(L, index, CLOCK_TYPE);
}

static struct clock **push(lua_State *L) {
    struct clock **box = lua_newuserdatauv(L, sizeof *box, 0);
    *box = NULL;
    luaL_setmetatable(L, CLOCK_TYPE);
    return box;
}

static time_ms check_time(lua_State *L, int index) {
    time_ms time = 0;
    struct error error = {0};
    if (!time_parse(luaL_checkstring(L, index), &time, &error))
        luaL_argerror(L, index, error.text);
    return time;
}

static int clock_new(lua_State *L) {
    time_ms start = lua_isnoneornil(L, 1) ? clock_now(clock_system()) : check_time(L, 1);
    struct clock **box = push(L);
    *box = clock_virtual_new(start);
    return *box ? 1 : luaL_error(L, "out of memory");
}

static int clock_of_system(lua_State *L) {
    *push(L) = clock_system();
    return 1;
}

static int clock_gc(lua_State *L) {
    struct clock **box = luaL_checkudata(L, 1, CLOCK_TYPE);
    if (*box)
        clock_release(*box);
    *box = NULL;
    return 0;
}

static int push_now(lua_State *L) {
    char text[TIME_TEXT_SIZE];
    time_format(clock_now(self(L)), text);
    lua_pushstring(L, text);
    return 1;
}

static void check_virtual(lua_State *L) {
    if (!clock_is_virtual(self(L)))
        luaL_error(L, "the system's clock cannot be moved (expected moonshift.clock.virtual)");
}

static time_ms later(lua_State *L, time_ms now) {
    struct span span = {0};
    struct error error = {0};
    if (lua_type(L, 2) != LUA_TNUMBER) {
        if (!span_parse(luaL_checkstring(L, 2), &span, &error))
            luaL_argerror(L, 2, error.text);
        return span_add(now, &span);
    }
    double ms = lua_tonumber(L, 2) * 1000;
    luaL_argcheck(L, fabs(ms) < 9e15, 2, "a number of seconds expected");
    return now + (time_ms)llround(ms);
}

static int lua_clock_advance(lua_State *L) {
    check_virtual(L);
    clock_set(self(L), later(L, clock_now(self(L))));
    return push_now(L);
}

static int lua_clock_set(lua_State *L) {
    check_virtual(L);
    clock_set(self(L), check_time(L, 2));
    return push_now(L);
}

static int clock_virtual(lua_State *L) {
    lua_pushboolean(L, clock_is_virtual(self(L)));
    return 1;
}

static const luaL_Reg methods[] = {
    {"now", push_now},      {"advance", lua_clock_advance},
    {"set", lua_clock_set}, {"is_virtual", clock_virtual},
    {NULL, NULL},
};

static const luaL_Reg constructors[] = {
    {"virtual_clock", clock_new},
    {"system_clock", clock_of_system},
    {NULL, NULL},
};

void lua_clock_register(lua_State *L) {
    luaL_newmetatable(L, CLOCK_TYPE);
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, clock_gc);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    luaL_setfuncs(L, constructors, 0);
}
