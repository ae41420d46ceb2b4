/* server.h - a bench on a server: each phase has a schema of its own, which is dropped behind it,
 * and the processor that a server of this machine takes counts as well. */
#pragma once

#include "store/store.h"
#include <sys/types.h>

/* The URL with another schema, a new one at each call; malloc'ed. NULL: no memory. */
char *server_url(const char *url);
/* Makes the store in the schema of a URL that server_url made. ERROR_CONFLICT: a store is there
 * already, and nothing was written to it. */
bool server_make(const struct settings *settings, struct error *error);
/* Drops a schema that server_make made. */
bool server_drop(const struct settings *settings, struct error *error);

/* The first process of the store's server; 0: it is not on this machine. */
pid_t server_process(struct store *store);
/* Seconds of processor that the server has taken so far, with all its processes, also ended ones.
 */
double server_cpu(pid_t server);
