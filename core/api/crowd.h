/* crowd.h - a verb on more jobs than one transaction takes becomes a batch (rules §11, §17).
 * Private to core/api/. */
#ifndef MOONSHIFT_API_CROWD_H
#define MOONSHIFT_API_CROWD_H

#include "api/engine.h"

/* True if the order changes jobs in a way that a batch can. */
bool crowd_is(const json_t *order);

/* Does what is to be done at once, to the definition or the instance itself, and makes the batch
 * that changes its jobs. */
bool crowd_operate(struct engine *engine, json_t *order, struct engine_operated *operated,
                   struct error *error);

#endif
