/* keyed.h - requests under an Idempotency-Key: asked for again, each has its first answer. The
 * answer is kept in the transaction that does what is asked for (engine/intake.h). */
#pragma once

#include "engine/intake.h"
#include "http/api/call.h"

#define KEYED_HASH_SIZE 65

/* Reads the header; request->asked.key stays NULL without one. Lasts as long as the exchange.
 * `hash` says what is asked for. */
bool keyed_read(const struct call *call, const char *hash, struct engine_request *request,
                struct error *error);

/* Does what the route of the call does, or answers as before. */
route_run keyed_run;

/* Fills in an answer from what has come of a command. */
typedef bool call_tell(struct call *call, const void *result, struct error *error);
/* Before the command: how its answer is told, and what it will have come to. */
void keyed_tells(struct call *call, call_tell *tell, const void *result);
/* Behind it: tells, unless that was done under the key. */
bool keyed_tell(struct call *call, struct error *error);
