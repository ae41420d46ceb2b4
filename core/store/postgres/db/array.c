#include "store/postgres/db/array.h"
#include <endian.h>

enum { COUNT_AT = 12 }; /* bytes before the count */
enum {
    BYTEA_LIST = 1001,
    INT8_LIST = 1016,
    TEXT_LIST = 1009,
    TID_LIST = 1010,
    FLOAT8_LIST = 1022
}; /* types of arrays */

static void add_32(struct text *data, int32_t value) {
    uint32_t wire = htobe32((uint32_t)value);
    text_push(data, (const char *)&wire, sizeof wire);
}

/* Dimensions, a flag (some may be NULL), the type, and of the only dimension count and first
 * number. */
void array_begin(struct array *array, enum array_type type) {
    *array = (struct array){.type = type};
    add_32(&array->data, 1);
    add_32(&array->data, 1);
    add_32(&array->data, (int32_t)type);
    add_32(&array->data, 0);
    add_32(&array->data, 1);
}

void array_add_null(struct array *array) {
    add_32(&array->data, -1);
    array->count++;
}

/* Block and place in it. */
static void add_spot(struct array *array, int64_t value) {
    uint16_t at = htobe16((uint16_t)value);
    char wire[6];
    uint32_t block = htobe32((uint32_t)(value >> 16));
    memcpy(wire, &block, sizeof block);
    memcpy(wire + sizeof block, &at, sizeof at);
    array_add_bytes(array, wire, sizeof wire);
}

void array_add_int(struct array *array, int64_t value) {
    if (array->type == ARRAY_TID) {
        add_spot(array, value);
        return;
    }
    uint64_t wire = htobe64((uint64_t)value);
    array_add_bytes(array, (const char *)&wire, sizeof wire);
}

void array_add_real(struct array *array, double value) {
    uint64_t wire = 0;
    memcpy(&wire, &value, sizeof wire);
    wire = htobe64(wire);
    array_add_bytes(array, (const char *)&wire, sizeof wire);
}

void array_add_bytes(struct array *array, const char *data, size_t size) {
    add_32(&array->data, (int32_t)size);
    text_push(&array->data, data, size);
    array->count++;
}

void array_end(struct array *array) {
    uint32_t wire = htobe32((uint32_t)array->count);
    if (!array->data.failed)
        memcpy(array->data.data + COUNT_AT, &wire, sizeof wire);
}

void array_clear(struct array *array) {
    text_clear(&array->data);
}

unsigned array_oid(const struct array *array) {
    switch (array->type) {
    case ARRAY_BYTEA:
        return BYTEA_LIST;
    case ARRAY_INT8:
        return INT8_LIST;
    case ARRAY_TID:
        return TID_LIST;
    case ARRAY_FLOAT8:
        return FLOAT8_LIST;
    case ARRAY_TEXT:
        break;
    }
    return TEXT_LIST;
}
