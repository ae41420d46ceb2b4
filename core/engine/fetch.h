/* fetch.h - what a worker outside asks for, as the faces say it (rules §24). */
#ifndef MOONSHIFT_ENGINE_FETCH_H
#define MOONSHIFT_ENGINE_FETCH_H

#include "engine/engine.h"
#include "store/outside.h"

/* Locks jobs for a worker outside. The question: { worker, topics = [ name | { topic, lock,
 * priority, tenant, category } ], max, lock, priority = [ min, max ] }; the spans are texts.
 * *answer: an array of jobs as job_to_json has them, the best first, with `variables`, what the
 * activity of an instance sees; the caller's. */
bool engine_fetch(struct engine *engine, const json_t *question, json_t **answer,
                  struct error *error);

/* The halves of it: reads the question, with what it leaves open filled in; and takes the jobs in
 * the open transaction. Zero-initialise `fetch`, and clear it in any case. */
bool fetch_read(struct fetch *fetch, struct engine *engine, const json_t *question,
                struct error *error);
bool fetch_take(struct engine *engine, const struct fetch *fetch, json_t **shown,
                struct error *error);
void fetch_clear(struct fetch *fetch);

#endif
