/* token.h - what callers over HTTP show (docs/security.md). The store keeps the SHA-256 of a token,
 * never the token. */
#pragma once

#include "store/store.h"

/* All texts are borrowed; those that narrow it may be NULL. */
struct store_token {
    const char *name;   /* of the tokens that count no other one has it */
    const char *hash;   /* in lower-case hexadecimal digits */
    const char *hint;   /* its first characters */
    const char *scopes; /* as scopes_write has them */
    const char *tenant;
    const char *handlers; /* a JSON array of names and of "PREFIX*" */
    const char *rate;     /* "100/PT1S" */
    time_ms expires;      /* TIME_NONE: never */
};

/* These write an entry of the operation log, in the open transaction. ERROR_CONFLICT: the name is
 * taken. */
bool store_token_create(struct store *store, const struct store_token *token, time_ms now,
                        int64_t *id, struct error *error);
/* ERROR_NOT_FOUND: no token that counts has this name. */
bool store_token_revoke(struct store *store, const char *name, time_ms now, struct error *error);

/* The token with this hash as an object, if it counts: { id, name, scopes, tenant, handlers, rate,
 * expires }, the last an instant in ms; null where it is not narrowed. null: there is none, it has
 * been revoked, or its time is over. The caller's; NULL: error. */
json_t *store_token_find(struct store *store, const char *hash, time_ms now, struct error *error);

/* It was used now. In the open transaction. */
bool store_token_used(struct store *store, int64_t id, time_ms now, struct error *error);
