/* tokens.h - tokens of callers, made and revoked over HTTP (docs/security.md). */
#ifndef MOONSHIFT_HTTP_API_TOKENS_H
#define MOONSHIFT_HTTP_API_TOKENS_H

#include "http/api/route.h"

route_run create_token; /* the answer alone has the token */
route_run revoke_token;

#endif
