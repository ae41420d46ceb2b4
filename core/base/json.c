#include "base/json.h"
#include "base/ascii_scan.h"
#include "base/calendar.h"
#include "base/text.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DECIMALS_MAX = 12 }; /* of a number that is written without the library */

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
    if (data && size > (size_t)depth && json_depth(data, size) > depth)
        return error_null(error_set(error, ERROR_INVALID,
                                    "%s: arrays and objects nested deeper than %d", what,
                                    JSON_DEPTH));
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
size_t json_write_escape(char *out, unsigned char byte) {
    static const char names[] = "btn?fr", digits[] = "0123456789abcdef"; /* 8 to 13; 11: no name */
    bool named = byte >= 8 && byte <= 13 && byte != 11;
    *out++ = '\\';
    if (byte >= 0x20 || named) {
        *out = named ? names[byte - 8] : (char)byte;
        return 2;
    }
    memcpy(out, "u00", 3);
    out[3] = digits[byte >> 4];
    out[4] = digits[byte & 15];
    return 6;
}

void json_add_text(struct text *out, const char *string, size_t size) {
    char escape[6];
    size_t from = 0;
    text_push(out, "\"", 1);
    for (size_t at = ascii_size(string, size); at < size; at++) {
        unsigned char byte = (unsigned char)string[at];
        if (byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        text_push(out, string + from, at - from);
        text_push(out, escape, json_write_escape(escape, byte));
        from = at + 1;
    }
    text_push(out, string + from, size - from);
    text_push(out, "\"", 1);
}

/* Writes the digits of a number from its end on; returns where they begin. */
static char *digits_before(char *end, uint64_t number) {
    do
        *--end = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    return end;
}

/* The decimals of a number that a few of them hold, at most 15 digits with those before the point;
 * 0: it is another one. As doubles the digits and the power of ten are exact, so that their
 * quotient is what the written number reads back as. */
static int decimals(double number, uint64_t *digits) {
    double power = 10;
    for (int count = 1; count <= DECIMALS_MAX && number * power < 1e15; count++, power *= 10) {
        *digits = (uint64_t)(number * power + 0.5);
        if ((double)*digits / power == number)
            return count;
    }
    return 0;
}

/* Writes such a number as %.15g does; returns its bytes, 0 for another one. */
static size_t write_short(char *out, double number) {
    uint64_t digits = 0;
    double size = fabs(number);
    int count = FLT_EVAL_METHOD == 0 && size >= 1e-4 ? decimals(size, &digits) : 0;
    if (count == 0)
        return 0;
    char text[24], *end = text + sizeof text, *at = digits_before(end, digits);
    while (end - at <= count)
        *--at = '0';
    size_t whole = (size_t)(end - at - count), negative = number < 0;
    *out = '-';
    memcpy(out + negative, at, whole);
    out[negative + whole] = '.';
    memcpy(out + negative + whole + 1, at + whole, (size_t)count);
    return negative + whole + 1 + (size_t)count;
}

/* The shortest digits that read back as the same number. */
static size_t write_long(char *out, double number) {
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(out, JSON_NUMBER_SIZE, "%.*g", precision, number);
        if (strtod(out, NULL) == number)
            break;
    }
    char *point = strchr(out, ','); /* the locale's */
    if (point)
        *point = '.';
    if (!strpbrk(out, ".e"))
        strcat(out, ".0");
    return strlen(out);
}

size_t json_write_real(char *out, double number) {
    size_t size = write_short(out, number);
    return size ? size : write_long(out, number);
}

void json_add_real(struct text *out, double number) {
    char digits[JSON_NUMBER_SIZE];
    text_push(out, digits, json_write_real(digits, number));
}

void json_add_integer(struct text *out, json_int_t number) {
    char digits[24], *end = digits + sizeof digits;
    uint64_t value = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    char *at = digits_before(end, value);
    if (number < 0)
        *--at = '-';
    text_push(out, at, (size_t)(end - at));
}

static void write_array(struct text *out, const json_t *array) {
    size_t i;
    const json_t *element;
    text_push(out, "[", 1);
    json_array_foreach(array, i, element) {
        if (i)
            text_push(out, ",", 1);
        json_add_value(out, element);
    }
    text_push(out, "]", 1);
}

static void write_object(struct text *out, const json_t *object) {
    const char *comma = "";
    text_push(out, "{", 1);
    for (void *at = json_object_iter(json_unchanged(object)); at;
         at = json_object_iter_next(json_unchanged(object), at)) {
        const char *key = json_object_iter_key(at);
        text_push(out, comma, strlen(comma));
        json_add_text(out, key, strlen(key));
        text_push(out, ":", 1);
        json_add_value(out, json_object_iter_value(at));
        comma = ",";
    }
    text_push(out, "}", 1);
}

void json_add_value(struct text *out, const json_t *value) {
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
        text_push(out, "true", 4);
        break;
    case JSON_FALSE:
        text_push(out, "false", 5);
        break;
    case JSON_NULL:
        text_push(out, "null", 4);
        break;
    }
}

char *json_write(const json_t *value, size_t *size) {
    struct text out = {0};
    if (value)
        json_add_value(&out, value);
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

bool json_keep(json_t **field, const json_t *value) {
    bool holds = json_object_size(value) || json_array_size(value);
    json_t *copy = holds ? json_deep_copy(value) : NULL;
    if (holds && !copy)
        return false;
    json_decref(*field);
    *field = copy;
    return true;
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

bool json_keys(const json_t *object, const char *const *known, const char *what,
               const char *otherwise, struct error *error) {
    const char *key;
    json_t *value;
    json_object_foreach(json_unchanged(object), key, value) {
        if (!is_one_of(key, known))
            return error_unknown(error, ERROR_INVALID, what, key, known, otherwise);
    }
    return true;
}
