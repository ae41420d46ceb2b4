/* purge.h - the rows of jobs that have succeeded (rules §1). A run of a joined executor that purges
 * writes nothing to the wide row as it ends: the row is left behind, in no place, a tombstone.
 * Which rows those are is kept in memory, a bit for each id, and they go later by whole ranges of
 * ids.
 *
 * Why no such bit can ever hit a job that lives: it is set after the commit of the transaction in
 * which the fence was passed and the run has succeeded. From then on the job is in no place, so
 * nobody acquires it and no verb finds it; nothing puts it anywhere again; and its id is never
 * handed out a second time. To remove a tombstone twice, or one that somebody else has removed,
 * does nothing.
 *
 * The bits die with the process. So the executor's row says in `debt` that it has tombstones, from
 * the transaction of its first one on. An executor that leaves with tombstones, or is reaped,
 * starts a search of the table for them, up to the newest job of that moment. The search goes step
 * by step; the keys sweep_from and sweep_to of the table meta say how far. Without a pending
 * purge and without such a search the view `live` is the table `job`. */
#pragma once

#include "store/sqlite/db/connection.h"

/* In the transaction in which the job has succeeded. *left: its row stays behind; false: it does
 * not, and must go now. */
bool purge_leave(struct store *store, int64_t id, bool *left, struct error *error);

/* Removes some that can go, behind the outcomes of a turn. */
bool purge_settled(struct store *store, struct error *error);

/* Notes the tombstones of the transaction once it is committed. */
extern const struct txn_hook purge_hook;

/* The joined executor leaves: removes what it can in a second, each step in a transaction of its
 * own. */
void purge_rest(struct store *store);
/* In the transaction in which an executor leaves or is reaped: its pending purge becomes a search.
 */
bool purge_bequeath(struct store *store, int64_t executor, struct error *error);
void purge_clear(struct purge *purge);
