/* parcel.h - a job that is to be created, as bytes: what one process hands to another of the same
 * layout (rules §1). */
#ifndef MOONSHIFT_STORE_SQLITE_PARCEL_H
#define MOONSHIFT_STORE_SQLITE_PARCEL_H

#include "base/job.h"

#define PARCEL_LAYOUT 1 /* another number for other fields, or another order */

/* What store_create reads of the job. The bytes used, or 0: it does not fit. */
size_t parcel_pack(const struct job *job, void *room, size_t size);

/* The job's texts lie in `bytes`. False: that is no parcel. */
bool parcel_open(const void *bytes, size_t size, struct job *job);

#endif
