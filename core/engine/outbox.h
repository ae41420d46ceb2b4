/* outbox.h - makes jobs of what other programs asked for in transactions of their own (rules §1,
 * store/outbox.h). */
#pragma once

#include "engine/engine.h"

/* Makes the next jobs, a set of rows in one transaction. Functions of their definitions are asked
 * before it begins. A row of which no job can be made becomes an incident. *more: call again. */
bool engine_outbox(struct engine *engine, bool *more, struct error *error);
