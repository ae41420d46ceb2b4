/* caller.h - who asks, and what that one may (docs/security.md). */
#ifndef MOONSHIFT_HTTP_WHO_CALLER_H
#define MOONSHIFT_HTTP_WHO_CALLER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* What a caller may do; a mask. */
enum scope {
    SCOPE_NONE = 0,     /* for everybody: probes, the page itself */
    SCOPE_READ = 1,     /* questions */
    SCOPE_PAYLOAD = 2,  /* payloads, results, lines, variables in their answers */
    SCOPE_ENQUEUE = 4,  /* creates jobs and instances, sends messages and signals */
    SCOPE_WORK = 8,     /* fetches and settles */
    SCOPE_OPERATE = 16, /* operator's verbs; means READ and PAYLOAD, too */
    SCOPE_ADMIN = 32    /* tokens and settings */
};
#define SCOPE_ALL                                                                                  \
    (SCOPE_READ | SCOPE_PAYLOAD | SCOPE_ENQUEUE | SCOPE_WORK | SCOPE_OPERATE | SCOPE_ADMIN)

/* Zero-initialised it may nothing. */
struct caller {
    char who[128];    /* of the operation log: "token:NAME", "unix:NAME", "user:NAME" */
    int64_t token;    /* the id of the token; 0: none. Requests under a key are kept by it */
    unsigned scopes;  /* enum scope */
    char *tenant;     /* nothing of others is in sight; NULL: all tenants. The caller's */
    json_t *handlers; /* an array of names and of "PREFIX*"; NULL: all. The caller's */
};

void caller_clear(struct caller *caller);

#endif
