/* group.h - several threads create jobs on one engine: whatever waits is written and synced
 * together (rules §1).
 *
 * A thread fills in its drafts, calls group_enqueue, and has its ids when that returns: then the
 * jobs are on disk. There is no thread behind it; of the threads that wait, one writes for all. It
 * waits for those of the last transaction, half as long as that one took at most. */
#ifndef MOONSHIFT_API_GROUP_H
#define MOONSHIFT_API_GROUP_H

#include "api/engine.h"

struct group;

/* The engine is used by nobody else until group_free, and outlives it. NULL: no memory. */
struct group *group_new(struct engine *engine, struct error *error);
void group_free(struct group *group); /* nobody waits any more; NULL is fine */

/* As engine_enqueue; any thread. All or nothing for these drafts, whatever becomes of those that
 * others create meanwhile. Texts of the drafts are read by other threads until it returns. */
bool group_enqueue(struct group *group, const struct engine_draft *drafts, size_t count,
                   struct engine_created *created, struct error *error);

#endif
