/* acquire.c - locks the best jobs for the joined executor, lane by lane (rules §2, §4). */
#include "base/crash_point.h"
#include "job/instance_batch.h"
#include "store/rules/batch/batch.h"
#include "store/rules/create/cycle.h"
#include "store/rules/ground/care.h"
#include "store/rules/job/job_commands.h"
#include "store/rules/place/fair_share.h"
#include "store/rules/place/mark.h"
#include "store/rules/place/places.h"
#include "store/rules/place/rate_limit.h"
#include "store/rules/place/spared.h"
#include "store/rules/place/suspects.h"
#include "store/rules/process/frame_page.h"
#include "store/rules/record/bulk.h"
#include "store/rules/record/tell.h"
#include "store/rules/work/taking.h"
#include "store/rules/work/work.h"
#include <stdlib.h>

#define PARKED_MAX 500 /* jobs of busy lanes put aside in one turn */

/* ---- a run of plain jobs ---- */

/* True if the job was read along and needs no look of its own. */
static bool run_fits(const struct taking *taking, const struct cursor *cursor) {
    const struct job *job = cursor->job;
    return job && !cursor->head.lane && job->due <= taking->now && !job->crashes && !job->suspect;
}

/* ---- one job ---- */

/* Two of them at once would leave open which one kills the process. A worker outside is another
 * process. */
static enum answer taking_crashed(struct taking *taking, struct store *store, struct error *error) {
    int64_t one = 0;
    if (taking->crash_known)
        return taking->crash_runs ? YES : NO;
    enum answer found =
        db_value(&store->db, error, &one,
                 "SELECT 1 FROM locked l JOIN job j ON j.id=l.id WHERE j.crashes>0 AND NOT EXISTS"
                 "(SELECT 1 FROM executor e WHERE e.id=l.owner AND e.kind=1) LIMIT 1",
                 "");
    taking->crash_known = found != FAILED;
    taking->crash_runs = found == YES;
    return found;
}

/* YES: may be taken; NO: not by this executor or not now. */
static enum answer taking_allowed(struct taking *taking, struct store *store,
                                  const struct cursor *cursor, struct job *job,
                                  struct error *error) {
    if (taking->acquire->ensure_due_date && job->due == TIME_NONE)
        return NO;
    if (job->due > taking->now || job->repeat) {
        enum deferred deferred = cycle_defer(store, job, taking->now, commands_cancel, error);
        if (deferred == DEFERRED_LEFT)
            return NO;
        if (deferred != DEFERRED_NOT)
            return deferred == DEFERRED && taking_remove(store, cursor, error) ? NO : FAILED;
    }
    if (job->crashes == 0 || store->self.remote)
        return YES;
    enum answer crashed = taking_crashed(taking, store, error);
    return answer_not(crashed);
}

/* One worker runs the jobs of a lane: beyond the horizon they fill nothing. */
static void taking_fill(struct taking *taking, struct taken_lane *lane, const struct job *job) {
    const struct horizon *horizon = &taking->acquire->horizon;
    if (!horizon->run)
        return;
    double before = lane ? lane->time : 0;
    double after = before + horizon->run(horizon->arg, job->definition);
    if (lane)
        lane->time = after;
    if (before < horizon->span)
        taking->time -= (after < horizon->span ? after : horizon->span) - before;
}

/* ---- under a rate ---- */

/* True if a run of the job is known to be short, so that it is over soon after its start. */
static bool taking_brief(const struct taking *taking, int64_t definition) {
    const struct horizon *horizon = &taking->acquire->horizon;
    return horizon->run && horizon->brief(horizon->arg, definition);
}

/* True if a worker comes to the job at once: an idle one, or, if it is a short one of many, one
 * that is through with the others in a moment. */
static bool taking_prompt(const struct taking *taking, const struct store *store,
                          const struct cursor *cursor) {
    if (taking->items < taking->acquire->idle)
        return true;
    return taking->soon > 0 && taking_brief(taking, rate_limit_of(store, cursor->stream)->id);
}

/* Counts the start of a job. */
static bool taking_start(struct taking *taking, struct store *store, const struct cursor *cursor,
                         struct job *job, struct error *error) {
    const struct horizon *horizon = &taking->acquire->horizon;
    if (!cursor->paced)
        return true;
    bool brief = taking_brief(taking, job->definition);
    if (brief)
        taking->soon -= horizon->run(horizon->arg, job->definition);
    return rate_limit_add(store, rate_limit_of(store, cursor->stream), job, brief, error);
}

void taking_append(struct taking *taking, struct job *job, struct taken_lane *lane) {
    taking->count++;
    taking->changes += taking->definition != job->definition;
    taking->definition = job->definition;
    taking->bytes -= job->unread ? PLAIN_PAYLOAD : (int64_t)job->payload_size;
    taking->items += !lane;
    if (lane) {
        job->next = lane->last->next;
        lane->last->next = job;
        if (!job->next)
            taking->end = &job->next;
        lane->last = job;
        lane->count++;
        taking_fill(taking, lane, job);
        return;
    }
    *taking->end = job;
    taking->end = &job->next;
    taking_fill(taking, job->lane_id ? taking_item(taking, job) : NULL, job);
}

/* True if the job, which had to be read by itself, may be the first of such an item. */
static bool taking_shares(const struct taking *taking, const struct cursor *cursor,
                          const struct job *job) {
    return cursor->limited && !cursor->head.lane && !job->repeat && !job->batch && !job->crashes &&
           !job->suspect && taking_brief(taking, job->definition);
}

/* ---- one job with all that it may have ---- */

static bool taking_suspect(struct taking *taking, struct store *store, struct job *job,
                           struct error *error) {
    taking->suspect_known = taking->suspect_runs = true;
    return suspects_start(store, job, taking->now, error);
}

static bool taking_lock(struct taking *taking, struct store *store, const struct cursor *cursor,
                        struct job *job, struct taken_lane *lane, struct error *error) {
    job->token = meta_token(store);
    row_locked(store, job);
    if (job->crashes)
        taking->crash_known = taking->crash_runs = true;
    if ((job->batch && !batch_config(store, job, error)) ||
        !taking_start(taking, store, cursor, job, error) ||
        (job->suspect && !taking_suspect(taking, store, job, error)))
        return false;
    struct shared *shared = NULL;
    if (taking_shares(taking, cursor, job) && !shared_begin(taking, store, job, &shared, error))
        return false;
    struct job *copy = job_copy(job);
    if (!copy)
        return db_no_memory(&store->db, error);
    if (shared)
        shared_append(taking, shared, copy);
    else
        taking_append(taking, copy, lane);
    job->permit = copy->permit;
    if (!taking_frame(taking, store, job, error))
        return false;
    return taking_remove(store, cursor, error) && CRASH_POINT("acquire_removed") &&
           place_lock(store, job, error) &&
           (!copy->repeat || cycle_follow(store, copy, taking->now, error));
}

enum verdict { BROKE, TOOK, SHARED, PASSED, PARKED, STARVED, FULL };

/* The job has no row. Its place may have gone since it was read; false: it is there. */
static bool taking_gone(struct store *store, const struct cursor *cursor, struct error *error) {
    const struct head *head = &cursor->head;
    int64_t one = 0;
    enum answer found =
        db_value(&store->db, error, &one,
                 "SELECT 1 FROM ready WHERE stream=?1 AND rank=?2 AND place=?3 AND id=?4 UNION ALL"
                 " SELECT 1 FROM parked WHERE lane=?5 AND stream=?1 AND rank=?2 AND place=?3"
                 " AND id=?4 LIMIT 1",
                 "iiiii", cursor->stream, head->rank, head->place, head->id, head->lane);
    return found == NO || (found == YES && row_missing(store, head->id, error));
}

static enum verdict taking_job(struct taking *taking, struct store *store,
                               const struct cursor *cursor, struct taken_lane *lane,
                               struct error *error) {
    struct job job;
    int64_t fresh = lane ? 0 : cursor->head.lane; /* held since a moment ago */
    struct row *row = db_query(&store->db, error, "SELECT " ROW_COLUMNS " FROM job j WHERE id=?1",
                               "i", cursor->head.id);
    enum answer step = db_step(&store->db, row, error), allowed = step;
    bool done = false;
    if (step == YES)
        allowed = row_read(store, row, &job, error)
                      ? taking_allowed(taking, store, cursor, &job, error)
                      : FAILED;
    if (allowed == YES)
        done = taking_lock(taking, store, cursor, &job, lane, error);
    else if (allowed == NO)
        done = (step == YES || taking_gone(store, cursor, error)) &&
               (!fresh || taking_release(taking, store, fresh, error));
    if (step == YES)
        row_done(row);
    if (!done)
        return BROKE;
    if (allowed == YES)
        return job.permit ? SHARED : TOOK;
    return PASSED;
}

/* A job that is in no item of others, unless it has a permit. */
static bool taking_plain(struct taking *taking, struct store *store, const struct cursor *cursor,
                         struct job *job, struct error *error) {
    job->token = meta_token(store);
    if (job_walked(job) && !taking_frame(taking, store, job, error))
        return false;
    return taking_start(taking, store, cursor, job, error) &&
           taking_leaves(taking, store, cursor, error) &&
           bulk_take(store, job, &cursor->head, cursor->lane != 0, error);
}

/* A job that was read along; lane: its item, or NULL. */
static enum verdict taking_along(struct taking *taking, struct store *store,
                                 const struct cursor *cursor, struct taken_lane *lane,
                                 struct error *error) {
    struct job *job = merge_job(&taking->merge);
    taking_append(taking, job, lane);
    bool done = taking_plain(taking, store, cursor, job, error) && place_count(store, job, error);
    return done ? TOOK : BROKE;
}

/* ---- a run of short jobs under a limit ---- */

/* Each worker has an item first, then each job goes into the shortest one. */
static enum verdict taking_shared(struct taking *taking, struct store *store,
                                  const struct cursor *cursor, struct error *error) {
    int count = 0;
    struct shared *shared = shared_find(taking, cursor->job, &count);
    if (count < taking->acquire->horizon.workers &&
        !shared_begin(taking, store, cursor->job, &shared, error))
        return BROKE;
    if (!shared)
        return FULL;
    struct job *job = merge_job(&taking->merge);
    shared_append(taking, shared, job);
    return taking_plain(taking, store, cursor, job, error) ? SHARED : BROKE;
}

/* ---- a job of a lane that is known ---- */

/* Only the first job of a lane is spared; none where marks are kept, as they pass parked jobs
 * alone.
 */
static enum answer taking_spares(struct taking *taking, struct store *store,
                                 const struct cursor *cursor, struct error *error) {
    struct known_lane *lane = lane_set_find(&taking->known, cursor->head.lane);
    if (store->self.remote)
        return NO;
    if (cursor->lane || lane->spares || lane->owner != store->self.id || store->marks.until)
        return NO;
    lane->spares = true;
    return spared_add(store, cursor->head.id, error);
}

/* The lane of the job runs. */
static enum verdict taking_behind(struct taking *taking, struct store *store,
                                  const struct cursor *cursor, struct error *error) {
    enum answer spared = taking_spares(taking, store, cursor, error);
    taking->parked++;
    if (spared != NO)
        return spared == YES ? PASSED : BROKE;
    return cursor->lane || lane_set_park(&taking->known, store, cursor, error) ? PARKED : BROKE;
}

static enum verdict taking_known(struct taking *taking, struct store *store,
                                 const struct cursor *cursor, struct taken_lane *lane,
                                 struct error *error) {
    const int64_t id = cursor->head.lane;
    bool free = lane ? !taking_full(taking, lane)
                     : lane_set_hold(&taking->known, store, id, store->meta.next_token);
    if (!free)
        return taking_behind(taking, store, cursor, error);
    if (cursor->lane && !lane_set_unpark(&taking->known, store, cursor, error))
        return BROKE;
    return taking_along(taking, store, cursor, lane, error);
}

/* ---- a job of a lane that is not known ---- */

static bool taking_read(const struct taking *taking, const struct store *store,
                        const struct cursor *cursor) {
    const struct job *job = cursor->job;
    if (store->engine->sets || !job || !cursor->head.lane || cursor->paced || cursor->limited)
        return false;
    if (taking->acquire->ensure_due_date && job->due == TIME_NONE)
        return false;
    return job->due <= taking->now && !job->crashes && !job->suspect;
}

/* A job whose lane, if it has one, is asked for by its key. What is to be parked breaks no run: it
 * leaves by its key, or before the run goes on. Behind another job of its lane it would not start
 * at once. */
static enum verdict taking_asked(struct taking *taking, struct store *store,
                                 const struct cursor *cursor, struct taken_lane *lane,
                                 struct error *error) {
    const int64_t id = cursor->head.lane;
    bool free = !lane || (!taking_full(taking, lane) && !cursor->paced);
    if (store->engine->sets && !taking_flush(taking, store, error))
        return BROKE;
    if (id && !lane && !place_hold(store, id, store->meta.next_token, &free, error))
        return BROKE;
    if (!free)
        return cursor->lane || taking_park(taking, store, cursor, error) ? PARKED : BROKE;
    if (taking_read(taking, store, cursor))
        return taking_along(taking, store, cursor, lane, error);
    return taking_flush(taking, store, error) ? taking_job(taking, store, cursor, lane, error)
                                              : BROKE;
}

/* ---- suspects ---- */

/* YES: a suspect that has begun here may still kill the machine. */
static enum answer taking_suspect_runs(struct taking *taking, struct store *store,
                                       struct error *error) {
    if (taking->suspect_known)
        return taking->suspect_runs ? YES : NO;
    enum answer runs = suspects_wait(store, taking->now, error);
    taking->suspect_known = runs != FAILED;
    taking->suspect_runs = runs == YES;
    return runs;
}

/* YES: it is a suspect that has to wait for another one, or for a worker that begins it at once; or
 * it is behind one in its lane. */
static enum answer taking_waits(struct taking *taking, struct store *store,
                                const struct cursor *cursor, const struct taken_lane *lane,
                                struct error *error) {
    const int64_t id = cursor->head.lane;
    bool fresh = false;
    if (!suspects_has(store, cursor->head.id))
        return id && id_set_has(&taking->passed_lanes, id) ? YES : NO;
    enum answer waits = lane ? YES : taking_suspect_runs(taking, store, error);
    if (waits == NO && taking->items >= taking->acquire->idle) {
        taking->starved = true;
        waits = YES;
    }
    if (waits != YES || !id || id_set_add(&taking->passed_lanes, id, &fresh))
        return waits;
    db_no_memory(&store->db, error);
    return FAILED;
}

/* A job stays between those that are taken: no run goes on behind it. */
static enum verdict taking_passes(struct taking *taking, struct store *store, struct error *error) {
    return store->engine->sets || taking_flush(taking, store, error) ? PASSED : BROKE;
}

/* The job of the best head, if it is to be had with others. */
static bool taking_reads(struct taking *taking, struct store *store, struct cursor *cursor,
                         struct error *error) {
    bool done = merge_fill(&taking->merge, store, error);
    cursor->job = merge_best(&taking->merge)->job;
    return done;
}

static enum verdict taking_head(struct taking *taking, struct store *store, struct cursor *cursor,
                                struct error *error) {
    int64_t id = cursor->head.lane;
    struct taken_lane *lane = taking_lane(taking, id);
    taking->met++;
    taking->laned += id != 0;
    taking->ready += id && !cursor->lane;
    if (cursor->paced && !lane && !taking_prompt(taking, store, cursor))
        return STARVED;
    if (store->suspects.count) {
        enum answer waits = taking_waits(taking, store, cursor, lane, error);
        if (waits == FAILED)
            return BROKE;
        if (waits == YES) /* a lane's parked jobs come in their order */
            return cursor->lane ? PARKED : taking_passes(taking, store, error);
    }
    if (!taking_reads(taking, store, cursor, error))
        return BROKE;
    bool fits = run_fits(taking, cursor);
    if (fits && cursor->limited && taking_brief(taking, cursor->job->definition))
        return taking_shared(taking, store, cursor, error);
    if (cursor->limited && !limits_has(&taking->merge.limits, limit_of(store, cursor->stream)->id))
        return FULL;
    if (fits)
        return taking_along(taking, store, cursor, NULL, error);
    enum answer knows = taking_knows(taking, store, cursor, lane, error);
    if (knows == YES)
        return taking_known(taking, store, cursor, lane, error);
    return knows == NO ? taking_asked(taking, store, cursor, lane, error) : BROKE;
}

static bool taking_served(struct taking *taking, struct store *store, struct error *error) {
    bool served = taking->served;
    taking->served = false;
    return !served || fair_share_served(store, taking->rank, taking->turn, taking->now, error);
}

/* Inside a rank they come in the order of their turns, mostly. */
static bool taking_turn(struct taking *taking, struct store *store, const struct cursor *cursor,
                        struct error *error) {
    const struct head *head = &cursor->head;
    if (taking->served && taking->rank != head->rank && !taking_served(taking, store, error))
        return false;
    if (!taking->served || head->place > taking->turn)
        taking->turn = head->place;
    taking->rank = head->rank;
    taking->served = true;
    return true;
}

/* Jobs that were passed, or wait for a place or their rate, are still ready. */
static void taking_mark(struct store *store, const struct cursor *cursor, enum verdict verdict) {
    bool left = verdict == TOOK || verdict == SHARED || verdict == PARKED;
    if (store->marks.until && left)
        marks_pass(store, cursor);
    else if (store->marks.until)
        marks_stay(store, cursor);
}

/* What is parked in the lane of a taken job comes next. Jobs of it that were taken have left. */
static bool taking_follow(struct taking *taking, struct store *store, const struct cursor *taken,
                          struct error *error) {
    enum answer follows = taken->lane ? NO : taking_follows(taking, store, taken, error);
    /* A place that was written by hand may name another lane than its row, which was taken. */
    if (follows != YES || !taking_lane(taking, taken->head.lane))
        return follows != FAILED;
    return taking_parked_out(taking, store, taken->head.lane, error) &&
           merge_follow(&taking->merge, store, taken, lane_set_parked(&taking->known, taken),
                        error);
}

static bool taking_next(struct taking *taking, struct store *store, struct error *error) {
    struct cursor best = *merge_best(&taking->merge);
    care_touch(store, best.head.id);
    enum verdict verdict = taking_head(taking, store, &best, error);
    /* Of a row that is dealt with alone nothing is left to fail behind the next one. */
    if (care_is_alone(store) && verdict != BROKE && !taking_flush(taking, store, error))
        verdict = BROKE;
    if (verdict == PARKED && best.lane) /* the item is full */
        return merge_drop(&taking->merge);
    taking_mark(store, &best, verdict);
    if (verdict == STARVED || verdict == FULL) {
        taking->starved = taking->starved || verdict == STARVED;
        merge_leave(&taking->merge, store, best.stream);
        return true;
    }
    taking->merge.wanted = taking_wanted(taking, store);
    if (verdict == BROKE || !merge_next(&taking->merge, store, error) ||
        (verdict == TOOK && !taking_follow(taking, store, &best, error)))
        return false;
    if (verdict != TOOK && verdict != SHARED)
        return true;
    return (!store->meta.fair || taking_turn(taking, store, &best, error)) &&
           merge_took(&taking->merge, store, &best, verdict == TOOK, error);
}

static bool taking_enough(const struct taking *taking) {
    return taking->count >= taking->acquire->want || taking->parked >= PARKED_MAX ||
           taking->bytes <= 0 || (taking->acquire->horizon.run && taking->time <= 0);
}

static bool taking_run(struct taking *taking, struct store *store, bool *more,
                       struct error *error) {
    while (merge_best(&taking->merge)) {
        if (taking_enough(taking)) {
            *more = merge_left(&taking->merge, &taking->best);
            return true;
        }
        if (!taking_next(taking, store, error))
            return false;
    }
    return true;
}

/* Forgets what was known of ready jobs: they are about to be looked at. */
static void taking_open(struct store *store) {
    struct capacity *capacity = store->open.capacity;
    spared_turn(store);
    store->met.held = false;
    if (capacity)
        capacity->ready.blind = capacity->ready.left = capacity->ready.look = false;
}

static void taking_close(const struct taking *taking, struct capacity *capacity, bool more) {
    if (!capacity)
        return;
    capacity->room = 0;
    if (more && (!capacity->ready.left ||
                 acquire_before(taking->acquire, &taking->best, &capacity->ready.best)))
        capacity->ready.best = taking->best;
    capacity->ready.left = capacity->ready.left || more;
    capacity->ready.look = capacity->ready.look || more;
}

static bool taking_all(struct taking *taking, struct store *store, bool *more,
                       struct error *error) {
    if (!rate_limit_begin(store, taking->now, error) || !suspects_refresh(store, error) ||
        !merge_begin(&taking->merge, store, taking->acquire, error))
        return false;
    if (!taking_run(taking, store, more, error) || !taking_flush(taking, store, error))
        return false;
    if (!*more && !merge_held(&taking->merge, store, error))
        return false;
    return taking_served(taking, store, error) &&
           frame_page_give(&taking->frames, store, &taking->jobs, error);
}

static void taking_free(struct taking *taking, struct store *store) {
    taking_learn(taking, store);
    merge_end(&taking->merge);
    frame_page_clear(&taking->frames);
    lane_set_clear(&taking->known);
    id_set_clear(&taking->passed_lanes);
    free(taking->lanes);
    free(taking->lane_places);
}

bool store_acquire(struct store *store, const struct acquire *acquire, time_ms now,
                   struct job **jobs, int *count, bool *more, struct error *error) {
    bool own = false;
    const int64_t placed = store->placed;
    struct taking taking = {.acquire = acquire, .now = now, .time = acquire->horizon.time};
    taking.bytes = acquire_bytes(acquire);
    taking.soon = acquire->horizon.soon;
    *jobs = NULL;
    *count = *more = 0;
    taking.end = &taking.jobs;
    store->self.now = now;
    store->rate_clock.next = TIME_NEVER;
    if (!store->self.id)
        return error_set(error, ERROR_CONFLICT, "store \"%s\": not joined", store->db.name);
    if (!unit_begin(store, STORE_TURN, &own, error))
        return false;
    taking_open(store);
    CRASH_POINT("acquire_begun");
    /* Rows that were kept back are written first; a monitor may become ready by that. */
    bool written =
        bulk_flush(store, true, error) && tell_flush(store, error) && batch_settle(store, error);
    bool room = taking_room(&taking, acquire->want);
    bool done = written && (room || db_no_memory(&store->db, error));
    /* A lock under a lease that has run out would be given to another executor. */
    if (done && now >= store->self.lease_until)
        done = store_renew(store, now, store->self.lease, error);
    done = done && (store->self.draining || taking_all(&taking, store, more, error));
    store->met.starved = taking.starved;
    store->bulk.count = 0;
    taking_close(&taking, store->open.capacity, *more);
    *more = *more || store->placed != placed; /* it may stand before what was read by then */
    taking_free(&taking, store);
    if (unit_end(store, own, done, error)) {
        *jobs = taking.jobs;
        *count = taking.count;
        return true;
    }
    job_free_list(taking.jobs);
    return false;
}

bool store_best(struct store *store, const struct acquire *acquire, time_ms now,
                struct sort_key *best, bool *found, struct error *error) {
    struct merge merge = {0};
    const struct store_acquire_stats met = store->met;
    struct acquire one = *acquire;
    bool own = false;
    one.want = 1;
    *found = false;
    if (!look_begin(store, &own, error))
        return false;
    bool done = rate_limit_begin(store, now, error) && merge_begin(&merge, store, &one, error);
    if (done)
        *found = merge_left(&merge, best);
    store->met = met;
    merge_end(&merge);
    look_end(store, own);
    return done;
}
