/* create.h - new jobs, beside store_create and store_reserve_ids (store.h). */
#pragma once

#include "store/rules/ground/state.h"

/* The deployment that its definition came with; 0 for a handler that nobody has deployed. */
int64_t create_deployment(const struct store *store, const char *handler);

/* One more job of the same stream, like one that was there before; fills in what is new. */
bool create_occurrence(struct store *store, struct job_spec *spec,
                       const struct catalog_stream *stream, time_ms now, struct error *error);
