/* settle.c - the end of a run (rules §8; §1: the fence; §4: its lane is released), written whole.
 */
#include "base/crash_point.h"
#include "base/text.h"
#include "store/sqlite/alive.h"
#include "store/sqlite/backlog.h"
#include "store/sqlite/batch.h"
#include "store/sqlite/history.h"
#include "store/sqlite/incident.h"
#include "store/sqlite/lane.h"
#include "store/sqlite/limit.h"
#include "store/sqlite/occurrence.h"
#include "store/sqlite/prelock.h"
#include "store/sqlite/row.h"
#include "store/sqlite/share.h"
#include "store/sqlite/starts.h"
#include "store/sqlite/stuck.h"
#include "store/sqlite/sweep.h"
#include "store/sqlite/tell.h"
#include "store/sqlite/verbs.h"
#include <string.h>

/* The fence is passed. */
struct passed {
    bool edited; /* an operator has changed the row while the job ran */
};

/* The row stays behind, to go with its neighbours, unless it would still say something: that it is
 * dead or suspended (a run by hand), or what an operator made of it. */
static bool settle_remove(struct store *store, const struct job *job, struct passed passed,
                          struct error *error) {
    bool left = !passed.edited && job->retries > 0 && !job->suspended;
    return (!left || sweep_leave(store, job->id, &left, error)) &&
           (left || db_run(&store->db, error, "DELETE FROM job WHERE id=?1", "i", job->id)) &&
           (!store->progress ||
            db_run(&store->db, error, "DELETE FROM progress WHERE job=?1", "i", job->id));
}

/* Its key and its place in the backlog, if it has any. */
static bool settle_give_up(struct store *store, const struct job *job, enum history_end end,
                           time_ms now, struct error *error) {
    struct row row;
    if (!job->unique_key && !backlog_counts(store, job->stream))
        return true;
    if (end == ENDED_SUCCESSFUL)
        return alive_done(store, job, now, error);
    int found = row_load_placeless(store, job->id, &row, error);
    return found == 0 || (found > 0 && (row.retries == 0 || alive_end(store, &row, error)));
}

/* An operator may have changed its retries meanwhile. */
static bool settle_batch(struct store *store, const struct outcome *outcome, time_ms now,
                         struct error *error) {
    const struct job *job = outcome->job;
    struct row row = {.batch = job->batch, .stream = job->stream};
    int64_t retries = 0;
    if (!job->batch)
        return true;
    if (db_value(&store->db, error, &retries, "SELECT retries FROM job WHERE id=?1", "i", job->id) <
        0)
        return false;
    row.retries = (int32_t)retries;
    return batch_gone(store, &row, outcome->started, now, error);
}

static bool settle_success(struct store *store, struct outcome *outcome, struct passed passed,
                           enum history_end end, time_ms now, struct error *error) {
    enum incident_end how = end == ENDED_SUCCESSFUL ? INCIDENT_RESOLVED : INCIDENT_DELETED;
    return settle_give_up(store, outcome->job, end, now, error) &&
           settle_batch(store, outcome, now, error) &&
           settle_remove(store, outcome->job, passed, error) && CRASH_POINT("settle_removed") &&
           history_ended(store, outcome, end, error) && CRASH_POINT("settle_ended") &&
           (end == ENDED_SUCCESSFUL || outcome->told ||
            tell_ended(store, outcome->job, history_end_name(end), now, error)) &&
           incident_end(store, outcome->job->id, how, now, error) &&
           (!outcome->job->repeat || occurrence_end(store, outcome->job->id, error));
}

/* What an operator changed during the run stays; only the rest is the run's to say. */
static void settle_merge(const struct outcome *outcome, struct row *row) {
    if (outcome->kind == OUTCOME_FAILURE && row->retries == outcome->job->retries)
        row->retries = outcome->retries > 0 ? outcome->retries : 0;
    if (outcome->due != TIME_NONE && row->due == outcome->job->due)
        row->due = outcome->due;
}

/* A dead job that was run by hand stays dead where another one has its key. */
static bool settle_alive(struct store *store, struct row *row, bool dead, time_ms now,
                         struct error *error) {
    if (dead == (row->retries == 0))
        return true;
    if (!dead)
        return alive_end(store, row, error);
    int again = alive_again(store, row, now, error);
    if (again == 0)
        row->retries = 0;
    return again >= 0;
}

static bool settle_failure(struct store *store, struct outcome *outcome, struct row *row,
                           time_ms now, struct error *error) {
    char message[JOB_MESSAGE_MAX * 4 + 1] = "";
    const struct row before = *row;
    bool dead = row->retries == 0;
    outcome_decide(outcome, store->settings->failed_job_wait, now);
    if (!history_failed(store, outcome, row, error))
        return false;
    CRASH_POINT("settle_attempted");
    settle_merge(outcome, row);
    if (!settle_alive(store, row, dead, now, error) || !share_place(store, NULL, row, now, error) ||
        (row->batch && !batch_retries(store, &before, row, error)))
        return false;
    if (dead && row->retries > 0 && !incident_end(store, row->id, INCIDENT_RESOLVED, now, error))
        return false;
    if (outcome->message)
        memcpy(message, outcome->message, utf8_prefix(outcome->message, JOB_MESSAGE_MAX));
    return db_run(&store->db, error,
                  "UPDATE job SET retries=?2, due=?3, place=?4, attempt=attempt+1, rev=rev+1,"
                  " message=?5, conflicts=0 WHERE id=?1",
                  "inTit", row->id, (int)row->retries, row->due, row->place,
                  outcome->message ? message : NULL) &&
           (row->retries > 0 || outcome->reason != REASON_WORKER_DIED ||
            incident_open(store, row->id, INCIDENT_WORKER_DIED, now, error)) &&
           (outcome->told || tell_failure(store, outcome, row->retries, now, error)) &&
           CRASH_POINT("settle_failed") && row_place(store, row, now, error);
}

/* Dead before a run by hand and after it: nothing new. */
static bool settle_place(struct store *store, const struct outcome *outcome, const struct row *row,
                         time_ms now, struct error *error) {
    return (row->retries == 0 && outcome->job->retries == 0) || row_place(store, row, now, error);
}

static bool settle_snooze(struct store *store, struct outcome *outcome, struct row *row,
                          time_ms now, struct error *error) {
    settle_merge(outcome, row);
    return share_place(store, NULL, row, now, error) &&
           history_snoozed(store, outcome, row, error) &&
           db_run(&store->db, error, "UPDATE job SET due=?2, place=?3, conflicts=0 WHERE id=?1",
                  "iTi", row->id, row->due, row->place) &&
           settle_place(store, outcome, row, now, error);
}

/* Neither a retry nor an attempt: what it said, how often in a row, and when it runs again. */
static bool settle_conflict(struct store *store, struct outcome *outcome, struct row *row,
                            time_ms now, struct error *error) {
    char message[JOB_MESSAGE_MAX * 4 + 1] = "";
    if (outcome->message)
        memcpy(message, outcome->message, utf8_prefix(outcome->message, JOB_MESSAGE_MAX));
    settle_merge(outcome, row);
    return share_place(store, NULL, row, now, error) &&
           db_run(&store->db, error,
                  "UPDATE job SET conflicts=conflicts+1, due=?2, place=?3, message=?4 WHERE id=?1",
                  "iTit", row->id, row->due, row->place, outcome->message ? message : NULL) &&
           settle_place(store, outcome, row, now, error);
}

static bool settle_again(struct store *store, struct outcome *outcome, struct row *row, time_ms now,
                         struct error *error) {
    switch (outcome->kind) {
    case OUTCOME_FAILURE:
        return settle_failure(store, outcome, row, now, error);
    case OUTCOME_SNOOZE:
        return settle_snooze(store, outcome, row, now, error);
    case OUTCOME_CONFLICT:
        return settle_conflict(store, outcome, row, now, error);
    default:
        return settle_place(store, outcome, row, now, error);
    }
}

/* The job goes on: after a failure, a snooze, or unrun. */
static bool settle_back(struct store *store, struct outcome *outcome, time_ms now,
                        enum settled *settled, struct error *error) {
    struct row row;
    int found = row_load_placeless(store, outcome->job->id, &row, error);
    if (found == 0)
        error_set(error, ERROR_DAMAGED, "store \"%s\": damaged: locked job %lld has no row",
                  store->db.name, (long long)outcome->job->id);
    if (found <= 0)
        return false;
    bool done = settle_again(store, outcome, &row, now, error);
    if (done && row.retries == 0)
        *settled = SETTLED_DEAD;
    return done && (!row.repeats || occurrence_left(store, &row, error));
}

static bool settle_kind(struct store *store, struct outcome *outcome, struct passed passed,
                        time_ms now, enum settled *settled, struct error *error) {
    *settled = SETTLED;
    if (outcome->kind != OUTCOME_RETURNED && !history_lines(store, outcome, error))
        return false;
    switch (outcome->kind) {
    case OUTCOME_SUCCESS:
        return settle_success(store, outcome, passed, ENDED_SUCCESSFUL, now, error);
    case OUTCOME_CANCELLED:
        return settle_success(store, outcome, passed, ENDED_CANCELLED, now, error);
    default:
        return settle_back(store, outcome, now, settled, error);
    }
}

/* Can something that it asked for be refused? */
static bool settle_refusable(const struct store *store, const struct outcome *outcome) {
    if (outcome->effects)
        return true;
    for (const struct job *job = outcome->created; job; job = job->next)
        if ((job->unique_key && job->on_conflict == ON_CONFLICT_REFUSE) ||
            backlog_of(store, job->handler))
            return true;
    return false;
}

static bool settle_created(struct store *store, struct outcome *outcome, time_ms now,
                           struct error *error) {
    bool counts = outcome->kind == OUTCOME_SUCCESS || outcome->kind == OUTCOME_SNOOZE;
    if (!counts) /* hooks alone may have created something */
        return !outcome->created || !outcome->created->by_hook ||
               store_create(store, outcome->created, 0, now, error);
    if (outcome->created) {
        prelock_begin(store, outcome, settle_refusable(store, outcome));
        bool done = store_create(store, outcome->created, 0, now, error);
        prelock_end(store);
        if (!done)
            return false;
        CRASH_POINT("settle_created");
    }
    return !outcome->effects ||
           (operate_effects(store, outcome->effects, outcome->job, now, error) &&
            CRASH_POINT("settle_operated"));
}

/* The lock's row decides whether anything else is written: 1 it is, 0 the lock was lost, -1 error.
 */
static int settle_fence(struct store *store, const struct job *job, struct passed *passed,
                        struct error *error) {
    passed->edited = false;
    if (!db_run(&store->db, error,
                "DELETE FROM locked WHERE id=?1 AND owner=?2 AND token=?3 AND edited=0", "iii",
                job->id, job->owner, job->token))
        return -1;
    if (db_changes(&store->db))
        return 1;
    passed->edited = true;
    return db_run(&store->db, error, "DELETE FROM locked WHERE id=?1 AND owner=?2 AND token=?3",
                  "iii", job->id, job->owner, job->token)
               ? db_changes(&store->db)
               : -1;
}

/* The fence first. */
static bool settle_run(struct store *store, struct outcome *outcome, time_ms now,
                       enum settled *settled, struct error *error) {
    const struct job *job = outcome->job;
    struct passed passed = {0};
    CRASH_POINT("settle_begun");
    /* What others do comes after what is kept of those before. */
    if (!outcome->fenced && !feed_settled(&store->endings, &store->db, error))
        return false;
    int fenced = outcome->fenced ? 1 : settle_fence(store, job, &passed, error);
    CRASH_POINT("settle_fenced");
    *settled = SETTLED_STALE;
    if (fenced < 0)
        return false;
    /* The run has ended, also where its lock was taken away. */
    if ((!outcome->stuck && !limit_freed(store, job->stream, job->token, error)) ||
        (fenced && !starts_end(store, outcome, error)))
        return false;
    if (!fenced && job->repeat && !occurrence_over(store, job->id, job->token, error))
        return false;
    if (job->crashes) /* another suspect may run now */
        prelock_blind(store);
    if (fenced ? !settle_kind(store, outcome, passed, now, settled, error) ||
                     !settle_created(store, outcome, now, error)
               : !history_late_lines(store, outcome, error))
        return false;
    if ((outcome->stuck || outcome->outlived) && !stuck_note(store, outcome, now, error))
        return false;
    bool goes_on = !outcome->lane_ends || outcome->lane_kept || outcome->follows;
    return !job->lane_id || goes_on ||
           lane_release(store, job->lane_id, outcome->lane_token, error);
}

/* What can be refused: then nothing of this outcome is written, and its neighbours stay. */
static bool settle_carefully(struct store *store, struct outcome *outcome, time_ms now,
                             enum settled *settled, struct error *error) {
    const struct meta meta = store->meta;
    const struct tally tally = store->tally;
    const struct sweep_point point = sweep_point(store);
    const struct tell_point told = tell_point(store);
    if (!db_run(&store->db, error, "SAVEPOINT outcome", ""))
        return false;
    if (settle_run(store, outcome, now, settled, error))
        return db_run(&store->db, error, "RELEASE outcome", "");
    struct error ignored;
    CRASH_POINT("settle_refused");
    store->meta = meta;
    store->tally = tally;
    sweep_return(store, point);
    tell_return(store, told);
    store->incidents = store->lines = -1;
    store->catalog.version = 0;
    if (db_run(&store->db, &ignored, "ROLLBACK TO outcome", "") &&
        db_run(&store->db, &ignored, "RELEASE outcome", ""))
        outcome->undone = catalog_refresh(&store->catalog, &store->db, meta.catalog, &ignored);
    return false;
}

/* Nothing that it does asks for the rows of other jobs. */
static bool settle_is_plain(const struct store *store, const struct outcome *outcome) {
    const struct job *job = outcome->job;
    return store->prelock.offer && outcome->kind == OUTCOME_SUCCESS && !outcome->effects &&
           !job->batch && !job->unique_key && !job->repeat && !backlog_counts(store, job->stream);
}

bool store_settle_end(struct store *store, struct error *error) {
    return feed_flush(&store->feed, &store->db, true, error);
}

bool store_settle(struct store *store, struct outcome *outcome, time_ms now, enum settled *settled,
                  struct error *error) {
    bool own = false;
    if (!unit_begin(store, &own, error))
        return false;
    outcome->undone = false;
    bool refusable = settle_refusable(store, outcome);
    store->prelock.keeps = !refusable && settle_is_plain(store, outcome);
    bool done = (store->prelock.keeps || feed_flush(&store->feed, &store->db, true, error)) &&
                (refusable ? settle_carefully(store, outcome, now, settled, error)
                           : settle_run(store, outcome, now, settled, error));
    store->prelock.keeps = false;
    return unit_end(store, own, done, error);
}
