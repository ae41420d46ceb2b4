#include "lua/api.h"
#include "run/back_off.h"
#include <lauxlib.h>

/* The waits and pages of run/back_off.h as functions of a table of settings (milliseconds). */

static lua_Integer field(lua_State *L, const char *name, lua_Integer otherwise) {
    lua_getfield(L, 1, name);
    lua_Integer value = luaL_optinteger(L, -1, otherwise);
    lua_pop(L, 1);
    return value;
}

static lua_Number factor(lua_State *L) {
    lua_getfield(L, 1, "wait_factor");
    lua_Number value = luaL_optnumber(L, -1, 2);
    lua_pop(L, 1);
    return value;
}

/* Argument 1: settings by name. The others have their defaults. */
static struct settings settings_of(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    struct settings settings = {
        .page = (int)field(L, "page", 0),
        .wait = field(L, "wait", 5000),
        .max_wait = field(L, "max_wait", 60000),
        .wait_factor = factor(L),
        .backoff = field(L, "backoff", 0),
        .max_backoff = field(L, "max_backoff", 0),
        .queue_full_wait = field(L, "queue_full_wait", 100),
        .backoff_decrease_threshold = (int)field(L, "backoff_decrease_threshold", 100),
    };
    return settings;
}

static int idle_wait(lua_State *L) {
    struct settings settings = settings_of(L);
    lua_pushinteger(L, back_off_idle_wait(&settings, (int)luaL_checkinteger(L, 2)));
    return 1;
}

static int failure_wait(lua_State *L) {
    struct settings settings = settings_of(L);
    int level = (int)luaL_checkinteger(L, 2);
    lua_pushinteger(L, back_off_failure_wait(&settings, level, luaL_optnumber(L, 3, 0)));
    return 1;
}

static int full_wait(lua_State *L) {
    struct settings settings = settings_of(L);
    lua_pushinteger(L, back_off_full_wait(&settings, (int)luaL_checkinteger(L, 2)));
    return 1;
}

static int gather(lua_State *L) {
    int most;
    lua_pushinteger(L, back_off_gather(luaL_checknumber(L, 1), &most));
    lua_pushinteger(L, most);
    return 2;
}

static int file(lua_State *L) {
    lua_pushinteger(L, back_off_file((int)luaL_checkinteger(L, 1), luaL_checknumber(L, 2),
                                     luaL_checknumber(L, 3)));
    return 1;
}

static int page(lua_State *L) {
    struct settings settings = settings_of(L);
    int level = (int)luaL_checkinteger(L, 2), room = (int)luaL_checkinteger(L, 3);
    lua_pushinteger(L, back_off_page(&settings, level, room));
    return 1;
}

static int away_wait(lua_State *L) {
    lua_pushinteger(L, back_off_away_wait((int)luaL_checkinteger(L, 1)));
    return 1;
}

static int retry_wait(lua_State *L) {
    lua_pushinteger(L, back_off_retry_wait((int)luaL_checkinteger(L, 1)));
    return 1;
}

static int level_of(lua_State *L, const char *name) {
    lua_getfield(L, 2, name);
    int level = (int)luaL_optinteger(L, -1, 0);
    lua_pop(L, 1);
    return level;
}

static void set_level(lua_State *L, const char *name, int level) {
    lua_pushinteger(L, level);
    lua_setfield(L, -2, name);
}

/* after(settings, levels, asked, got, lock_failures) -> levels */
static int after(lua_State *L) {
    struct settings settings = settings_of(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    struct back_off levels = {.idle_level = level_of(L, "idle_level"),
                              .failure_level = level_of(L, "failure_level"),
                              .clean_cycles = level_of(L, "clean_cycles")};
    back_off_learn(&levels, &settings, (int)luaL_checkinteger(L, 3), (int)luaL_checkinteger(L, 4),
                   (int)luaL_optinteger(L, 5, 0));
    lua_createtable(L, 0, 3);
    set_level(L, "idle_level", levels.idle_level);
    set_level(L, "failure_level", levels.failure_level);
    set_level(L, "clean_cycles", levels.clean_cycles);
    return 1;
}

static const luaL_Reg functions[] = {
    {"idle_wait", idle_wait}, {"failure_wait", failure_wait},
    {"full_wait", full_wait}, {"page", page},
    {"gather", gather},       {"retry_wait", retry_wait},
    {"away_wait", away_wait}, {"file", file},
    {"after", after},         {NULL, NULL},
};

int luaopen_moonshift_back_off(lua_State *L) {
    luaL_newlib(L, functions);
    return 1;
}
