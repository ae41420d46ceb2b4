/* moonshift.lua, the folder's settings: evaluated in a bare, limited state. */
#include "script/script_state.h"
#include "script/value.h"
#include "script/watch.h"
#include <stdlib.h>

#define CONFIGURATION_MEMORY ((size_t)64 * 1024 * 1024)

struct question {
    struct script script;
    json_t *answer;
    struct error error;
};

/* Runs protected: worker.settings(natives) -> table */
static int evaluate(lua_State *L) {
    struct question *question = lua_touserdata(L, 1);
    struct error error = {0};
    script_boot(&question->script, L);
    lua_getfield(L, -1, "settings");
    script_natives(&question->script, L);
    lua_call(L, 1, 1);
    question->answer = value_to_json(L, -1, "setting", &error);
    if (!question->answer)
        return luaL_error(L, "moonshift.lua: %s", error.text);
    return 0;
}

static bool explain(struct script *script, struct error *error) {
    bool stopped = script->state.stopped != STOP_NONE;
    json_t *problem = script_problem(script, "loading", LOAD_SPAN);
    const char *text = json_string_value(json_object_get(problem, "message"));
    const char *file = stopped ? "moonshift.lua: " : "";
    error_set(error, ERROR_CONFIG, "%s%s", file, text ? text : "moonshift.lua: out of memory");
    json_decref(problem);
    return false;
}

/* Finalizers are part of it. */
static void ask(void *arg) {
    struct question *question = arg;
    struct state *state = &question->script.state;
    if (state_call(state, evaluate, question, 0, LOAD_SPAN) != LUA_OK)
        explain(&question->script, &question->error);
    state_close(state);
}

json_t *folder_settings(const struct folder *folder, struct error *error) {
    if (!folder_find(folder, "moonshift.lua"))
        return json_object();
    struct question *question = calloc(1, sizeof *question);
    if (!question || !state_open(&question->script.state, CONFIGURATION_MEMORY)) {
        free(question);
        error_set(error, ERROR_FAILED, "out of memory while a Lua state was opened");
        return NULL;
    }
    struct script *script = &question->script;
    script->folder = folder_retain((struct folder *)folder);
    script->clock = clock_system();
    script->worker = script->handle = script->raised = LUA_NOREF;
    if (!watch_run(ask, question, LOAD_SPAN)) {
        json_t *problem = script_endless(script, "loading", LOAD_SPAN);
        error_set(error, ERROR_CONFIG, "moonshift.lua: %s",
                  json_string_value(json_object_get(problem, "message")));
        json_decref(problem);
        return NULL;
    }
    json_t *answer = question->answer;
    if (!answer && error)
        *error = question->error;
    folder_release(script->folder);
    free(question);
    return answer;
}
