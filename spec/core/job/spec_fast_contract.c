/* spec_fast_contract.c - a spec read in short is the spec that jansson reads, or is left to it.
 */
#include "base/json.h"
#include "job/spec_fast.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS = 300000, GUARD = 16 };

static int passed, failed;
static unsigned seed = 1;

static void check(const char *sentence, bool holds) {
    printf("%s - %s\n", holds ? "ok" : "not ok", sentence);
    *(holds ? &passed : &failed) += 1;
}

static unsigned chance(unsigned of) {
    seed = seed * 1103515245u + 12345u;
    return (seed >> 16) % of;
}

/* ---- the same as jansson ---- */

static bool same_text(const json_t *value, const char *text, size_t size) {
    return text ? json_is_string(value) && json_string_length(value) == size &&
                      memcmp(json_string_value(value), text, size) == 0 && text[size] == '\0'
                : value == NULL;
}

static bool same_payload(const json_t *value, const struct spec_fast *fast) {
    if (!value || !fast->payload)
        return !value && !fast->payload;
    size_t size;
    char *text = json_write(value, &size);
    bool same = text && size == fast->payload_size && memcmp(text, fast->payload, size) == 0;
    free(text);
    return same;
}

static bool same_spec(const json_t *spec, const struct spec_fast *fast) {
    size_t keys = (fast->payload != NULL) + fast->priority_given + json_object_size(fast->rest);
    for (void *at = json_object_iter(fast->rest); at; at = json_object_iter_next(fast->rest, at))
        if (!json_equal(json_object_iter_value(at),
                        json_object_get(spec, json_object_iter_key(at))))
            return false;
    for (int i = 0; i < SPEC_NAMES; i++) {
        keys += fast->names[i] != NULL;
        if (!same_text(json_object_get(spec, spec_names[i]->key), fast->names[i], fast->sizes[i]))
            return false;
    }
    const json_t *priority = json_object_get(spec, "priority");
    return json_object_size(spec) == keys && same_payload(json_object_get(spec, "payload"), fast) &&
           (priority ? json_is_integer(priority) && json_integer_value(priority) == fast->priority
                     : !fast->priority_given);
}

/* 1 read alike, 0 left to jansson, -1 wrong. */
static int read_text(const char *text, size_t size) {
    struct spec_fast fast;
    size_t used = 0;
    size_t most = size * JSON_GROWTH;
    char *copy = malloc(size + 1), *room = malloc(most + GUARD);
    memcpy(copy, text, size);
    memset(room, '#', most + GUARD);
    bool read = spec_fast_read(&fast, copy, size, room, &used), same = true;
    if (read) {
        json_t *spec = json_read_within(text, size, JSON_DEPTH + 1, "text", NULL);
        same = used <= most && same_spec(spec, &fast);
        json_decref(spec);
    }
    for (int i = 0; i < GUARD; i++)
        same = same && room[most + (size_t)i] == '#';
    if (!same)
        printf("# %.*s\n", (int)size, text);
    spec_fast_clear(&fast);
    free(copy);
    free(room);
    return same ? read : -1;
}

static int read_line(const char *text) {
    return read_text(text, strlen(text));
}

/* ---- what is made up ---- */

static void add_value(struct text *out, int depth);

static void add_blank(struct text *out) {
    static const char *const blanks[] = {"", "", "", " ", "\t", "\r\n"};
    text_add(out, "%s", blanks[chance(6)]);
}

static void add_string(struct text *out) {
    static const char *const pieces[] = {"a",
                                         "key",
                                         "x y",
                                         "\\\"",
                                         "\\\\",
                                         "\\n",
                                         "\\/",
                                         "\\u0041",
                                         "\xC3\xA9",
                                         "\xE2\x82\xAC",
                                         "\xF0\x9F\x98\x80",
                                         "\xED\xA0\x80",
                                         "\x7F",
                                         "\xC0\x80"};
    text_add(out, "\"");
    for (unsigned i = chance(4); i > 0; i--)
        text_add(out, "%s", pieces[chance(4) ? chance(3) : chance(14)]);
    text_add(out, "\"");
}

static void add_number(struct text *out) {
    static const char *const odd[] = {"-0",
                                      "0",
                                      "-0.0",
                                      "0.0001",
                                      "0.00001",
                                      "1.50",
                                      "01",
                                      "1e3",
                                      "1.",
                                      ".5",
                                      "-",
                                      "9007199254740993",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "1E400"};
    if (chance(3) == 0)
        text_add(out, "%s", odd[chance(sizeof odd / sizeof *odd)]);
    else if (chance(2))
        text_add(out, "%s%u", chance(4) ? "" : "-", chance(60000));
    else
        text_add(out, "%s%u.%u%u", chance(4) ? "" : "-", chance(3) ? chance(60000) : 0,
                 chance(60000), chance(60000));
}

static void add_members(struct text *out, int depth) {
    text_add(out, "{");
    for (unsigned count = chance(4), i = 0; i < count; i++) {
        text_add(out, i ? "," : "");
        add_blank(out);
        add_string(out);
        text_add(out, ":");
        add_value(out, depth + 1);
    }
    add_blank(out);
    text_add(out, "}");
}

static void add_value(struct text *out, int depth) {
    static const char *const words[] = {"true", "false", "null", "nul", "[]", "{}"};
    add_blank(out);
    switch (chance(depth > 4 ? 3 : 5)) {
    case 0:
        add_string(out);
        break;
    case 1:
        add_number(out);
        break;
    case 2:
        text_add(out, "%s", words[chance(8) ? chance(3) : chance(6)]);
        break;
    case 3:
        text_add(out, "[");
        for (unsigned count = chance(4), i = 0; i < count; i++) {
            text_add(out, i ? "," : "");
            add_value(out, depth + 1);
        }
        text_add(out, "]");
        break;
    default:
        add_members(out, depth);
    }
    add_blank(out);
}

static void add_spec(struct text *out) {
    static const char *const keys[] = {"payload", "lane", "tenant", "priority", "root", "due"};
    text_add(out, "{ \"handler\": \"work\"");
    for (unsigned i = chance(4); i > 0; i--) {
        unsigned key = chance(3) ? 0 : chance(6);
        text_add(out, ", \"%s\":", keys[key]);
        if (key == 0)
            add_value(out, 1);
        else if (key == 3)
            add_number(out);
        else
            add_string(out);
    }
    text_add(out, "}");
}

static void made_up(void) {
    int read = 0, wrong = 0;
    for (int i = 0; i < TEXTS && wrong < 5; i++) {
        struct text text = {0};
        add_spec(&text);
        if (chance(4) == 0) /* one byte is another one */
            text.data[chance((unsigned)text.size)] = "\"\\{}[],:0.-e \t\x01\xFFn"[chance(17)];
        int how = read_text(text.data, text.size);
        read += how > 0;
        wrong += how < 0;
        text_clear(&text);
    }
    check("a spec in short is what jansson and json_write make of it", wrong == 0);
    check("a good part of them is read in short", read > TEXTS / 3 && read < TEXTS);
}

static void reals(void) {
    int read = 0, wrong = 0;
    for (int i = 0; i < TEXTS && wrong < 5; i++) {
        char text[128], digits[48];
        int whole = (int)chance(17), size = 0;
        for (int at = 0; at < whole; at++)
            digits[size++] = (char)('0' + (at ? (int)chance(10) : 1 + (int)chance(9)));
        if (whole == 0)
            digits[size++] = '0';
        digits[size++] = '.';
        for (int at = 1 + (int)chance(17); at > 0; at--)
            digits[size++] = (char)('0' + (int)(chance(3) ? chance(10) : 0));
        digits[size] = '\0';
        snprintf(text, sizeof text, "{\"handler\":\"w\",\"payload\":%s%s}", chance(2) ? "-" : "",
                 digits);
        int how = read_line(text);
        read += how > 0;
        wrong += how < 0;
    }
    check("reals keep their digits", wrong == 0 && read == TEXTS);
}

static void known(void) {
    check("what most specs have is read in short",
          read_line("{\"handler\": \"work\", \"priority\": -7, \"payload\": {\"n\": [1, 2.5, \"a "
                    "\\\"b\\\" \xC3\xA4\", null]}, \"lane\": \"a\", \"category\": \"c\"}\r") == 1);
    check("other keys, escapes and numbers that are written otherwise are, too",
          read_line("{\"handler\":\"w\",\"due\":\"x\",\"retries\":3,\"unchecked\":true,"
                    "\"unique\":null,\"unique_for\":1.5}") == 1 &&
              read_line("{\"handler\":\"\\u0077\",\"payload\":\"\\u00e9\\/\\u001f\"}") == 1 &&
              read_line("{\"handler\":\"w\",\"payload\":[1e14,1e9,5e-324,-0,1.50]}") == 1);
    check(
        "the longest numbers have room",
        read_line("{\"payload\":[1e14,1e14,1e14,1e14,1e14,1e14,1e14,1e14,1e14,1e14,1e14,1e14,1e14,"
                  "1e14,1e14,1e14,1e14,1e14,1e14,1e14],\"handler\":\"w\"}") == 1);
    check("keys given twice, and values with parts, are left to jansson",
          read_line("{\"handler\":\"w\",\"handler\":\"w\"}") == 0 &&
              read_line("{\"handler\":\"w\",\"due\":1,\"due\":1}") == 0 &&
              read_line("{\"handler\":\"w\",\"due\":[1]}") == 0 &&
              read_line("{\"handler\":\"w\",\"payload\":{\"a\":1,\"a\":2}}") == 0 &&
              read_line("{\"handler\":\"w\",\"payload\":{\"a\":1,\"\\u0061\":2}}") == 0 &&
              read_line("{}") == 0);
    check("what is no JSON is left to jansson",
          read_line("{\"handler\":\"w\",}") == 0 && read_line("{\"handler\":\"w\"} x") == 0 &&
              read_line("{\"handler\":\"w\",\"payload\":01}") == 0 &&
              read_text("{\"handler\":\"w\"}\0", 16) == 0 && read_text("", 0) == 0);
}

static void cut_off(void) {
    static const char line[] =
        "{\"handler\":\"w\",\"priority\":12,\"payload\":{\"a\":[1.5,true,\"x\"]}}";
    bool left = true;
    for (size_t size = 0; size < sizeof line - 1; size++)
        left = left && read_text(line, size) == 0;
    check("a spec that is cut off anywhere is left to jansson", left);
}

int main(void) {
    json_setup();
    known();
    cut_off();
    made_up();
    reals();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
