#include "run/executor.h"
#include "base/crash_point.h"
#include "base/log.h"
#include "run/lease.h"
#include "run/looking.h"
#include "run/pace.h"
#include "run/profile.h"
#include "run/settling.h"
#include "store/tidy.h"
#include <stdlib.h>

enum { PROMOTE_MAX = 1000, SECOND = 1000 };

struct executor {
    struct store *store;
    const struct settings *settings;
    struct clock *clock;
    struct store_executor self;
    struct acquire acquire;
    struct pace pace;
    struct settling settling;
    struct metrics metrics;
    struct looking looking;
    time_ms next; /* what the store said last */
    time_ms wall; /* when the last turn was planned */
    struct lease lease;
    time_ms dead_seen;   /* monotonic; last time we asked who died */
    time_ms flushed;     /* monotonic */
    time_ms missed_seen; /* monotonic; last time we asked which handlers are missing */
    time_ms missed_next; /* when to ask again: some are, but not for long enough yet */
    bool starved;        /* a job with a rate waits for an idle worker */
    bool published;      /* the store knows which handlers we serve */
    int64_t done, failed, stale, acquired;
};

/* What the open turn does, and what it has found. */
struct work {
    time_ms now, at; /* wall clock, monotonic */
    bool notes, settles, buries, looks, renews, flushes, misses;
    bool lapsed;
    bool again;    /* an outcome was condemned: roll back and start over */
    bool may_look; /* there is room, and nothing holds it back */
    struct store_buried buried;
    struct offer offer;
    struct job *jobs;     /* acquired; the items take them over */
    struct item *created; /* pre-locked */
    int asked, count, promoted;
    bool more;
    time_ms next, missed_next;
};

/* Nobody may have told us of an executor that serves the rest (rules §3). */
static void warn_of_range(const struct settings *settings) {
    int64_t cleanup = settings->history_cleanup_priority, batch = settings->batch_job_priority;
    int64_t low = settings->priority_min, high = settings->priority_max;
    if (json_array_size(settings->history_cleanup_window) && (cleanup < low || cleanup > high))
        log_event(LOG_WARN, "history cleanup is outside of this executor's range", "priority:l",
                  cleanup);
    if (batch < low || batch > high)
        log_event(LOG_WARN, "batches are outside of this executor's range", "priority:l", batch);
}

static bool join(struct executor *executor, struct error *error) {
    time_ms now = clock_now(executor->clock), at = clock_monotonic();
    if (!store_join(executor->store, &executor->self, now, executor->settings->lock_time, error) ||
        !store_prepare_cleanup(executor->store, now, error))
        return false;
    warn_of_range(executor->settings);
    executor->lease = lease_new(executor->settings->lock_time, now, at);
    return true;
}

struct executor *executor_new(struct store *store, const struct settings *settings,
                              struct clock *clock, int workers, struct error *error) {
    struct executor *executor = calloc(1, sizeof *executor);
    if (!executor) {
        error_set(error, ERROR_FAILED, "out of memory");
        return NULL;
    }
    executor->store = store;
    executor->settings = settings;
    executor->clock = clock;
    looking_anew(&executor->looking);
    executor->next = TIME_NEVER;
    executor->flushed = clock_monotonic();
    executor->dead_seen = executor->missed_seen = executor->flushed - SECOND;
    executor->missed_next = TIME_NEVER;
    executor->acquire = acquire_from(settings);
    executor->acquire.steady = !clock_is_virtual(clock);
    settling_init(&executor->settling);
    executor->self = (struct store_executor){
        .name = settings->name, .workers = workers, .serves = &executor->acquire};
    if (join(executor, error))
        return executor;
    free(executor);
    return NULL;
}

void executor_free(struct executor *executor) {
    struct error error;
    if (!executor)
        return;
    if (!executor_flush(executor, &error))
        log_event(LOG_WARN, "metrics lost", "reason:s", error.text);
    if (!store_leave(executor->store, &error))
        log_event(LOG_ERROR, "locks not given back", "reason:s", error.text);
    settling_clear(&executor->settling);
    metrics_clear(&executor->metrics);
    free(executor);
}

void executor_serve(struct executor *executor, const struct definitions *definitions) {
    executor->acquire.handlers = definitions;
    executor->published = false;
    looking_anew(&executor->looking);
}

bool executor_pending(const struct executor *executor) {
    return executor->settling.list != NULL;
}

bool executor_looks(const struct executor *executor) {
    return executor->looking.look && !pace_holds(&executor->pace, clock_monotonic());
}

int64_t executor_id(const struct executor *executor) {
    return executor->self.id;
}

time_ms executor_lease(const struct executor *executor) {
    return lease_end(&executor->lease);
}

time_ms executor_renewal(const struct executor *executor) {
    return lease_renewal(&executor->lease);
}

/* ---- what a turn will do ---- */

/* Once a second; a virtual clock's seconds are the caller's. */
static bool must_bury(struct executor *executor, const struct work *work) {
    bool is_virtual = clock_is_virtual(executor->clock);
    bool steady = lease_in_step(&executor->lease, work->now, work->at);
    if (!is_virtual && (!steady || work->at - executor->dead_seen < SECOND))
        return false;
    executor->dead_seen = work->at;
    return store_sees_dead(executor->store, work->now);
}

/* Once a second while we look for jobs at all; sooner only when a missing one has been so for long
 * enough. */
static bool must_look_for_missing(const struct executor *executor, const struct work *work) {
    return clock_is_virtual(executor->clock) || work->at - executor->missed_seen >= SECOND ||
           work->now >= executor->missed_next;
}

static bool plan(struct executor *executor, const struct turn *turn, struct work *work) {
    time_ms notes_at = turn->notes ? notes_due(turn->notes) : TIME_NEVER;
    bool room = turn->acquiring && turn->room > 0;
    *work = (struct work){.now = clock_now(executor->clock), .at = clock_monotonic()};
    work->settles = executor_pending(executor);
    work->notes = notes_at != TIME_NEVER;
    work->buries = must_bury(executor, work);
    work->renews = lease_is_due(&executor->lease, work->now, work->at);
    work->flushes = executor->metrics.dirty && work->at - executor->flushed >= SECOND;
    store_alive(executor->store, work->now);
    bool stirred = store_stirred(executor->store); /* asked in any case: the bell is emptied */
    bool fed = executor->starved && turn->idle > 0;
    bool back = work->now < executor->wall; /* what was due at an instant may be so earlier */
    executor->wall = work->now;
    if (stirred || !turn->quiet || fed || back || work->now >= executor->next)
        looking_anew(&executor->looking);
    work->may_look = room && !pace_holds(&executor->pace, work->at);
    work->looks = work->may_look && (executor->looking.look || work->buries);
    work->misses =
        work->may_look && (work->looks || work->settles) && must_look_for_missing(executor, work);
    return !executor->published || work->settles || work->buries || work->renews || work->flushes ||
           work->looks || turn->probes || notes_at <= work->at;
}

/* ---- inside the transaction ---- */

/* What this turn made ready is looked for in this turn. */
static bool acquire(struct executor *executor, const struct turn *turn, struct work *work,
                    struct error *error) {
    work->looks = work->may_look && work->offer.room > 0 && (work->looks || work->offer.look);
    if (!work->looks)
        return true;
    if (!store_promote(executor->store, work->now, PROMOTE_MAX, &work->promoted, error))
        return false;
    work->asked =
        strategy_page(executor->settings, executor->pace.strategy.failure_level, work->offer.room);
    executor->acquire.want = work->asked;
    executor->acquire.horizon = turn->horizon;
    executor->acquire.idle = turn->idle - (turn->room - work->offer.room); /* some are pre-locked */
    if (!store_acquire(executor->store, &executor->acquire, work->now, &work->jobs, &work->count,
                       &work->more, error))
        return false;
    if (work->promoted >= PROMOTE_MAX)
        work->offer.blind = work->offer.look = true;
    return true;
}

static bool publish(struct executor *executor, time_ms now, struct error *error) {
    json_t *profile = profile_new(executor->settings, &executor->acquire, executor->self.workers);
    bool ok = profile ? store_publish(executor->store, profile, now, error)
                      : error_set(error, ERROR_FAILED, "out of memory");
    json_decref(profile);
    return ok;
}

static time_ms earlier(time_ms a, time_ms b) {
    return a < b ? a : b;
}

static bool find_missing(struct executor *executor, const struct turn *turn, struct work *work,
                         struct error *error) {
    work->missed_next = executor->missed_next;
    if (!work->misses && work->looks && store_misses(executor->store, &executor->acquire))
        work->missed_next = earlier(executor->missed_next, work->now + SECOND);
    return !work->misses || store_missing(executor->store, &executor->acquire, work->now,
                                          turn->grace, &work->missed_next, error);
}

static bool probe(struct executor *executor, struct turn *turn, const struct work *work,
                  struct error *error) {
    return !turn->probes || store_best(executor->store, &executor->acquire, work->now, &turn->best,
                                       &turn->left, error);
}

static bool write(struct executor *executor, struct turn *turn, struct work *work,
                  struct error *error) {
    struct store *store = executor->store;
    time_ms now = work->now;
    /* Asked while nobody else can write: whoever took the locks away has done it by now. */
    work->lapsed = work->renews &&
                   lease_is_over(&executor->lease, clock_now(executor->clock), clock_monotonic());
    work->offer =
        looking_offer(&executor->looking, &executor->acquire, turn->acquiring ? turn->room : 0);
    store_offer(store, &work->offer);
    return (!work->renews || store_renew(store, now, executor->settings->lock_time, error)) &&
           (executor->published || publish(executor, now, error)) &&
           (!work->notes || notes_write(turn->notes, store, now, error)) &&
           (!work->settles ||
            settling_write(&executor->settling, store, &work->offer,
                           turn->acquiring || turn->following, now, &work->again, error)) &&
           (!work->settles || store_sweep(store, false, error)) &&
           (!work->buries || store_bury(store, now, &work->buried, error)) &&
           acquire(executor, turn, work, error) && probe(executor, turn, work, error) &&
           find_missing(executor, turn, work, error) &&
           (!work->flushes || metrics_write(&executor->metrics, store, error)) &&
           store_next(store, now, &work->next, error);
}

static bool build(struct turn *turn, struct work *work, struct error *error) {
    struct job *created = work->offer.jobs;
    work->offer.jobs = NULL;
    bool ok = items_build(work->jobs, &turn->items);
    ok = items_build(created, &work->created) && ok;
    return ok || error_set(error, ERROR_FAILED, "out of memory");
}

/* One transaction. False: rolled back, nothing is held. */
static bool attempt(struct executor *executor, struct turn *turn, struct work *work,
                    struct error *error) {
    if (!store_begin(executor->store, error))
        return false;
    CRASH_POINT("turn_begun");
    bool ok = write(executor, turn, work, error);
    CRASH_POINT("turn_written");
    if (ok)
        ok = build(turn, work, error);
    else
        job_free_list(work->jobs);
    ok = ok && store_commit(executor->store, error);
    if (!ok) {
        store_rollback(executor->store);
        items_free(turn->items);
        items_free(work->created);
        job_free_list(work->offer.jobs);
        job_free_list(work->buried.worker_died);
        turn->items = NULL;
    }
    if (work->notes)
        notes_done(turn->notes, ok);
    return ok;
}

/* ---- after the commit ---- */

static void count_acquired(struct metrics *metrics, const struct item *items) {
    for (const struct item *item = items; item; item = item->next)
        for (const struct job *job = item->jobs; job; job = job->next)
            metrics_add(metrics, job->definition, METRIC_ACQUIRED, 1);
}

static void tell_buried(const struct store_buried *buried) {
    if (buried->freed > 0 || buried->crashed > 0)
        log_event(LOG_WARN, "dead executor found", "freed:d crashed:d", buried->freed,
                  buried->crashed);
    for (const struct job *job = buried->worker_died; job; job = job->next)
        log_event(LOG_ERROR, "incident", "job:l handler:s reason:s crashes:d", job->id,
                  job->handler, failure_reason_name(REASON_WORKER_DIED), (int)job->crashes);
    job_free_list(buried->worker_died);
}

static void looked(struct executor *executor, struct turn *turn, const struct work *work) {
    turn->promoted = work->promoted;
    turn->acquired = work->count;
    struct store_met met = store_met(executor->store);
    executor->starved = met.starved;
    pace_looked(&executor->pace, executor->settings, work->asked, work->count, met, work->at);
    if (met.lock_failures)
        metrics_add(&executor->metrics, 0, METRIC_LOCK_FAILURES, met.lock_failures);
    items_watch(&executor->settling.watched, turn->items);
    metrics_add(&executor->metrics, 0, METRIC_ACQUISITIONS, work->asked > 0);
    if (work->count > 0)
        count_acquired(&executor->metrics, turn->items);
}

static void committed(struct executor *executor, struct turn *turn, const struct work *work) {
    CRASH_POINT("turn_committed");
    turn->written = true;
    turn->freed = work->buried.freed;
    turn->lapsed = work->lapsed;
    executor->published = true;
    if (work->renews)
        lease_renewed(&executor->lease, work->now, work->at);
    if (work->misses)
        executor->missed_seen = work->at;
    executor->missed_next = work->missed_next;
    if (work->flushes) {
        metrics_written(&executor->metrics);
        executor->flushed = work->at;
    }
    tell_buried(&work->buried);
    if (work->looks)
        looked(executor, turn, work);
    looking_after(&executor->looking, &work->offer);
    turn->items = items_merge(&executor->acquire, turn->items, work->created);
    settling_done(&executor->settling, turn, &executor->metrics);
    executor->next = pace_next(&executor->pace, executor->settings, executor->store, work->now,
                               earlier(work->next, work->missed_next));
    pace_drains(&executor->pace, executor->store);
    executor->done += turn->done;
    executor->failed += turn->failed;
    executor->stale += turn->stale;
    executor->acquired += turn->acquired;
}

/* Without a loop nobody turns again in a second: when nothing is left to run, the counters follow
 * at once. */
static void flush_behind(struct executor *executor, const struct turn *turn) {
    struct error error;
    if (turn->notes || !turn->acquiring || turn->items || executor_flush(executor, &error))
        return;
    log_event(LOG_WARN, "metrics not written", "reason:s", error.text);
}

bool executor_turn(struct executor *executor, struct turn *turn, struct error *error) {
    struct work work;
    settling_add(&executor->settling, turn->outcomes);
    turn->outcomes = NULL;
    turn->items = NULL;
    turn->settled = turn->done = turn->failed = turn->stale = 0;
    turn->acquired = turn->promoted = turn->freed = 0;
    turn->written = turn->lapsed = turn->left = false;
    while (plan(executor, turn, &work)) {
        if (attempt(executor, turn, &work, error)) {
            committed(executor, turn, &work);
            flush_behind(executor, turn);
            break;
        }
        if (!work.again)
            return false;
    }
    turn->next = executor->next;
    turn->again = executor->looking.look && turn->acquiring;
    if (turn->again && pace_holds(&executor->pace, work.at)) {
        turn->again = false;
        turn->next = earlier(turn->next, work.now + executor->pace.held - work.at);
    }
    turn->starved = executor->starved && !pace_holds(&executor->pace, clock_monotonic());
    turn->draining = executor->pace.draining;
    return true;
}

bool executor_flush(struct executor *executor, struct error *error) {
    struct metrics *metrics = &executor->metrics;
    if (!metrics->dirty)
        return true;
    if (!store_begin(executor->store, error))
        return false;
    if (!metrics_write(metrics, executor->store, error) || !store_commit(executor->store, error)) {
        store_rollback(executor->store);
        return false;
    }
    CRASH_POINT("metrics_flushed");
    metrics_written(metrics);
    executor->flushed = clock_monotonic();
    return true;
}

json_t *executor_status(const struct executor *executor) {
    return json_pack("{ss sI sI sI sI sI sb}", "name", executor->self.name, "id",
                     (json_int_t)executor->self.id, "acquired", (json_int_t)executor->acquired,
                     "done", (json_int_t)executor->done, "failed", (json_int_t)executor->failed,
                     "stale", (json_int_t)executor->stale, "draining", executor->pace.draining);
}
