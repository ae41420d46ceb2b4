/* forwarded.h - users whom a proxy names: `X-Forwarded-User` and `X-Forwarded-Groups`, from the
 * peers of the setting trust_proxy and from nobody else (docs/server.md). Pure. */
#pragma once

#include "http/who/caller.h"
#include "http/wire/exchange.h"
#include "job/settings.h"

/* True if the peer may name users. A request of it that names none has no rights of its own. */
bool forwarded_by_proxy(const struct exchange *exchange, const struct settings *settings);

/* Why the headers are refused; static; NULL: they are not. */
const char *forwarded_wrong(const struct exchange *exchange, const struct settings *settings);

enum forwarded {
    FORWARDED_NONE,  /* no user is named */
    FORWARDED_USER,  /* *caller is filled */
    FORWARDED_FAILED /* no memory */
};
/* Whom a proxy names, which forwarded_wrong has not refused. */
enum forwarded forwarded_find(const struct exchange *exchange, const struct settings *settings,
                              struct caller *caller);
