/* batch_bar.h - a batch while it runs: a bar, and waiting until it is done. */
#pragma once

#include "engine/engine.h"

/* Says on standard error that it waits if no executor runs. */
void batch_note(struct engine *engine, int64_t id);

/* Shows a bar, where one is wanted. Returns once the batch has ended, or no executor runs that
 * could end it (standard error says so). False: ERROR_FAILED if all that is left of it has failed;
 * or the store cannot be read. */
bool batch_wait(struct engine *engine, int64_t id, bool bar, struct error *error);
