/* fetch.h - what a worker outside asks for, as the faces say it (rules §24). */
#pragma once

#include "base/text.h"
#include "engine/engine.h"
#include "store/outside.h"

/* Locks jobs for a worker outside. The question: { worker, topics = [ name | { topic, lock,
 * priority, tenant, category } ], max, lock, priority = [ min, max ] }; the spans are texts.
 * *answer, which is empty before: the text of an array of jobs as job_write has them, the best
 * first, with `variables`, what the activity of an instance sees. text_clear. */
bool engine_fetch(struct engine *engine, const json_t *question, struct text *answer,
                  struct error *error);

/* What a fetch has given. */
struct fetched {
    struct text text; /* without data: nothing is asked for; else as engine_fetch has it */
    size_t count;     /* jobs in it */
};
void fetched_clear(struct fetched *fetched);

/* The halves of it: reads the question, with what it leaves open filled in; and takes the jobs in
 * the open transaction. Zero-initialise `fetch`, and clear it in any case. */
bool fetch_read(struct fetch *fetch, struct engine *engine, const json_t *question,
                struct error *error);
bool fetch_take(struct engine *engine, struct fetch *fetch, struct fetched *fetched,
                struct error *error);
void fetch_clear(struct fetch *fetch);

/* ---- for those who wait until there is some ---- */

/* Has the engine told when there may be work of these topics, an array of names: instead of those
 * of the call before. Not of an engine whose jobs are run. */
bool engine_listen(struct engine *engine, const json_t *topics, struct error *error);
/* A descriptor that is readable then; -1: none can be had, and others' work is not told of. */
int engine_bell(const struct engine *engine);
/* True if it was told since the last call. */
bool engine_heard(struct engine *engine);

/* How much work there is: store_awaited, with *wait in ms. */
bool engine_awaited(struct engine *engine, const json_t *topics, json_t **found, time_ms *wait,
                    struct error *error);
