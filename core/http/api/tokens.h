/* tokens.h - tokens of callers, made and revoked over HTTP (docs/security.md). */
#pragma once

#include "http/api/route.h"

route_run create_token; /* the answer alone has the token */
route_run revoke_token;
