/* power_walk_contract.c - the power is cut while instances of a process walk. A life is played in
 * Lua (power_walk.lua), with an engine on a virtual clock in this process, so that its store is on
 * the disk that loses its power.
 *
 *   build/spec/core/store/sqlite/power_walk_contract [CUTS] [SEED]
 *
 * Without arguments, a tenth of the CUTS of the environment: a life needs more time here than in
 * power_contract. */
#include "lua/api.h"
#include "power_disk.h"
#include "power_vfs.h"
#include <lauxlib.h>
#include <lualib.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cut(seed): the power goes off at one of the next operations. */
static int cut(lua_State *L) {
    static const struct {
        enum power_kind kind;
        int within;
    } aims[] = {{POWER_KINDS, 200},        {POWER_LOG_WRITE, 80},    {POWER_LOG_SYNC, 30},
                {POWER_DATABASE_WRITE, 9}, {POWER_DATABASE_SYNC, 1}, {POWER_KINDS, 40}};
    uint64_t seed = (uint64_t)luaL_checkinteger(L, 1);
    int aim = chance_of(&seed, (int)(sizeof aims / sizeof *aims));
    power_cut(aims[aim].kind, 1 + chance_of(&seed, aims[aim].within), chance(&seed));
    return 0;
}

/* on([seed]): the power is there; with a seed, for all that comes SQLite draws from it. */
static int on(lua_State *L) {
    power_on();
    if (lua_isinteger(L, 1)) {
        power_seed((uint64_t)lua_tointeger(L, 1));
        disk_forget();
    }
    return 0;
}

/* off() -> nil, or the name of the operation at which the power went off */
static int off(lua_State *L) {
    if (power_is_off())
        lua_pushstring(L, power_kind_name(power_was_at()));
    return power_is_off();
}

/* lie(boolean): syncs say that they are done, and are not. */
static int lie(lua_State *L) {
    power_lie(lua_toboolean(L, 1));
    return 0;
}

/* survive(folder, seed): what is left of every file goes there. */
static int survive(lua_State *L) {
    if (!disk_survive(luaL_checkstring(L, 1), (uint64_t)luaL_checkinteger(L, 2)))
        return luaL_error(L, "%s: no file can be written there", lua_tostring(L, 1));
    return 0;
}

static void rows_push(lua_State *L, sqlite3_stmt *statement) {
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
        const char *text = (const char *)sqlite3_column_text(statement, i);
        if (i)
            luaL_addchar(&buffer, '|');
        luaL_addstring(&buffer, text ? text : "");
    }
    luaL_pushresult(&buffer);
}

/* rows(path, sql) -> rows as texts with "|" between their columns, read past the engine */
static int rows(lua_State *L) {
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, step = SQLITE_ERROR;
    lua_newtable(L);
    if (sqlite3_open_v2(luaL_checkstring(L, 1), &database, flags, "unix") == SQLITE_OK &&
        sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(database, luaL_checkstring(L, 2), -1, &statement, NULL) == SQLITE_OK)
        for (int i = 1; (step = sqlite3_step(statement)) == SQLITE_ROW; i++) {
            rows_push(L, statement);
            lua_rawseti(L, -2, i);
        }
    lua_pushstring(L, sqlite3_errmsg(database));
    sqlite3_finalize(statement);
    sqlite3_close(database);
    if (step != SQLITE_DONE)
        return lua_error(L);
    lua_pop(L, 1);
    return 1;
}

static lua_Integer number(const char *text, lua_Integer otherwise) {
    return text && *text ? strtoll(text, NULL, 10) : otherwise;
}

/* The program of the same build proves the store at the end of a life. */
static void name_program(const char *contract) {
    char program[4096];
    const char *end = strstr(contract, "/spec/");
    snprintf(program, sizeof program, "%.*s/moonshift", end ? (int)(end - contract) : 0, contract);
    setenv("SPEC_PROGRAM", program, 0);
}

int main(int count, char **arguments) {
    static const luaL_Reg functions[] = {{"cut", cut}, {"on", on},           {"off", off},
                                         {"lie", lie}, {"survive", survive}, {"rows", rows},
                                         {NULL, NULL}};
    lua_Integer cuts = number(getenv("CUTS"), 500) / 10;
    lua_State *L = luaL_newstate();
    if (!L || !power_install())
        return 2;
    name_program(arguments[0]);
    luaL_openlibs(L);
    luaL_requiref(L, "moonshift.core", luaopen_moonshift_core, 0);
    if (luaL_loadfile(L, "spec/core/store/sqlite/power_walk.lua") != LUA_OK)
        return 2;
    luaL_newlib(L, functions);
    lua_pushinteger(L, number(count > 1 ? arguments[1] : NULL, cuts > 0 ? cuts : 1));
    lua_pushinteger(L, number(count > 2 ? arguments[2] : getenv("SEED"), 1));
    bool ran = lua_pcall(L, 3, 1, 0) == LUA_OK;
    if (!ran)
        printf("%s\n0 passed, 1 failed\n", lua_tostring(L, -1));
    bool fine = ran && lua_toboolean(L, -1);
    lua_close(L);
    return !fine;
}
