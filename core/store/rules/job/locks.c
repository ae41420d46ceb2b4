#include "store/rules/job/locks.h"
#include "base/crash_point.h"
#include "base/list.h"
#include "store/rules/create/occurrence.h"
#include "store/rules/ground/row.h"
#include "store/rules/ground/unit_ahead.h"
#include "store/rules/job/tally.h"
#include "store/rules/place/admission.h"
#include "store/rules/place/places.h"
#include "store/rules/place/suspects.h"
#include "store/rules/record/history.h"
#include "store/rules/record/incident.h"
#include "store/rules/record/tell.h"
#include <stdio.h>
#include <stdlib.h>

enum { WANTED = 1000 }; /* rows that are asked for at once */

struct pair { /* a job and its token, or a lane and its token */
    int64_t id, token;
    bool begun; /* the job is a suspect whose start was written */
    bool goes;  /* its row alone says where it goes */
};

/* All rows of a statement, so that their tables may be changed meanwhile. -1: error. */
static int64_t locks_pairs(struct store *store, struct row *rows, struct pair **pairs,
                           struct error *error) {
    int64_t count = 0;
    enum answer step = NO;
    *pairs = NULL;
    while ((step = db_step(&store->db, rows, error)) == YES) {
        struct pair *list = list_room(*pairs, (size_t)count, sizeof *list);
        if (!list) {
            row_done(rows);
            db_no_memory(&store->db, error);
            return -1;
        }
        *pairs = list;
        list[count++] = (struct pair){row_int(rows, 0), row_int(rows, 1), row_int32(rows, 2) != 0,
                                      row_int32(rows, 3) != 0};
    }
    return step == FAILED ? -1 : count;
}

/* The job killed its process once too often: dead, with an incident. */
static bool locks_reap_job(struct store *store, const struct locks_free *what, struct job_row *row,
                           struct error *error) {
    char message[80];
    struct job *job = NULL;
    snprintf(message, sizeof message,
             what->remote ? "the worker was gone %d time%s before this job was done"
                          : "the process died %d time%s while this job ran",
             (int)row->crashes, row->crashes == 1 ? "" : "s");
    const struct job_row old = *row;
    row->retries = 0;
    if ((row->batch && !batch_retries(store, &old, row, error)) ||
        row_job(store, row->id, &job, error) != YES)
        return false;
    job->owner = what->owner;
    struct outcome outcome = {.job = job,
                              .kind = OUTCOME_FAILURE,
                              .reason = REASON_WORKER_DIED,
                              .started = TIME_NONE,
                              .ended = what->now,
                              .message = message};
    struct job_row before = *row;
    before.retries = job->retries;
    bool done = history_failed(store, &outcome, &before, error) && CRASH_POINT("job_buried") &&
                admission_move(store, &before, row, what->now, error);
    done = done && row_fail(store, row, message, NULL, error) &&
           incident_open(store, row, INCIDENT_WORKER_DIED, what->now, error) &&
           tell_failure(store, &outcome, 0, what->now, error);
    job_free(job);
    if (!done || !what->reaped || row_job(store, row->id, &job, error) != YES)
        return done && !what->reaped;
    job->state = JOB_DEAD;
    job->next = what->reaped->worker_died;
    what->reaped->worker_died = job;
    return true;
}

static bool locks_crashed(struct store *store, const struct locks_free *what, struct job_row *row,
                          struct error *error) {
    row->crashes++;
    if (what->reaped)
        what->reaped->crashed++;
    CRASH_POINT("crash_counted");
    if (row->crashes >= store->rules->crash_limit)
        return locks_reap_job(store, what, row, error);
    return row_write(store, row, false, error);
}

static bool locks_has_crashed(const struct locks_free *what, const struct pair *lock) {
    return what->remote || what->blamed == lock->id ||
           (what->slots && running_has(what->slots, lock->id, lock->token)) ||
           (what->counted && lock->begun);
}

static bool locks_free_one(struct store *store, const struct locks_free *what,
                           const struct pair *lock, struct error *error) {
    struct job_row row;
    if (!place_unlock_job(store, lock->id, error))
        return false;
    if (what->reaped) {
        what->reaped->freed++;
        what->reaped->suspects += what->vanished;
    }
    CRASH_POINT("lock_freed");
    enum answer found = row_load_placeless(store, lock->id, &row, error);
    if (found != YES)
        return found == NO;
    if (locks_has_crashed(what, lock) && !locks_crashed(store, what, &row, error))
        return false;
    return incident_place(store, &row, what->now, error) &&
           (!row.repeats || occurrence_left(store, &row, error));
}

bool lock_expire(struct store *store, const struct lock_late *late, time_ms now,
                 struct error *error) {
    const struct locks_free what = {.owner = late->owner, .remote = true, .now = now};
    const struct pair lock = {.id = late->id, .token = late->token};
    return locks_free_one(store, &what, &lock, error) &&
           place_uncount(store, late->stream, late->token, error) &&
           (!late->lane || place_release(store, late->lane, late->token, error));
}

bool locks_blame(struct store *store, const struct locks_free *what, struct error *error) {
    struct job_row row;
    enum answer found = what->blamed ? row_load(store, what->blamed, &row, error) : NO;
    if (found != YES || row.token)
        return found != FAILED;
    return place_remove(store, &row, error) && locks_crashed(store, what, &row, error) &&
           incident_place(store, &row, what->now, error);
}

/* Says which rows are read next. */
static bool locks_want(struct store *store, const struct pair *locks, int64_t count,
                       struct error *error) {
    int64_t ids[WANTED];
    size_t most = count < WANTED ? (size_t)count : WANTED;
    for (size_t i = 0; i < most; i++)
        ids[i] = locks[i].id;
    return row_want(store, (struct ids){ids, most}, true, error);
}

/* A lane of which a job is still locked (its lock was extended) goes on. */
static struct row *locks_lanes(struct store *store, int64_t owner, struct error *error) {
    return db_query(&store->db, error,
                    "SELECT id, token, 0, 0 FROM lane WHERE owner=?1 AND id NOT IN"
                    " (SELECT lane FROM locks WHERE lane IS NOT NULL)",
                    "i", owner);
}

/* The locks that go. */
static struct row *locks_rows(struct store *store, const struct locks_free *what,
                              struct error *error) {
    return db_query(&store->db, error,
                    "SELECT l.id, l.token, s.job IS NOT NULL, j.id IS NOT NULL AND j.retries>0"
                    " AND j.suspended=0 AND j.repeat IS NULL FROM locks l LEFT JOIN suspect s"
                    " ON s.job=l.id AND s.token=l.token LEFT JOIN job j ON j.id=l.id"
                    " WHERE l.owner=?1 AND"
                    " (?2=0 OR l.until IS NULL OR l.until<=?3) ORDER BY l.id",
                    "ini", what->owner, (int)what->expired_only, what->now);
}

/* Those that need statements of their own come first; so many. */
static int64_t locks_alone(const struct locks_free *what, struct pair *locks, int64_t count) {
    int64_t alone = 0;
    for (int64_t i = 0; i < count; i++) {
        const struct pair one = locks[i];
        if (one.goes && !locks_has_crashed(what, &one))
            continue;
        locks[i] = locks[alone];
        locks[alone++] = one;
    }
    return alone;
}

static bool locks_free_each(struct store *store, const struct locks_free *what,
                            const struct pair *locks, int64_t count, struct error *error) {
    bool done = true;
    for (int64_t i = 0; done && i < count; i++)
        done = (i % WANTED != 0 || locks_want(store, &locks[i], count - i, error)) &&
               locks_free_one(store, what, &locks[i], error);
    row_want_end(store);
    return done;
}

/* The locks that are left, all of the same kind. */
static bool locks_free_rest(struct store *store, const struct locks_free *what,
                            const struct pair *locks, int64_t count, struct error *error) {
    const struct place_held held = {what->owner, what->expired_only, what->now};
    for (int64_t i = 0; i < count; i++)
        unit_ahead_forget(store, ASKED_LOCK, locks[i].id);
    if (what->reaped) {
        what->reaped->freed += (int)count;
        what->reaped->suspects += what->vanished ? (int)count : 0;
    }
    return count == 0 ||
           (place_give_up(store, &held, count, error) && CRASH_POINT("jobs_given_up"));
}

static bool locks_mark(struct store *store, const struct locks_free *what, struct error *error) {
    return !what->vanished ||
           suspects_add(store, what->owner, what->expired_only, what->now, error);
}

static bool locks_free_lanes(struct store *store, int64_t owner, struct error *error) {
    struct pair *lanes = NULL;
    int64_t count = locks_pairs(store, locks_lanes(store, owner, error), &lanes, error);
    bool done = count >= 0;
    for (int64_t i = 0; done && i < count; i++)
        done = place_release_later(store, lanes[i].id, lanes[i].token, error);
    free(lanes);
    return done;
}

bool locks_free(struct store *store, const struct locks_free *what, struct error *error) {
    struct pair *locks = NULL;
    int64_t count = locks_pairs(store, locks_rows(store, what, error), &locks, error), alone = 0;
    bool done = count >= 0 && locks_mark(store, what, error);
    if (done) {
        alone = locks_alone(what, locks, count);
        done = locks_free_each(store, what, locks, alone, error) &&
               locks_free_rest(store, what, locks + alone, count - alone, error);
    }
    free(locks);
    return done && CRASH_POINT("locks_freed") && locks_free_lanes(store, what->owner, error) &&
           place_uncount_owner(store, what->owner, error) &&
           occurrence_forget(store, what->owner, error);
}
