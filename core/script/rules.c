#include "script/rules.h"
#include "base/json.h"
#include "base/text.h"
#include "script/decode.h"
#include "script/handle.h"
#include "script/value.h"
#include "time/cycle.h"
#include "time/rate.h"
#include "time/retry.h"
#include <lauxlib.h>
#include <sha2.h>
#include <string.h>

/* nil, message */
static int fail(lua_State *L, const struct error *error) {
    lua_pushnil(L);
    lua_pushstring(L, error->text);
    return 2;
}

/* A text that C sees whole. */
static const char *check_text(lua_State *L, int index) {
    size_t size;
    const char *text = luaL_checklstring(L, index, &size);
    luaL_argcheck(L, strlen(text) == size, index, "text with a zero byte");
    return text;
}

/* Calls push(L) with `owned` as light userdata, so that the caller can release it whatever Lua's
 * memory says. False: the error is on top. */
static bool push_protected(lua_State *L, lua_CFunction push, void *owned) {
    luaL_checkstack(L, 2, NULL);
    lua_pushcfunction(L, push);
    lua_pushlightuserdata(L, owned);
    return lua_pcall(L, 1, 1, 0) == LUA_OK;
}

static int push_value(lua_State *L) {
    const json_t *value = lua_touserdata(L, 1);
    if (json_is_null(value)) /* here null is what was asked for */
        value_push_null(L);
    else
        value_push_json(L, value);
    return 1;
}

static int push_text(lua_State *L) {
    const struct text *text = lua_touserdata(L, 1);
    lua_pushlstring(L, text->data, text->size);
    return 1;
}

/* array(table): the same table, marked. */
static int rules_array(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    value_mark_array(L);
    return 1;
}

static int rules_decode(lua_State *L) {
    size_t size;
    struct error error = {0};
    const char *text = luaL_checklstring(L, 1, &size);
    if (decode_push(L, text, size))
        return 1;
    json_t *value = json_read(text, size, "json", &error);
    if (!value)
        return fail(L, &error);
    bool ok = push_protected(L, push_value, value);
    json_decref(value);
    return ok ? 1 : lua_error(L);
}

static int rules_encode(lua_State *L) {
    struct error error = {0};
    struct text text = {0};
    luaL_checkany(L, 1);
    if (!value_write(L, 1, "value", &text, &error))
        return fail(L, &error);
    bool ok = push_protected(L, push_text, &text);
    text_clear(&text);
    return ok ? 1 : lua_error(L);
}

/* hash(text): its SHA-256 in hexadecimal. */
static int rules_hash(lua_State *L) {
    size_t size;
    SHA2_CTX hash;
    char digits[SHA256_DIGEST_STRING_LENGTH];
    const char *text = luaL_checklstring(L, 1, &size);
    SHA256Init(&hash);
    SHA256Update(&hash, (const uint8_t *)text, size);
    SHA256End(&hash, digits);
    lua_pushstring(L, digits);
    return 1;
}

static int rules_time(lua_State *L) {
    time_ms time;
    struct error error = {0};
    if (!time_parse(check_text(L, 1), &time, &error))
        return fail(L, &error);
    lua_pushinteger(L, time);
    return 1;
}

static int rules_format_time(lua_State *L) {
    char text[TIME_TEXT_SIZE];
    time_format(luaL_checkinteger(L, 1), text);
    lua_pushstring(L, text);
    return 1;
}

/* A span at `index`, text or seconds. */
static bool read_span(lua_State *L, int index, struct span *span, struct error *error) {
    json_t *value = value_to_json(L, index, "duration", error);
    if (!value)
        return false;
    bool ok = json_is_string(value) ? span_parse(json_string_value(value), span, error)
                                    : span_from_json(value, "duration", span, error);
    json_decref(value);
    return ok;
}

/* rate(text): the text, checked. */
static int rules_rate(lua_State *L) {
    struct rate rate;
    struct error error = {0};
    if (!rate_parse(check_text(L, 1), &rate, &error))
        return fail(L, &error);
    lua_pushvalue(L, 1);
    return 1;
}

static int rules_duration(lua_State *L) {
    struct span span;
    struct error error = {0};
    time_ms ms;
    if (lua_type(L, 1) == LUA_TSTRING) {
        if (!span_parse_ms(check_text(L, 1), &ms, &error))
            return fail(L, &error);
    } else {
        if (!read_span(L, 1, &span, &error))
            return fail(L, &error);
        ms = span.ms;
    }
    lua_pushinteger(L, ms);
    return 1;
}

static int rules_add_duration(lua_State *L) {
    struct span span;
    struct error error = {0};
    time_ms from = luaL_checkinteger(L, 1);
    if (!read_span(L, 2, &span, &error))
        return fail(L, &error);
    lua_pushinteger(L, span_add(from, &span));
    return 1;
}

static void push_span(lua_State *L, const struct span *span) {
    lua_createtable(L, 0, 3);
    lua_pushinteger(L, span->months);
    lua_setfield(L, -2, "months");
    lua_pushinteger(L, span->days);
    lua_setfield(L, -2, "days");
    lua_pushinteger(L, span->ms);
    lua_setfield(L, -2, "ms");
}

static int rules_retry(lua_State *L) {
    struct retry retry;
    struct error error = {0};
    if (!retry_parse(check_text(L, 1), &retry, &error))
        return fail(L, &error);
    lua_createtable(L, 0, 2);
    lua_pushinteger(L, retry.runs);
    lua_setfield(L, -2, "runs");
    lua_createtable(L, retry.count, 0);
    for (int i = 0; i < retry.count; i++) {
        push_span(L, &retry.delays[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "delays");
    return 1;
}

static int rules_retry_due(lua_State *L) {
    struct retry retry;
    struct error error = {0};
    lua_Integer before = luaL_checkinteger(L, 2);
    luaL_argcheck(L, before >= INT32_MIN && before <= INT32_MAX, 2, "out of range");
    if (!retry_parse(check_text(L, 1), &retry, &error))
        return fail(L, &error);
    lua_pushinteger(L, retry_due(&retry, (int32_t)before, luaL_checkinteger(L, 3)));
    return 1;
}

/* dates(cycle, zone, after, count, origin): the next `count` firings, fewer if it ends before. */
static int rules_dates(lua_State *L) {
    struct cycle cycle;
    struct error error = {0};
    const char *text = check_text(L, 1);
    const struct zone *zone = zone_find(lua_isnoneornil(L, 2) ? NULL : check_text(L, 2), &error);
    time_ms at = luaL_checkinteger(L, 3);
    lua_Integer count = luaL_checkinteger(L, 4);
    if (!zone || !cycle_parse(text, zone, luaL_optinteger(L, 5, at), &cycle, &error))
        return fail(L, &error);
    lua_newtable(L);
    for (lua_Integer n = 1; n <= count && (at = cycle_next(&cycle, at)) != TIME_NEVER; n++) {
        lua_pushinteger(L, at);
        lua_rawseti(L, -2, n);
    }
    return 1;
}

/* cycle(text, zone): true, or what is wrong with either. */
static int rules_cycle(lua_State *L) {
    struct cycle cycle;
    struct error error = {0};
    const char *text = check_text(L, 1);
    const struct zone *zone = zone_find(lua_isnoneornil(L, 2) ? NULL : check_text(L, 2), &error);
    if (!zone || !cycle_parse(text, zone, 0, &cycle, &error))
        return fail(L, &error);
    lua_pushboolean(L, true);
    return 1;
}

/* suggest(word, list): the closest name or nil. */
static int rules_suggest(lua_State *L) {
    const char *word = luaL_checkstring(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    size_t size = lua_rawlen(L, 2), count = 0;
    const char **names = lua_newuserdatauv(L, (size + 1) * sizeof *names, 0);
    for (size_t i = 1; i <= size; i++) {
        if (lua_rawgeti(L, 2, (lua_Integer)i) == LUA_TSTRING)
            names[count++] = lua_tostring(L, -1); /* the list keeps it alive */
        lua_pop(L, 1);
    }
    names[count] = NULL;
    lua_pushstring(L, suggest(word, names)); /* NULL pushes nil */
    return 1;
}

/* find(text, part, from): where the part begins at or after a byte, or nil. It takes no longer than
 * both are long, whatever they hold; string.find may take one times the other. */
static int rules_find(lua_State *L) {
    size_t size, part_size;
    const char *text = luaL_checklstring(L, 1, &size);
    const char *part = luaL_checklstring(L, 2, &part_size);
    lua_Integer from = luaL_optinteger(L, 3, 1);
    luaL_argcheck(L, from >= 1 && (lua_Unsigned)from <= size + 1, 3, "out of range");
    const char *found = memmem(text + from - 1, size + 1 - (size_t)from, part, part_size);
    if (!found)
        return 0;
    lua_pushinteger(L, found - text + 1);
    return 1;
}

int luaopen_moonshift_rules(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"array", rules_array},
        {"decode", rules_decode},
        {"encode", rules_encode},
        {"hash", rules_hash},
        {"time", rules_time},
        {"format_time", rules_format_time},
        {"duration", rules_duration},
        {"rate", rules_rate},
        {"add_duration", rules_add_duration},
        {"retry", rules_retry},
        {"retry_due", rules_retry_due},
        {"dates", rules_dates},
        {"cycle", rules_cycle},
        {"suggest", rules_suggest},
        {"find", rules_find},
        {NULL, NULL},
    };
    json_setup();
    luaL_newlib(L, functions);
    value_push_null(L);
    lua_setfield(L, -2, "null");
    handle_push_fields(L);
    lua_setfield(L, -2, "job_fields");
    return 1;
}
