/* How a state comes by the Lua half: from the embedded copies in a state of our own, by ordinary
 * require in a borrowed one. */
#include "base/embedded.h"
#include "base/json.h"
#include "base/text.h"
#include "script/failure.h"
#include "script/libraries.h"
#include "script/lpeg.h"
#include "script/rules.h"
#include "script/script_state.h"
#include "time/span.h"
#include <string.h>

/* "moonshift.retry" -> "lua/moonshift/retry.lua"; NULL if it is none of ours. */
static const struct embedded *find_module(const char *name) {
    char path[128] = "lua/";
    size_t length = strlen(name);
    if (strncmp(name, "moonshift.", 10) != 0 || length > 100)
        return NULL;
    for (size_t i = 0; i <= length; i++)
        path[4 + i] = name[i] == '.' ? '/' : name[i];
    strcat(path, ".lua");
    return embedded_find(path);
}

/* Pushes the chunk of a module: its code, where the Lua that runs is the one that compiled it, else
 * from its text. Raises if neither can be loaded. */
static void push_chunk(lua_State *L, const struct embedded *file, const char *name) {
    bool same = file->code && strstr(lua_ident, embedded_release);
    if (same && luaL_loadbufferx(L, file->code, file->code_size, name, "b") == LUA_OK)
        return;
    if (same) /* the machine is another one: its reason */
        lua_pop(L, 1);
    if (luaL_loadbufferx(L, file->text, file->size, name, "t") != LUA_OK)
        lua_error(L);
}

static int search_embedded(lua_State *L) {
    const char *name = luaL_checkstring(L, 1);
    const struct embedded *file = find_module(name);
    if (!file) {
        lua_pushfstring(L, "no embedded module '%s'", name);
        return 1;
    }
    lua_pushfstring(L, "@%s", file->path);
    push_chunk(L, file, lua_tostring(L, -1));
    lua_pushstring(L, file->path);
    return 2;
}

static void preload_libraries(lua_State *L) {
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, luaopen_moonshift_rules);
    lua_setfield(L, -2, "moonshift.rules");
    luaL_setfuncs(L, script_libraries, 0);
    lua_pop(L, 1);
}

/* Before the disk is searched: the Lua half belongs to this binary. */
static void add_searcher(lua_State *L) {
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "searchers");
    for (lua_Integer i = (lua_Integer)lua_rawlen(L, -1); i >= 2; i--) {
        lua_rawgeti(L, -1, i);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushcfunction(L, search_embedded);
    lua_rawseti(L, -2, 2);
    lua_pop(L, 2);
}

void script_boot(struct script *script, lua_State *L) {
    preload_libraries(L);
    lpeg_preload(L);
    if (!script->state.borrowed)
        add_searcher(L);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "moonshift.worker");
    lua_call(L, 1, 1);
}

static json_t *problem_new(const char *file, const char *message) {
    json_t *problem = json_object();
    return json_kept(problem, problem &&
                                  (!*file || (json_put_text(problem, "file", file) &&
                                              json_put(problem, "line", json_integer(1)))) &&
                                  json_put_text(problem, "message", message));
}

json_t *script_endless(const struct script *script, const char *what, time_ms span) {
    char limit[TIME_TEXT_SIZE], text[256], file[sizeof script->loading] = "";
    if (script)
        memcpy(file, script->loading, sizeof file - 1);
    span_format(span, limit);
    snprintf(text, sizeof text,
             "%s took longer than %s and does not end (such as a pattern that backtracks)", what,
             limit);
    return problem_new(file, text);
}

json_t *script_problem(struct script *script, const char *what, time_ms span) {
    struct state *state = &script->state;
    char limit[TIME_TEXT_SIZE], text[256];
    if (state->stopped == STOP_NONE) {
        struct failure failure = failure_describe(state);
        json_t *problem = failure.message ? problem_new(script->loading, failure.message) : NULL;
        failure_clear(&failure);
        return problem;
    }
    lua_pop(state->current, 1);
    if (state->stopped == STOP_MEMORY) {
        failure_bytes(state->limit, limit, sizeof limit);
        snprintf(text, sizeof text, "%s needed more than the memory limit of %s", what, limit);
    } else {
        span_format(span, limit);
        snprintf(text, sizeof text, "%s took longer than %s", what, limit);
    }
    return problem_new(script->loading, text);
}

struct script *script_of(lua_State *L) {
    return (struct script *)state_of(L);
}

void script_add(struct script *script, lua_State *L, const luaL_Reg *functions) {
    for (; functions->name; functions++) {
        state_push_native(&script->state, L, functions->func);
        lua_setfield(L, -2, functions->name);
    }
}
