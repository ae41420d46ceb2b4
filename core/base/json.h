/* json.h - jansson with our strictness, set once (rules §1: what a payload may be). */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include <jansson.h>

/* For functions of jansson that take no const, though what they are given has the same content
 * afterwards: iterators, copies, counts of references. Nothing is to be changed through it. */
static inline json_t *json_unchanged(const json_t *value) {
    return (json_t *)(uintptr_t)value;
}

/* The value if `fine`, which is what a function that makes one ends with; else it is let go, and
 * NULL. */
static inline json_t *json_kept(json_t *value, bool fine) {
    if (fine)
        return value;
    json_decref(value);
    return NULL;
}

/* Call once before the first thread (seeds jansson's hashing). Safe to call again. */
void json_setup(void);

/* Levels of arrays and objects in a payload, a result, and whatever else is JSON (rules §1). */
enum { JSON_DEPTH = 100 };

/* The levels of a text that is JSON; where it is not, some number. */
int json_depth(const char *data, size_t size);

/* Any JSON value; duplicate keys, trailing text, bad UTF-8, \u0000, integers beyond 64 bits and
 * more than JSON_DEPTH levels are refused with `what` and position: `payload: duplicate object key
 * near '"a"' (line 1, column 9)`. A new reference or NULL. */
json_t *json_read(const char *data, size_t size, const char *what, struct error *error);
/* The same with another limit, for what has such values inside. */
json_t *json_read_within(const char *data, size_t size, int depth, const char *what,
                         struct error *error);

/* Compact text, malloc'ed, NUL-terminated; *size in bytes (may be NULL). NULL: no memory, or no
 * value. */
char *json_write(const json_t *value, size_t *size);

/* Appends it to a text. */
void json_add_value(struct text *out, const json_t *value);

/* The pieces it is made of: a text with its quotes, the shortest digits of a number. */
void json_add_text(struct text *out, const char *string, size_t size);
void json_add_real(struct text *out, double number);
void json_add_integer(struct text *out, json_int_t number);

/* Writes the shortest digits of a finite number, with a point or an exponent, to a place of
 * JSON_NUMBER_SIZE bytes; returns how many bytes they have. */
enum { JSON_NUMBER_SIZE = 40 };
size_t json_write_real(char *out, double number);
/* Writes a quote, a backslash or a control character as it stands in a text; returns 2 or 6, the
 * bytes. */
size_t json_write_escape(char *out, unsigned char byte);

/* object[key] = value, value's reference stolen; NULL value or no text becomes null. False: no
 * memory. */
bool json_put(json_t *object, const char *key, json_t *value);
bool json_put_text(json_t *object, const char *key, const char *text);
bool json_put_time(json_t *object, const char *key, time_ms time);

/* object[key] as a text, NULL if it is none; as a whole number, 0 if it is none. */
static inline const char *json_text(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}
static inline int64_t json_int(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

/* *field becomes a copy of the object or list, NULL if that holds nothing. False: no memory, *field
 * is as it was. */
bool json_keep(json_t **field, const json_t *value);

/* A whole number within [low, high]; 5.0 is one. */
bool json_whole(const json_t *value, int64_t low, int64_t high, int64_t *number);

/* ERROR_INVALID `retries "many": expected a whole number`; returns false. */
bool json_refuse(const char *what, const json_t *value, const char *expected, struct error *error);
/* Each key of the object is one of `known`, which ends with NULL; else error_unknown says the rest.
 */
bool json_keys(const json_t *object, const char *const *known, const char *what,
               const char *otherwise, struct error *error);
