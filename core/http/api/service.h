/* service.h - answers requests: the table of routes, over one engine (docs/api.md).
 *
 * A service belongs to one thread. The face has several: the clerk's writes and has no Lua, those
 * of readers only ask, those of walkers, settlers and runners have the folder loaded. What takes
 * long is none of those for whom others wait. */
#pragma once

#include "engine/engine.h"
#include "http/api/figures.h"
#include "http/who/caller.h"
#include "http/wire/exchange.h"

/* Who works on a request. */
enum worker_kind {
    BY_DOOR,    /* needs no store: probes, the page, the description of the API */
    BY_READER,  /* a question */
    BY_CLERK,   /* a write; what of it asks a script is a walker's, and what takes long to read */
    BY_WALKER,  /* needs Lua: commands to processes, definitions with functions */
    BY_SETTLER, /* what workers outside hand back, which may need Lua: their locks run on */
    BY_RUNNER,  /* runs a job, as long as that takes */
    WORKER_KINDS
};

/* Which kind works on it; a request that no route has is answered by the door. */
enum worker_kind service_worker(struct exchange *exchange);

/* Answers one request, whoever works on it. `engine` may be NULL for BY_DOOR; so may `figures`, who
 * then are those of the store alone. The answer is filled in any case. */
void service_answer(struct engine *engine, const struct caller *caller, struct figures *figures,
                    struct exchange *exchange);
