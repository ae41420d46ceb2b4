#include "script/failure.h"
#include "base/clamp.h"
#include "base/json.h"
#include "base/text.h"
#include "job/job.h"
#include "script/script_state.h"
#include "script/value.h"
#include "time/span.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY INT64_C(86400000)      /* ms */
#define RETRY_AFTER_MAX (30 * DAY) /* what another system says does not put a job off for ever */

/* A table without a message and without __tostring: what it holds, if that can be written. */
static bool describe_json(lua_State *L, struct failure *failure) {
    struct error error = {0};
    size_t size;
    json_t *value = value_to_json(L, 1, "error", &error);
    char *text = value ? json_write(value, &size) : NULL;
    if (text)
        failure->message = utf8_clean(text, size, JOB_STACK_MAX);
    free(text);
    json_decref(value);
    return failure->message != NULL;
}

static bool describe_flag(lua_State *L, const char *name) {
    lua_pushstring(L, name);
    lua_rawget(L, 1);
    bool set = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return set;
}

/* What is no span asks for nothing, and is told of. */
static void describe_retry_after(lua_State *L, struct failure *failure) {
    struct span span = {0};
    struct error error = {0};
    struct text doubt = {0};
    lua_pushliteral(L, "retry_after");
    lua_rawget(L, 1);
    bool given = !lua_isnil(L, -1);
    json_t *value = given ? value_to_json(L, -1, "retry_after", &error) : NULL;
    bool fine = value && span_from_json(value, "retry_after", &span, &error);
    if (fine && span.months)
        fine = error_set(&error, ERROR_INVALID, "retry_after: months have no fixed length");
    if (fine)
        failure->retry_after = clamp(span.days * DAY + span.ms, 0, RETRY_AFTER_MAX);
    else if (given)
        text_add(&doubt, "the error's %s", error.text);
    failure->doubt = doubt.data;
    json_decref(value);
    lua_pop(L, 1);
}

/* Runs protected: __index and __tostring are user code. */
static int describe(lua_State *L) {
    struct failure *failure = lua_touserdata(L, 2);
    lua_settop(L, 1);
    if (lua_istable(L, 1)) {
        failure->permanent = describe_flag(L, "permanent");
        describe_retry_after(L, failure);
        failure->conflict = describe_flag(L, "conflict");
        failure->held = describe_flag(L, "held");
        failure->later = describe_flag(L, "later");
        lua_getfield(L, 1, "message");
        if (!lua_isstring(L, -1) && luaL_getmetafield(L, 1, "__tostring") == LUA_TNIL &&
            describe_json(L, failure))
            return 0;
        lua_settop(L, 2);
        if (lua_isstring(L, 2))
            lua_replace(L, 1);
    }
    size_t size;
    const char *text = luaL_tolstring(L, 1, &size);
    failure->message = utf8_clean(text, size, JOB_STACK_MAX);
    return 0;
}

static char *without_text(const char *type) {
    char text[128];
    snprintf(text, sizeof text, "error object (a %s that cannot be turned into text)", type);
    return strdup(text);
}

char *failure_stack(const struct state *state, const char *message) {
    static const char base[] = "\n\t[C]: in ?";
    struct text text = {0};
    text_add(&text, "%s", message);
    if (state->traceback) {
        size_t size = strlen(state->traceback), tail = sizeof base - 1;
        while (size >= tail && memcmp(state->traceback + size - tail, base, tail) == 0)
            size -= tail;
        text_append(&text, "\n", 1);
        text_append(&text, state->traceback, size);
    }
    char *clean = text.failed ? NULL : utf8_clean(text.data, text.size, JOB_STACK_MAX);
    text_clear(&text);
    return clean;
}

struct failure failure_describe(struct state *state) {
    struct failure failure = {0};
    enum stop stopped = state->stopped;
    char *traceback = state->traceback;
    const char *type = luaL_typename(state->current, -1);
    state->traceback = NULL;
    if (state_call(state, describe, &failure, 1, FUNCTION_SPAN) != LUA_OK)
        lua_pop(state->current, 1);
    free(state->traceback);
    state->traceback = traceback;
    state->stopped = stopped;
    if (!failure.message)
        failure.message = without_text(type);
    failure.stack = failure.message ? failure_stack(state, failure.message) : NULL;
    return failure;
}

const char *failure_words(const struct failure *failure, enum stop stopped) {
    if (failure->message)
        return failure->message;
    return stopped == STOP_MEMORY ? "it needed more than the memory limit"
                                  : "it took longer than PT1S";
}

struct failure failure_take(struct state *state) {
    if (state->stopped == STOP_NONE)
        return failure_describe(state);
    lua_pop(state->current, 1);
    return (struct failure){0};
}

void failure_clear(struct failure *failure) {
    free(failure->message);
    free(failure->stack);
    free(failure->doubt);
    *failure = (struct failure){0};
}

void failure_bytes(size_t bytes, char *text, size_t size) {
    if (bytes % (1024 * 1024) == 0)
        snprintf(text, size, "%zu MiB", bytes / (1024 * 1024));
    else if (bytes % 1024 == 0)
        snprintf(text, size, "%zu KiB", bytes / 1024);
    else
        snprintf(text, size, "%zu bytes", bytes);
}
