/* batch.h - one operation for many ids (rules §17): a batch is described by an object, filled in
 * parts, each in a transaction of its own, and started. The store does the rest. */
#pragma once

#include "engine/engine.h"
#include "store/batch.h"

/* Begins a batch: { type, config, name, on_complete, jobs_per_seed, invocations, retries, priority
 * }. Its type must be a stock one or be known as a definition, its config must fit the type, and
 * its on_complete must be the name of a handler. */
bool engine_batch_begin(struct engine *engine, const json_t *spec, int64_t *id,
                        struct error *error);

/* Refuses a batch of migrations whose plan, between the versions that it names, cannot be. */
bool engine_batch_plan(struct engine *engine, const json_t *spec, struct error *error);
/* Only looks whether engine_batch_begin would take it. */
bool engine_batch_check(struct engine *engine, const json_t *spec, struct error *error);

/* "job" or "instance": what the ids of a stock type are numbers of. NULL: they are anything. */
const char *batch_ids_of(const char *type);
/* True if the ids of the type may be those of a list: ASK_JOBS, ASK_PROCESS_INSTANCES, ASK_PAST. */
bool batch_takes(const char *type, enum ask_kind of, struct error *error);

enum { BATCH_TYPES_MAX = 200 };
/* The names of the stock types, which stay; NULL behind the last. */
void batch_stock_types(const char *names[BATCH_TYPES_MAX + 1]);

/* The list that filters are meant for where nothing else says it. */
enum ask_kind batch_list_of(const char *type);

/* The same as in store/batch.h, each in a transaction of its own. */
bool engine_batch_add(struct engine *engine, int64_t id, const json_t *ids, struct error *error);
bool engine_batch_find(struct engine *engine, int64_t id, enum ask_kind of, const json_t *query,
                       int64_t *after, bool *more, struct error *error);
bool engine_batch_start(struct engine *engine, int64_t id, struct error *error);
/* Removes a batch that could not be filled or started. */
void engine_batch_abandon(struct engine *engine, int64_t id);

/* All of it: of an array of ids, or of the rows of a list that match a query (else NULL).
 * run->touched is the number of ids, ->batch the batch's. Nothing is written if there are none. */
bool engine_batch_create(struct engine *engine, const json_t *spec, const json_t *ids,
                         enum ask_kind of, const json_t *query, struct command_run *run,
                         struct error *error);
