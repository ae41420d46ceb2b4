/* caller.h - who asks over HTTP, and what that one may (docs/security.md). */
#pragma once

#include "job/caller/scope.h"
#include <stdint.h>

#define CALLER_WHO_SIZE 128

/* Zero-initialised it may nothing. */
struct caller {
    char who[CALLER_WHO_SIZE]; /* of the operation log: "token:NAME", "unix:NAME", "user:NAME" */
    int64_t token;             /* its id; 0: none */
    int64_t keys;              /* whose keys what is asked under one is kept by: a token's id, below
                                  0 a user's; 0: the owner's */
    unsigned scopes;           /* enum scope */
    char *tenant;              /* nothing of others is in sight; NULL: all tenants. The caller's */
    json_t *handlers;          /* an array of names and of "PREFIX*"; NULL: all. The caller's */
};

void caller_clear(struct caller *caller);
/* A copy that is cleared on its own. False: no memory. */
bool caller_copy(struct caller *to, const struct caller *from);

/* True if it may do all of this. */
bool caller_may(const struct caller *caller, unsigned scopes);
/* True if what is of this handler, or of this tenant, is in sight; NULL: of none. */
bool caller_sees_handler(const struct caller *caller, const char *handler);
bool caller_sees_tenant(const struct caller *caller, const char *tenant);
