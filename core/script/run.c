/* One run of a job, from the handler's first instruction to an outcome (rules §8). */
#include "base/json.h"
#include "base/text.h"
#include "job/command.h"
#include "job/instance_batch.h"
#include "script/failure.h"
#include "script/handle.h"
#include "script/hooks.h"
#include "script/program.h"
#include "script/value.h"
#include "script/walk.h"
#include "time/conflict.h"
#include "time/instant.h"
#include "time/span.h"
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 1000          /* of print and job:log, kept with one run */
#define LINE_BYTES_MAX 4096     /* of one line */
#define LINES_BYTES_MAX 1048576 /* of all lines of one run */

/* ---- what a handler leaves behind ---- */

void run_line(struct run *run, const char *text, size_t size) {
    static const char dropped[] = "… further lines were dropped";
    bool last = run->line_count == LINES_MAX || run->line_bytes > LINES_BYTES_MAX;
    if (run->line_count > LINES_MAX)
        return;
    struct outcome_line *line = calloc(1, sizeof *line);
    if (!line)
        return;
    line->at = clock_now(run->script->clock);
    line->text = last ? strdup(dropped) : utf8_clean(text, size, LINE_BYTES_MAX);
    run->line_count = last ? LINES_MAX + 1 : run->line_count + 1;
    run->line_bytes += size < LINE_BYTES_MAX ? size : LINE_BYTES_MAX;
    if (!line->text) {
        free(line);
        return;
    }
    *run->last_line = line;
    run->last_line = &line->next;
    const struct script_host *host = &run->script->host;
    if (host->line)
        host->line(host->arg, run->outcome->job, line->text);
}

static bool refuse_unknown(const struct script *script, const char *handler, struct error *error) {
    json_t *names = definitions_names(&script->definitions);
    job_spec_unknown(handler, names, error);
    json_decref(names);
    return false;
}

/* One that this executor does not have. */
static bool check_handler(const struct script *script, const struct job_spec *spec,
                          struct error *error) {
    const struct script_host *host = &script->host;
    const char *handler = spec->job.handler;
    if (spec->unchecked || job_topic(handler))
        return true;
    enum answer knows = host->knows ? host->knows(host->arg, handler, error) : NO;
    return knows == YES || (knows == NO && refuse_unknown(script, handler, error));
}

/* The store's override goes before the function, and spares the call. */
static bool complete_priority(struct script *script, struct job_spec *spec, struct error *error) {
    const struct script_host *host = &script->host;
    enum answer overridden =
        host->overridden ? host->overridden(host->arg, spec->job.handler, error) : NO;
    return overridden == YES || (overridden == NO && script_priority(script, spec, error));
}

static bool complete(struct run *run, lua_State *L, struct job_spec *spec, json_t *object,
                     const struct spec_fast *fast, struct error *error) {
    struct script *script = run->script;
    struct spec_rules rules = spec_rules(&script->settings->write);
    time_ms now = clock_now(script->clock);
    if (!(object ? job_spec_read(spec, object, &rules, now, error)
                 : job_spec_fast(spec, fast, &rules, now, error)))
        return false;
    const struct definition *definition = definitions_find(&script->definitions, spec->job.handler);
    if (!definition && !check_handler(script, spec, error))
        return false;
    job_spec_inherit(spec, run->outcome->job);
    job_spec_define(spec, definition, &rules);
    if (!job_spec_keyed(spec, error))
        return false;
    lua_State *before = state_enter(&script->state, L);
    if (spec->needs_retries)
        script_retries(script, spec);
    bool ok = (!spec->needs_priority || complete_priority(script, spec, error)) &&
              (!spec->needs_unique || script_unique(script, spec, error));
    state_leave(&script->state, before);
    return ok;
}

int64_t run_collect(struct run *run, struct job_spec *spec, struct error *error) {
    const struct script_host *host = &run->script->host;
    if (!host->next_id)
        return error_set(error, ERROR_FAILED, "not available here");
    job_spec_trace(spec, run->outcome->job);
    spec->job.id = run->again ? run->again : host->next_id(host->arg, error);
    run->again = 0;
    if (spec->job.id == 0)
        return 0;
    struct job_spec *copy = job_spec_copy(spec);
    if (!copy)
        return error_no_memory(error);
    *run->last_created = copy;
    run->last_created = &copy->next;
    return copy->job.id;
}

int64_t run_create(struct run *run, lua_State *L, json_t *object, const struct spec_fast *fast,
                   struct error *error) {
    struct job_spec spec = {0};
    int64_t id = complete(run, L, &spec, object, fast, error) ? run_collect(run, &spec, error) : 0;
    job_spec_clear(&spec);
    return id;
}

/* The command, if a job can do it. Takes it over. */
static bool effect_add(struct outcome *outcome, json_t *object, struct error *error) {
    struct command command;
    bool fine = command_read(&command, object, error);
    if (fine && !command_is_for_jobs(&command))
        fine = error_set(error, ERROR_INVALID, "%s: a job cannot do it (expected a person)",
                         command.name);
    if (fine && !outcome->effects)
        outcome->effects = json_array();
    fine = fine && (json_array_append(outcome->effects, object) == 0 || error_no_memory(error));
    json_decref(object);
    return fine;
}

bool run_operate(struct run *run, const json_t *object, struct error *error) {
    const struct zone *zone = zone_find(run->script->settings->zone, error);
    time_ms now = clock_now(run->script->clock);
    json_t *command = zone ? instants_resolve(object, zone, now, error) : NULL;
    return command && effect_add(run->outcome, command, error);
}

void run_lost(struct run *run, const struct error *error) {
    run->lost = run->lost || error->code == ERROR_CONFLICT || error->code == ERROR_BUSY ||
                error->code == ERROR_UNAVAILABLE || error->code == ERROR_CLOSED ||
                error->code == ERROR_FULL || error->code == ERROR_IO ||
                error->code == ERROR_DAMAGED;
}

/* ---- what a handler returns ---- */

static void warn_run(struct outcome *outcome, const char *text) {
    free(outcome->warning);
    outcome->warning = strdup(text);
}

/* nil and a text: Lua's own way to fail. */
static bool returned_failure(lua_State *L, int first) {
    return lua_isnil(L, first) && lua_type(L, first + 1) == LUA_TSTRING;
}

static void keep_result(lua_State *L, int first, struct run *run) {
    struct text text = {0};
    if (lua_isnil(L, first))
        return;
    struct error error = {0}; /* large: not for the run that returns nothing */
    if (!value_write(L, first, "result", &text, &error)) {
        warn_run(run->outcome, error.text);
    } else if (text.size > (size_t)run->script->settings->payload_max) {
        warn_run(run->outcome, "result: larger than payload_max, not kept");
        text_clear(&text);
    } else {
        run->outcome->result = text.data;
    }
}

/* Keeps the raised value, on top of the stack, for the caller of execute in a spec. */
static void keep_raised(struct script *script, lua_State *L) {
    if (!script->state.borrowed)
        return;
    luaL_unref(L, LUA_REGISTRYINDEX, script->raised);
    lua_pushvalue(L, -1);
    script->raised = luaL_ref(L, LUA_REGISTRYINDEX);
}

static int body(lua_State *L) {
    struct run *run = lua_touserdata(L, 1);
    struct outcome *outcome = run->outcome;
    run->handle = handle_push(run->script, L, outcome->job, run);
    lua_rawgeti(L, LUA_REGISTRYINDEX, run->handler);
    lua_pushvalue(L, 2);
    lua_call(L, 1, 2);
    if (run->walks && lua_istable(L, 3)) {
        walk_keep(L, 3, run);
        lua_getfield(L, 3, "skipped");
        if (lua_toboolean(L, -1))
            outcome->kind = OUTCOME_SKIPPED;
        lua_getfield(L, 3, "result");
        keep_result(L, 6, run);
        return 0;
    }
    if (!returned_failure(L, 3)) {
        keep_result(L, 3, run);
        return 0;
    }
    size_t size;
    const char *text = lua_tolstring(L, 4, &size);
    outcome->kind = OUTCOME_FAILURE;
    outcome->message = utf8_clean(text, size, JOB_STACK_MAX);
    outcome->stack = outcome->message ? strdup(outcome->message) : NULL;
    lua_settop(L, 4);
    keep_raised(run->script, L);
    return 0;
}

/* ---- how it ended ---- */

static void fail_by_limit(struct script *script, struct outcome *outcome, time_ms timeout) {
    struct text message = {0};
    char span[TIME_TEXT_SIZE];
    if (script->state.stopped == STOP_TIME) {
        outcome->reason = REASON_TIMEOUT;
        span_format(timeout, span);
        text_add(&message, "handler \"%s\" ran longer than its timeout of %s",
                 outcome->job->handler, span);
    } else {
        outcome->reason = REASON_MEMORY;
        script->worn = true;
        failure_bytes(script->state.limit, span, sizeof span);
        text_add(&message, "handler \"%s\" needed more than the memory limit of %s",
                 outcome->job->handler, span);
    }
    outcome->message = message.data;
    outcome->stack = message.data ? failure_stack(&script->state, message.data) : NULL;
}

/* Too often in a row: a failure like any other. */
static void give_up_conflict(struct outcome *outcome, int32_t count) {
    struct text text = {0};
    text_add(&text, "%d conflicts in a row: %s", (int)count,
             outcome->message ? outcome->message : "");
    if (!text.data)
        return;
    free(outcome->message);
    outcome->message = text.data;
}

/* Somebody else was first, or the store could not be reached: the job is not to blame. */
static void fail_by_conflict(struct script *script, struct outcome *outcome) {
    struct text line = {0};
    char in[TIME_TEXT_SIZE], times[TIME_TEXT_SIZE + 32] = "";
    int32_t count = outcome->job->conflicts + 1;
    time_ms wait = conflict_wait(count, outcome->job->token);
    if (count >= script->settings->conflict_limit) {
        give_up_conflict(outcome, count);
        return;
    }
    outcome->kind = OUTCOME_CONFLICT;
    outcome->due = wait > 0 ? outcome->ended_by + wait : TIME_NONE;
    span_say(wait, in);
    if (wait > 0)
        snprintf(times, sizeof times, " in %s (%d in a row)", in, (int)count);
    text_add(&line, "conflict, runs again%s: %s", times, outcome->message ? outcome->message : "");
    free(outcome->warning);
    outcome->warning = line.data;
}

#define LATER_WAIT 10000 /* ms */

/* A newer program of the cluster knows what to do with the job, and may be faster. */
static void put_off(struct outcome *outcome) {
    outcome->kind = OUTCOME_SNOOZE;
    outcome->due = outcome->ended_by + LATER_WAIT;
}

static void fail_by_error(struct script *script, struct outcome *outcome) {
    keep_raised(script, script->state.current);
    struct failure failure = failure_describe(&script->state);
    outcome->message = failure.message;
    outcome->stack = failure.stack;
    outcome->permanent = failure.permanent;
    outcome->retry_after = failure.retry_after;
    if (failure.doubt) {
        free(outcome->warning);
        outcome->warning = failure.doubt;
    }
    if (failure.later)
        put_off(outcome);
    else if (failure.conflict || failure.held || script->run->lost)
        fail_by_conflict(script, outcome);
    outcome->held = failure.held && outcome->kind == OUTCOME_CONFLICT;
}

static void fail(struct script *script, struct outcome *outcome, time_ms timeout) {
    lua_State *L = script->state.current;
    enum script_cut cut = (enum script_cut)atomic_load(&script->state.cut);
    outcome->kind = OUTCOME_FAILURE;
    free(outcome->result);
    free(outcome->message);
    free(outcome->stack);
    outcome->result = outcome->message = outcome->stack = NULL;
    if (script->state.stopped == STOP_CUT) {
        outcome->kind = cut == CUT_CANCEL ? OUTCOME_CANCELLED : OUTCOME_RETURNED;
        lua_pop(L, 1);
    } else if (script->state.stopped != STOP_NONE) {
        fail_by_limit(script, outcome, timeout);
        lua_pop(L, 1);
    } else {
        fail_by_error(script, outcome);
    }
}

static void succeed(struct run *run) {
    struct outcome *outcome = run->outcome;
    if (outcome->kind == OUTCOME_SUCCESS && run->snooze != TIME_NONE) {
        outcome->kind = OUTCOME_SNOOZE;
        outcome->due = outcome->ended_by + run->snooze;
    }
}

static void finish(struct run *run, int status, time_ms timeout) {
    struct script *script = run->script;
    struct outcome *outcome = run->outcome;
    handle_end(run->handle);
    program_end_all(&script->state);
    int64_t job = atomic_exchange(&script->state.running, 0);
    outcome_end(outcome, script->clock);
    if (status == LUA_OK)
        succeed(run);
    else
        fail(script, outcome, timeout);
    script->run = NULL;
    atomic_compare_exchange_strong(&script->state.cut_job, &job, 0);
    if (!outcome_traits[outcome->kind].keeps) {
        outcome_forget(outcome);
        run->last_created = &outcome->created;
    }
    if (outcome->kind == OUTCOME_FAILURE && run->walks)
        outcome->failed_activity = walk_failed_at(script, outcome->job);
    if (outcome->kind == OUTCOME_FAILURE)
        script_decide(script, outcome);
    hooks_run(run);
}

static void forget_raised(struct script *script) {
    if (!script->state.borrowed || script->raised == LUA_NOREF)
        return;
    luaL_unref(script->state.main, LUA_REGISTRYINDEX, script->raised);
    script->raised = LUA_NOREF;
}

/* What the handlers of an earlier walk have printed stands before what is printed now. */
static void lines_begin(struct run *run) {
    run->outcome->lines = outcome_lines_read(run->outcome->job->printed);
    for (run->last_line = &run->outcome->lines; *run->last_line;
         run->last_line = &(*run->last_line)->next)
        run->line_count++;
}

struct outcome *script_run(struct script *script, struct job *job, time_ms now, time_ms at) {
    struct outcome *outcome = outcome_new(job, OUTCOME_SUCCESS);
    if (!outcome)
        return NULL;
    forget_raised(script);
    ptrdiff_t found = script_find(script, job->handler);
    bool walks = job_walks(job);
    if (found < 0 && !walks) { /* left alone: another executor may have it */
        outcome->kind = OUTCOME_RETURNED;
        return outcome;
    }
    time_ms timeout =
        found < 0 ? script->settings->timeout : script->definitions.list[found].timeout;
    struct run run = {.script = script,
                      .outcome = outcome,
                      .last_created = &outcome->created,
                      .snooze = TIME_NONE,
                      .handler = walks ? script->walk : script->plans[found].handler,
                      .walks = walks};
    const char *mute = script->mute;
    lines_begin(&run);
    script->run = &run;
    script->mute = walks ? WALK_MUTE : NULL;
    script->call = NULL;
    script->runs++;
    outcome->started = now;
    seen_forget(&script->state.seen);
    atomic_store(&script->state.running, job->id);
    int status =
        state_call_until(&script->state, body, &run, 0, timeout > 0 ? at + timeout : TIME_NEVER);
    script->mute = mute;
    finish(&run, status, timeout);
    return outcome;
}

void script_push_raised(struct script *script) {
    lua_rawgeti(script->state.main, LUA_REGISTRYINDEX, script->raised);
}
