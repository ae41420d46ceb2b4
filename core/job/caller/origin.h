/* origin.h - origins of web pages (RFC 6454), as the setting cors_origins has them:
 * "https://ops.example.com", "http://localhost:5173". Pure. */
#pragma once

#include "base/error.h"
#include <jansson.h>

/* Whether each text of the list is an origin as browsers write it. */
bool origins_check(const json_t *list, const char *label, struct error *error);

/* True if it is an origin of this host, with its port as requests have it; by http or https, as a
 * proxy may stand between. */
bool origin_host_is(const char *origin, const char *host);

/* True if the list (NULL: none) has the origin. */
bool origins_have(const json_t *list, const char *origin);
