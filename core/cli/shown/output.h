/* output.h - standard output: every write is checked, and text from jobs cannot steer a terminal.
 */
#pragma once

#include "base/error.h"
#include <jansson.h>

/* Makes sure that descriptors 0 to 2 are open, so that no store is opened in their place; a closed
 * standard output stays one that refuses every write. A broken pipe is an error, not a death. */
void output_setup(void);

/* Appends to standard output; a failure is remembered for output_finish. */
void output_add(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One JSON document and a newline. Takes the reference over; NULL: memory is out. */
bool output_json(json_t *value, struct error *error);

/* An object for people: one aligned line per field, absent ones left out, long text indented. */
void output_fields(const json_t *object);

/* Writes out what is buffered. False: standard output refused something since the start. */
bool output_finish(struct error *error);

/* Columns of the terminal behind standard output; 0: it is none. */
int output_width(void);

/* True if standard output is a terminal that shows colours, and NO_COLOR is not set. */
bool output_colours(void);

/* A remark on standard error behind what standard output has so far: `moonshift` is not in front,
 * for nothing is wrong. */
void output_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Columns of the terminal behind standard error; at least 20. */
int output_error_width(void);

/* A malloc'ed copy in which characters that steer a terminal are spelled out (base/text.h); with
 * `lines`, newlines and tabs stay, else they become blanks. NULL: memory is out. And the same of a
 * value: null is "", booleans are yes and no. */
char *output_clean(const char *text, bool lines);
char *output_value(const json_t *value, bool lines);

/* An object as a document, or for people its members line by line. Takes it over; NULL: false. */
bool output_object(bool json, json_t *object, struct error *error);
