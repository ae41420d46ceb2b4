/* provision.h - the tables of a store: made, brought to this program's version, and who may use
 * them. */
#pragma once

#include "base/text.h"
#include "job/settings.h"
#include <stdint.h>

struct store;

struct store_schema {
    int64_t was;        /* the version that was found as the store was opened; 0: it was made */
    int64_t version;    /* that it has now, */
    int64_t oldest;     /* and the oldest one whose programs work with it */
    int64_t waits;      /* not 0: what leads to this version waits, because: */
    char for_whom[256]; /* these live executors have an older program */
};

/* Opens the store of the settings and closes it again. `creates`: it is made where there is none;
 * else it is brought to this program's version. */
bool store_provision(const struct settings *settings, bool creates, struct store_schema *schema,
                     struct error *error);

/* Roles of a server: who makes and migrates the tables, who works with them, who only reads; who
 * only enqueues, in transactions of its own. */
struct store_roles {
    const char *owner, *worker, *reader, *enqueuer;
};

/* Adds what an administrator of the server runs to give the roles their rights, one statement a
 * line. The server is not asked. A file has no roles: ERROR_CONFIG. */
bool store_grants(const struct settings *settings, const struct store_roles *roles,
                  struct text *text, struct error *error);

/* Adds what makes the functions by which programs enqueue in transactions of their own
 * (store/outbox.h), and lets the enqueuer use them. As store_grants. */
bool store_functions(const struct settings *settings, const struct store_roles *roles,
                     struct text *text, struct error *error);

/* A store on a server whose schema has a name that begins so is a bench's. */
#define STORE_SCRATCH "moonshift_bench_"

/* Drops such a store with all that is in it; it is closed then. Nothing happens to a file. */
bool store_drop(struct store *store, struct error *error);
/* The number of the server's process that works for this store; 0: a file has none. */
int64_t store_backend(struct store *store);
