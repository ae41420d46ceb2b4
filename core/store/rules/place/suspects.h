/* suspects.h - jobs that were locked when their executor vanished with its machine (rules §8).
 *
 * Nobody could read its crash slots, so any of these jobs may have killed the machine, and most
 * have not. They are marked, and none is counted. A suspect is taken when a worker begins it at
 * once, and its start is written with its lock. On one executor suspects begin one after the other.
 * Where that executor vanishes, too, the suspects that had begun get a crash each. A run that ends
 * takes the mark away. */
#pragma once

#include "store/rules/ground/suspect_list.h"

/* The same as the store has it, outside of a transaction. */
enum answer suspects_ask(struct store *store, int64_t job, struct error *error);

/* The suspect that an executor has begun last, and until when the next one waits for its end. */
struct suspect_run {
    int64_t job;
    time_ms until;
};
/* YES: it may still kill the machine, so the next one waits. */
enum answer suspects_run(struct store *store, int64_t owner, time_ms now, struct suspect_run *run,
                         struct error *error);
/* The same of this executor, which looks again then. */
enum answer suspects_wait(struct store *store, time_ms now, struct error *error);
/* The locked job begins with the commit; says until when. */
bool suspects_start(struct store *store, struct job *job, time_ms now, struct error *error);
/* The job's run has ended, and the machine is there. */
bool suspects_acquit(struct store *store, const struct job *job, struct error *error);

/* Marks the jobs that `owner` has locked, or only those whose locks have run out. */
bool suspects_add(struct store *store, int64_t owner, bool expired_only, time_ms now,
                  struct error *error);
/* Keeps the locks of suspects that `owner` has begun for a while, as it may come back. */
bool suspects_spare(struct store *store, int64_t owner, time_ms now, struct error *error);
/* Forgets marks of jobs that are gone. */
bool suspects_tidy(struct store *store, struct error *error);
