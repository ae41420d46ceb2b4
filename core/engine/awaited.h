/* awaited.h - for those who wait until there is work of some topics (rules §24). */
#ifndef MOONSHIFT_ENGINE_AWAITED_H
#define MOONSHIFT_ENGINE_AWAITED_H

#include "engine/engine.h"

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

#endif
