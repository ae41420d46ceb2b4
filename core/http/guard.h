/* guard.h - what is refused before anybody looks for a route: names that are not ours, users whom
 * no proxy names, pages of other sites, bodies of other kinds (docs/server.md). Pure. */
#pragma once

#include "http/wire/exchange.h"
#include "job/settings.h"

/* True: it may go on. False: the answer is there. Of the settings it reads hosts, trust_proxy and
 * cors_origins. */
bool guard_pass(struct exchange *exchange, const struct settings *settings);
