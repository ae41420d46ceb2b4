/* xml_contract.c - XML becomes tables of elements; what is not allowed is refused with its place.
 */
#include "process/xml.h"
#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int passed, failed;

static void check(const char *sentence, bool holds) {
    printf("%s - %s\n", holds ? "ok" : "not ok", sentence);
    *(holds ? &passed : &failed) += 1;
}

/* Runs Lua with `text` as its only argument; true if it returns true. */
static bool lua_says(const char *text, size_t size, const char *code) {
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    luaL_requiref(L, "xml", luaopen_moonshift_xml, 1);
    bool fine = luaL_loadstring(L, code) == LUA_OK;
    lua_pushlstring(L, text, size);
    fine = fine && lua_pcall(L, 1, 1, 0) == LUA_OK && lua_toboolean(L, -1);
    if (!fine && lua_isstring(L, -1))
        printf("  %s\n", lua_tostring(L, -1));
    lua_close(L);
    return fine;
}

static void says(const char *sentence, const char *text, const char *code) {
    check(sentence, lua_says(text, strlen(text), code));
}

/* The text is refused with this message, at this place. */
static void refuses(const char *sentence, const char *text, size_t size, const char *refusal,
                    int line, int column) {
    char code[512];
    snprintf(code, sizeof code,
             "local e, m, l, c = xml.read(...) "
             "if e == nil and m == [[%s]] and l == %d and c == %d then return true end "
             "error(('%%s at %%s:%%s'):format(m, l, c))",
             refusal, line, column);
    check(sentence, lua_says(text, size, code));
}

static void refuses_text(const char *sentence, const char *text, const char *refusal, int line,
                         int column) {
    refuses(sentence, text, strlen(text), refusal, line, column);
}

/* `depth` elements in each other; malloc'ed. */
static char *nested(int depth) {
    char *text = malloc((size_t)depth * 7 + 1), *at = text;
    for (int i = 0; i < depth; i++)
        at += sprintf(at, "<a>");
    for (int i = 0; i < depth; i++)
        at += sprintf(at, "</a>");
    return text;
}

static char *many_attributes(int count) {
    char *text = malloc((size_t)count * 16 + 16), *at = text;
    at += sprintf(at, "<a");
    for (int i = 0; i < count; i++)
        at += sprintf(at, " b%d=\"\"", i);
    sprintf(at, "/>");
    return text;
}

static void reads(void) {
    says("an element has a name, a namespace and a place", "<x:a xmlns:x='urn:x'>\n  <b/></x:a>",
         "local e = xml.read(...) local b = e.children[1] "
         "return e.name == 'a' and e.ns == 'urn:x' and e.line == 1 and e.column == 1 and "
         "#e.children == 1 and b.name == 'b' and b.ns == nil and b.line == 2 and b.column == 3");
    says("attributes keep their order, their namespaces and their values",
         "<a xmlns:x='urn:x' z='1' x:b='&lt;&#65;' y=''/>",
         "local a = xml.read(...).attributes return #a == 3 and a[1] == 'z' and "
         "a[2] == 'urn:x b' and a[3] == 'y' and a.z == '1' and a['urn:x b'] == '<A' and a.y == ''");
    says(
        "text is that of the element alone, of all its parts",
        "<a>one<b>two</b> &amp; <![CDATA[<three>]]></a>",
        "local e = xml.read(...) return e.text == 'one & <three>' and e.children[1].text == 'two'");
    says("text is UTF-8, whatever the file is written in",
         "<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE4</a>",
         "return xml.read(...).text == '\\u{e4}'");
    says("so is one of windows-1252",
         "<?xml version='1.0' encoding='windows-1252'?><a b='\x80'>\x93\xE4</a>",
         "local e = xml.read(...) "
         "return e.text == '\\u{201c}\\u{e4}' and e.attributes.b == '\\u{20ac}'");
    says("comments and instructions are nothing", "<!-- x --><a><!-- y --><?z?></a>",
         "local e = xml.read(...) return e.text == '' and #e.children == 0");
}

static void refuses_what_is_wrong(void) {
    static const char doctype[] =
        "a document type is not allowed (expected a file without <!DOCTYPE)";
    refuses_text("a document type is refused", "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>",
                 doctype, 1, 40);
    refuses_text("so are entities of one's own", "\n<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
                 doctype, 2, 13);
    refuses_text("an unknown encoding is refused",
                 "<?xml version='1.0' encoding='EBCDIC-INT'?><a/>",
                 "encoding \"EBCDIC-INT\" is not known (expected UTF-8, UTF-16, an ISO-8859 or a "
                 "windows-125x)",
                 1, 1);
    refuses_text("an unknown entity is refused", "<a>\n &nbsp;</a>", "undefined entity", 2, 2);
    refuses_text("a wrong end is refused", "<a>\n<b></a>", "mismatched tag", 2, 6);
    refuses_text("an unknown prefix is refused", "<x:a/>", "unbound prefix", 1, 1);
    refuses_text("an empty text is refused", "", "no element found", 1, 1);
    refuses("a zero byte is refused", "<a>\0</a>", 8, "not well-formed (invalid token)", 1, 4);
}

static void has_bounds(void) {
    char *text = nested(XML_DEPTH_MAX);
    says("256 elements may lie in each other", text, "return xml.read(...).name == 'a'");
    free(text);
    text = nested(XML_DEPTH_MAX + 1);
    refuses_text("257 are refused", text, "elements are nested more than 256 deep", 1,
                 3 * XML_DEPTH_MAX + 1);
    free(text);
    text = many_attributes(XML_ATTRIBUTES_MAX);
    says("an element may have 1000 attributes", text, "return #xml.read(...).attributes == 1000");
    free(text);
    text = many_attributes(XML_ATTRIBUTES_MAX + 1);
    refuses_text("1001 are refused", text, "an element has more than 1000 attributes", 1, 1);
    free(text);
    text = malloc(XML_SIZE_MAX + 1);
    memset(text, ' ', XML_SIZE_MAX + 1);
    memcpy(text, "<a/>", 4);
    check("8 MiB are read", lua_says(text, XML_SIZE_MAX, "return xml.read(...).name == 'a'"));
    refuses("more is refused", text, XML_SIZE_MAX + 1, "the text has more than 8 MiB", 1, 1);
    free(text);
}

int main(void) {
    reads();
    refuses_what_is_wrong();
    has_bounds();
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
