/* What the functions of a definition say of a job (rules §7, §9, §20): its priority and unique key,
 * how many runs it has, when it runs again. */
#include "base/clamp.h"
#include "base/text.h"
#include "script/failure.h"
#include "script/handle.h"
#include <stdlib.h>
#include <string.h>

ptrdiff_t script_find(const struct script *script, const char *name) {
    const struct definition *found = definitions_find(&script->definitions, name);
    return found ? found - script->definitions.list : -1;
}

/* ---- priority ---- */

struct question {
    struct script *script;
    struct job *job;
    struct handle *handle;
    int64_t priority;
    char *key; /* owned by the spec */
};

/* What went wrong in a function of the definition that is asked at creation. */
static bool refuse(struct script *script, const char *what, const struct job *job,
                   struct error *error) {
    struct state *state = &script->state;
    if (state->stopped != STOP_NONE) {
        script->worn |= state->stopped == STOP_MEMORY;
        lua_pop(state->current, 1);
        return error_set(error, ERROR_FAILED, "%s of \"%s\": %s", what, job->handler,
                         state->stopped == STOP_MEMORY ? "needed more than the memory limit"
                                                       : "took longer than PT1S");
    }
    struct failure failure = failure_describe(state);
    error_set(error, ERROR_INVALID, "%s of \"%s\": %s", what, job->handler,
              failure.message ? failure.message : "out of memory");
    failure_clear(&failure);
    return false;
}

/* Calls a function of the definition, which makes no requests. */
static int call_quietly(struct script *script, const char *mute, lua_CFunction body, void *arg) {
    const char *before = script->mute;
    script->mute = mute;
    int status = state_call(&script->state, body, arg, 0, FUNCTION_SPAN);
    script->mute = before;
    return status;
}

/* Leaves what lua/moonshift/worker.lua answers. */
static struct question *ask(lua_State *L, const char *name) {
    struct question *question = lua_touserdata(L, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, question->script->worker);
    lua_getfield(L, -1, name);
    lua_pushstring(L, question->job->handler);
    question->handle = handle_push(question->script, L, question->job, NULL);
    lua_call(L, 2, 1);
    return question;
}

static int ask_priority(lua_State *L) {
    struct question *question = ask(L, "priority");
    if (!lua_isnil(L, -1)) /* nil: no opinion */
        question->priority = lua_tointeger(L, -1);
    return 0;
}

bool script_priority(struct script *script, struct job_spec *spec, struct error *error) {
    struct job *job = &spec->job;
    struct question question = {.script = script, .job = job, .priority = job->priority};
    int status = call_quietly(script, "in a priority function", ask_priority, &question);
    handle_end(question.handle);
    if (status != LUA_OK)
        return refuse(script, "priority", job, error);
    job->priority = question.priority;
    return true;
}

/* ---- unique key ---- */

static int ask_unique(lua_State *L) {
    struct question *question = ask(L, "unique");
    const char *key = lua_tostring(L, -1);
    if (key && !(question->key = strdup(key)))
        return luaL_error(L, "out of memory");
    return 0;
}

bool script_unique(struct script *script, struct job_spec *spec, struct error *error) {
    struct question question = {.script = script, .job = &spec->job};
    int status = call_quietly(script, "in a unique function", ask_unique, &question);
    handle_end(question.handle);
    spec->unique = question.key;
    spec->job.unique_key = question.key;
    return status == LUA_OK || refuse(script, "unique", &spec->job, error);
}

/* ---- retries ---- */

static int ask_retries(lua_State *L) {
    struct question *question = ask(L, "runs");
    lua_Integer runs = lua_tointeger(L, -1); /* 0: a function will decide */
    if (runs > 0 && runs <= INT32_MAX)
        question->job->retries = (int32_t)runs;
    return 0;
}

void script_retries(struct script *script, struct job_spec *spec) {
    struct question question = {.script = script, .job = &spec->job};
    struct state *state = &script->state;
    int status = call_quietly(script, "in a retry function", ask_retries, &question);
    handle_end(question.handle);
    if (status == LUA_OK)
        return;
    script->worn |= state->stopped == STOP_MEMORY;
    lua_pop(state->current, 1);
}

struct decision {
    struct script *script;
    struct outcome *outcome;
    struct handle *handle;
    time_ms delay; /* TIME_NONE: give up */
    int32_t retries;
    bool given;    /* retries was */
    bool standard; /* the strategy leaves it to the standard rule */
};

static void push_failure(lua_State *L, const struct outcome *outcome) {
    char at[TIME_TEXT_SIZE];
    time_format(outcome->ended, at);
    lua_createtable(L, 0, 6);
    lua_pushstring(L, at);
    lua_setfield(L, -2, "at");
    lua_pushstring(L, outcome->message ? outcome->message : "");
    lua_setfield(L, -2, "message");
    lua_pushstring(L, outcome->stack ? outcome->stack : "");
    lua_setfield(L, -2, "traceback");
    lua_pushstring(L, failure_reason_name(outcome->reason));
    lua_setfield(L, -2, "reason");
    lua_pushboolean(L, outcome->permanent);
    lua_setfield(L, -2, "permanent");
    lua_pushinteger(L, outcome->job->attempt);
    lua_setfield(L, -2, "attempt");
    if (outcome->retry_after <= 0)
        return;
    lua_pushnumber(L, (lua_Number)outcome->retry_after / 1000);
    lua_setfield(L, -2, "retry_after");
}

/* decide(name, job, failure) -> delay in ms or nil, retries or nil; or false */
static int ask_strategy(lua_State *L) {
    struct decision *decision = lua_touserdata(L, 1);
    if (decision->script->worn && !decision->script->state.borrowed)
        lua_gc(L, LUA_GCCOLLECT); /* room after a failure by memory */
    lua_rawgeti(L, LUA_REGISTRYINDEX, decision->script->worker);
    lua_getfield(L, -1, "decide");
    lua_pushstring(L, decision->outcome->job->handler);
    decision->handle = handle_push(decision->script, L, decision->outcome->job, NULL);
    push_failure(L, decision->outcome);
    lua_call(L, 3, 2);
    decision->standard = lua_isboolean(L, -2);
    decision->delay = lua_isnil(L, -2) ? TIME_NONE : lua_tointeger(L, -2);
    decision->given = !lua_isnil(L, -1);
    decision->retries = (int32_t)lua_tointeger(L, -1);
    return 0;
}

static void keep_warning(struct script *script, struct outcome *outcome) {
    struct state *state = &script->state;
    struct text text = {0};
    struct failure failure = failure_take(state);
    script->worn |= state->stopped == STOP_MEMORY;
    text_add(&text, "retry strategy of \"%s\" failed, the standard one decided: %s",
             outcome->job->handler, failure_words(&failure, state->stopped));
    failure_clear(&failure);
    free(outcome->warning);
    outcome->warning = text.data;
}

static bool decide_by_strategy(struct script *script, struct outcome *outcome) {
    struct decision decision = {.script = script, .outcome = outcome};
    int status = call_quietly(script, "in a retry function", ask_strategy, &decision);
    handle_end(decision.handle);
    if (status != LUA_OK) {
        keep_warning(script, outcome);
        return false;
    }
    if (decision.standard)
        return false;
    int32_t left = outcome->job->retries - 1;
    bool again = decision.delay != TIME_NONE;
    outcome->due = again ? outcome->ended_by + decision.delay : TIME_NONE;
    outcome->retries = 0;
    if (again)
        outcome->retries = decision.given ? decision.retries : (int32_t)clamp(left, 1, INT32_MAX);
    return true;
}

void script_decide(struct script *script, struct outcome *outcome) {
    ptrdiff_t at = script_find(script, outcome->job->handler);
    const struct plan *plan = at < 0 ? NULL : &script->plans[at];
    if (outcome->ended == TIME_NONE)
        outcome_end(outcome, script->clock);
    /* An activity that the folder has no longer is decided by the version of its instance. */
    bool asks = plan ? plan->strategy : outcome->job->instance_id != 0;
    outcome->decided = asks && decide_by_strategy(script, outcome);
    if (outcome->decided)
        return;
    outcome_decide(outcome, script->settings->failed_job_wait, outcome->ended_by);
    if (plan && plan->retry && !outcome->permanent)
        outcome->due = retry_due(plan->retry, outcome->job->retries, outcome->ended_by);
    outcome_put_off(outcome);
}
