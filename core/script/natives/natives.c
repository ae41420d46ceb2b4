#include "script/natives/natives.h"
#include "job/stock.h"
#include "script/value.h"
#include "script/walk.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOVE_MAX 10000000 /* elements that table.move moves at once: a C loop no hook can stop */

/* ---- the folder's files ---- */

static const struct folder_file *check_file(lua_State *L) {
    const char *path = luaL_checkstring(L, 1);
    const struct folder_file *file = folder_find(script_of(L)->folder, path);
    if (!file)
        luaL_error(L, "no file %s in the script folder", path);
    return file;
}

/* load(path, env): the file as a function with `env` for its globals; or nil, message. */
static int native_load(lua_State *L) {
    const struct folder_file *file = check_file(L);
    size_t start = utf8_mark(file->text, file->size);
    lua_settop(L, 2);
    if (file->size > start && file->text[start] == LUA_SIGNATURE[0]) {
        lua_pushnil(L);
        lua_pushfstring(L, "%s:1: binary chunks are refused (expected Lua source text)",
                        file->path);
        return 2;
    }
    lua_pushfstring(L, "@%s", file->path);
    if (luaL_loadbufferx(L, file->text + start, file->size - start, lua_tostring(L, 3), "t") ==
        LUA_OK) {
        lua_pushvalue(L, 2);
        lua_setupvalue(L, -2, 1);
        return 1;
    }
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
}

static int native_text(lua_State *L) {
    const struct folder_file *file = check_file(L);
    lua_pushlstring(L, file->text, file->size);
    return 1;
}

/* loading(path | nil): what a limit that strikes now is blamed on. */
static int native_loading(lua_State *L) {
    struct script *script = script_of(L);
    const char *path = luaL_optstring(L, 1, "");
    strncpy(script->loading, path, sizeof script->loading - 1);
    return 0;
}

/* A stock handler that nobody asked for is not there. */
static bool is_there(const struct script *script, const struct folder_file *file) {
    static const char root[] = "handlers/";
    char name[JOB_NAME_MAX + 1];
    if (!file->stock || script->folder->all_stock || strncmp(file->path, root, strlen(root)) != 0)
        return true;
    snprintf(name, sizeof name, "%s", file->path + strlen(root));
    name[strlen(name) - strlen(".lua")] = '\0';
    return stock_has(script->settings ? script->settings->stock : NULL, name);
}

static void push_paths(const struct script *script, lua_State *L) {
    const struct folder *folder = script->folder;
    lua_Integer count = 0;
    lua_createtable(L, (int)folder->count, 0);
    for (size_t i = 0; i < folder->count; i++)
        if (is_there(script, &folder->files[i])) {
            lua_pushstring(L, folder->files[i].path);
            lua_rawseti(L, -2, ++count);
        }
}

/* A set: path = true. */
static void push_stock(const struct folder *folder, lua_State *L) {
    lua_newtable(L);
    for (size_t i = 0; i < folder->count; i++)
        if (folder->files[i].stock) {
            lua_pushboolean(L, true);
            lua_setfield(L, -2, folder->files[i].path);
        }
}

/* ---- the store's files ---- */

/* "moonshift.db-slots-12" and its like: what the store puts beside the database. */
static bool is_suffix(const char *suffix) {
    static const char *const whole[] = {"", "-wal", "-shm", "-journal", "-gate", "-tray"};
    static const char *const numbered[] = {"-slots-", "-bell-"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(suffix, whole[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++) {
        size_t size = strlen(numbered[i]);
        if (strncmp(suffix, numbered[i], size) == 0 && suffix[size] &&
            !suffix[size + strspn(suffix + size, "0123456789")])
            return true;
    }
    return false;
}

/* Where a path leads to: its folder, open or to be made, and the name in there. */
struct place {
    char path[PATH_MAX];
    struct stat folder;
    const char *name;
};

/* False: it leads nowhere. */
static bool place_find(struct place *place, const char *path) {
    if (!realpath(path, place->path)) { /* nothing is there yet */
        if (strlen(path) >= sizeof place->path)
            return false;
        strcpy(place->path, path);
    }
    char *slash = strrchr(place->path, '/');
    place->name = slash ? slash + 1 : place->path;
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - place->path) + 1 : 1,
             slash ? place->path : ".");
    return stat(folder, &place->folder) == 0;
}

static bool same_file(const char *left, const char *right) {
    struct stat one, other;
    return stat(left, &one) == 0 && stat(right, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* By its place and name, or as another name of one of the files. */
static bool is_of_store(const char *path, const char *store) {
    static const char *const files[] = {"", "-wal", "-shm", "-gate", "-tray"};
    struct place one, other;
    char name[PATH_MAX];
    if (!place_find(&one, path) || !place_find(&other, store))
        return false;
    size_t size = strlen(other.name);
    if (one.folder.st_dev == other.folder.st_dev && one.folder.st_ino == other.folder.st_ino &&
        strncmp(one.name, other.name, size) == 0 && is_suffix(one.name + size))
        return true;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if ((size_t)snprintf(name, sizeof name, "%s%s", other.path, files[i]) < sizeof name &&
            same_file(path, name))
            return true;
    return false;
}

/* True for a path of the store. A script that closes the database's file drops SQLite's locks in
 * the whole process; one that writes into the others harms it as well. */
static int native_is_store(lua_State *L) {
    struct script *script = script_of(L);
    const char *path = lua_tostring(L, 1), *store = script->settings ? script->settings->store : "";
    const char *colon = strchr(store, ':');
    store = colon ? colon + 1 : store;
    lua_pushboolean(L, path && *store && *store != ':' && is_of_store(path, store));
    return 1;
}

/* ---- the library functions that no hook can stop ---- */

/* rep(s, n, sep): the standard one (upvalue 2), but an empty result is made at once. */
static int native_rep(lua_State *L) {
    size_t size, gap = 0;
    luaL_checklstring(L, 1, &size);
    luaL_checkinteger(L, 2);
    luaL_optlstring(L, 3, "", &gap);
    if (size == 0 && gap == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    lua_settop(L, 3);
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_insert(L, 1);
    lua_call(L, 3, 1);
    return 1;
}

static int native_move(lua_State *L) {
    lua_Integer first = luaL_checkinteger(L, 2), last = luaL_checkinteger(L, 3);
    if (last >= first && (lua_Unsigned)last - (lua_Unsigned)first >= MOVE_MAX)
        return luaL_error(L, "table.move: too many elements (expected at most %d)", MOVE_MAX);
    lua_pushvalue(L, lua_upvalueindex(2));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

static void add_bounded(struct script *script, lua_State *L, const char *library, const char *name,
                        lua_CFunction function) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->state.box);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_getfield(L, -1, library);
    lua_getfield(L, -1, name);
    lua_replace(L, -3);
    lua_pop(L, 1);
    lua_pushcclosure(L, function, 2);
    lua_setfield(L, -2, name);
}

/* now(): ms since 1970 */
static int native_now(lua_State *L) {
    lua_pushinteger(L, clock_now(script_of(L)->clock));
    return 1;
}

/* stopped(): has a limit struck? */
static int native_stopped(lua_State *L) {
    lua_pushboolean(L, state_of(L)->fired != STOP_NONE);
    return 1;
}

/* check_spec(object): true, or nil and what is wrong with it as a job to be created. A schedule
 * whose dates are over is fine. */
static int native_check_spec(lua_State *L) {
    struct script *script = script_of(L);
    struct error error = {0};
    struct job_spec spec = {0};
    struct spec_rules rules = spec_rules(&script->settings->write);
    rules.schedule = true;
    json_t *object = value_to_json(L, 1, "schedule", &error);
    bool ok = object && (job_spec_read(&spec, object, &rules, clock_now(script->clock), &error) ||
                         error.code == ERROR_CONFLICT);
    job_spec_clear(&spec);
    json_decref(object);
    lua_pushboolean(L, ok);
    if (ok)
        return 1;
    lua_pushstring(L, error.text);
    return 2;
}

/* ---- print ---- */

static int native_print(lua_State *L) {
    struct script *script = script_of(L);
    int count = lua_gettop(L);
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    for (int i = 1; i <= count; i++) {
        if (i > 1)
            luaL_addchar(&buffer, '\t');
        luaL_tolstring(L, i, NULL);
        luaL_addvalue(&buffer);
    }
    luaL_pushresult(&buffer);
    size_t size;
    const char *text = lua_tolstring(L, -1, &size);
    if (script->run)
        run_line(script->run, text, size);
    return 0;
}

static void push(struct script *script, lua_State *L) {
    static const luaL_Reg functions[] = {{"load", native_load},
                                         {"text", native_text},
                                         {"loading", native_loading},
                                         {"is_store", native_is_store},
                                         {"print", native_print},
                                         {"stopped", native_stopped},
                                         {"now", native_now},
                                         {"check_spec", native_check_spec},
                                         {NULL, NULL}};
    lua_newtable(L);
    script_add(script, L, functions);
    add_bounded(script, L, "string", "rep", native_rep);
    add_bounded(script, L, "table", "move", native_move);
    coroutine_add(script, L);
    process_add(script, L);
    http_add(script, L);
    push_paths(script, L);
    lua_setfield(L, -2, "paths");
    push_stock(script->folder, L);
    lua_setfield(L, -2, "stock");
    lua_newtable(L);
    verbs_add(script, L);
    lua_setfield(L, -2, "job");
    lua_newtable(L);
    walk_add(script, L);
    lua_setfield(L, -2, "walk");
}

void (*const script_natives)(struct script *script, lua_State *L) = push;
