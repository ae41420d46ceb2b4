/* stream.h - the stream of a new job: what jobs of a definition have in common. */
#pragma once

#include "store/rules/ground/state.h"

/* The stream of such a job, made if it is new: then catalog rows that were found before are void.
 * Reads handler, category, type and topic. NULL: error. */
const struct catalog_stream *stream_make(struct store *store, const struct job *job,
                                         int64_t deployment, struct error *error);
