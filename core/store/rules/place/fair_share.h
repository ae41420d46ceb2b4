/* fair_share.h - fair share: inside a priority the tenants, or the lanes, take turns (rules §20).
 *
 * It is a setting of the store, kept in the table meta, because it decides the places of jobs. The
 * place of a ready job is then its tenant's next turn, not an instant. The turn is given when the
 * job becomes ready. It is one more than the later of two: the tenant's last turn, and the turn
 * that is being served. The key of the
 * ready jobs stays as it is, so the best one is found without reading the others. Jobs without a
 * tenant (or lane) share one. Turns are counted for each priority. */
#pragma once

#include "store/rules/ground/row.h"

/* Takes the setting over if it was given and is another. What waits keeps its place, and new turns
 * begin behind it. */
bool fair_share_settle(struct store *store, struct error *error);

/* The place of a job that is about to be written; `job` is ready or not as its state says. */
bool fair_share_place_new(struct store *store, const struct job *job, time_ms *place,
                          struct error *error);
/* Sets row->place for where the row says the job is; not yet written. `old` as it was: a job that
 * was ready and stays so in its priority keeps its place; NULL: it was not ready. */
bool fair_share_give(struct store *store, const struct job_row *old, struct job_row *row,
                     time_ms now, struct error *error);
static inline bool fair_share_place(struct store *store, const struct job_row *old,
                                    struct job_row *row, time_ms now, struct error *error) {
    row->place = row->due == TIME_NONE ? row->created : row->due;
    return store->meta.fair == FAIR_OFF || fair_share_give(store, old, row, now, error);
}
/* Makes the due timers up to (due, id) ready, one by one. */
bool fair_share_promote(struct store *store, time_ms due, int64_t id, int *count,
                        struct error *error);

/* The turns up to `turn` are being served; `now` and then what nobody needs any more is removed. */
bool fair_share_served(struct store *store, int64_t rank, int64_t turn, time_ms now,
                       struct error *error);
