/* lost.h - warns of jobs whose handler only an executor with an older folder has. */
#pragma once

#include "engine/engine.h"

/* Handlers that jobs are created of. Zero-initialise. */
struct lost {
    json_t *handlers; /* an object with their names; NULL: none */
    char last[JOB_NAME_MAX + 1];
};

/* A job of it is created. Out of memory nothing is noted: it is for a warning alone. `lost` may be
 * NULL. */
void lost_note(struct lost *lost, const char *handler);

/* Says on standard error, once each, which of them the engine's folder has lost. */
void lost_say(const struct lost *lost, struct engine *engine);

void lost_clear(struct lost *lost);
