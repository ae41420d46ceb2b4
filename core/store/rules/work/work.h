/* work.h - the turn of an executor, once for all engines (rules §1, §4, §8), and what jobs come
 * with: the chapter "work" of store/ops.h. Each function keeps the contract that store.h gives the
 * call of its name. What differs between engines is in rules/ground/engine.h.
 *
 * PARTS. A turn is one transaction. run/turn.c calls its parts in this order: settle_bulk and
 * settle for each outcome, settle_end, reap, promote, acquire, best, next. fence.c ends the locks
 * of many plain runs at once. settle.c writes one outcome: it ends the lock first, and without the
 * lock nothing but the end of the run is noted. A unit is held against the frames of its instances
 * before that (process/unit_write.h). acquire.c reads a page of places and locks it (locks.c),
 * lane_set.c takes the lanes of the page, reap.c frees what the dead had.
 *
 * WAYS. way.c says how an outcome is written (enum way), once for each settling. settle_bulk asks
 * for its whole list, settle for an outcome that has not been asked. settle.c does what the way
 * says (settle_by_way). All ways give the same rows; the first ones cost less:
 *   - WAY_OTHERS: its lock has ended in fence.c; its history, places and key follow in sets;
 *   - WAY_KEPT: it reads no other job's row, so that its writes may come at the end;
 *   - WAY_ALONE: whatever is kept back is written first, since it may ask for any row;
 *   - WAY_ASKS: the same, and it may ask which jobs are locked. No lock of its list then ends with
 *     others, since that comes before its time;
 *   - WAY_CAREFUL: the same, and the store may refuse what it created or asked for. It stands
 *     behind a savepoint, and a refusal undoes it alone. The outcome then says that it is `undone`;
 *   - WAY_COMMAND: there is no job and no lock. A command that may be refused goes carefully.
 *
 * WHAT IS KEPT UNTIL THE COMMIT, and whose it is. Rows of history, failures, keys and jobs are the
 * list of record/bulk.h; frames are process/instance.h's; released lanes and ends of limits are
 * place/releases.c's; counters of batches are batch/batch.h's; jobs that tell of something are
 * record/tell.h's. It lies in the arena of the transaction, and ground/lasting.h is the only way
 * in. Only an outcome is pointed at: run/outcomes.h keeps it until the commit. What the turn has
 * taken, and the follow-ups of an outcome, are the caller's.
 *
 * HOOKS. Each of these owners has a txn_hook, and hooks.h lists them in their order. Before the
 * commit they write in that order: frames, then the jobs that tell, then counters, lanes, history.
 * A later one may take what an earlier one has made, never the other way round. After the commit
 * the bells ring, and the arena is freed last. After a rollback each forgets what it had.
 *
 * WHAT TXN_TRY UNDOES. The rows written behind it, and what hooks keep: txn_try marks and
 * returns each of them (ground/txn_hook.h). Rows that are kept back are written before it, so those
 * of earlier outcomes stand. What was only learnt is forgotten: the catalog, parked lanes, whether
 * incidents are open. */
#pragma once

#include "store/rules/create/create.h"

/* The way of an outcome; `others`: its lock may still end with others. */
enum way settle_way(const struct store *store, const struct outcome *outcome, bool others);
/* store_unit of this program alone. */
enum answer work_unit(struct store *store, struct outcome *outcome, const struct store_entry *entry,
                      time_ms now, struct error *error);
/* Frees the locks of workers outside that have run out, and for whose lanes jobs wait. */
bool work_expire_lanes(struct store *store, time_ms now, bool *changed, struct error *error);
/* What nearly every turn looks for, asked for at once: open incidents, kept messages, the first
 * timer, and rows of the outbox. */
struct row *work_ask(struct store *store, struct error *error);
bool work_answer(struct store *store, struct row *row, struct error *error);

/* Puts whole jobs in the place of those that were locked unread. The rows (ROW_COLUMNS) come in the
 * order of the jobs; those of some may be gone. */
bool unread_rows(struct store *store, struct row *row, struct job **jobs, size_t count,
                 struct error *error);

/* See leave_row and its neighbours in rules/ground/engine.h. */
static inline bool leave_row(struct store *store, int64_t id, bool *left, struct error *error) {
    *left = false;
    return !store->engine->leave_row || store->engine->leave_row(store, id, left, error);
}

static inline bool left_remove(struct store *store, struct error *error) {
    return !store->engine->left_remove || store->engine->left_remove(store, error);
}
