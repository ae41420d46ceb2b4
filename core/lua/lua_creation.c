#include "base/arena.h"
#include "engine/intake.h"
#include "lua/lua_engine.h"
#include "script/value.h"
#include <sha2.h>
#include <stdlib.h>
#include <string.h>

/* engine:enqueue and engine:enqueue_many. No Lua function that can raise is called while C memory
 * is held, except through value_to_json, which never raises. */

static bool add_payload(lua_State *L, int index, json_t *spec, struct error *error) {
    if (lua_isnoneornil(L, index))
        return true;
    json_t *payload = value_to_json(L, index, "payload", error);
    return payload && json_object_set_new_nocheck(spec, "payload", payload) == 0;
}

/* The options as a spec's object; handler and payload have their own places. */
static json_t *read_options(lua_State *L, int index, struct error *error) {
    if (lua_isnoneornil(L, index))
        return json_object();
    json_t *spec = value_to_json(L, index, "options", error);
    const char *taken = json_object_get(spec, "payload") ? "payload" : NULL;
    if (json_object_get(spec, "handler"))
        taken = "handler";
    if (spec && json_is_object(spec) && !taken)
        return spec;
    if (taken)
        error_set(error, ERROR_INVALID, "options: unknown key \"%s\"", taken);
    else if (spec)
        error_set(error, ERROR_INVALID, "options: a list (expected a table with names)");
    json_decref(spec);
    return NULL;
}

/* handler, payload, options at `index` and the two after it. */
static json_t *read_spec(lua_State *L, int index, struct error *error) {
    size_t size;
    const char *handler = lua_tolstring(L, index, &size);
    json_t *spec = read_options(L, index + 2, error);
    if (!spec)
        return NULL;
    json_t *name = json_stringn(handler, size);
    if (!name)
        error_set(error, ERROR_INVALID, "handler: not valid UTF-8 (expected a name)");
    else if (json_object_set_new_nocheck(spec, "handler", name) == 0 &&
             add_payload(L, index + 1, spec, error))
        return spec;
    json_decref(spec);
    return NULL;
}

/* ---- requests ---- */

/* A request under a key. */
struct asked {
    char hash[65];
    struct engine_request request;
};

static json_t *answer(void *arg, const struct created *created, size_t count) {
    (void)arg;
    json_t *list = json_array();
    for (size_t i = 0; list && i < count; i++)
        json_array_append_new(
            list, json_pack("[Ii]", (json_int_t)created[i].id, (int)created[i].creation));
    return list;
}

static void answer_take(const json_t *list, struct created *created) {
    json_t *one;
    size_t i;
    json_array_foreach(list, i, one)
        created[i] = (struct created){json_integer_value(json_array_get(one, 0)),
                                      (enum creation)json_integer_value(json_array_get(one, 1))};
}

/* The same word for the same specs, whatever the order of their keys. */
static bool asked_hash(struct asked *asked, const struct engine_spec *specs, size_t count,
                       struct error *error) {
    SHA2_CTX hash;
    SHA256Init(&hash);
    for (size_t i = 0; i < count; i++) {
        char *text = json_dumps(specs[i].object, JSON_COMPACT | JSON_SORT_KEYS);
        if (!text)
            return error_no_memory(error);
        SHA256Update(&hash, (const uint8_t *)text, strlen(text) + 1);
        free(text);
    }
    SHA256End(&hash, asked->hash);
    return true;
}

/* `key` NULL: as engine_enqueue. */
static bool create(struct engine *engine, const char *key, const struct engine_spec *specs,
                   size_t count, struct created *created, struct error *error) {
    struct asked asked = {.request = {.answer = answer}};
    if (!key)
        return engine_enqueue(engine, specs, count, created, NULL, error);
    size_t size = strlen(key);
    if (size == 0 || size > JOB_NAME_MAX)
        return error_set(error, ERROR_INVALID, "request: expected a text of 1 to %d bytes",
                         JOB_NAME_MAX);
    asked.request.asked = (struct store_request){.key = key, .hash = asked.hash};
    bool fine = asked_hash(&asked, specs, count, error) &&
                engine_request_find(engine, &asked.request, error) &&
                (asked.request.found ||
                 engine_enqueue_once(engine, specs, count, created, NULL, &asked.request, error));
    if (fine && asked.request.found)
        answer_take(asked.request.found, created);
    json_decref(asked.request.found);
    return fine;
}

/* The option `request` of the table at `index`; NULL: none. */
static const char *read_request(lua_State *L, int index) {
    if (lua_isnoneornil(L, index))
        return NULL;
    luaL_checktype(L, index, LUA_TTABLE);
    int type = lua_getfield(L, index, "request");
    if (type != LUA_TNIL && type != LUA_TSTRING)
        luaL_error(L, "request: a %s (expected a text)", lua_typename(L, type));
    return lua_tostring(L, -1); /* stays on the stack */
}

/* Checks the shape of every entry before any memory is held. */
static lua_Integer check_entries(lua_State *L) {
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_Integer count = luaL_len(L, 2);
    for (lua_Integer i = 1; i <= count; i++) {
        if (lua_rawgeti(L, 2, i) != LUA_TTABLE)
            return luaL_error(L, "entry %I: a %s (expected { handler, payload, options })", i,
                              luaL_typename(L, -1));
        if (lua_rawgeti(L, -1, 1) != LUA_TSTRING)
            return luaL_error(L, "entry %I: handler is a %s (expected a name)", i,
                              luaL_typename(L, -1));
        int options = lua_rawgeti(L, -2, 3);
        if (options != LUA_TNIL && options != LUA_TTABLE)
            return luaL_error(L, "entry %I: options is a %s (expected a table)", i,
                              luaL_typename(L, -1));
        lua_pop(L, 3);
    }
    return count;
}

/* ---- entries in short ---- */

struct entries {
    struct engine_spec *specs;
    size_t count;
    struct arena texts;  /* of the specs in short */
    struct text payload; /* of the present one */
};

/* A copy of the text at `index` in the arena, or NULL; UTF-8 and no zero byte. */
static const char *keep_name(lua_State *L, int index, struct arena *texts, size_t *size) {
    const char *name = lua_tolstring(L, index, size);
    if (*size > JOB_NAME_MAX || memchr(name, 0, *size) || !utf8_valid(name, *size, NULL))
        return NULL;
    char *copy = arena_room(texts, *size + 1);
    if (copy)
        memcpy(copy, name, *size + 1);
    arena_keep(texts, *size + 1);
    return copy;
}

static bool keep_payload(lua_State *L, int index, struct entries *entries, struct spec_fast *fast) {
    struct text *payload = &entries->payload;
    if (lua_isnoneornil(L, index))
        return true;
    payload->size = 0;
    if (!value_to_text(L, index, payload))
        return false;
    char *copy = arena_room(&entries->texts, payload->size);
    if (!copy)
        return false;
    memcpy(copy, payload->data, payload->size);
    arena_keep(&entries->texts, payload->size);
    fast->payload = copy;
    fast->payload_size = payload->size;
    return true;
}

/* The option on top of the stack, its key below. */
static bool keep_option(lua_State *L, struct arena *texts, struct spec_fast *fast) {
    int name = 0;
    return value_to_spec(L, fast, &name) &&
           (!name || (lua_type(L, -1) == LUA_TSTRING &&
                      (fast->names[name] = keep_name(L, -1, texts, &fast->sizes[name]))));
}

static bool keep_options(lua_State *L, int index, struct arena *texts, struct spec_fast *fast) {
    if (lua_isnoneornil(L, index))
        return true;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
        if (!keep_option(L, texts, fast)) {
            lua_pop(L, 2);
            return false;
        }
    return true;
}

/* handler, payload, options at `index` and the two after it; false: read_spec says why, or knows
 * more. */
static bool read_fast(lua_State *L, int index, struct entries *entries, struct spec_fast *fast) {
    fast->names[SPEC_NAME_handler] =
        keep_name(L, index, &entries->texts, &fast->sizes[SPEC_NAME_handler]);
    return fast->names[SPEC_NAME_handler] && keep_options(L, index + 2, &entries->texts, fast) &&
           keep_payload(L, index + 1, entries, fast);
}

/* A function of its own: room for an error is much to clear for each of many. */
static bool read_slow(lua_State *L, int index, lua_Integer i, struct engine_spec *spec,
                      struct error *error) {
    struct error cause = {0};
    spec_fast_clear(&spec->fast);
    spec->object = read_spec(L, index, &cause);
    return spec->object || error_set(error, cause.code, "entry %lld: %s", (long long)i, cause.text);
}

static bool read_entry(lua_State *L, lua_Integer i, bool in_short, struct entries *entries,
                       struct error *error) {
    struct engine_spec *spec = &entries->specs[entries->count];
    int entry = lua_gettop(L) + 1;
    lua_rawgeti(L, 2, i);
    for (int part = 1; part <= 3; part++)
        lua_rawgeti(L, entry, part);
    *spec = (struct engine_spec){0};
    bool fine = (in_short && read_fast(L, entry + 1, entries, &spec->fast)) ||
                read_slow(L, entry + 1, i, spec, error);
    lua_settop(L, entry - 1);
    entries->count += fine;
    return fine;
}

static bool read_entries(lua_State *L, lua_Integer count, bool in_short, struct entries *entries,
                         struct error *error) {
    entries->specs = malloc(((size_t)count + 1) * sizeof *entries->specs);
    if (!entries->specs)
        return error_no_memory(error);
    for (lua_Integer i = 1; i <= count; i++)
        if (!read_entry(L, i, in_short, entries, error))
            return false;
    return true;
}

static void clear_texts(struct entries *entries) {
    arena_clear(&entries->texts);
    text_clear(&entries->payload);
}

static void free_entries(struct entries *entries) {
    for (size_t i = 0; i < entries->count; i++)
        engine_spec_clear(&entries->specs[i]);
    free(entries->specs);
    clear_texts(entries);
}

/* handler, payload, options (arguments 2 to 4); those of a request are compared as an object. */
static bool read_one(lua_State *L, const char *key, struct entries *entries, struct error *error) {
    struct engine_spec *spec = entries->specs;
    if (!key && read_fast(L, 2, entries, &spec->fast))
        return true;
    spec_fast_clear(&spec->fast);
    spec->object = read_spec(L, 2, error);
    json_object_del(spec->object, "request");
    return spec->object;
}

static int enqueue(lua_State *L) {
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    luaL_checktype(L, 2, LUA_TSTRING);
    lua_settop(L, 4);
    const char *key = read_request(L, 4);
    luaL_checkstack(L, 8, NULL);
    if (!engine)
        return api_fail(L, &error);
    struct created created = {0};
    struct engine_spec spec = {0};
    struct entries entries = {.specs = &spec};
    bool ok = read_one(L, key, &entries, &error) && create(engine, key, &spec, 1, &created, &error);
    engine_spec_clear(&spec);
    clear_texts(&entries);
    if (!ok)
        return api_fail(L, &error);
    lua_pushinteger(L, created.id);
    lua_pushstring(L, creation_name(created.creation));
    return 2;
}

/* ids, outcomes */
static int push_created(lua_State *L, const struct created *created, lua_Integer count) {
    lua_createtable(L, (int)count, 0);
    lua_createtable(L, (int)count, 0);
    for (lua_Integer i = 0; i < count; i++) {
        lua_pushinteger(L, created[i].id);
        lua_rawseti(L, -3, i + 1);
        lua_pushstring(L, creation_name(created[i].creation));
        lua_rawseti(L, -2, i + 1);
    }
    return 2;
}

/* The options of all of them: request alone. */
static const char *check_many(lua_State *L) {
    const char *key = read_request(L, 3);
    if (lua_isnoneornil(L, 3))
        return NULL;
    for (lua_pushnil(L); lua_next(L, 3); lua_pop(L, 1))
        if (lua_type(L, -2) != LUA_TSTRING || strcmp(lua_tostring(L, -2), "request") != 0)
            luaL_error(L, "options: unknown key (expected request)");
    return key;
}

static int enqueue_many(lua_State *L) {
    struct error error = {0};
    struct engine *engine = lua_engine_open(L, &error);
    lua_Integer count = check_entries(L);
    lua_settop(L, 3);
    const char *key = check_many(L);
    struct created *created = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *created, 0);
    luaL_checkstack(L, 8, NULL);
    if (!engine)
        return api_fail(L, &error);
    struct entries entries = {0};
    bool ok = read_entries(L, count, key == NULL, &entries, &error) &&
              create(engine, key, entries.specs, entries.count, created, &error);
    free_entries(&entries);
    return ok ? push_created(L, created, count) : api_fail(L, &error);
}

static const luaL_Reg methods[] = {
    {"enqueue", enqueue},
    {"enqueue_many", enqueue_many},
    {NULL, NULL},
};

void lua_creation_register(lua_State *L) {
    luaL_setfuncs(L, methods, 0);
}
