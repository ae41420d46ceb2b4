/* Copies the unit that a walk has returned, lua/moonshift/process/walk.lua's table, into memory
 * that may leave the state. */
#include "base/text.h"
#include "job/unit.h"
#include "script/value.h"
#include "script/walk.h"
#include <lauxlib.h>
#include <stddef.h>
#include <string.h>

/* A member of an entry. JSON: any value, kept as its text. */
enum member_type { MEMBER_NUMBER, MEMBER_TIME, MEMBER_TEXT, MEMBER_JSON, MEMBER_WAITS };
struct member {
    const char *key;
    enum member_type type;
    size_t at; /* bytes from the beginning of its struct */
};

/* A list of the unit: its entries, and where the unit has them and their count. */
struct list {
    const char *key;
    const struct member *members; /* the last has no key */
    size_t size, at, count_at;
};

#define MEMBER(type, kind, name)                                                                   \
    { #name, MEMBER_##kind, offsetof(struct unit_##type, name) }

static const struct member instance_members[] = {
    MEMBER(instance, NUMBER, id),   MEMBER(instance, NUMBER, version),
    MEMBER(instance, NUMBER, rev),  MEMBER(instance, NUMBER, parent),
    MEMBER(instance, NUMBER, root), MEMBER(instance, TIME, started),
    MEMBER(instance, TEXT, frame),  MEMBER(instance, TEXT, ended),
    MEMBER(instance, TEXT, reason), MEMBER(instance, JSON, variables),
    MEMBER(instance, TEXT, key),    MEMBER(instance, TEXT, tenant),
    {NULL, MEMBER_NUMBER, 0},
};
static const struct member wait_members[] = {
    MEMBER(wait, NUMBER, instance),
    MEMBER(wait, NUMBER, token),
    MEMBER(wait, WAITS, what),
    {NULL, MEMBER_NUMBER, 0},
};
static const struct member subscription_members[] = {
    MEMBER(subscription, NUMBER, instance), MEMBER(subscription, NUMBER, token),
    MEMBER(subscription, NUMBER, version),  MEMBER(subscription, TEXT, kind),
    MEMBER(subscription, TEXT, name),       MEMBER(subscription, TEXT, key),
    MEMBER(subscription, TEXT, activity),   {NULL, MEMBER_NUMBER, 0},
};
static const struct member task_members[] = {
    MEMBER(task, NUMBER, instance), MEMBER(task, NUMBER, token),  MEMBER(task, TEXT, activity),
    MEMBER(task, TEXT, name),       MEMBER(task, TEXT, assignee), MEMBER(task, JSON, candidates),
    MEMBER(task, TEXT, form),       MEMBER(task, TIME, due),      MEMBER(task, NUMBER, priority),
    {NULL, MEMBER_NUMBER, 0},
};
static const struct member trail_members[] = {
    MEMBER(trail, NUMBER, instance),
    MEMBER(trail, TEXT, events),
    {NULL, MEMBER_NUMBER, 0},
};
static const struct member message_members[] = {
    MEMBER(message, TEXT, name),  MEMBER(message, TEXT, key), MEMBER(message, JSON, variables),
    MEMBER(message, TIME, until), {NULL, MEMBER_NUMBER, 0},
};

static const struct member searched_members[] = {
    MEMBER(searched, NUMBER, instance),
    MEMBER(searched, TEXT, name),
    MEMBER(searched, JSON, value),
    {NULL, MEMBER_NUMBER, 0},
};

static const struct member value_members[] = {
    MEMBER(value, NUMBER, instance), MEMBER(value, NUMBER, n), MEMBER(value, TEXT, name),
    MEMBER(value, TEXT, data),       {NULL, MEMBER_NUMBER, 0},
};

#define LIST(key, count, type, members)                                                            \
    {                                                                                              \
#key, members, sizeof(struct unit_##type), offsetof(struct unit, key),                     \
            offsetof(struct unit, count)                                                           \
    }
static const struct list lists[] = {
    LIST(instances, instance_count, instance, instance_members),
    LIST(left, left_count, wait, wait_members),
    LIST(subscriptions, subscription_count, subscription, subscription_members),
    LIST(tasks, task_count, task, task_members),
    LIST(trail, trail_count, trail, trail_members),
    LIST(messages, message_count, message, message_members),
    LIST(searched, searched_count, searched, searched_members),
    LIST(values, value_count, value, value_members),
};

/* ---- members ---- */

/* Raises: a walk that gives something else is wrong. */
static void refuse(lua_State *L, const struct member *member) {
    luaL_error(L, "unit: %s is a %s (expected %s)", member->key, luaL_typename(L, -1),
               member->type == MEMBER_NUMBER || member->type == MEMBER_TIME ? "a whole number"
                                                                            : "a text");
}

static void *checked(lua_State *L, void *memory) {
    if (!memory)
        luaL_error(L, "out of memory while a unit was copied");
    return memory;
}

static int64_t number_of(lua_State *L, const struct member *member) {
    int whole;
    lua_Integer number = lua_tointegerx(L, -1, &whole);
    if (!whole)
        refuse(L, member);
    return number;
}

static char *text_of(lua_State *L, struct unit *unit, const struct member *member) {
    size_t size;
    if (lua_type(L, -1) != LUA_TSTRING)
        refuse(L, member);
    const char *text = lua_tolstring(L, -1, &size);
    return checked(L, unit_text(unit, text, size));
}

static char *json_of(lua_State *L, struct unit *unit, const struct member *member) {
    struct text text = {0};
    struct error error = {0};
    if (!value_write(L, -1, member->key, &text, &error))
        luaL_error(L, "%s", error.text);
    char *copy = unit_text(unit, text.data, text.size);
    text_clear(&text);
    return checked(L, copy);
}

/* "job", "subscription", "task" or "all". */
static unsigned waits_of(lua_State *L, const struct member *member) {
    static const char *const names[] = {"job", "subscription", "task"};
    if (lua_type(L, -1) != LUA_TSTRING)
        refuse(L, member);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(lua_tostring(L, -1), names[i]) == 0)
            return 1u << i;
    return UNIT_JOB | UNIT_SUBSCRIPTION | UNIT_TASK;
}

static void put(char *entry, const struct member *member, const void *value, size_t size) {
    memcpy(entry + member->at, value, size);
}

/* The member's value is on top of the stack; nil: as it is in an entry of zeros. */
static void read_member(lua_State *L, struct unit *unit, const struct member *member, char *entry) {
    bool given = !lua_isnil(L, -1);
    int64_t number = member->type == MEMBER_TIME ? TIME_NONE : 0;
    const char *text = NULL;
    unsigned waits;
    switch (member->type) {
    case MEMBER_NUMBER:
    case MEMBER_TIME:
        number = given ? number_of(L, member) : number;
        put(entry, member, &number, sizeof number);
        return;
    case MEMBER_TEXT:
    case MEMBER_JSON:
        if (given)
            text =
                member->type == MEMBER_TEXT ? text_of(L, unit, member) : json_of(L, unit, member);
        put(entry, member, &text, sizeof text);
        return;
    case MEMBER_WAITS:
        waits = waits_of(L, member);
        put(entry, member, &waits, sizeof waits);
        return;
    }
}

/* ---- lists ---- */

/* The unit's table is at `index`. */
static void read_list(lua_State *L, int index, struct unit *unit, const struct list *list) {
    if (lua_getfield(L, index, list->key) != LUA_TTABLE) {
        lua_pop(L, 1);
        return;
    }
    size_t count = (size_t)lua_rawlen(L, -1);
    char *entries = checked(L, unit_room(unit, count, list->size));
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(L, -1, (lua_Integer)i + 1);
        for (const struct member *member = list->members; member->key; member++) {
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
    static const struct member kept = {"kept", MEMBER_JSON, offsetof(struct unit, kept)};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        read_list(L, index, unit, &lists[i]);
    lua_getfield(L, index, kept.key);
    read_member(L, unit, &kept, (char *)unit);
    lua_pop(L, 1);
}

void (*const walk_unit)(lua_State *L, int index, struct unit *unit) = read_unit;
