/* What hooks are told of a run, on its worker, once its outcome is decided (rules §21). What they
 * enqueue goes with the outcome. A hook that raises or takes too long is left out, and a line of
 * the attempt says so. */
#include "script/hooks.h"
#include "base/text.h"
#include "job/hook.h"
#include "script/failure.h"
#include "script/handle.h"
#include <stdio.h>

/* One call. */
struct telling {
    struct run *run;
    const struct job *job; /* what the event is about; NULL: it is an argument */
    struct handle *about, *owner;
    int index; /* of the hook, from 1 */
    const char *event;
};

static int hook_count(const struct script *script) {
    return (int)json_array_size(script->hook_paths);
}

static void push_fact(lua_State *L, const char *key, const char *text) {
    lua_pushstring(L, text);
    lua_setfield(L, -2, key);
}

/* The fields of an event of a run beside the job: when, and how the run ended. What it has created
 * knows no end. */
static void push_facts(lua_State *L, const struct telling *telling) {
    const struct outcome *outcome = telling->run->outcome;
    char at[TIME_TEXT_SIZE];
    lua_createtable(L, 0, 8);
    time_format(outcome->ended, at);
    push_fact(L, "at", at);
    if (telling->job != outcome->job)
        return;
    if (outcome->kind != OUTCOME_FAILURE) {
        push_fact(L, "outcome", outcome_traits[outcome->kind].name);
        return;
    }
    push_fact(L, "message", outcome->message ? outcome->message : "");
    push_fact(L, "traceback", outcome->stack ? outcome->stack : "");
    push_fact(L, "reason", failure_reason_name(outcome->reason));
    lua_pushboolean(L, outcome->permanent);
    lua_setfield(L, -2, "permanent");
    lua_pushinteger(L, outcome->retries);
    lua_setfield(L, -2, "retries");
    if (outcome->due == TIME_NONE)
        return;
    time_format(outcome->due, at);
    push_fact(L, "due", at);
}

/* hook(index, event, facts, job, owner); facts and job may be arguments 1 and 2. */
static int call(lua_State *L) {
    int given = lua_gettop(L) - 1;
    struct telling *telling = lua_touserdata(L, -1);
    struct script *script = telling->run->script;
    lua_rawgeti(L, LUA_REGISTRYINDEX, script->worker);
    lua_getfield(L, -1, "hook");
    lua_pushinteger(L, telling->index);
    lua_pushstring(L, telling->event);
    if (given == 2) {
        lua_pushvalue(L, 1);
        lua_pushvalue(L, 2);
    } else {
        push_facts(L, telling);
        telling->about = handle_push(script, L, telling->job, NULL);
    }
    telling->owner = handle_push(script, L, telling->run->outcome->job, telling->run);
    lua_call(L, 5, 0);
    return 0;
}

static void report(struct telling *telling) {
    struct script *script = telling->run->script;
    struct state *state = &script->state;
    struct failure failure = failure_take(state);
    struct text line = {0};
    script->worn |= state->stopped == STOP_MEMORY;
    const json_t *path = json_array_get(script->hook_paths, (size_t)telling->index - 1);
    text_add(&line, "%s failed at \"%s\" and is left out: %s", json_string_value(path),
             telling->event, failure_words(&failure, state->stopped));
    if (line.data)
        run_line(telling->run, line.data, line.size);
    failure_clear(&failure);
    text_clear(&line);
    state_forgive(state);
}

/* `args` values are on the stack. */
static void tell(struct telling *telling, int args) {
    struct run *run = telling->run;
    struct job_spec **end = run->last_created;
    const char *mute = run->script->mute;
    run->script->mute = NULL;
    int status = state_call(&run->script->state, call, telling, args, FUNCTION_SPAN);
    run->script->mute = mute;
    handle_end(telling->about);
    handle_end(telling->owner);
    if (status == LUA_OK)
        for (struct job_spec *spec = *end; spec; spec = spec->next)
            spec->told = spec->by_hook = true; /* these call no hooks as they are created */
    if (status == LUA_OK)
        return;
    job_spec_free_list(*end);
    *end = NULL;
    run->last_created = end;
    report(telling);
}

static void tell_all(struct run *run, enum hook_event event, const struct job *job) {
    if (!(run->script->hook_events & event) || !job_is_told(job->handler))
        return;
    for (int i = 1; i <= hook_count(run->script); i++) {
        struct telling telling = {
            .run = run, .job = job, .index = i, .event = hook_event_name(event)};
        tell(&telling, 0);
    }
}

/* A job of a process has its instance as a number alone. */
static void tell_one_created(struct run *run, const struct job_spec *spec) {
    struct job shown = spec->job;
    char instance[24];
    if (shown.instance_id) {
        snprintf(instance, sizeof instance, "%lld", (long long)shown.instance_id);
        shown.instance = instance;
    }
    tell_all(run, HOOK_CREATED, &shown);
}

/* Tells of those that its handler has created; what hooks enqueue meanwhile is not told of. The
 * store tells of a job with a unique key: only there it is known whether there will be one. */
static void tell_created(struct run *run) {
    if (!(run->script->hook_events & HOOK_CREATED))
        return;
    for (struct job_spec *spec = run->outcome->created; spec; spec = spec->next) {
        if (spec->job.unique_key && !spec->by_hook)
            continue;
        if (!spec->by_hook)
            tell_one_created(run, spec);
        spec->told = true;
    }
}

void hooks_run(struct run *run) {
    struct outcome *outcome = run->outcome;
    if (!run->script->hook_events || !outcome->job->id) /* the store tells of what a command does */
        return;
    tell_created(run);
    if (outcome_traits[outcome->kind].ends)
        tell_all(run, HOOK_ENDED, outcome->job);
    if (outcome->kind == OUTCOME_FAILURE)
        tell_all(run, HOOK_FAILED, outcome->job);
    if (outcome->kind == OUTCOME_FAILURE && outcome->retries == 0)
        tell_all(run, HOOK_DEAD, outcome->job);
    outcome->told = true;
}

/* tell(job, event, facts, subject): calls all hooks with it. */
int hooks_tell(lua_State *L) {
    struct handle *handle = handle_check(L);
    struct script *script = handle->script;
    const char *event = luaL_checkstring(L, 2);
    luaL_checktype(L, 3, LUA_TTABLE);
    luaL_checktype(L, 4, LUA_TTABLE);
    lua_settop(L, 4);
    luaL_checkstack(L, 8, NULL);
    lua_State *before = state_enter(&script->state, L);
    for (int i = 1; i <= hook_count(script); i++) {
        struct telling telling = {.run = handle->run, .index = i, .event = event};
        lua_pushvalue(L, 3);
        lua_pushvalue(L, 4);
        tell(&telling, 2);
    }
    state_leave(&script->state, before);
    return 0;
}
