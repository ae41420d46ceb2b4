/* figures.h - what /metrics answers: the figures of the store, asked for once a second at most, and
 * those of this program. Any thread. */
#pragma once

#include "engine/engine.h"
#include "http/api/openmetrics.h"

struct figures;

/* Both outlive it; NULL: there is no executor, or no door. NULL: no memory. */
struct figures *figures_new(const struct durations *durations, struct request_metrics *requests);
void figures_free(struct figures *figures); /* NULL is fine */

/* Appends all of them; the engine is asked if what is known of the store is old. */
bool figures_write(struct figures *figures, struct engine *engine, struct text *out,
                   enum metrics_form form, struct error *error);
