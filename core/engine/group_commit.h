/* group_commit.h - several threads create jobs on one engine: whatever waits is written and synced
 * together (rules §1).
 *
 * A thread fills in its specs, calls group_commit_enqueue, and has its ids when that returns: then
 * the jobs are on disk. There is no thread behind it; of the threads that wait, one writes for all.
 * gather.h says how long it waits for the others. */
#ifndef MOONSHIFT_ENGINE_GROUP_COMMIT_H
#define MOONSHIFT_ENGINE_GROUP_COMMIT_H

#include "engine/engine.h"

struct group_commit;

/* Takes the engine, which outlives it: nothing else uses the engine until group_commit_free. NULL:
 * no memory. */
struct group_commit *group_commit_new(struct engine *engine, struct error *error);
void group_commit_free(struct group_commit *group); /* no thread waits any more; NULL is fine */

/* As engine_enqueue; any thread. All or nothing for these specs, whatever becomes of those that
 * others create meanwhile. Texts of the specs are read by other threads until it returns. */
bool group_commit_enqueue(struct group_commit *group, const struct engine_spec *specs, size_t count,
                          struct created *created, struct error *error);

#endif
