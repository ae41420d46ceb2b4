/* sha256.h - the content hash of a deployment (FIPS 180-4). Private to script/. */
#ifndef MOONSHIFT_SCRIPT_SHA256_H
#define MOONSHIFT_SCRIPT_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint64_t size; /* bytes so far */
    unsigned char block[64];
};

void sha256_begin(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t size);
/* 64 hex digits and a NUL. */
void sha256_end(struct sha256 *hash, char *hex);

#endif
