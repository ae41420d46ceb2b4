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
#ifndef MOONSHIFT_STORE_RULES_WORK_WORK_H
#define MOONSHIFT_STORE_RULES_WORK_WORK_H

#include "store/rules/create/create.h"

bool work_join(struct store *store, struct store_executor *executor, time_ms now, time_ms lease,
               struct error *error);
bool work_leave(struct store *store, struct error *error);
bool work_renew(struct store *store, time_ms now, time_ms lease, struct error *error);
bool work_metric_add(struct store *store, int64_t definition, enum metric metric, int64_t value,
                     struct error *error);
bool work_reap(struct store *store, time_ms now, struct store_reaped *reaped, struct error *error);
bool work_settle_bulk(struct store *store, struct outcome *outcomes, struct error *error);
bool work_settle(struct store *store, struct outcome *outcome, time_ms now, enum settled *settled,
                 struct error *error);
/* The way of an outcome; `others`: its lock may still end with others. */
enum way settle_way(const struct store *store, const struct outcome *outcome, bool others);
bool work_settle_end(struct store *store, struct error *error);
enum answer work_unit(struct store *store, struct outcome *outcome, const struct store_entry *entry,
                      time_ms now, struct error *error);
bool work_promote(struct store *store, time_ms now, int limit, int *count, struct error *error);
/* Frees the locks of workers outside that have run out, and for whose lanes jobs wait. */
bool work_expire_lanes(struct store *store, time_ms now, bool *changed, struct error *error);
bool work_acquire(struct store *store, const struct acquire *acquire, time_ms now,
                  struct job **jobs, int *count, bool *more, struct error *error);
bool work_best(struct store *store, const struct acquire *acquire, time_ms now,
               struct sort_key *best, bool *found, struct error *error);
struct store_acquire_stats work_acquire_stats(const struct store *store);
bool work_take(struct store *store, int64_t id, bool force, time_ms now, struct job **job,
               struct error *error);
bool work_extend(struct store *store, int64_t job, int64_t token, time_ms until,
                 struct error *error);
enum answer work_holds(struct store *store, int64_t job, int64_t token, struct error *error);
bool work_ask_lost(struct store *store, struct store_claim *claims, size_t count,
                   struct error *error);
/* What nearly every turn looks for, asked for at once: open incidents, kept messages, the first
 * timer, and rows of the outbox. */
struct row *work_ask(struct store *store, struct error *error);
bool work_answer(struct store *store, struct row *row, struct error *error);
bool work_next(struct store *store, time_ms now, time_ms *at, struct error *error);
bool work_retries_wait(struct store *store, struct store_retries *waiting, struct error *error);

/* The members of a table of functions (store/ops.h) that these are. */
#define WORK_OPS                                                                                   \
    .create = work_create, .reserve_ids = work_reserve_ids, .join = work_join,                     \
    .leave = work_leave, .renew = work_renew, .metric_add = work_metric_add, .reap = work_reap,    \
    .settle_bulk = work_settle_bulk, .settle = work_settle, .settle_end = work_settle_end,         \
    .promote = work_promote, .acquire = work_acquire, .best = work_best,                           \
    .acquire_stats = work_acquire_stats, .take = work_take, .extend = work_extend,                 \
    .holds = work_holds, .ask_lost = work_ask_lost, .next = work_next,                             \
    .retries_wait = work_retries_wait

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

#endif
