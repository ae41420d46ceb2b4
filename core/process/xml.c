#include "process/xml.h"
#include "base/text.h"
#include "process/encoding.h"
#include <expat.h>
#include <lauxlib.h>
#include <stdio.h>

#define READER "moonshift.xml.reader"
#define SEPARATOR ' ' /* between a namespace and a name; no namespace may hold it */

/* A userdata, so that expat's memory goes with it, whatever is raised meanwhile. The open elements
 * lie on the Lua stack, outermost first. */
struct reader {
    lua_State *L;
    XML_Parser parser;
    int base; /* the stack's top before the first element */
    size_t depth;
    struct text text[XML_DEPTH_MAX]; /* of the open elements */
    struct text turned;              /* the file in UTF-8, where it was not */
    char refusal[128];
    XML_Size line, column; /* of the refusal */
};

static int reader_gc(lua_State *L) {
    struct reader *reader = luaL_checkudata(L, 1, READER);
    if (reader->parser)
        XML_ParserFree(reader->parser);
    reader->parser = NULL;
    for (size_t i = 0; i < XML_DEPTH_MAX; i++)
        text_clear(&reader->text[i]);
    text_clear(&reader->turned);
    return 0;
}

/* Keeps the first refusal and its place, and ends the parse. */
static void refuse(struct reader *reader, const char *refusal) {
    if (reader->refusal[0])
        return;
    snprintf(reader->refusal, sizeof reader->refusal, "%s", refusal);
    reader->line = XML_GetCurrentLineNumber(reader->parser);
    reader->column = XML_GetCurrentColumnNumber(reader->parser) + 1;
    XML_StopParser(reader->parser, XML_FALSE);
}

/* Puts `name` and `ns` into the table on top. */
static void set_name(lua_State *L, const char *whole) {
    const char *end = strrchr(whole, SEPARATOR);
    lua_pushstring(L, end ? end + 1 : whole);
    lua_setfield(L, -2, "name");
    if (!end)
        return;
    lua_pushlstring(L, whole, (size_t)(end - whole));
    lua_setfield(L, -2, "ns");
}

/* Puts `attributes` into the table on top. */
static void set_attributes(lua_State *L, const char **attributes) {
    lua_newtable(L);
    for (lua_Integer i = 1; *attributes; i++, attributes += 2) {
        lua_pushstring(L, attributes[0]);
        lua_pushvalue(L, -1);
        lua_rawseti(L, -3, i);
        lua_pushstring(L, attributes[1]);
        lua_rawset(L, -3);
    }
    lua_setfield(L, -2, "attributes");
}

static void set_integer(lua_State *L, const char *key, lua_Integer value) {
    lua_pushinteger(L, value);
    lua_setfield(L, -2, key);
}

/* Appends the table on top to the children of the one below it. */
static void add_child(lua_State *L) {
    lua_getfield(L, -2, "children");
    lua_pushvalue(L, -2);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    lua_pop(L, 1);
}

/* The outermost element knows all namespaces that the file declares. */
static void on_namespace(void *arg, const char *prefix, const char *uri) {
    struct reader *reader = arg;
    (void)prefix;
    if (reader->refusal[0] || !uri)
        return;
    luaL_checkstack(reader->L, 3, "elements are nested too deep");
    lua_getiuservalue(reader->L, reader->base, 1);
    lua_pushboolean(reader->L, true);
    lua_setfield(reader->L, -2, uri);
    lua_pop(reader->L, 1);
}

static void on_start(void *arg, const char *name, const char **attributes) {
    struct reader *reader = arg;
    lua_State *L = reader->L;
    if (reader->refusal[0])
        return;
    if (reader->depth == XML_DEPTH_MAX) {
        refuse(reader, "elements are nested more than 256 deep");
        return;
    }
    if (XML_GetSpecifiedAttributeCount(reader->parser) > 2 * XML_ATTRIBUTES_MAX) {
        refuse(reader, "an element has more than 1000 attributes");
        return;
    }
    luaL_checkstack(L, 8, "elements are nested too deep");
    lua_createtable(L, 0, 7);
    set_name(L, name);
    set_attributes(L, attributes);
    set_integer(L, "line", (lua_Integer)XML_GetCurrentLineNumber(reader->parser));
    set_integer(L, "column", (lua_Integer)XML_GetCurrentColumnNumber(reader->parser) + 1);
    lua_newtable(L);
    lua_setfield(L, -2, "children");
    if (reader->depth > 0)
        add_child(L);
    reader->depth++;
}

/* The outermost element stays on the stack. */
static void on_end(void *arg, const char *name) {
    struct reader *reader = arg;
    (void)name;
    if (reader->refusal[0])
        return;
    struct text *text = &reader->text[--reader->depth];
    lua_pushlstring(reader->L, text->data ? text->data : "", text->size);
    lua_setfield(reader->L, -2, "text");
    text_clear(text);
    *text = (struct text){0};
    if (reader->depth > 0)
        lua_pop(reader->L, 1);
}

static void on_text(void *arg, const char *data, int size) {
    struct reader *reader = arg;
    if (reader->refusal[0] || reader->depth == 0)
        return;
    struct text *text = &reader->text[reader->depth - 1];
    text_append(text, data, (size_t)size);
    if (text->failed)
        refuse(reader, "out of memory");
}

static void on_doctype(void *arg, const char *name, const char *system, const char *public,
                       int internal) {
    (void)name, (void)system, (void)public, (void)internal;
    refuse(arg, "a document type is not allowed (expected a file without <!DOCTYPE)");
}

static struct reader *reader_new(lua_State *L) {
    struct reader *reader = lua_newuserdatauv(L, sizeof *reader, 1);
    memset(reader, 0, sizeof *reader);
    luaL_setmetatable(L, READER);
    reader->L = L;
    reader->base = lua_gettop(L);
    lua_newtable(L);
    lua_setiuservalue(L, reader->base, 1);
    reader->parser = XML_ParserCreateNS(NULL, SEPARATOR);
    if (!reader->parser)
        luaL_error(L, "out of memory while XML was read");
    XML_SetUserData(reader->parser, reader);
    XML_SetElementHandler(reader->parser, on_start, on_end);
    XML_SetStartNamespaceDeclHandler(reader->parser, on_namespace);
    XML_SetCharacterDataHandler(reader->parser, on_text);
    XML_SetStartDoctypeDeclHandler(reader->parser, on_doctype);
    return reader;
}

/* Pushes nil, message, line, column. */
static int fail(lua_State *L, const char *message, XML_Size line, XML_Size column) {
    lua_pushnil(L);
    lua_pushstring(L, message);
    lua_pushinteger(L, (lua_Integer)line);
    lua_pushinteger(L, (lua_Integer)column);
    return 4;
}

/* Line and column of a byte of the text as it is in the file. */
static int fail_at(lua_State *L, const char *message, const char *text, size_t at) {
    XML_Size line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        column = text[i] == '\n' ? 1 : column + 1;
        line += text[i] == '\n';
    }
    return fail(L, message, line, column);
}

static int read_all(lua_State *L, struct reader *reader, const char *text, size_t size) {
    bool fine = XML_Parse(reader->parser, text, (int)size, XML_TRUE) == XML_STATUS_OK;
    lua_settop(L, fine ? reader->base + 1 : reader->base);
    if (reader->refusal[0])
        return fail(L, reader->refusal, reader->line, reader->column);
    if (!fine)
        return fail(L, XML_ErrorString(XML_GetErrorCode(reader->parser)),
                    XML_GetCurrentLineNumber(reader->parser),
                    XML_GetCurrentColumnNumber(reader->parser) + 1);
    lua_getiuservalue(L, reader->base, 1);
    lua_setfield(L, -2, "namespaces");
    return 1;
}

static int xml_read(lua_State *L) {
    size_t size, at;
    const char *text = luaL_checklstring(L, 1, &size);
    lua_settop(L, 1);
    if (size > XML_SIZE_MAX)
        return fail(L, "the text has more than 8 MiB", 1, 1);
    struct reader *reader = reader_new(L);
    struct text *turned = &reader->turned;
    switch (encoding_turn(text, size, turned, reader->refusal, sizeof reader->refusal, &at)) {
    case ENCODING_REFUSED:
        return fail_at(L, reader->refusal, text, at);
    case ENCODING_TURNED:
        XML_SetEncoding(reader->parser, "UTF-8");
        return read_all(L, reader, turned->data, turned->size);
    case ENCODING_KNOWN:
        if (utf8_mark(text, size))
            XML_SetEncoding(reader->parser, "UTF-8");
    }
    return read_all(L, reader, text, size);
}

int luaopen_moonshift_xml(lua_State *L) {
    luaL_newmetatable(L, READER);
    lua_pushcfunction(L, reader_gc);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, xml_read);
    lua_setfield(L, -2, "read");
    return 1;
}
