#include "script/value.h"
#include "base/ascii_scan.h"
#include "base/json.h"
#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 100

/* Their addresses are what counts. */
static char null_key, array_key;

void value_push_null(lua_State *L) {
    lua_pushlightuserdata(L, &null_key);
}

static bool is_null(lua_State *L, int index) {
    return lua_isnil(L, index) ||
           (lua_islightuserdata(L, index) && lua_touserdata(L, index) == &null_key);
}

void value_push_array_mark(lua_State *L) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &array_key) == LUA_TTABLE)
        return;
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "moonshift.array");
    lua_setfield(L, -2, "__name");
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &array_key);
}

void value_mark_array(lua_State *L) {
    value_push_array_mark(L);
    lua_setmetatable(L, -2);
}

static bool is_marked(lua_State *L, int index) {
    if (!lua_getmetatable(L, index))
        return false;
    lua_rawgetp(L, LUA_REGISTRYINDEX, &array_key);
    bool marked = lua_istable(L, -1) && lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return marked;
}

/* One table on the way from the top to the value being read. */
struct step {
    const struct step *above;
    const void *table;
    const char *key; /* of the member being read; NULL: index counts */
    lua_Integer index;
    int depth;
};

struct reader {
    lua_State *L;
    const char *what;
    struct error *error;
};

static void add_path(struct text *path, const struct step *step) {
    if (!step)
        return;
    add_path(path, step->above);
    if (!step->key)
        text_add(path, "[%lld]", (long long)step->index);
    else if (step->key[strspn(step->key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "_0123456789")])
        text_add(path, "[\"%s\"]", step->key);
    else
        text_add(path, ".%s", step->key);
}

static json_t *refuse(const struct reader *reader, const struct step *step, const char *problem) {
    struct text path = {0};
    add_path(&path, step);
    error_set(reader->error, ERROR_INVALID, "%s%.1000s: cannot store %s", reader->what,
              path.data ? path.data : "", problem);
    text_clear(&path);
    return NULL;
}

static json_t *checked(const struct reader *reader, json_t *value) {
    if (!value)
        error_no_memory(reader->error);
    return value;
}

/* What is wrong with a text as JSON; NULL: nothing. */
static const char *text_problem(const char *text, size_t size) {
    if (!utf8_valid(text, size, NULL))
        return "a text that is not valid UTF-8";
    return memchr(text, 0, size) ? "a text with a zero byte" : NULL;
}

static json_t *read_text(const struct reader *reader, const struct step *step, int index) {
    size_t size;
    const char *text = lua_tolstring(reader->L, index, &size);
    const char *problem = text_problem(text, size);
    if (problem)
        return refuse(reader, step, problem);
    return checked(reader, json_stringn_nocheck(text, size));
}

static json_t *read_number(const struct reader *reader, const struct step *step, int index) {
    if (lua_isinteger(reader->L, index))
        return checked(reader, json_integer(lua_tointeger(reader->L, index)));
    double number = lua_tonumber(reader->L, index);
    if (isnan(number))
        return refuse(reader, step, "not-a-number");
    if (isinf(number))
        return refuse(reader, step, "an infinite number");
    return checked(reader, json_real(number));
}

enum shape { SHAPE_ARRAY, SHAPE_OBJECT, SHAPE_WRONG };

/* Looks at every key; what is wrong with them ends up in *problem. */
static enum shape find_shape(lua_State *L, int index, const char **problem) {
    lua_Integer count = 0, highest = 0;
    bool texts = false, numbers = is_marked(L, index), others = false;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        lua_Integer key = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
        count++;
        highest = key > highest ? key : highest;
        numbers = numbers || lua_type(L, -2) == LUA_TNUMBER;
        texts = texts || lua_type(L, -2) == LUA_TSTRING;
        others = others || (key < 1 && lua_type(L, -2) != LUA_TSTRING);
    }
    *problem = NULL;
    if (texts && numbers)
        *problem = "a table with mixed keys (expected 1 to n, or texts)";
    else if (others)
        *problem = "a table with keys that are neither 1 to n nor texts";
    else if (highest > count)
        *problem = "a list with holes (expected keys 1 to n, moonshift.null for nothing)";
    if (*problem)
        return SHAPE_WRONG;
    return numbers ? SHAPE_ARRAY : SHAPE_OBJECT;
}

static json_t *read_value(const struct reader *reader, const struct step *step, int index);

static json_t *read_array(const struct reader *reader, struct step *step, int index) {
    lua_State *L = reader->L;
    json_t *array = checked(reader, json_array());
    lua_Integer size = (lua_Integer)lua_rawlen(L, index);
    for (step->index = 1; array && step->index <= size; step->index++) {
        lua_rawgeti(L, index, step->index);
        json_t *value = read_value(reader, step, lua_gettop(L));
        lua_pop(L, 1);
        if (!value || json_array_append_new(array, value) != 0) {
            json_decref(array);
            return value ? checked(reader, NULL) : NULL;
        }
    }
    return array;
}

static json_t *read_member(const struct reader *reader, struct step *step) {
    size_t size;
    const char *key = lua_tolstring(reader->L, -2, &size);
    if (text_problem(key, size))
        return refuse(reader, step->above, "a table with a key that is not valid UTF-8 text");
    step->key = key;
    return read_value(reader, step, lua_gettop(reader->L));
}

static json_t *read_object(const struct reader *reader, struct step *step, int index) {
    lua_State *L = reader->L;
    json_t *object = checked(reader, json_object());
    if (!object)
        return NULL;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        json_t *value = read_member(reader, step);
        if (!value || json_object_set_new_nocheck(object, step->key, value) != 0) {
            json_decref(object);
            lua_pop(L, 2);
            return value ? checked(reader, NULL) : NULL;
        }
    }
    return object;
}

static json_t *read_table(const struct reader *reader, const struct step *above, int index) {
    const char *problem;
    struct step step = {.above = above, .table = lua_topointer(reader->L, index)};
    step.depth = above ? above->depth + 1 : 1;
    for (const struct step *at = above; at; at = at->above)
        if (at->table == step.table)
            return refuse(reader, above, "a table that contains itself");
    if (step.depth > DEPTH_MAX)
        return refuse(reader, above, "tables nested deeper than 100");
    if (!lua_checkstack(reader->L, 8))
        return checked(reader, NULL);
    switch (find_shape(reader->L, index, &problem)) {
    case SHAPE_ARRAY:
        return read_array(reader, &step, index);
    case SHAPE_OBJECT:
        return read_object(reader, &step, index);
    case SHAPE_WRONG:
        break;
    }
    return refuse(reader, above, problem);
}

static json_t *read_value(const struct reader *reader, const struct step *step, int index) {
    char problem[96];
    if (is_null(reader->L, index))
        return json_null();
    switch (lua_type(reader->L, index)) {
    case LUA_TBOOLEAN:
        return json_boolean(lua_toboolean(reader->L, index));
    case LUA_TNUMBER:
        return read_number(reader, step, index);
    case LUA_TSTRING:
        return read_text(reader, step, index);
    case LUA_TTABLE:
        return read_table(reader, step, index);
    default:
        snprintf(problem, sizeof problem, "a %s (expected nil, boolean, number, text or table)",
                 lua_typename(reader->L, lua_type(reader->L, index)));
        return refuse(reader, step, problem);
    }
}

json_t *value_to_json(lua_State *L, int index, const char *what, struct error *error) {
    struct reader reader = {L, what, error};
    if (!lua_checkstack(L, 8))
        return checked(&reader, NULL);
    return read_value(&reader, NULL, lua_absindex(L, index));
}

/* ---- the same as text ---- */

static bool add_value(lua_State *L, int index, int depth, struct text *out);

static bool add_text(lua_State *L, int index, struct text *out) {
    size_t size;
    const char *text = lua_tolstring(L, index, &size);
    if (ascii_size(text, size) < size && text_problem(text, size))
        return false;
    json_add_text(out, text, size);
    return true;
}

static bool add_number(lua_State *L, int index, struct text *out) {
    if (lua_isinteger(L, index)) {
        json_add_integer(out, lua_tointeger(L, index));
        return true;
    }
    double number = lua_tonumber(L, index);
    if (!isfinite(number))
        return false;
    json_add_real(out, number);
    return true;
}

static bool add_array(lua_State *L, int index, int depth, struct text *out) {
    lua_Integer size = (lua_Integer)lua_rawlen(L, index);
    text_push(out, "[", 1);
    for (lua_Integer i = 1; i <= size; i++) {
        if (i > 1)
            text_push(out, ",", 1);
        lua_rawgeti(L, index, i);
        bool fine = add_value(L, lua_gettop(L), depth, out);
        lua_pop(L, 1);
        if (!fine)
            return false;
    }
    text_push(out, "]", 1);
    return true;
}

static bool add_object(lua_State *L, int index, int depth, struct text *out) {
    const char *before = "{";
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        int value = lua_gettop(L);
        text_push(out, before, 1);
        bool fine = lua_type(L, value - 1) == LUA_TSTRING && add_text(L, value - 1, out);
        text_push(out, ":", 1);
        if (!fine || !add_value(L, value, depth, out)) {
            lua_pop(L, 2);
            return false;
        }
        before = ",";
    }
    text_push(out, *before == '{' ? "{}" : "}", *before == '{' ? 2 : 1);
    return true;
}

/* True if the first key is a text, as in every object that is not empty. */
static bool begins_with_text(lua_State *L, int index) {
    lua_pushnil(L);
    if (!lua_next(L, index))
        return false;
    bool text = lua_type(L, -2) == LUA_TSTRING;
    lua_pop(L, 2);
    return text;
}

/* A table that contains itself is too deep as well. */
static bool add_table(lua_State *L, int index, int depth, struct text *out) {
    const char *problem;
    if (depth > DEPTH_MAX || !lua_checkstack(L, 8))
        return false;
    if (begins_with_text(L, index) && !is_marked(L, index))
        return add_object(L, index, depth, out);
    switch (find_shape(L, index, &problem)) {
    case SHAPE_ARRAY:
        return add_array(L, index, depth, out);
    case SHAPE_OBJECT:
        return add_object(L, index, depth, out);
    case SHAPE_WRONG:
        break;
    }
    return false;
}

static bool add_value(lua_State *L, int index, int depth, struct text *out) {
    if (is_null(L, index)) {
        text_push(out, "null", 4);
        return true;
    }
    switch (lua_type(L, index)) {
    case LUA_TBOOLEAN:
        text_push(out, lua_toboolean(L, index) ? "true" : "false", lua_toboolean(L, index) ? 4 : 5);
        return true;
    case LUA_TNUMBER:
        return add_number(L, index, out);
    case LUA_TSTRING:
        return add_text(L, index, out);
    case LUA_TTABLE:
        return add_table(L, index, depth + 1, out);
    default:
        return false;
    }
}

bool value_to_text(lua_State *L, int index, struct text *out) {
    return lua_checkstack(L, 8) && add_value(L, lua_absindex(L, index), 0, out) && !out->failed;
}

/* The slow way for the reason alone: it also says why a text that is too long for memory is none.
 */
bool value_write(lua_State *L, int index, const char *what, struct text *out, struct error *error) {
    if (value_to_text(L, index, out))
        return true;
    json_t *value = value_to_json(L, index, what, error);
    if (value)
        error_no_memory(error);
    json_decref(value);
    text_clear(out);
    return false;
}

/* ---- from JSON ---- */

static void push_inside(lua_State *L, const json_t *value);

static void push_array(lua_State *L, const json_t *array) {
    size_t i;
    const json_t *element;
    lua_createtable(L, (int)json_array_size(array), 0);
    json_array_foreach(array, i, element) {
        push_inside(L, element);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    value_mark_array(L);
}

static void push_object(lua_State *L, const json_t *object) {
    json_t *from = json_unchanged(object); /* jansson's iterators are not const */
    lua_createtable(L, 0, (int)json_object_size(object));
    for (void *at = json_object_iter(from); at; at = json_object_iter_next(from, at)) {
        lua_pushstring(L, json_object_iter_key(at));
        push_inside(L, json_object_iter_value(at));
        lua_rawset(L, -3);
    }
}

static void push_inside(lua_State *L, const json_t *value) {
    luaL_checkstack(L, 4, "JSON is nested too deeply");
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        push_object(L, value);
        break;
    case JSON_ARRAY:
        push_array(L, value);
        break;
    case JSON_STRING:
        lua_pushlstring(L, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        lua_pushinteger(L, json_integer_value(value));
        break;
    case JSON_REAL:
        lua_pushnumber(L, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        lua_pushboolean(L, json_is_true(value));
        break;
    case JSON_NULL:
        value_push_null(L);
        break;
    }
}

void value_push_json(lua_State *L, const json_t *value) {
    if (!value || json_is_null(value))
        lua_pushnil(L);
    else
        push_inside(L, value);
}

bool value_to_spec(lua_State *L, struct spec_fast *fast, int *name) {
    size_t size;
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tolstring(L, -2, &size) : NULL;
    if (!key || strlen(key) != size)
        return false;
    if (strcmp(key, "priority") == 0) {
        fast->priority_given = lua_isinteger(L, -1);
        fast->priority = lua_tointeger(L, -1);
        return fast->priority_given;
    }
    for (int i = SPEC_NAME_handler + 1; i < SPEC_NAMES; i++)
        if (strcmp(key, spec_names[i]->key) == 0) {
            *name = i;
            return true;
        }
    return spec_fast_add(fast, key, value_to_json(L, -1, key, NULL));
}
