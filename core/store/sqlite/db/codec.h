/* codec.h - a job that is to be created, as bytes: what one process hands to another of the same
 * layout (rules §1). */
#ifndef MOONSHIFT_STORE_SQLITE_DB_CODEC_H
#define MOONSHIFT_STORE_SQLITE_DB_CODEC_H

#include "job/job_spec.h"
#include "store/sqlite/db/pack.h"

/* A number of the fields and their order: processes exchange jobs only if it is the same. */
uint32_t codec_layout(void);

/* Writes all fields. Returns the bytes used, or 0: it does not fit. */
size_t codec_encode(const struct job_spec *spec, void *room, size_t size);

/* The texts lie in `bytes`. False: that is no letter. */
bool codec_decode(const void *bytes, size_t size, struct job_spec *spec);

/* The same as a part of something larger. */
void codec_pack(struct packer *to, const struct job_spec *spec);
bool codec_open(struct opener *from, struct job_spec *spec);

#endif
