/* probe.h - /health/live and /health/ready, for those who start and watch the program. They need no
 * token and tell no details. */
#pragma once

#include "engine/engine.h"
#include "http/wire/exchange.h"

enum probe {
    PROBE_NONE, /* it is another request */
    PROBE_LIVE, /* the door answers */
    PROBE_READY /* and the store does, and the executor takes work */
};

enum probe probe_of(const struct exchange *exchange);

/* Answers with {"status":"live"}. */
void probe_live(struct exchange *exchange);
/* Answers with {"status":"ready"}, or 503 with the reason. `engine`: NULL: `error` says why. */
void probe_ready(struct exchange *exchange, struct engine *engine, const struct error *error);
