/* codec.h - a job that is to be created, as bytes: what one process hands to another of the same
 * layout (rules §1). */
#pragma once

#include "job/job_spec.h"
#include "store/sqlite/db/pack.h"

/* A number of the fields and their order: processes exchange jobs only if it is the same. */
uint32_t codec_layout(void);

/* Writes all fields. */
void codec_pack(struct packer *to, const struct job_spec *spec);

/* The texts lie in the bytes. False: that is no job. */
bool codec_open(struct opener *from, struct job_spec *spec);
