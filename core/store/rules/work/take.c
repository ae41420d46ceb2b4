/* take.c - one job by hand (rules §8), and what a running job does with its own lock (rules §4). */
#include "store/rules/batch/batch.h"
#include "store/rules/create/cycle.h"
#include "store/rules/place/places.h"
#include "store/rules/place/rate_limit.h"
#include "store/rules/place/suspects.h"
#include "store/rules/process/frame_page.h"
#include "store/rules/record/history.h"
#include "store/rules/record/operation.h"
#include "store/rules/work/work.h"
#include <stdio.h>

enum { CLAIMS = 1000 }; /* looked up with one statement at most */

/* Another job of the lane that runs: its id; NO: none. */
static int64_t take_rival(struct store *store, const struct job_row *row, time_ms now,
                          struct error *error) {
    int64_t rival = 0, running = 0;
    if (!row->lane)
        return 0;
    if (db_value(&store->db, error, &rival, "SELECT id FROM locks WHERE lane=?1 AND id<>?2 LIMIT 1",
                 "ii", row->lane, row->id) == FAILED)
        return -1;
    if (rival || row->token)
        return rival;
    /* The row of the running job may be gone while its run goes on. A command may have died. */
    enum answer found = db_value(
        &store->db, error, &running,
        "SELECT token FROM lane WHERE id=?1 AND (until IS NULL OR until>?2)", "ii", row->lane, now);
    if (found == FAILED)
        return -1;
    return found == YES ? INT64_MAX : 0;
}

static bool take_lane(struct store *store, const struct job_row *row, int64_t token, bool force,
                      time_ms now, struct error *error) {
    int64_t rival = take_rival(store, row, now, error);
    if (rival < 0)
        return false;
    if (rival && !force)
        return rival == INT64_MAX
                   ? error_set(error, ERROR_CONFLICT,
                               "job %lld: another run of its lane has not ended",
                               (long long)row->id)
                   : error_set(error, ERROR_CONFLICT, "job %lld: job %lld of its lane is running",
                               (long long)row->id, (long long)rival);
    if (!row->lane || rival)
        return true;
    return place_hold_by_hand(store, row->lane, token, error);
}

static bool take_lock(struct store *store, const struct job_row *row, int64_t token,
                      struct error *error) {
    const struct job job = {.id = row->id,
                            .token = token,
                            .owner = store->self.id,
                            .stream = row->stream,
                            .lane_id = row->lane};
    return (row->token || place_remove(store, row, error)) &&
           place_lock_by_hand(store, &job, error);
}

/* A run by hand is an operator's doing; what becomes of it is in the job's log. */
static bool take_log(struct store *store, const struct job *job, time_ms now, struct error *error) {
    char entity[64];
    snprintf(entity, sizeof entity, "job %lld", (long long)job->id);
    return operation_write(store, "execute", entity, 1, NULL, NULL, now, error);
}

static bool take_row(struct store *store, int64_t id, bool force, time_ms now, struct job **job,
                     struct error *error) {
    struct job_row row;
    enum answer found = row_load(store, id, &row, error);
    if (found == NO)
        history_missing(store, id, error);
    if (found != YES)
        return false;
    int64_t token = meta_token(store);
    struct job *taken = NULL;
    if (!take_lane(store, &row, token, force, now, error) ||
        !take_lock(store, &row, token, error) || row_job(store, id, &taken, error) != YES)
        return false;
    taken->token = token;
    const struct catalog_definition *paced = rate_limit_of(store, row.stream);
    if (paced && (!rate_limit_begin(store, now, error) ||
                  !rate_limit_add(store, paced, taken, false, error))) {
        job_free(taken);
        return false;
    }
    if (taken->suspect && !suspects_start(store, taken, now, error)) {
        job_free(taken);
        return false;
    }
    taken->begin_by = 0; /* by hand it begins whenever it is run */
    row_locked(store, taken);
    *job = batch_config(store, taken, error) ? job_copy(taken) : NULL;
    job_free(taken);
    if (!*job)
        return db_no_memory(&store->db, error);
    return frames_attach(store, job, error) &&
           (!row.repeats || cycle_follow(store, *job, now, error)) &&
           take_log(store, *job, now, error);
}

bool store_take(struct store *store, int64_t id, bool force, time_ms now, struct job **job,
                struct error *error) {
    bool own = false;
    *job = NULL;
    if (!store->self.id)
        return error_set(error, ERROR_CONFLICT, "store \"%s\": not joined", store->db.name);
    if (!unit_begin(store, STORE_TURN, &own, error))
        return false;
    bool done =
        (now < store->self.lease_until || store_renew(store, now, store->self.lease, error)) &&
        suspects_refresh(store, error) && take_row(store, id, force, now, job, error);
    if (unit_end(store, own, done, error))
        return true;
    job_free(*job);
    *job = NULL;
    return false;
}

bool store_extend(struct store *store, int64_t job, int64_t token, time_ms until,
                  struct error *error) {
    bool own = false;
    if (!unit_begin(store, STORE_TURN, &own, error))
        return false;
    int held = 0;
    bool done = place_extend(store, job, token, until, error) && db_count(&store->db, &held, error);
    if (done && !held)
        done = error_set(error, ERROR_CONFLICT, "job %lld: its lock is lost", (long long)job);
    return unit_end(store, own, done, error);
}

enum answer store_holds(struct store *store, int64_t job, int64_t token, struct error *error) {
    int64_t one = 0;
    return db_value(&store->db, error, &one, "SELECT 1 FROM locks WHERE id=?1 AND token=?2", "ii",
                    job, token);
}

/* Compares sorted claims with the locks of this executor between their ids, in the same order. */
static bool compare(struct store *store, struct store_claim *claims, size_t count,
                    struct error *error) {
    struct store_claim *claim = claims, *end = claims + count;
    struct row *locks = db_query(&store->db, error,
                                 "SELECT id, token FROM locks WHERE id BETWEEN ?1 AND ?2"
                                 " AND owner=?3 ORDER BY id",
                                 "iii", claims[0].job, end[-1].job, store->self.id);
    enum answer found = NO;
    while (locks && (found = db_step(&store->db, locks, error)) == YES) {
        int64_t id = row_int(locks, 0);
        for (; claim < end && claim->job <= id; claim++)
            claim->lost = claim->job < id || claim->token != row_int(locks, 1);
    }
    for (; found == NO && claim < end; claim++)
        claim->lost = true;
    return locks && found == NO;
}

bool store_ask_lost(struct store *store, struct store_claim *claims, size_t count,
                    struct error *error) {
    for (size_t at = 0; at < count; at += CLAIMS)
        if (!compare(store, claims + at, count - at < CLAIMS ? count - at : CLAIMS, error))
            return false;
    return true;
}
