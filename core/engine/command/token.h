/* token.h - tokens of callers over HTTP (docs/security.md): made, revoked, recognised. */
#pragma once

#include "engine/engine.h"
#include "job/caller/scope.h"

#define TOKEN_SIZE 68 /* "ms_", 64 hexadecimal digits and the NUL */

/* Makes a token as described: { name, scopes = names, tenant, handlers = names or "PREFIX*", rate =
 * "100/PT1S", expires = a span from now or an instant }. The last four may be absent. `token` is
 * the one place where it stands in full. ERROR_CONFLICT: the name is taken. */
bool engine_token_create(struct engine *engine, const json_t *described, char token[TOKEN_SIZE],
                         struct error *error);

/* From now on it counts no more. ERROR_NOT_FOUND: there is none of this name. */
bool engine_token_revoke(struct engine *engine, const char *name, struct error *error);

/* What the token stands for, as store_token_find has it; the caller's. NULL: error. */
json_t *engine_token_find(struct engine *engine, const char *token, struct error *error);

/* It was used now. */
bool engine_token_used(struct engine *engine, int64_t id, struct error *error);
