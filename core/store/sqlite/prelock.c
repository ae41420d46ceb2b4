#include "store/sqlite/prelock.h"
#include "base/crash_point.h"
#include "store/sqlite/lane.h"
#include "store/sqlite/limit.h"
#include "store/sqlite/row.h"
#include "store/sqlite/serves.h"
#include "store/sqlite/starts.h"

void store_offer(struct store *store, struct offer *offer) {
    store->prelock = (struct prelock){.offer = offer};
}

/* Of more than there is room for, the acquisition finds the best. */
static bool prelock_fits(const struct offer *offer, const struct job *job) {
    int count = 0;
    for (; job && count <= offer->room; job = job->next)
        count++;
    return count <= offer->room;
}

void prelock_begin(struct store *store, struct outcome *creator, bool refusable) {
    struct prelock *prelock = &store->prelock;
    prelock->creator = creator;
    /* What may be refused: then the run is undone alone, and with it what it created. */
    prelock->fits = prelock->offer && !refusable && prelock_fits(prelock->offer, creator->created);
}

void prelock_end(struct store *store) {
    store->prelock.creator = NULL;
}

void prelock_blind(struct store *store) {
    if (store->prelock.offer)
        store->prelock.offer->blind = store->prelock.offer->look = true;
}

/* 1 the executor takes jobs of this stream, 0 not, -1 error. */
static int prelock_serves(struct store *store, int64_t id, struct error *error) {
    struct prelock *prelock = &store->prelock;
    const struct catalog_stream *stream = catalog_stream(&store->catalog, id);
    struct serves serves;
    if (prelock->stream == id)
        return prelock->served;
    if (!stream)
        return 0;
    bool begun = serves_begin(&serves, store, prelock->offer->acquire, error);
    prelock->served = begun && serves_stream(&serves, stream);
    prelock->stream = begun ? id : 0;
    serves_end(&serves);
    return begun ? prelock->served : -1;
}

static bool prelock_in_range(const struct offer *offer, int64_t priority) {
    return priority >= offer->acquire->priority_min && priority <= offer->acquire->priority_max;
}

void prelock_ready(struct store *store, int64_t stream, int64_t priority, time_ms place,
                   int64_t id) {
    struct offer *offer = store->prelock.offer;
    const struct catalog_stream *of = offer ? catalog_stream(&store->catalog, stream) : NULL;
    if (!of || !prelock_in_range(offer, priority) || prelock_serves(store, stream, NULL) == 0)
        return;
    struct spot ready = {priority, place, id, of->type == JOB_TIMER};
    if (!offer->left || acquire_before(offer->acquire, &ready, &offer->best))
        offer->best = ready;
    offer->left = offer->look = true;
}

/* Could an acquisition take the job now, at least as far as it depends on the job alone? */
static int prelock_allowed(struct store *store, const struct job *job, time_ms now,
                           struct error *error) {
    const struct offer *offer = store->prelock.offer;
    bool due = job->due == TIME_NONE ? !offer->acquire->ensure_due_date : job->due <= now;
    if (store->self.draining || job->suspended || !due || job->repeat ||
        now >= store->self.lease_until || !prelock_in_range(offer, job->priority))
        return 0;
    return prelock_serves(store, job->stream, error);
}

/* Its row follows with that of the job. */
static bool prelock_lock(struct store *store, struct job *job, struct error *error) {
    CRASH_POINT("prelock_begun");
    job->token = meta_token(store);
    row_locked(store, job);
    return limit_locked(store, job->stream, job, error);
}

/* A copy of the locked job, for the caller. */
static struct job *prelock_copy(const struct store *store, const struct job *job,
                                struct error *error) {
    struct job *copy = job_copy(job);
    if (!copy)
        error_set(error, ERROR_FAILED, "store \"%s\": out of memory", store->db.name);
    return copy;
}

/* ---- follow-ups ---- */

static bool prelock_is_follow_up(const struct store *store, const struct job *job) {
    const struct prelock *prelock = &store->prelock;
    return job->lane_id && job->lane_id == prelock->creator->job->lane_id &&
           prelock->offer->follows > 0;
}

static int prelock_follow(struct store *store, struct job *job, struct error *error) {
    struct outcome *creator = store->prelock.creator;
    int64_t one = 0;
    int held = db_value(&store->db, error, &one, "SELECT 1 FROM lane WHERE id=?1 AND token=?2",
                        "ii", job->lane_id, creator->lane_token);
    if (held <= 0 || starts_of(store, job->stream))
        return held < 0 ? -1 : 0;
    const struct catalog_definition *limited = limit_of(store, job->stream);
    int64_t free = limited ? limit_free(store, limited, store->self.id, error) : 1;
    if (free <= 0)
        return (int)free;
    struct job **end = &creator->follows;
    while (*end)
        end = &(*end)->next;
    store->prelock.offer->follows--;
    return prelock_lock(store, job, error) && (*end = prelock_copy(store, job, error)) ? 1 : -1;
}

/* ---- what would be next anyway ---- */

/* Best first; mostly at the end, because what is created later stands later. */
static void prelock_insert(struct prelock *prelock, struct job *job) {
    struct offer *offer = prelock->offer;
    struct spot own = acquire_spot(job), other;
    struct job **at = &offer->jobs;
    if (*at) {
        other = acquire_spot(prelock->last);
        if (!acquire_before(offer->acquire, &own, &other))
            at = &prelock->last->next;
    }
    for (; *at; at = &(*at)->next) {
        other = acquire_spot(*at);
        if (acquire_before(offer->acquire, &own, &other))
            break;
    }
    job->next = *at;
    *at = job;
    if (!job->next)
        prelock->last = job;
}

static int prelock_next(struct store *store, struct job *job, struct error *error) {
    struct offer *offer = store->prelock.offer;
    struct spot own = acquire_spot(job);
    if (offer->blind || !store->prelock.fits || limit_of(store, job->stream) ||
        starts_of(store, job->stream) || store->meta.fair ||
        (offer->left && !acquire_before(offer->acquire, &own, &offer->best)))
        return 0;
    int free = job->lane_id ? lane_take(store, job->lane_id, store->meta.next_token, error) : 1;
    if (free <= 0)
        return free;
    struct job *copy = prelock_lock(store, job, error) ? prelock_copy(store, job, error) : NULL;
    if (!copy)
        return -1;
    prelock_insert(&store->prelock, copy);
    offer->room--;
    return 1;
}

int prelock(struct store *store, struct job *job, time_ms now, struct error *error) {
    if (!store->prelock.offer || !store->prelock.creator)
        return 0;
    int allowed = prelock_allowed(store, job, now, error);
    if (allowed <= 0)
        return allowed;
    int followed = prelock_is_follow_up(store, job) ? prelock_follow(store, job, error) : 0;
    return followed ? followed : prelock_next(store, job, error);
}
