/* serves.h - which streams an executor may take from; one question a stream, none a row
 * (rules §2; §23: those of processes). */
#pragma once

#include "store/rules/ground/state.h"
#include <stdlib.h>

struct serves {
    const struct acquire *acquire;
    int64_t *deployments; /* registered for the executor */
    size_t count;
};

/* Reads for which deployments its executor is registered. */
bool serves_registered(struct serves *serves, struct store *store, struct error *error);
static inline bool serves_begin(struct serves *serves, struct store *store,
                                const struct acquire *acquire, struct error *error) {
    *serves = (struct serves){.acquire = acquire};
    return !acquire->deployment_aware || serves_registered(serves, store, error);
}
/* How far a stream gets with an executor; who serves it has no objection left. */
enum serves_stage { SERVES_NOTHING, SERVES_HANDLER, SERVES_CATEGORY, SERVES_STREAM };
enum serves_stage serves_stage(const struct serves *serves, const struct catalog_stream *stream);
/* True if a folder with these handlers has one for the topic. */
bool serves_topic(const struct definitions *handlers, const char *topic);
bool serves_stream(const struct serves *serves, const struct catalog_stream *stream);
/* `categories` NULL: all. */
bool serves_category(const json_t *categories, const char *category);
static inline void serves_end(struct serves *serves) {
    free(serves->deployments);
    *serves = (struct serves){0};
}
