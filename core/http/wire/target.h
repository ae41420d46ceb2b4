/* target.h - what a request asks for: its path and query, decoded once (RFC 3986). */
#pragma once

#include "http/wire/exchange.h"

/* Fills the parts of the path and the query of `exchange`, which has room for target_parameters.
 * Both texts are changed, for the parts are in them; query may be NULL. 0, or the status that
 * refuses it, with the reason in *why. */
int target_read(struct exchange *exchange, char *path, char *query, const char **why);

/* How many parameters of a query are read at most. NULL: none. */
size_t target_parameters(const char *query);
