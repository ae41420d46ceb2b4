#include "base/json.h"
#include "base/ascii_scan.h"
#include "base/calendar.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_setup(void) {
    json_object_seed(0);
}

/* jansson's reasons name its own switches where we promise plain words. */
static const char *reason(const json_error_t *problem) {
    if (json_error_code(problem) == json_error_null_character)
        return "\\u0000 is not allowed";
    return problem->text;
}

/* What lies between two quotes is passed over. */
static const char *text_end(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\' && at + 1 < end;
    return at;
}

int json_depth(const char *data, size_t size) {
    int depth = 0, most = 0;
    for (const char *at = data, *end = data + size; at < end; at++) {
        if (*at == '"')
            at = text_end(at, end);
        else if (*at == '[' || *at == '{')
            most = ++depth > most ? depth : most;
        else if (*at == ']' || *at == '}')
            depth--;
    }
    return most;
}

json_t *json_read(const char *data, size_t size, const char *what, struct error *error) {
    return json_read_within(data, size, JSON_DEPTH, what, error);
}

json_t *json_read_within(const char *data, size_t size, int depth, const char *what,
                         struct error *error) {
    json_error_t problem;
    /* Each level has two brackets: most texts are too short for it. */
    if (data && size > (size_t)depth && json_depth(data, size) > depth) {
        error_set(error, ERROR_INVALID, "%s: arrays and objects nested deeper than %d", what,
                  JSON_DEPTH);
        return NULL;
    }
    json_t *value = json_loadb(data ? data : "", data ? size : 0,
                               JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &problem);
    if (!value && !*problem.text) /* it has nothing to say against the text */
        error_set(error, ERROR_FAILED, "%s: out of memory", what);
    else if (!value)
        error_set(error, ERROR_INVALID, "%s: %s (line %d, column %d)", what, reason(&problem),
                  problem.line, problem.column);
    return value;
}

/* The writer is ours because jansson writes 0.1 as 0.10000000000000001. */
static void write_value(struct text *out, const json_t *value);

static void write_escaped(struct text *out, unsigned char byte) {
    static const char names[] = "btn?fr"; /* 8 to 13; 11 has no name */
    if (byte == '"' || byte == '\\')
        text_add(out, "\\%c", byte);
    else if (byte >= 8 && byte <= 13 && byte != 11)
        text_add(out, "\\%c", names[byte - 8]);
    else
        text_add(out, "\\u%04x", (unsigned)byte);
}

void json_add_text(struct text *out, const char *string, size_t size) {
    size_t from = 0;
    text_append(out, "\"", 1);
    for (size_t at = ascii_size(string, size); at < size; at++) {
        unsigned char byte = (unsigned char)string[at];
        if (byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        text_append(out, string + from, at - from);
        write_escaped(out, byte);
        from = at + 1;
    }
    text_append(out, string + from, size - from);
    text_append(out, "\"", 1);
}

/* The shortest digits that read back as the same number. */
void json_add_real(struct text *out, double number) {
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number)
            break;
    }
    char *point = strchr(digits, ','); /* the locale's */
    if (point)
        *point = '.';
    text_append(out, digits, strlen(digits));
    if (!strpbrk(digits, ".e"))
        text_append(out, ".0", 2);
}

void json_add_integer(struct text *out, json_int_t number) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%lld", (long long)number);
    text_append(out, digits, (size_t)length);
}

static void write_array(struct text *out, const json_t *array) {
    size_t i;
    const json_t *element;
    text_append(out, "[", 1);
    json_array_foreach(array, i, element) {
        if (i)
            text_append(out, ",", 1);
        write_value(out, element);
    }
    text_append(out, "]", 1);
}

static void write_object(struct text *out, const json_t *object) {
    const char *comma = "";
    text_append(out, "{", 1);
    for (void *at = json_object_iter((json_t *)(uintptr_t)object); at;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
        const char *key = json_object_iter_key(at);
        text_append(out, comma, strlen(comma));
        json_add_text(out, key, strlen(key));
        text_append(out, ":", 1);
        write_value(out, json_object_iter_value(at));
        comma = ",";
    }
    text_append(out, "}", 1);
}

static void write_value(struct text *out, const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        write_object(out, value);
        break;
    case JSON_ARRAY:
        write_array(out, value);
        break;
    case JSON_STRING:
        json_add_text(out, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        json_add_integer(out, json_integer_value(value));
        break;
    case JSON_REAL:
        json_add_real(out, json_real_value(value));
        break;
    case JSON_TRUE:
        text_append(out, "true", 4);
        break;
    case JSON_FALSE:
        text_append(out, "false", 5);
        break;
    case JSON_NULL:
        text_append(out, "null", 4);
        break;
    }
}

char *json_write(const json_t *value, size_t *size) {
    struct text out = {0};
    write_value(&out, value);
    if (out.failed)
        text_clear(&out);
    if (size)
        *size = out.size;
    return out.data;
}

bool json_put(json_t *object, const char *key, json_t *value) {
    return json_object_set_new_nocheck(object, key, value ? value : json_null()) == 0;
}

bool json_put_text(json_t *object, const char *key, const char *text) {
    json_t *value = text ? json_string(text) : NULL;
    return (value || !text) && json_put(object, key, value);
}

bool json_put_time(json_t *object, const char *key, time_ms time) {
    char text[TIME_TEXT_SIZE];
    time_format(time, text);
    return json_put_text(object, key, text[0] ? text : NULL);
}

bool json_whole(const json_t *value, int64_t low, int64_t high, int64_t *number) {
    if (json_is_real(value)) {
        double real = json_real_value(value);
        if (!(real >= -0x1p63 && real < 0x1p63) || real != floor(real))
            return false;
        *number = (int64_t)real;
    } else if (json_is_integer(value))
        *number = json_integer_value(value);
    else
        return false;
    return *number >= low && *number <= high;
}

bool json_refuse(const char *what, const json_t *value, const char *expected, struct error *error) {
    char *text = json_write(value, NULL);
    error_set(error, ERROR_INVALID, "%s %.100s: expected %s", what, text ? text : "?", expected);
    free(text);
    return false;
}
