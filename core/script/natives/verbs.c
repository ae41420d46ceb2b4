/* What a handler does through `job`: the natives behind lua/moonshift/job.lua (rules §20: progress,
 * lines, cancelled). Expected failure returns nil, message; the Lua half raises it where the
 * handler called. */
#include "base/json.h"
#include "base/text.h"
#include "script/handle.h"
#include "script/hooks.h"
#include "script/natives/natives.h"
#include "script/value.h"
#include <stdlib.h>
#include <string.h>

static int fail(lua_State *L, struct run *run, const struct error *error) {
    run_lost(run, error);
    lua_pushnil(L);
    lua_pushstring(L, error->text);
    return 2;
}

static int unavailable(lua_State *L) {
    lua_pushnil(L);
    lua_pushliteral(L, "not available here");
    return 2;
}

static bool put_new(json_t *object, const char *key, json_t *value, struct error *error) {
    if (json_object_get(object, key)) {
        json_decref(value);
        return error_set(error, ERROR_INVALID, "options.%s: given twice", key);
    }
    if (value && json_object_set_new(object, key, value) == 0)
        return true;
    return error_no_memory(error);
}

/* handler, payload, options (arguments 2 to 4) as one object for job_spec_read; NULL: error. */
static json_t *read_spec(lua_State *L, struct error *error) {
    json_t *spec = lua_isnoneornil(L, 4) ? json_object() : value_to_json(L, 4, "options", error);
    if (!spec)
        return NULL;
    bool payload = !lua_isnoneornil(L, 3);
    json_t *value = payload ? value_to_json(L, 3, "payload", error) : NULL;
    bool ok = !payload || value;
    if (ok && !json_is_object(spec)) {
        json_decref(value);
        ok = error_set(error, ERROR_INVALID, "options: expected a table with names for keys");
    } else if (ok && payload) {
        ok = put_new(spec, "payload", value, error);
    }
    size_t size = 0;
    const char *name = lua_tolstring(L, 2, &size);
    json_t *handler = ok ? json_stringn(name, size) : NULL;
    if (ok && !handler)
        ok = error_set(error, ERROR_INVALID, "handler: not valid UTF-8 (expected a name)");
    ok = ok && put_new(spec, "handler", handler, error);
    return json_kept(spec, ok);
}

/* ---- in short ---- */

/* The text at `index`, which stays where it is; UTF-8 and no zero byte. */
static bool spec_name(lua_State *L, int index, const char **name, size_t *size) {
    if (lua_type(L, index) != LUA_TSTRING)
        return false;
    *name = lua_tolstring(L, index, size);
    return *size <= JOB_NAME_MAX && !memchr(*name, 0, *size) && utf8_valid(*name, *size, NULL);
}

/* The option on top of the stack, its key below. Its text gets a place of its own on the stack:
 * the table may be changed by a function that is asked for a priority. */
static bool fast_option(lua_State *L, struct spec_fast *fast) {
    int name = 0;
    if (!value_to_spec(L, fast, &name))
        return false;
    if (!name)
        return true;
    lua_pushvalue(L, -1);
    lua_replace(L, 4 + name);
    return spec_name(L, 4 + name, &fast->names[name], &fast->sizes[name]);
}

/* handler, payload, options (arguments 2 to 4) as most jobs have them; false: read_spec knows
 * more, or why not. */
static bool read_fast(lua_State *L, struct spec_fast *fast, struct text *payload) {
    bool fine =
        spec_name(L, 2, &fast->names[0], &fast->sizes[0]) && (lua_isnil(L, 4) || lua_istable(L, 4));
    if (fine && lua_istable(L, 4))
        for (lua_pushnil(L); fine && lua_next(L, 4); lua_pop(L, 1))
            fine = fast_option(L, fast);
    if (!fine || lua_isnil(L, 3))
        return fine;
    fine = value_to_text(L, 3, payload);
    fast->payload = payload->data;
    fast->payload_size = payload->size;
    return fine;
}

static int verb_enqueue(lua_State *L) {
    struct handle *handle = handle_check(L);
    struct error error = {0};
    struct spec_fast fast = {0};
    struct text payload = {0};
    luaL_checkstring(L, 2);
    lua_settop(L, 4);
    lua_settop(L, 4 + SPEC_NAMES - 1);
    luaL_checkstack(L, 8, NULL);
    bool is_fast = read_fast(L, &fast, &payload);
    if (!is_fast)
        spec_fast_clear(&fast);
    json_t *spec = is_fast ? NULL : read_spec(L, &error);
    int64_t id = is_fast || spec ? run_create(handle->run, L, spec, &fast, &error) : 0;
    json_decref(spec);
    spec_fast_clear(&fast);
    text_clear(&payload);
    if (id == 0)
        return fail(L, handle->run, &error);
    lua_pushinteger(L, id);
    return 1;
}

/* operate(job, command) */
static int verb_operate(lua_State *L) {
    struct handle *handle = handle_check(L);
    struct error error = {0};
    luaL_checktype(L, 2, LUA_TTABLE);
    json_t *command = value_to_json(L, 2, "command", &error);
    bool ok = command && run_operate(handle->run, command, &error);
    json_decref(command);
    if (!ok)
        return fail(L, handle->run, &error);
    lua_pushboolean(L, 1);
    return 1;
}

/* extend(job, ms): the lock and the time limit both reach at least so far. */
static int verb_extend(lua_State *L) {
    struct handle *handle = handle_check(L);
    struct script *script = handle->script;
    struct error error = {0};
    time_ms span = luaL_checkinteger(L, 2);
    if (!script->host.extend)
        return unavailable(L);
    time_ms until = clock_now(script->clock) + span;
    if (!script->host.extend(script->host.arg, handle->job, until, &error))
        return fail(L, handle->run, &error);
    time_ms deadline = clock_monotonic() + span;
    if (atomic_load(&script->state.deadline) < deadline)
        atomic_store(&script->state.deadline, deadline);
    lua_pushboolean(L, 1);
    return 1;
}

#define SNOOZE_TEXT (3 * JOB_MESSAGE_MAX) /* bytes */

static int verb_snooze(lua_State *L) {
    struct handle *handle = handle_check(L);
    struct outcome *outcome = handle->run->outcome;
    const char *message = luaL_optstring(L, 3, NULL);
    handle->run->snooze = luaL_checkinteger(L, 2);
    free(outcome->message);
    outcome->message = message ? utf8_clean(message, strlen(message), SNOOZE_TEXT) : NULL;
    return 0;
}

static int verb_progress(lua_State *L) {
    struct handle *handle = handle_check(L);
    const struct script_host *host = &handle->script->host;
    struct error error = {0};
    double fraction = luaL_checknumber(L, 2);
    size_t size = 0;
    const char *text = luaL_optlstring(L, 3, NULL, &size);
    if (!host->progress)
        return unavailable(L);
    char *clean = text ? utf8_clean(text, size, SIZE_MAX) : NULL;
    bool done = host->progress(host->arg, handle->job, fraction, clean, &error);
    free(clean);
    if (!done)
        return fail(L, handle->run, &error);
    lua_pushboolean(L, 1);
    return 1;
}

/* line(job, text) */
static int verb_line(lua_State *L) {
    struct handle *handle = handle_check(L);
    size_t size;
    const char *text = luaL_checklstring(L, 2, &size);
    run_line(handle->run, text, size);
    return 0;
}

static int verb_cancelled(lua_State *L) {
    struct handle *handle = handle_check(L);
    const struct script *script = handle->script;
    const struct script_host *host = &script->host;
    bool cut = atomic_load(&script->state.cut_job) == handle->job->id;
    lua_pushboolean(L, cut || (host->cancelled && host->cancelled(host->arg, handle->job)));
    return 1;
}

/* query(job, kind, filters) */
static int verb_query(lua_State *L) {
    struct handle *handle = handle_check(L);
    const struct script_host *host = &handle->script->host;
    const char *kind = luaL_checkstring(L, 2);
    struct error error = {0};
    luaL_checktype(L, 3, LUA_TTABLE);
    if (!host->query)
        return unavailable(L);
    json_t *filters = value_to_json(L, 3, "filters", &error);
    json_t *answer = filters ? host->query(host->arg, kind, filters, &error) : NULL;
    json_decref(filters);
    if (!answer) {
        fail(L, handle->run, &error);
        lua_pushstring(L, error_code_name(error.code));
        return 3;
    }
    json_decref(handle->json);
    handle->json = answer; /* kept by the handle: pushing may raise */
    value_push_json(L, answer);
    handle->json = NULL;
    json_decref(answer);
    return 1;
}

void verbs_add(struct script *script, lua_State *L) {
    static const luaL_Reg functions[] = {{"enqueue", verb_enqueue},   {"operate", verb_operate},
                                         {"extend", verb_extend},     {"snooze", verb_snooze},
                                         {"progress", verb_progress}, {"line", verb_line},
                                         {"query", verb_query},       {"cancelled", verb_cancelled},
                                         {"tell", hooks_tell},        {NULL, NULL}};
    script_add(script, L, functions);
}
