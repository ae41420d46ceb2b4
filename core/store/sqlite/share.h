/* share.h - fair share: inside a priority the tenants, or the lanes, take turns (rules §20).
 *
 * A setting of the store, kept in the table meta, because it decides the places of jobs: a job's
 * place is then its tenant's next turn instead of an instant, given when it becomes ready: one more
 * than the tenant's last, or than the turn that is being served, whichever is later. The key of the
 * ready jobs stays as it is, so the best one is found without reading the others. Jobs without a
 * tenant (or lane) share one. Turns are counted for each priority. */
#ifndef MOONSHIFT_STORE_SQLITE_SHARE_H
#define MOONSHIFT_STORE_SQLITE_SHARE_H

#include "store/sqlite/row.h"

/* Takes the setting over if it was given and is another. What waits keeps its place, and new turns
 * begin behind it. */
bool share_settle(struct store *store, struct error *error);

/* The place of a job that is about to be written; `job` is ready or not as its state says. */
bool share_place_new(struct store *store, const struct job *job, time_ms *place,
                     struct error *error);
/* Sets row->place for where the row says the job is; not yet written. `old` as it was: a job that
 * was ready and stays so in its priority keeps its place; NULL: it was not ready. */
bool share_place(struct store *store, const struct row *old, struct row *row, time_ms now,
                 struct error *error);
/* Makes the due timers up to (due, id) ready, one by one. */
bool share_promote(struct store *store, time_ms due, int64_t id, int *count, struct error *error);

/* The turns up to `turn` are being served; `now` and then what nobody needs any more is removed. */
bool share_served(struct store *store, int64_t rank, int64_t turn, time_ms now,
                  struct error *error);

#endif
