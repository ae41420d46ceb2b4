#include "engine/config.h"
#include "http/face.h"
#include "lua/lua_engine.h"
#include <string.h>

/* The network face as a Lua object: it serves the store of an engine from its making to `stop`,
 * with connections of its own. */

#define FACE_TYPE "moonshift.core.face"

struct lua_face {
    struct face *face; /* NULL once stopped */
    struct settings settings;
    bool has_settings;
};

static struct lua_face *self(lua_State *L) {
    return luaL_checkudata(L, 1, FACE_TYPE);
}

static void release(struct lua_face *face) {
    face_free(face->face);
    face->face = NULL;
    if (face->has_settings)
        settings_clear(&face->settings);
    face->has_settings = false;
}

/* Its threads have connections of their own, which a store in memory has not. */
static bool can_serve(const struct lua_engine *engine, struct error *error) {
    if (!engine->engine)
        return error_set(error, ERROR_CLOSED, "the engine is closed");
    if (!engine_path(engine->engine))
        return error_set(error, ERROR_CONFLICT,
                         "serve: the store is in memory (expected a file or a server)");
    return !clock_is_virtual(engine_clock(engine->engine)) ||
           error_set(error, ERROR_CONFLICT, "serve: the clock is virtual (expected the system's)");
}

static bool begin(struct lua_face *face, const struct lua_engine *engine, const json_t *options,
                  bool open, struct error *error) {
    if (!can_serve(engine, error))
        return false;
    face->has_settings = true;
    if (!config_settings(&face->settings, engine->folder, engine->paths, engine->options, options,
                         error))
        return false;
    if (json_array_size(face->settings.http) == 0)
        return error_set(error, ERROR_INVALID, "http is missing (expected an address)");
    struct face_options face_options = {.settings = &face->settings,
                                        .clock = engine_clock(engine->engine),
                                        .folder = engine_folder(engine->engine),
                                        .read = config_folder,
                                        .paths = engine->paths,
                                        .open = open};
    face->face = face_new(&face_options, error);
    return face->face != NULL;
}

/* face(engine, settings, open) */
static int new_face(lua_State *L) {
    struct error error = {0};
    struct lua_engine *engine = luaL_checkudata(L, 1, ENGINE_TYPE);
    json_t **options = api_box(L);
    *options = api_object(L, 2, "options", &error);
    struct lua_face *face = lua_newuserdatauv(L, sizeof *face, 0);
    memset(face, 0, sizeof *face);
    luaL_setmetatable(L, FACE_TYPE);
    if (*options && begin(face, engine, *options, lua_toboolean(L, 3), &error))
        return 1;
    release(face);
    return api_fail(L, &error);
}

/* face:addresses() */
static int addresses(lua_State *L) {
    struct lua_face *face = self(L);
    const char *address;
    lua_newtable(L);
    for (size_t i = 0; face->face && (address = face_address(face->face, i)); i++) {
        lua_pushstring(L, address);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

/* face:reload() */
static int reload(lua_State *L) {
    struct lua_face *face = self(L);
    if (face->face)
        face_reload(face->face);
    lua_pushboolean(L, face->face != NULL);
    return 1;
}

/* face:stop() */
static int stop(lua_State *L) {
    release(self(L));
    lua_pushboolean(L, 1);
    return 1;
}

static const luaL_Reg methods[] = {
    {"addresses", addresses},
    {"reload", reload},
    {"stop", stop},
    {NULL, NULL},
};

void lua_face_register(lua_State *L) {
    luaL_newmetatable(L, FACE_TYPE);
    luaL_newlib(L, methods);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, stop);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    lua_pushcfunction(L, new_face);
    lua_setfield(L, -2, "face");
}
