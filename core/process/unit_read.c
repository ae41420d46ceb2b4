/* Copies the unit that a walk has returned, lua/moonshift/process/walk.lua's table, into memory
 * that may leave the state. */
#include "base/text.h"
#include "job/unit_lists.h"
#include "script/value.h"
#include "script/walk.h"
#include <lauxlib.h>
#include <stddef.h>
#include <string.h>

/* ---- members ---- */

/* Raises: a walk that gives something else is wrong. */
static void refuse(lua_State *L, const struct unit_member *member) {
    luaL_error(L, "unit: %s is a %s (expected %s)", member->key, luaL_typename(L, -1),
               member->type == UNIT_NUMBER || member->type == UNIT_TIME ? "a whole number"
                                                                        : "a text");
}

static void *checked(lua_State *L, void *memory) {
    if (!memory)
        luaL_error(L, "out of memory while a unit was copied");
    return memory;
}

static int64_t number_of(lua_State *L, const struct unit_member *member) {
    int whole;
    lua_Integer number = lua_tointegerx(L, -1, &whole);
    if (!whole)
        refuse(L, member);
    return number;
}

static char *text_of(lua_State *L, struct unit *unit, const struct unit_member *member) {
    size_t size, bad;
    if (lua_type(L, -1) != LUA_TSTRING)
        refuse(L, member);
    const char *text = lua_tolstring(L, -1, &size);
    if (!utf8_valid(text, size, &bad) || strlen(text) != size)
        luaL_error(L, "unit: %s is not UTF-8, or has a zero byte", member->key);
    return checked(L, unit_text(unit, text, size));
}

static char *json_of(lua_State *L, struct unit *unit, const struct unit_member *member) {
    struct text text = {0};
    struct error error = {0};
    if (!value_write(L, -1, member->key, &text, &error))
        luaL_error(L, "%s", error.text);
    char *copy = unit_text(unit, text.data, text.size);
    text_clear(&text);
    return checked(L, copy);
}

/* "job", "subscription", "task" or "all". */
static unsigned waits_of(lua_State *L, const struct unit_member *member) {
    static const char *const names[] = {"job", "subscription", "task"};
    if (lua_type(L, -1) != LUA_TSTRING)
        refuse(L, member);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(lua_tostring(L, -1), names[i]) == 0)
            return 1u << i;
    return UNIT_JOB | UNIT_SUBSCRIPTION | UNIT_TASK;
}

static void put(char *entry, const struct unit_member *member, const void *value, size_t size) {
    memcpy(entry + member->at, value, size);
}

/* The member's value is on top of the stack; nil: as it is in an entry of zeros. */
static void read_member(lua_State *L, struct unit *unit, const struct unit_member *member,
                        char *entry) {
    bool given = !lua_isnil(L, -1);
    int64_t number = member->type == UNIT_TIME ? TIME_NONE : 0;
    const char *text = NULL;
    unsigned waits;
    switch (member->type) {
    case UNIT_NUMBER:
    case UNIT_TIME:
        number = given ? number_of(L, member) : number;
        put(entry, member, &number, sizeof number);
        return;
    case UNIT_TEXT:
    case UNIT_JSON:
        if (given)
            text = member->type == UNIT_TEXT ? text_of(L, unit, member) : json_of(L, unit, member);
        put(entry, member, &text, sizeof text);
        return;
    case UNIT_WAITS:
        waits = waits_of(L, member);
        put(entry, member, &waits, sizeof waits);
        return;
    }
}

/* ---- lists ---- */

/* The unit's table is at `index`. */
static void read_list(lua_State *L, int index, struct unit *unit, const struct unit_list *list) {
    if (lua_getfield(L, index, list->key) != LUA_TTABLE) {
        lua_pop(L, 1);
        return;
    }
    size_t count = (size_t)lua_rawlen(L, -1);
    char *entries = checked(L, unit_room(unit, count, list->size));
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        for (const struct unit_member *member = list->members; member->key; member++) {
            lua_getfield(L, -1, member->key);
            read_member(L, unit, member, entries + i * list->size);
            lua_pop(L, 1);
        }
        lua_pop(L, 1);
    }
    memcpy((char *)unit + list->at, &entries, sizeof entries);
    memcpy((char *)unit + list->count_at, &count, sizeof count);
    lua_pop(L, 1);
}

static void read_unit(lua_State *L, int index, struct unit *unit) {
    static const struct unit_member kept = {"kept", UNIT_JSON, offsetof(struct unit, kept)};
    for (const struct unit_list *list = unit_lists; list->key; list++)
        read_list(L, index, unit, list);
    lua_getfield(L, index, kept.key);
    read_member(L, unit, &kept, (char *)unit);
    unit->contends = lua_getfield(L, index, "contends") == LUA_TBOOLEAN && lua_toboolean(L, -1);
    lua_pop(L, 2);
}

void (*const walk_unit)(lua_State *L, int index, struct unit *unit) = read_unit;
