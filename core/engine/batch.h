/* batch.h - one operation for many ids (rules §17): a batch is described by an object, filled in
 * parts, each in a transaction of its own, and started. The store does the rest. */
#ifndef MOONSHIFT_ENGINE_BATCH_H
#define MOONSHIFT_ENGINE_BATCH_H

#include "engine/engine.h"
#include "store/batch.h"

/* Begins a batch: { type, config, name, on_complete, jobs_per_seed, invocations, retries, priority
 * }. Its type must be a stock one or be known as a definition, its config must fit the type, and
 * its on_complete must be the name of a handler. */
bool engine_batch_begin(struct engine *engine, const json_t *spec, int64_t *id,
                        struct error *error);

/* Only looks whether engine_batch_begin would take it. */
bool engine_batch_check(struct engine *engine, const json_t *spec, struct error *error);

/* True for a stock type whose ids are jobs. */
bool batch_is_of_jobs(const char *type);

/* The same as in store/batch.h, each in a transaction of its own. */
bool engine_batch_add(struct engine *engine, int64_t id, const json_t *ids, struct error *error);
bool engine_batch_find(struct engine *engine, int64_t id, const json_t *query, int64_t *after,
                       bool *more, struct error *error);
bool engine_batch_start(struct engine *engine, int64_t id, struct error *error);
/* Removes a batch that could not be filled or started. */
void engine_batch_abandon(struct engine *engine, int64_t id);

/* All of it: of an array of ids, or of the jobs that match a query (else NULL). run->touched
 * is the number of ids, ->batch the batch's. Nothing is written if there are none. */
bool engine_batch_create(struct engine *engine, const json_t *spec, const json_t *ids,
                         const json_t *query, struct command_run *run, struct error *error);

#endif
