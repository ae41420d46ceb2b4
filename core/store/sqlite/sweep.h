/* sweep.h - the rows of jobs that have succeeded (rules §1). A run of a joined executor that sweeps
 * writes nothing to the wide row as it ends: the row is left behind, in no place, a ghost. Which
 * rows those are is kept in memory, a bit for each id, and they go later by whole ranges of ids.
 *
 * Why no such bit can ever hit a job that lives: it is set after the commit of the transaction in
 * which the fence was passed and the run has succeeded. From then on the job is in no place, so
 * nobody acquires it and no verb finds it; nothing puts it anywhere again; and its id is never
 * handed out a second time. To remove a ghost twice, or one that somebody else has removed, does
 * nothing.
 *
 * The bits die with the process. So the executor's row says in `debt` that it has ghosts, from the
 * transaction of its first one on. Whoever buries it (or itself, if it leaves with some) has the
 * table looked through for ghosts up to the newest job of that moment, step by step: the keys
 * sweep_from and sweep_to of the table meta. Without a debt and without such a search the view
 * `live` is the table `job`. */
#ifndef MOONSHIFT_STORE_SQLITE_SWEEP_H
#define MOONSHIFT_STORE_SQLITE_SWEEP_H

#include "store/sqlite/connection.h"
#include "store/tidy.h"

/* In the transaction in which the job has succeeded. *left: its row stays behind; false: it does
 * not, and must go now. */
bool sweep_leave(struct store *store, int64_t id, bool *left, struct error *error);

/* How far the open transaction has come, and back to there. */
struct sweep_point {
    size_t fresh;
    bool mark;
};
struct sweep_point sweep_point(const struct store *store);
void sweep_return(struct store *store, struct sweep_point point);

/* The transaction is over. */
void sweep_committed(struct store *store);
void sweep_rolled_back(struct store *store);

/* An executor is dead: in the transaction that buries it, its debt becomes a search. */
bool sweep_inherit(struct store *store, int64_t executor, struct error *error);
/* The joined executor leaves: first removes what it can in a second, each step in a transaction of
 * its own; … */
void sweep_rest(struct store *store);
/* … then, in the last transaction, its debt becomes a search if any is left. */
bool sweep_bequeath(struct store *store, struct error *error);
void sweep_clear(struct sweep *sweep);

#endif
