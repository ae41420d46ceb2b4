/* create.h - new jobs that come from other jobs. */
#ifndef MOONSHIFT_STORE_SQLITE_CREATE_H
#define MOONSHIFT_STORE_SQLITE_CREATE_H

#include "store/sqlite/connection.h"

/* One more job of the same stream, like one that was there before; fills in what is new. */
bool create_occurrence(struct store *store, struct job_spec *spec,
                       const struct catalog_stream *stream, time_ms now, struct error *error);

#endif
