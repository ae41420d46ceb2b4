/* xml.h - expat's only home: reads XML into Lua tables of elements.
 *
 * Preloaded as "moonshift.xml" in every state: read(text) -> element; or nil, message, line,
 * column.
 *
 *   element = { name, ns, attributes, children = { element, … }, text, line, column }
 *
 * `ns` is nil without a namespace. `text` is what stands directly in the element, of all its parts.
 * `attributes` has each value by its name, "uri name" if it has a namespace, and the names in their
 * order. Columns count bytes from 1. The outermost element has `namespaces` beside: a set of those
 * that the file declares anywhere.
 *
 * Refused: a document type (so there are no entities beyond the five), text over 8 MiB, elements
 * nested over 256 deep, an element with over 1000 attributes. */
#pragma once

#include <lua.h>

#define XML_SIZE_MAX (8 * 1024 * 1024)
#define XML_DEPTH_MAX 256
#define XML_ATTRIBUTES_MAX 1000

/* Pushes the table { read }. */
int luaopen_moonshift_xml(lua_State *L);
