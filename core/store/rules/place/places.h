/* places.h - where a job is: the tables ready, timer, parked, locked, limited and lane (rules §2,
 * §4, §10). Only the two files behind this header write them: places.c what operators, deployments
 * and recovery do, places_hot.c what every turn does, where it can for many jobs at once.
 *
 * A job that is not locked, dead or suspended is in one of ready, timer and parked, where its row
 * says. Putting a job into `ready` does three more things:
 *   - executors that serve its stream are notified after the commit;
 *   - the capacity of the open transaction learns of the job;
 *   - a cursor that has read ahead reads again. */
#pragma once

#include "store/rules/ground/row.h"

/* The row with this id belongs to an intake and is in no place yet. */
#define INTAKE_HAS(id) "EXISTS(SELECT 1 FROM intake i WHERE " id ">i.reached AND " id "<=i.last)"

/* Where a job stands in `ready` or `parked`. */
struct place_key {
    int64_t stream, rank, place, id, lane; /* rank: ~priority; lane 0: none */
};

/* ---- ready, timer, parked ---- */

/* The most bytes of payload that a plain job has: many of them may be locked before their rows are
 * read. */
#define PLAIN_PAYLOAD 4096
/* What the place of a new job says of its row. Any change of its place forgets this. 1: nothing in
 * the row decides whether it may be taken. 2: nor has it more than a payload, retries and the date
 * of its creation. */
enum { PLACE_PLAIN = 1, PLACE_BARE };
static inline int64_t place_plain(const struct job *job) {
    if (job->due != TIME_NONE || job->repeat || job->batch || job->exclusive || job->instance_id ||
        job->payload_size > PLAIN_PAYLOAD)
        return 0;
    return row_is_short(job) ? PLACE_BARE : PLACE_PLAIN;
}

/* Puts an unlocked job where its row says: into ready or timer, or nowhere: dead or suspended. A
 * dead one has an incident besides, see incident_place. */
bool place_row(struct store *store, const struct job_row *row, time_ms now, struct error *error);
/* The same of a job that is alive and not suspended, but for the row of its place, which is written
 * later. True: that is one of `timer`. */
bool place_row_later(struct store *store, const struct job_row *row, time_ms now);
/* The same of one that goes back to where it was ready; only its row knows that place. */
void place_back_later(struct store *store, const struct job_row *row);
/* Takes a job that is not locked out of its place. */
bool place_remove(struct store *store, const struct job_row *row, struct error *error);

/* Does what a row of `ready` entails; the row itself is written later, with many others. */
void place_ready_later(struct store *store, const struct place_key *key);

/* Makes the timers up to (due, id) ready. Notifies no executor: the clock of each one does that. */
bool place_due(struct store *store, time_ms due, int64_t id, int *count, struct error *error);
/* Makes one timer ready at row->place. */
bool place_due_row(struct store *store, const struct job_row *row, struct error *error);
/* Takes a job out of all places, whatever its row says, and its lock away. */
bool place_drop(struct store *store, int64_t id, struct error *error);
/* Puts released rows of the ids behind `from` up to `to` into ready or timer; bare: as all of them
 * are (place_plain). */
bool place_released(struct store *store, int64_t from, int64_t to, bool bare, time_ms now,
                    struct error *error);

/* Takes a job out of `ready`. db_changes: 0 it was not there. */
bool place_take(struct store *store, const struct place_key *key, struct error *error);
bool place_take_parked(struct store *store, const struct place_key *key, struct error *error);
/* Takes all jobs between two of one stream and rank out of `ready`, both included. */
bool place_take_run(struct store *store, const struct place_key *first,
                    const struct place_key *last, int64_t *gone, struct error *error);
/* The same of `parked`, in one lane. */
bool place_take_parked_run(struct store *store, const struct place_key *first,
                           const struct place_key *last, int64_t *gone, struct error *error);
/* Moves a job from `ready` behind its lane, which runs. */
bool place_park(struct store *store, const struct place_key *key, struct error *error);
/* The same of all jobs between two of one stream and rank, both included: their lanes all run. */
bool place_park_run(struct store *store, const struct place_key *first,
                    const struct place_key *last, int64_t *gone, struct error *error);

/* ---- locked, limited ---- */

/* Locks the job with its token for its owner, counted against the limit of its definition unless it
 * has a permit. */
bool place_lock(struct store *store, const struct job *job, struct error *error);
/* The same for a run by hand: an older lock is lost. */
bool place_lock_by_hand(struct store *store, const struct job *job, struct error *error);
/* Writes the lock alone, or counts it alone; the other half is written at another time. */
bool place_lock_row(struct db *db, const struct job *job, struct error *error);
bool place_count_run(struct store *store, const struct job *job, struct error *error);
static inline bool place_count(struct store *store, const struct job *job, struct error *error) {
    return !store->catalog.limited || place_count_run(store, job, error);
}

/* Counts one run for all jobs that have this token as their permit: of them one runs at a time. */
bool place_permit(struct store *store, int64_t definition, int64_t permit, struct error *error);

enum unlocked { UNLOCK_STALE, UNLOCKED, UNLOCKED_EDITED }; /* edited: its row, by an operator */
/* Ends a run's lock: the fence. Stale: the job is not locked with this token by this owner. */
bool place_unlock(struct store *store, const struct job *job, enum unlocked *how,
                  struct error *error);
/* The locks of the joined executor of these ids with these tokens. */
struct place_range {
    int64_t id, last_id, token, last_token, owner;
};
/* Ends those of them whose rows no command has edited. db_changes: how many. */
bool place_unlock_range(struct store *store, const struct place_range *range, struct error *error);
/* Takes the lock away, whose run then cannot commit; it still counts against a limit. */
bool place_unlock_job(struct store *store, int64_t id, struct error *error);

/* The locks of an executor; expired_only: but for those that last beyond `now`. */
struct place_held {
    int64_t owner;
    bool expired_only;
    time_ms now;
};
/* Ends those locks, none of which is in a page, and puts their jobs where their rows say: `count`
 * jobs that are alive and not suspended. They still count against limits. */
bool place_give_up(struct store *store, const struct place_held *held, int64_t count,
                   struct error *error);

/* Marks a lock: an operator has edited the row of its job. */
bool place_edited(struct store *store, int64_t id, struct error *error);
/* Makes the lock last until then, whatever its owner's lease is. db_changes: 0 the lock is lost. */
bool place_extend(struct store *store, int64_t id, int64_t token, time_ms until,
                  struct error *error);
/* Makes those locks of `owner` last until then that have run out, and whose jobs are suspects that
 * have begun. */
bool place_spare(struct store *store, int64_t owner, time_ms now, time_ms until,
                 struct error *error);

/* The run with this token, or the item with this permit, has ended: its place under a limit is
 * free, for others too if the limit is theirs. Without effect if it has none. */
bool place_uncount_run(struct store *store, int64_t stream, int64_t token, struct error *error);
static inline bool place_uncount(struct store *store, int64_t stream, int64_t token,
                                 struct error *error) {
    return !store->catalog.limited || place_uncount_run(store, stream, token, error);
}
/* The same with others, as place_release_later; only where the store has releases. */
bool place_uncount_later(struct store *store, int64_t definition, int64_t token,
                         struct error *error);
/* Writes what place_uncount_later has kept: before the places under a limit are counted. */
bool places_uncounted(struct store *store, struct error *error);
/* Stops counting the runs of an executor that is gone, but for those that are still locked. A
 * permit stays while any job of the definition does. */
bool place_uncount_owner(struct store *store, int64_t owner, struct error *error);
/* Counts the locked jobs of a definition as its new deployment says: by a limit, or not at all.
 * Those that share a place count by themselves, too, until they have ended. */
bool place_recount(struct store *store, const struct catalog_definition *definition,
                   struct error *error);

/* ---- lane ---- */

/* Takes a free lane for the item that begins with `token`. *taken false: the lane runs. */
bool place_hold(struct store *store, int64_t lane, int64_t token, bool *taken, struct error *error);
/* The same for a command, until an instant, with the token that is given out next. One that held it
 * longer than it said has lost it. With the lane goes one beside it, ~lane, for what ends an
 * instance while a run has the lane: of the two, commands hold one, and none beside a run in ~lane.
 * NO: the lane runs. */
enum answer place_hold_until(struct store *store, struct lane_want *want, struct error *error);
/* The statement of it, with its parameters. `tokens` has a row with the token, and may have the
 * lane. */
#define PLACE_HOLD(lane, until, now, tokens, told)                                                 \
    "INSERT INTO lane(id, token, owner, until) SELECT " lane ", token, 0, " until " FROM " tokens  \
    " WHERE NOT EXISTS(SELECT 1 FROM lane WHERE id=(~CAST(" lane " AS BIGINT))"                    \
    " AND CASE WHEN owner=0 THEN lane.until>" now " ELSE id<0 END)"                                \
    " ON CONFLICT(id) DO UPDATE SET token=excluded.token, until=excluded.until"                    \
    " WHERE lane.until<=" now " RETURNING " told
/* The same for a command, from the executor that has it and that has died. */
bool place_hold_after(struct store *store, int64_t lane, int64_t token, int64_t owner,
                      time_ms until, bool *taken, struct error *error);
/* The command that holds it with this token holds the one beside it, too. */
bool place_hold_beside(struct store *store, int64_t lane, int64_t token, struct error *error);
/* A command holds it longer. */
bool place_hold_on(struct store *store, int64_t lane, int64_t token, time_ms until,
                   struct error *error);
/* From now on, or no more, it is held until TIME_NEVER: units of its instance that are not in the
 * lane wait for its end (process/lane.h). */
bool place_insist(struct store *store, int64_t lane, int64_t token, bool insists,
                  struct error *error);
/* The same for a run by hand: from the run that has it. */
bool place_hold_by_hand(struct store *store, int64_t lane, int64_t token, struct error *error);
/* Ends the run fenced by `token`; what waits becomes visible. Without effect if it is not held. */
bool place_release(struct store *store, int64_t lane, int64_t token, struct error *error);
/* The same for one that this transaction has held: nothing has met it meanwhile. */
bool place_unhold(struct store *store, int64_t lane, int64_t token, struct error *error);
/* The same, later and with others where the engine takes sets: at the latest with the commit, and
 * before anything else may ask. */
bool place_release_later(struct store *store, int64_t lane, int64_t token, struct error *error);
bool places_released(struct store *store, struct error *error);
extern const struct txn_hook releases_hook;

/* Makes the first job of every (stream, rank) that is parked visible, unless the lane runs: after a
 * visible job of the lane was taken away. `lane` 0: nothing. */
bool place_expose_now(struct store *store, int64_t lane, struct error *error);
/* The same, later and with others where the engine takes sets, as place_release_later. */
bool place_expose(struct store *store, int64_t lane, struct error *error);
