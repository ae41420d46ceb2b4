#include "script/script.h"
#include "base/json.h"
#include "job/hook.h"
#include "job/notify.h"
#include "script/failure.h"
#include "script/handle.h"
#include "script/program.h"
#include "script/transfer.h"
#include "script/value.h"
#include "script/watch.h"
#include <stdlib.h>
#include <string.h>

/* ---- loading ---- */

struct load {
    struct script *script;
    struct script_options options;
};

static void set_ref(lua_State *L, int ref, const char *key) {
    if (ref != LUA_NOREF)
        lua_rawgeti(L, LUA_REGISTRYINDEX, ref);
    else
        lua_pushnil(L);
    lua_setfield(L, -2, key);
}

/* The handler that is told of incidents; an earlier deployment need not have it. */
static void push_notify(lua_State *L, const struct script_options *options) {
    char label[64];
    if (options->folder->all_stock)
        return;
    settings_label(options->settings, "notify", label, sizeof label);
    lua_pushstring(L, notify_incident(options->settings->notify));
    lua_setfield(L, -2, "notify");
    lua_pushstring(L, label);
    lua_setfield(L, -2, "notify_label");
}

/* Whether what processes lack is missed where it is called, and not when they are loaded. */
static bool is_missed_late(const struct script_options *options) {
    return options->settings->missing_handlers == MISSING_INCIDENT ||
           options->reading == READING_EARLIER;
}

static void push_options(lua_State *L, const struct script_options *options) {
    lua_createtable(L, 0, 5);
    lua_pushboolean(L, options->borrowed != NULL);
    lua_setfield(L, -2, "borrowed");
    char label[64];
    settings_label(options->settings, "retry", label, sizeof label);
    lua_pushstring(L, options->settings->retry);
    lua_setfield(L, -2, "retry");
    lua_pushstring(L, label);
    lua_setfield(L, -2, "retry_label");
    lua_pushnumber(L, (lua_Number)options->settings->timeout / 1000);
    lua_setfield(L, -2, "timeout");
    lua_pushstring(L, is_missed_late(options) ? "incident" : "refuse");
    lua_setfield(L, -2, "missing_handlers");
    static const char *const crons[] = {
        [CRON_AUTO] = "auto", [CRON_QUARTZ] = "quartz", [CRON_UNIX] = "unix"};
    lua_pushstring(L, crons[options->settings->cron]);
    lua_setfield(L, -2, "cron");
    static const char *const readings[] = {[READING_RUN] = NULL,
                                           [READING_EARLIER] = NULL,
                                           [READING_FOLDER] = "folder",
                                           [READING_FILE] = "file",
                                           [READING_PLAIN] = "plain"};
    lua_pushstring(L, readings[options->reading]);
    lua_setfield(L, -2, "reading");
    lua_pushboolean(L, options->written);
    lua_setfield(L, -2, "written");
    if (options->models) {
        value_push_json(L, options->models);
        lua_setfield(L, -2, "models");
    }
    push_notify(L, options);
    if (!options->borrowed)
        return;
    set_ref(L, options->borrowed->modules, "modules");
    set_ref(L, options->borrowed->handlers, "handlers");
    set_ref(L, options->borrowed->missing, "missing");
    set_ref(L, options->borrowed->http, "http");
}

/* A member of the table on top as JSON; raises if it cannot be. */
static json_t *member_to_json(lua_State *L, const char *key) {
    struct error error = {0};
    lua_getfield(L, -1, key);
    json_t *value = value_to_json(L, -1, key, &error);
    lua_pop(L, 1);
    if (!value)
        luaL_error(L, "%s", error.text);
    return value;
}

/* Runs protected: worker.load(natives, options) -> { definitions, problems, … } */
static int load(lua_State *L) {
    struct load *loading = lua_touserdata(L, 1);
    struct script *script = loading->script;
    script_boot(script, L);
    lua_getfield(L, -1, "load");
    script_natives(script, L);
    push_options(L, &loading->options);
    lua_call(L, 2, 1);
    script->rows = member_to_json(L, "definitions");
    script->schedules = member_to_json(L, "schedules");
    script->routes = member_to_json(L, "route_rows");
    script->problems = member_to_json(L, "problems");
    script->processes = member_to_json(L, "process_rows");
    script->versions = member_to_json(L, "process_versions");
    script->models = member_to_json(L, "process_models");
    script->warnings = member_to_json(L, "process_warnings");
    script->hook_paths = member_to_json(L, "hook_paths");
    json_t *events = member_to_json(L, "hook_events");
    script->hook_events = hook_events_read(events);
    json_decref(events);
    lua_getfield(L, -1, "methods");
    lua_getfield(L, -2, "engine");
    handle_prepare(script, L);
    lua_getfield(L, -1, "walk");
    script->walk = luaL_ref(L, LUA_REGISTRYINDEX);
    script->worker = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

/* ---- definitions ---- */

static void read_plan(lua_State *L, struct script *script, size_t i) {
    struct plan *plan = &script->plans[i];
    const char *name = script->definitions.list[i].name;
    lua_getfield(L, -1, "strategies");
    lua_getfield(L, -1, name);
    plan->strategy = lua_isfunction(L, -1);
    if (lua_type(L, -1) == LUA_TSTRING) {
        plan->retry = calloc(1, sizeof *plan->retry);
        if (!plan->retry || !retry_parse(lua_tostring(L, -1), plan->retry, NULL))
            luaL_error(L, "retry configuration \"%s\"", lua_tostring(L, -1));
    }
    lua_pop(L, 2);
    lua_getfield(L, -1, "handlers");
    lua_getfield(L, -1, name);
    plan->handler = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pop(L, 1);
}

/* Runs protected. */
static int plan_all(lua_State *L) {
    struct script *script = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->worker);
    for (size_t i = 0; i < script->definitions.count; i++)
        read_plan(L, script, i);
    return 0;
}

static bool refuse_memory(struct error *error) {
    return error_set(error, ERROR_FAILED, "out of memory while the script folder was loaded");
}

static bool plan_definitions(struct script *script, struct error *error) {
    if (definitions_read(&script->definitions, script->rows))
        script->plans = calloc(script->definitions.count + 1, sizeof *script->plans);
    for (size_t i = 0; script->plans && i < script->definitions.count; i++)
        script->plans[i].handler = LUA_NOREF;
    if (script->plans && state_call(&script->state, plan_all, script, 0, LOAD_SPAN) == LUA_OK)
        return true;
    return refuse_memory(error);
}

/* ---- the script ---- */

static struct script *script_new(const struct script_options *options) {
    struct script *script = calloc(1, sizeof *script);
    if (!script)
        return NULL;
    script->folder = folder_retain(options->folder);
    script->settings = options->settings;
    script->clock = options->clock;
    script->host = options->host;
    script->worker = script->walk = script->handle = script->raised = LUA_NOREF;
    script->mute = "while a folder is loaded";
    return script;
}

void script_join(struct script *script, const struct script_options *options) {
    script->settings = options->settings;
    script->clock = options->clock;
    script->host = options->host;
    state_hook_mode(&script->state, options->hook);
}

static void blame(struct script *script, json_t *problem) {
    json_decref(script->problems);
    script->problems = json_array();
    json_array_append_new(script->problems, problem);
}

static void load_files(void *arg) {
    struct load *loading = arg;
    struct script *script = loading->script;
    if (state_call(&script->state, load, loading, 0, LOAD_SPAN) != LUA_OK)
        blame(script, script_problem(script, "loading", LOAD_SPAN));
}

/* Makes another script with nothing but the problem, as the thread that loads keeps the first. */
static struct script *left_behind(const struct script *stuck,
                                  const struct script_options *options) {
    struct script *script = script_new(options);
    if (script)
        blame(script, script_endless(stuck, "loading", LOAD_SPAN));
    return script;
}

/* The folder loaded, its problems kept. NULL: it could not be tried. */
static struct script *script_load(const struct script_options *options, struct error *error) {
    struct script *script = script_new(options);
    bool ok = script && (options->borrowed
                             ? state_borrow(&script->state, options->borrowed->thread)
                             : state_open(&script->state, (size_t)options->settings->memory_limit));
    if (!ok) {
        script_close(script);
        error_set(error, ERROR_FAILED, "out of memory while a Lua state was opened");
        return NULL;
    }
    struct load *loading = malloc(sizeof *loading);
    if (!loading) {
        script_close(script);
        error_no_memory(error);
        return NULL;
    }
    *loading = (struct load){script, *options};
    if (options->borrowed)
        load_files(loading);
    else if (!watch_run(load_files, loading, LOAD_SPAN))
        return left_behind(script, options);
    free(loading);
    program_end_all(&script->state);
    if (!options->borrowed)
        state_hook_mode(&script->state, options->hook);
    script->mute = "outside of a run";
    script->state.blocks.open = true; /* what was loaded stays, and would only fill their room */
    return script;
}

/* True if the message says that memory was refused: no fault of the file it was needed for. */
static bool lacks_memory(const char *message) {
    return message && strncmp(message, "out of memory", strlen("out of memory")) == 0;
}

static bool report(const struct script *script, struct error *error) {
    size_t count = json_array_size(script->problems);
    if (count == 0)
        return true;
    const json_t *first = json_array_get(script->problems, 0);
    const char *file = json_string_value(json_object_get(first, "file"));
    const char *message = json_string_value(json_object_get(first, "message"));
    long line = (long)json_integer_value(json_object_get(first, "line"));
    char more[64] = "";
    if (count > 1)
        snprintf(more, sizeof more, " (and %zu more: see moonshift check)", count - 1);
    if (lacks_memory(message))
        return refuse_memory(error);
    if (!file || !*file)
        return error_set(error, ERROR_CONFIG, "script folder: %s%s", message ? message : "?", more);
    if (line <= 0)
        return error_set(error, ERROR_CONFIG, "%s: %s%s", file, message, more);
    return error_set(error, ERROR_CONFIG, "%s:%ld: %s%s", file, line, message, more);
}

struct script *script_open(const struct script_options *options, struct error *error) {
    struct script *script = script_load(options, error);
    if (script && report(script, error) && plan_definitions(script, error))
        return script;
    script_close(script);
    return NULL;
}

static void close_script(void *script) {
    script_close(script);
}

bool script_drop(struct script *script) {
    if (script && !script->state.borrowed && script->state.main)
        return watch_run(close_script, script, CLOSE_SPAN);
    script_close(script);
    return true;
}

static json_t *part(json_t *array) {
    return array ? json_incref(array) : json_array();
}

bool script_check(const struct script_options *options, struct script_report *found,
                  struct error *error) {
    struct script *script = script_load(options, error);
    *found = (struct script_report){0};
    if (!script)
        return false;
    found->definitions = part(script->rows);
    found->schedules = part(script->schedules);
    found->routes = part(script->routes);
    found->problems = part(script->problems);
    found->processes = part(script->processes);
    found->versions = part(script->versions);
    found->models = part(script->models);
    found->warnings = part(script->warnings);
    if (!script_drop(script))
        json_array_append_new(found->problems, script_endless(NULL, "closing", CLOSE_SPAN));
    return true;
}

void script_report_clear(struct script_report *found) {
    json_decref(found->definitions);
    json_decref(found->schedules);
    json_decref(found->routes);
    json_decref(found->problems);
    json_decref(found->processes);
    json_decref(found->versions);
    json_decref(found->models);
    json_decref(found->warnings);
    *found = (struct script_report){0};
}

static void release_refs(struct script *script) {
    lua_State *L = script->state.main;
    for (size_t i = 0; script->plans && i < script->definitions.count; i++)
        luaL_unref(L, LUA_REGISTRYINDEX, script->plans[i].handler);
    luaL_unref(L, LUA_REGISTRYINDEX, script->worker);
    luaL_unref(L, LUA_REGISTRYINDEX, script->walk);
    luaL_unref(L, LUA_REGISTRYINDEX, script->handle);
    luaL_unref(L, LUA_REGISTRYINDEX, script->raised);
}

void script_close(struct script *script) {
    if (!script)
        return;
    program_forget_all(&script->state);
    transfers_close(&script->state);
    if (script->state.borrowed && script->state.main)
        release_refs(script);
    state_close(&script->state);
    for (size_t i = 0; script->plans && i < script->definitions.count; i++)
        free(script->plans[i].retry);
    free(script->plans);
    definitions_clear(&script->definitions);
    json_decref(script->rows);
    json_decref(script->schedules);
    json_decref(script->routes);
    json_decref(script->problems);
    json_decref(script->processes);
    json_decref(script->versions);
    json_decref(script->models);
    json_decref(script->warnings);
    json_decref(script->hook_paths);
    folder_release(script->folder);
    free(script);
}

bool script_declares(const struct script *script, struct definitions *definitions,
                     json_t **schedules, json_t **versions, struct error *error) {
    *schedules = json_incref(script->schedules);
    *versions = json_incref(script->versions);
    return definitions_read(definitions, script->rows) || refuse_memory(error);
}

/* ---- routes (rules §25) ---- */

struct asking {
    struct script *script;
    const json_t *asked;
    json_t *answer;
    struct error *error;
};

const json_t *script_route(const struct script *script, const char *name) {
    size_t i;
    const json_t *row;
    json_array_foreach(script->routes, i, row) {
        if (strcmp(json_text(row, "name"), name) == 0)
            return row;
    }
    return NULL;
}

static int route_call(lua_State *L) {
    struct asking *asking = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, asking->script->worker);
    lua_getfield(L, -1, "route");
    value_push_json(L, asking->asked);
    lua_call(L, 1, 1);
    asking->answer = value_to_json(L, -1, "answer", asking->error);
    return 0;
}

static json_t *route_refuse(struct script *script, const char *name, struct error *error) {
    struct state *state = &script->state;
    struct failure failure = failure_take(state);
    script->worn |= state->stopped == STOP_MEMORY;
    error_set(error, ERROR_FAILED, "route \"%.255s\": %s", name,
              failure_words(&failure, state->stopped));
    failure_clear(&failure);
    return NULL;
}

json_t *script_answer(struct script *script, const json_t *asked, struct error *error) {
    struct asking asking = {.script = script, .asked = asked, .error = error};
    const char *before = script->mute;
    script->mute = "in a route";
    int status = state_call(&script->state, route_call, &asking, 0, FUNCTION_SPAN);
    script->mute = before;
    return status == LUA_OK ? asking.answer : route_refuse(script, json_text(asked, "name"), error);
}

/* ---- its state ---- */

bool script_worn(const struct script *script) {
    int after = script->settings->recycle_after;
    return script->worn || (after > 0 && script->runs >= after);
}

time_ms script_deadline(const struct script *script) {
    return atomic_load(&script->state.deadline);
}

void script_seen(struct script *script, bool look, char text[SCRIPT_SEEN]) {
    seen_text(&script->state.seen, text);
    if (look)
        atomic_store(&script->state.sought, true);
}

void script_interrupt(struct script *script) {
    state_interrupt(&script->state);
}

void script_cut(struct script *script, int64_t job, enum script_cut cut) {
    atomic_store(&script->state.cut, (int)cut);
    atomic_store(&script->state.cut_job, cut == CUT_NONE ? 0 : job);
}
