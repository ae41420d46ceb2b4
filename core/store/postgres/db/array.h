/* array.h - an array as PostgreSQL takes it on the wire: a parameter of many rows. */
#pragma once

#include "base/text.h"

/* Types as the server numbers them (pg_type.dat): of the elements. */
enum array_type {
    ARRAY_BYTEA = 17,
    ARRAY_INT8 = 20,
    ARRAY_TEXT = 25,
    ARRAY_TID = 27,
    ARRAY_FLOAT8 = 701
};

struct array {
    struct text data; /* the whole parameter; data.failed: no memory */
    enum array_type type;
    int count;
};

void array_begin(struct array *array, enum array_type type);
void array_add_null(struct array *array);
/* Of an array of spots: where a row is, as row_int tells it of a ctid. */
void array_add_int(struct array *array, int64_t value);
void array_add_real(struct array *array, double value);
void array_add_bytes(struct array *array, const char *data, size_t size);
/* Writes its length; nothing may be added any more. */
void array_end(struct array *array);
void array_clear(struct array *array);

/* The type of the array itself. */
unsigned array_oid(const struct array *array);
