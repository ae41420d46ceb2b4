/* request.h - what a creation was asked for under a key (rules §1), so that asking again is
 * harmless: the same key and content has the first answer. */
#pragma once

#include "store/store.h"

struct store_request {
    int64_t scope; /* whose keys they are: the id of a token, below 0 a user's; 0: the owner's */
    const char *key;
    const char *hash; /* of what is asked for */
};

/* YES: it was asked for before: *answer is a new reference. ERROR_CONFLICT:
 * the key was used for something else. */
enum answer store_request_find(struct store *store, const struct store_request *request,
                               json_t **answer, time_ms now, struct error *error);

/* In the open transaction: some answers whose time is over go. Once for all that are kept. */
bool store_requests_purge(struct store *store, time_ms now, struct error *error);
/* Keeps the answer for the setting's time to live, in the open transaction. */
bool store_request_keep(struct store *store, const struct store_request *request,
                        const json_t *answer, time_ms now, struct error *error);
