/* create.h - new jobs that come from other jobs. */
#ifndef MOONSHIFT_STORE_SQLITE_CREATE_H
#define MOONSHIFT_STORE_SQLITE_CREATE_H

#include "store/sqlite/connection.h"

/* The stream of such a job, made if it is new: then catalog rows that were found before are void.
 * Reads handler, category and type. NULL: error. */
const struct catalog_stream *create_stream(struct store *store, const struct job *job,
                                           int64_t deployment, struct error *error);

/* One more job of the same stream, like one that was there before; fills in what is new. */
bool create_occurrence(struct store *store, struct job *job, const struct catalog_stream *stream,
                       time_ms now, struct error *error);

#endif
