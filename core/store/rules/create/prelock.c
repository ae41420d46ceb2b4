#include "store/rules/create/prelock.h"
#include "base/crash_point.h"
#include "job/unit.h"
#include "store/rules/ground/capacity.h"
#include "store/rules/ground/row.h"
#include "store/rules/ground/unit_ahead.h"
#include "store/rules/place/limit.h"
#include "store/rules/place/places.h"
#include "store/rules/place/rate_limit.h"

enum { FEW = 128 }; /* jobs of one run */

/* True if they are few and there is room for all, and for their payloads. Of more jobs the
 * acquisition finds the best, and takes no more than the workers will end soon. */
static bool prelock_fits(const struct capacity *capacity, const struct job_spec *spec) {
    int count = 0, most = capacity->room < FEW ? capacity->room : FEW;
    int64_t bytes = 0;
    for (; spec && count <= most; spec = spec->next, count++)
        bytes += (int64_t)spec->job.payload_size;
    return count <= most && (!capacity->bytes || bytes < capacity->bytes);
}

void prelock_begin(struct store *store, struct outcome *creator) {
    const struct capacity *capacity = store->open.capacity;
    store->prelock.creator = creator;
    /* An outcome that may be refused is undone alone, together with the jobs that it created. */
    store->prelock.fits =
        capacity && creator->way != WAY_CAREFUL && prelock_fits(capacity, creator->created);
}

void prelock_end(struct store *store) {
    store->prelock.creator = NULL;
}

/* YES: an acquisition could take the job now, as far as the job itself decides. */
static enum answer prelock_allowed(struct store *store, const struct job *job, time_ms now,
                                   struct error *error) {
    const struct capacity *capacity = store->open.capacity;
    bool due = job->due == TIME_NONE ? !capacity->acquire->ensure_due_date : job->due <= now;
    if (store->self.draining || job->suspended || !due || job->repeat ||
        now >= store->self.lease_until)
        return NO;
    return capacity_takes(store, job->stream, job->priority, error);
}

/* Locks the job in memory. Its row of `locked` follows with the job's row. */
static bool prelock_lock(struct store *store, struct job *job, struct error *error) {
    CRASH_POINT("prelock_begun");
    job->token = meta_token(store);
    row_locked(store, job);
    return place_count(store, job, error);
}

/* A copy of the locked job, for the caller. A follow-up has no frame: by the time it runs, others
 * of its lane may have moved the instance on. */
static struct job *prelock_copy(struct store *store, const struct job *job, bool follows,
                                struct error *error) {
    struct job shown = *job;
    row_show(store, &shown);
    unit_show(store->prelock.creator->unit, &shown, !follows);
    struct job *copy = job_copy(&shown);
    if (!copy)
        db_no_memory(&store->db, error);
    return copy;
}

/* ---- follow-ups ---- */

static bool prelock_is_follow_up(const struct store *store, const struct job *job) {
    return job->lane_id && job->lane_id == store->prelock.creator->job->lane_id &&
           store->open.capacity->follows > 0;
}

/* The run that creates it still has the lane. */
static enum answer lane_stands(struct store *store, int64_t lane, int64_t token,
                               struct error *error) {
    const struct asked_entry *ahead = unit_ahead_find(store, ASKED_HELD, lane, token);
    int64_t one = 0;
    if (ahead)
        return ahead->count ? YES : NO;
    return db_value(&store->db, error, &one, "SELECT 1 FROM lane WHERE id=?1 AND token=?2", "ii",
                    lane, token);
}

static enum answer prelock_follow(struct store *store, struct job *job, struct error *error) {
    struct outcome *creator = store->prelock.creator;
    enum answer held = lane_stands(store, job->lane_id, creator->lane_token, error);
    if (held != YES || rate_limit_of(store, job->stream))
        return held == FAILED ? FAILED : NO;
    const struct catalog_definition *limited = limit_of(store, job->stream);
    int64_t free = limited ? limit_free(store, limited, store->self.id, error) : 1;
    if (free <= 0)
        return free < 0 ? FAILED : NO;
    struct job **end = &creator->follows;
    while (*end)
        end = &(*end)->next;
    store->open.capacity->follows--;
    return prelock_lock(store, job, error) && (*end = prelock_copy(store, job, true, error))
               ? YES
               : FAILED;
}

/* ---- what would be next anyway ---- */

/* Inserts the job, best first. It mostly goes to the end: later jobs stand later. */
static void prelock_insert(struct store *store, struct job *job) {
    struct capacity *capacity = store->open.capacity;
    struct prelock *prelock = &store->prelock;
    struct sort_key own = acquire_sort_key(job), other;
    struct job **at = &capacity->jobs;
    if (*at) {
        other = acquire_sort_key(prelock->last);
        if (!acquire_before(capacity->acquire, &own, &other))
            at = &prelock->last->next;
    }
    for (; *at; at = &(*at)->next) {
        other = acquire_sort_key(*at);
        if (acquire_before(capacity->acquire, &own, &other))
            break;
    }
    job->next = *at;
    *at = job;
    if (!job->next)
        prelock->last = job;
}

static enum answer prelock_next(struct store *store, struct job *job, struct error *error) {
    struct capacity *capacity = store->open.capacity;
    struct sort_key own = acquire_sort_key(job);
    if (capacity->ready.blind || !store->prelock.fits || limit_of(store, job->stream) ||
        rate_limit_of(store, job->stream) || store->meta.fair ||
        (capacity->ready.left && !acquire_before(capacity->acquire, &own, &capacity->ready.best)))
        return NO;
    bool free = true;
    if (job->lane_id && !place_hold(store, job->lane_id, store->meta.next_token, &free, error))
        return FAILED;
    if (!free)
        return NO;
    struct job *copy =
        prelock_lock(store, job, error) ? prelock_copy(store, job, false, error) : NULL;
    if (!copy)
        return FAILED;
    prelock_insert(store, copy);
    capacity->room--;
    capacity->bytes -= capacity->bytes ? (int64_t)copy->payload_size : 0;
    return YES;
}

enum answer prelock(struct store *store, struct job *job, time_ms now, struct error *error) {
    if (!store->open.capacity || !store->prelock.creator)
        return NO;
    enum answer allowed = prelock_allowed(store, job, now, error);
    if (allowed != YES)
        return allowed;
    enum answer followed =
        prelock_is_follow_up(store, job) ? prelock_follow(store, job, error) : NO;
    return followed == NO ? prelock_next(store, job, error) : followed;
}

static void prelock_over(struct store *store) {
    store->prelock = (struct prelock){0};
}

const struct txn_hook prelock_hook = {.committed = prelock_over, .drop = prelock_over};
