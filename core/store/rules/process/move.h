/* move.h - rows that wait for a token go with it when its instance migrates (rules §23). */
#pragma once

#include "job/unit.h"
#include "store/rules/ground/state.h"

/* ERROR_CONFLICT: a job that would become one of another definition or token is running, or the new
 * version is suspended with its instances. */
bool moves_may(struct store *store, const struct unit *unit, struct error *error);
/* Due date, priority, retries and incident of a job stay, and all of a task and a subscription. */
bool move_write(struct store *store, const struct unit_move *move, time_ms now,
                struct error *error);

/* The instance is of another version by now. One that was suspended with its version stays so by
 * itself. */
bool move_instance(struct store *store, const struct unit_instance *one, time_ms now,
                   struct error *error);
