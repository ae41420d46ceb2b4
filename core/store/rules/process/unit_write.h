/* unit_write.h - what an instance of a process does between two wait states, written whole or not
 * at all (rules §23). */
#pragma once

#include "job/outcome.h"
#include "store/rules/ground/state.h"

/* STALE: the lock is lost. BEHIND: another unit has written an instance since the frame was read;
 * outcome->newer is the job with the frame of now, its lock stands. WAITS: another run insists on
 * the lane of an instance; the lock stands, and the outcome is settled later. */
enum unit_guarded { UNIT_FAILED, UNIT_FINE, UNIT_STALE, UNIT_BEHIND, UNIT_WAITS, UNIT_HELD };

/* Looks at the lock and at the frames before anything is written. What follows cannot be refused.
 * An outcome that is refused here (its process is suspended, a message has no receiver) says that
 * it is `undone`. */
enum unit_guarded unit_guard(struct store *store, struct outcome *outcome, struct error *error);
/* Writes all but the jobs. */
bool unit_write(struct store *store, const struct outcome *outcome, time_ms now,
                struct error *error);

/* True if writing it asks for no row of another job than `running`. */
bool unit_is_plain(const struct store *store, const struct unit *unit, int64_t running);
