/* json_copy.h - the compact form of JSON texts: the bytes that json_write makes of json_read, in
 * one pass and without an object between. */
#pragma once

#include "base/json_scan.h"

/* Only numbers get longer: 1e14 has four bytes, and a comma, and becomes 100000000000000.0. The
 * compact form of a text within another one has at most so many times the bytes of both. */
enum { JSON_GROWTH = 4 };

struct json_copier {
    struct json_scan scan;
    const char *from;      /* what is read and not copied yet: it stays as it is */
    char *out;             /* where the next byte goes */
    struct json_key *keys; /* of the objects that are open */
    size_t key_count, key_room;
};

/* Copies the value at `scan`, which moves behind it. False as json_scan.h has it. `depth` is that
 * of an array or object at this place, from 1. */
bool json_copy_value(struct json_copier *copier, int depth);

/* Releases the keys. The copier may be used again. */
void json_copier_clear(struct json_copier *copier);
