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

/* What several tools call the encodings of plain text. */
static bool are_spelled(void) {
    static const char *const names[] = {"ASCII",  "us-ascii",   "utf8",   "UTF8",   "latin1",
                                        "cp1252", "ISO_8859-1", "KOI8-R", "gb18030"};
    bool fine = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[128];
        int size =
            snprintf(text, sizeof text, "<?xml version='1.0' encoding='%s'?><a>b</a>", names[i]);
        fine = lua_says(text, (size_t)size, "return assert(xml.read(...)).text == 'b'") && fine;
    }
    return fine;
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
    says("so is one of any other encoding that iconv knows",
         "<?xml version=\"1.0\" encoding = \"GBK\" standalone='yes'?><a b='\xD6\xD0'>\xCE\xC4</a>",
         "local e = xml.read(...) return e.attributes.b == '\\u{4e2d}' and e.text == '\\u{6587}'");
    says("characters of several bytes end where a line does",
         "<?xml version='1.0' encoding='Shift_JIS'?>\n<a>\x83\x5C\x83\x7C</a>",
         "local e = xml.read(...) return e.text == '\\u{30bd}\\u{30dd}' and e.line == 2");
    says("so do those of an encoding with states",
         "<?xml version='1.0' encoding='ISO-2022-JP'?><a>\x1b$B$\"\x1b(B</a>",
         "return xml.read(...).text == '\\u{3042}'");
    check("other spellings of a name are known", are_spelled());
    says("a mark of the byte order goes before the name",
         "\xEF\xBB\xBF<?xml version='1.0' encoding='GBK'?><a>\xC3\xA4</a>",
         "return xml.read(...).text == '\\u{e4}'");
    says("the outermost element knows the namespaces of the whole file",
         "<a xmlns='urn:x'><b xmlns:y='urn:y'/></a>",
         "local n = xml.read(...).namespaces return n['urn:x'] and n['urn:y'] and not n['urn:z']");
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
    refuses_text("an unknown encoding is refused", "<?xml version='1.0' encoding='EBCDIC-X'?><a/>",
                 "encoding \"EBCDIC-X\" is not known (expected one that iconv has)", 1, 1);
    refuses_text("so is one in which the file cannot be written",
                 "<?xml version='1.0' encoding='IBM037'?><a/>",
                 "the encoding is not \"IBM037\", in which this line would be no XML", 1, 1);
    refuses_text("bytes that are no text in the encoding are refused where they stand",
                 "<?xml version='1.0' encoding='ASCII'?>\n<a>\xE4</a>",
                 "byte 0xe4 is no text in the encoding \"ASCII\"", 2, 4);
    refuses_text("so is a character that ends with the file",
                 "<?xml version='1.0' encoding='GBK'?><a/>\xD6",
                 "byte 0xd6 is no text in the encoding \"GBK\"", 1, 41);
    refuses_text("a name of an encoding is a word alone",
                 "<?xml version='1.0' encoding='../x'?><a/>", "XML declaration not well-formed", 1,
                 33);
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
