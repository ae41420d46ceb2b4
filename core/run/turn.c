#include "run/turn.h"
#include "base/crash_point.h"
#include "base/json.h"
#include "base/log.h"
#include "run/back_off.h"
#include "run/lease.h"
#include "run/outcomes.h"
#include <stdlib.h>

enum { PROMOTE_MAX = 1000, SECOND = 1000, MANY = 64 };

struct turns {
    struct store *store;
    const struct settings *settings;
    struct clock *clock;
    struct store_executor self;
    struct acquire acquire;
    struct back_off back_off;
    struct outcomes outcomes;
    struct metrics metrics;
    struct ready_hint hint;
    time_ms next; /* what the store said last */
    time_ms wall; /* when the last turn was planned */
    struct lease lease;
    time_ms dead_seen;   /* monotonic; last look for dead executors */
    time_ms flushed;     /* monotonic */
    time_ms missed_seen; /* monotonic; last look for missing handlers */
    time_ms missed_next; /* when to ask again: some are, but not for long enough yet */
    int taken;           /* jobs of an acquisition, a moving mean */
    bool starved;        /* a job with a rate waits for a worker */
    bool draining;       /* told to take nothing more */
    bool deaf;           /* no bell can ring for it, although others may write to its file */
    bool published;      /* the store knows which handlers are served */
};

/* The plan and the findings of the open turn. */
struct work {
    time_ms now, at; /* wall clock, monotonic */
    bool requests, settles, reaps, looks, renews, flushes, misses;
    bool lapsed;
    bool again;    /* an outcome was condemned: roll back and start over */
    bool may_look; /* there is room, and nothing holds it back */
    struct store_reaped reaped;
    struct capacity capacity;
    struct job *jobs;          /* acquired; the items take them over */
    struct work_item *created; /* pre-locked */
    int asked, count, promoted;
    bool more;
    time_ms next, missed_next;
};

/* Another executor may serve the rest, so these are warnings alone (rules §3). */
static void warn_of_range(const struct settings *settings) {
    int64_t cleanup = settings->history_cleanup_priority, batch = settings->batch_job_priority;
    int64_t low = settings->priority_min, high = settings->priority_max;
    if (json_array_size(settings->history_cleanup_window) && (cleanup < low || cleanup > high))
        log_event(LOG_WARN, "history cleanup is outside of this executor's range", "priority:l",
                  cleanup);
    if (batch < low || batch > high)
        log_event(LOG_WARN, "batches are outside of this executor's range", "priority:l", batch);
}

static bool join(struct turns *turns, struct error *error) {
    time_ms now = clock_now(turns->clock), at = clock_monotonic();
    if (!store_join(turns->store, &turns->self, now, turns->settings->lock_time, error) ||
        !store_prepare_cleanup(turns->store, now, error))
        return false;
    warn_of_range(turns->settings);
    turns->lease = lease_new(turns->settings->lock_time, now, at);
    turns->deaf = store_name(turns->store) && store_bell(turns->store) < 0;
    return true;
}

struct turns *turns_new(struct store *store, const struct settings *settings, struct clock *clock,
                        int workers, struct error *error) {
    struct turns *turns = calloc(1, sizeof *turns);
    if (!turns) {
        error_no_memory(error);
        return NULL;
    }
    turns->store = store;
    turns->settings = settings;
    turns->clock = clock;
    turns->hint.look = turns->hint.blind = true;
    turns->next = TIME_NEVER;
    turns->taken = 2 * MANY; /* not known yet */
    turns->flushed = clock_monotonic();
    turns->dead_seen = turns->missed_seen = turns->flushed - SECOND;
    turns->missed_next = TIME_NEVER;
    turns->acquire = acquire_from(settings);
    turns->acquire.steady = !clock_is_virtual(clock);
    outcomes_init(&turns->outcomes);
    turns->self = (struct store_executor){
        .name = settings->name, .workers = workers, .serves = &turns->acquire};
    if (join(turns, error))
        return turns;
    free(turns);
    return NULL;
}

void turns_free(struct turns *turns) {
    struct error error = {0};
    if (!turns)
        return;
    if (!turns_flush(turns, &error))
        log_event(LOG_WARN, "metrics lost", "reason:s", error.text);
    if (!store_leave(turns->store, &error))
        log_event(LOG_ERROR, "locks not given back", "reason:s", error.text);
    outcomes_clear(&turns->outcomes);
    metrics_clear(&turns->metrics);
    free(turns);
}

void turns_serve(struct turns *turns, const struct definitions *definitions) {
    turns->acquire.handlers = definitions;
    turns->published = false;
    turns->hint.look = turns->hint.blind = true;
}

bool turns_pending(const struct turns *turns) {
    return turns->outcomes.list != NULL;
}

bool turns_looks(const struct turns *turns) {
    return turns->hint.look && !back_off_holds(&turns->back_off, clock_monotonic());
}

int64_t turns_id(const struct turns *turns) {
    return turns->self.id;
}

time_ms turns_lease(const struct turns *turns) {
    return lease_end(&turns->lease);
}

time_ms turns_renewal(const struct turns *turns) {
    return lease_renewal(&turns->lease);
}

/* ---- what a turn will do ---- */

/* Once a second, while the clock is `steady`; a virtual clock's seconds are the caller's. */
static bool must_reap(struct turns *turns, const struct work *work, bool steady) {
    bool is_virtual = clock_is_virtual(turns->clock);
    if (!is_virtual && (!steady || work->at - turns->dead_seen < SECOND))
        return false;
    turns->dead_seen = work->at;
    return store_sees_dead(turns->store, work->now);
}

/* Once a second while we look for jobs at all; sooner only when a missing one has been so for long
 * enough. */
static bool must_look_for_missing(const struct turns *turns, const struct work *work) {
    return clock_is_virtual(turns->clock) || work->at - turns->missed_seen >= SECOND ||
           work->now >= turns->missed_next;
}

static bool plan(struct turns *turns, const struct turn *turn, struct work *work) {
    time_ms requests_at = turn->requests ? job_requests_due(turn->requests) : TIME_NEVER;
    bool room = turn->acquiring && turn->room > 0;
    *work = (struct work){.now = clock_now(turns->clock), .at = clock_monotonic()};
    work->settles = turns_pending(turns);
    work->requests = requests_at != TIME_NEVER;
    bool steady = lease_in_step(&turns->lease, work->now, work->at);
    work->renews = lease_is_due(&turns->lease, work->now, work->at);
    work->reaps = must_reap(turns, work, steady);
    work->flushes = turns->metrics.dirty && work->at - turns->flushed >= SECOND;
    store_alive(turns->store, work->now);
    bool changed = store_has_changes(turns->store); /* asked in any case: the bell is emptied */
    bool fed = turns->starved && (turn->idle > 0 || turn->horizon.soon > 0);
    bool back = work->now < turns->wall; /* the wall clock was set back: dates may be due earlier */
    turns->wall = work->now;
    if (changed || !turn->quiet || fed || back || work->now >= turns->next)
        turns->hint.look = turns->hint.blind = true;
    work->may_look = room && !back_off_holds(&turns->back_off, work->at);
    work->looks = work->may_look && (turns->hint.look || work->reaps);
    work->misses =
        work->may_look && (work->looks || work->settles) && must_look_for_missing(turns, work);
    return !turns->published || work->settles || work->reaps || work->renews || work->flushes ||
           work->looks || turn->probes || requests_at <= work->at;
}

/* ---- inside the transaction ---- */

/* What this turn made ready is looked for in this turn. */
static bool acquire(struct turns *turns, const struct turn *turn, struct work *work,
                    struct error *error) {
    work->looks =
        work->may_look && work->capacity.room > 0 && (work->looks || work->capacity.ready.look);
    if (!work->looks)
        return true;
    if (!store_promote(turns->store, work->now, PROMOTE_MAX, &work->promoted, error))
        return false;
    work->asked =
        back_off_page(turns->settings, turns->back_off.failure_level, work->capacity.room);
    turns->acquire.want = work->asked;
    turns->acquire.bytes = work->capacity.bytes;
    /* To read the rows of a few jobs behind the commit takes longer than to read them along. */
    turns->acquire.unread = turns->taken >= MANY && store_contended(turns->store);
    turns->acquire.horizon = turn->horizon;
    turns->acquire.idle = turn->idle - (turn->room - work->capacity.room); /* some are pre-locked */
    if (!store_acquire(turns->store, &turns->acquire, work->now, &work->jobs, &work->count,
                       &work->more, error))
        return false;
    turns->taken = (turns->taken + work->count) / 2;
    if (work->promoted >= PROMOTE_MAX)
        work->capacity.ready.blind = work->capacity.ready.look = true;
    return true;
}

/* { handlers: [names] (absent: any), acquisition, queue, workers }. NULL: no memory. */
static json_t *profile_new(const struct turns *turns) {
    const struct settings *settings = turns->settings;
    const struct definitions *handlers = turns->acquire.handlers;
    json_t *profile = json_pack("{s:s s:i s:i}", "acquisition", settings->acquisition, "queue",
                                settings_queue(settings), "workers", turns->self.workers);
    if (profile && json_array_size(settings->history_cleanup_window))
        json_put(profile, "cleanup", json_true());
    if (profile && (!handlers || (json_put(profile, "handlers", definitions_names(handlers)) &&
                                  json_put(profile, "processes", definitions_processes(handlers)))))
        return profile;
    json_decref(profile);
    return NULL;
}

/* Tells the other executors about this one (rules §13). The gap watch, `executor list` and the
 * search for missing handlers read it in the store. */
static bool publish(struct turns *turns, time_ms now, struct error *error) {
    json_t *profile = profile_new(turns);
    bool ok = profile ? store_publish(turns->store, profile, now, error) : error_no_memory(error);
    json_decref(profile);
    return ok;
}

static time_ms earlier(time_ms a, time_ms b) {
    return a < b ? a : b;
}

static bool find_missing(struct turns *turns, const struct turn *turn, struct work *work,
                         struct error *error) {
    work->missed_next = turns->missed_next;
    if (!work->misses && work->looks && store_misses(turns->store, &turns->acquire))
        work->missed_next = earlier(turns->missed_next, work->now + SECOND);
    return !work->misses || store_missing(turns->store, &turns->acquire, work->now, turn->grace,
                                          &work->missed_next, error);
}

static bool settle(struct turns *turns, const struct turn *turn, struct work *work,
                   struct error *error) {
    bool follow = turn->acquiring || turn->following;
    return !work->settles || outcomes_write(&turns->outcomes, turns->store, &work->capacity, follow,
                                            work->now, &work->again, error);
}

static bool write(struct turns *turns, struct turn *turn, struct work *work, struct error *error) {
    struct store *store = turns->store;
    time_ms now = work->now;
    /* Asked while no other process can write: if locks were taken away, it has happened by now. */
    work->lapsed =
        work->renews && lease_is_over(&turns->lease, clock_now(turns->clock), clock_monotonic());
    work->capacity = (struct capacity){.acquire = &turns->acquire,
                                       .room = turn->acquiring ? turn->room : 0,
                                       .bytes = turn->bytes,
                                       .ready = turns->hint};
    store_set_capacity(store, &work->capacity);
    if (work->renews && !store_renew(store, now, turns->settings->lock_time, error))
        return false;
    if (!turns->published && !publish(turns, now, error))
        return false;
    if (work->requests && !job_requests_write(turn->requests, store, now, error))
        return false;
    if (!settle(turns, turn, work, error))
        return false;
    if (work->reaps && !store_reap(store, now, &work->reaped, error))
        return false;
    if (!acquire(turns, turn, work, error))
        return false;
    if (turn->probes && !store_best(store, &turns->acquire, now, &turn->best, &turn->left, error))
        return false;
    if (!find_missing(turns, turn, work, error))
        return false;
    if (work->flushes && !metrics_write(&turns->metrics, store, error))
        return false;
    return store_next(store, now, &work->next, error);
}

static bool build(struct turn *turn, struct work *work, struct error *error) {
    struct job *created = work->capacity.jobs;
    work->capacity.jobs = NULL;
    bool ok = work_items_build(work->jobs, &turn->items);
    ok = work_items_build(created, &work->created) && ok;
    return ok || error_no_memory(error);
}

static bool commit(struct turns *turns, struct turn *turn, struct error *error) {
    int64_t begun = clock_monotonic_us();
    bool ok = store_commit(turns->store, error);
    turn->commit = (double)(clock_monotonic_us() - begun) / 1000;
    return ok;
}

static enum store_purpose purpose(const struct turns *turns, const struct work *work) {
    const struct outcome *outcome = turns->outcomes.list;
    while (outcome && !outcome->effects)
        outcome = outcome->next;
    return outcome || work->reaps ? STORE_COMMAND : STORE_TURN;
}

/* ---- jobs that were locked unread ---- */

/* An item is empty if nothing follows for the worker that waits for it. */
static bool is_unread(const struct work_item *item) {
    return item->jobs && item->jobs->unread;
}

static size_t count_unread(const struct work_item *items) {
    size_t count = 0;
    for (const struct work_item *item = items; item; item = item->next)
        count += is_unread(item);
    return count;
}

/* Those that cannot be read stay unread. */
static void read_taken(struct turns *turns, struct turn *turn) {
    struct error error = {ERROR_NONE, "out of memory"};
    size_t count = count_unread(turn->items), at = 0;
    struct job **jobs = count ? calloc(count, sizeof *jobs) : NULL;
    struct work_item **items = count ? calloc(count, sizeof *items) : NULL;
    if (!count)
        return;
    for (struct work_item *item = turn->items; jobs && items && item; item = item->next)
        if (is_unread(item)) {
            items[at] = item;
            jobs[at++] = item->jobs;
        }
    if (!at || !store_read_taken(turns->store, jobs, count, &error))
        log_event(LOG_WARN, "jobs given back unread", "reason:s", error.text);
    for (size_t i = 0; i < at; i++) /* an item without jobs stays as it is */
        items[i]->jobs = jobs[i];
    free(jobs);
    free(items);
}

/* Hands back the lock of an unread job; false: no memory. */
static bool give_back(struct turns *turns, struct work_item *item) {
    struct outcome *outcome = outcome_new(item->jobs, OUTCOME_RETURNED);
    if (!outcome)
        return false;
    item->jobs = NULL;
    outcome->late = true;
    outcomes_add(&turns->outcomes, outcome);
    return true;
}

/* The next turn gives back what is still unread. After the outcomes of this one are done. */
static void drop_unread(struct turns *turns, struct turn *turn) {
    if (!count_unread(turn->items))
        return;
    for (struct work_item **at = &turn->items; *at;) {
        struct work_item *item = *at;
        if (!is_unread(item)) {
            at = &item->next;
            continue;
        }
        *at = item->next;
        if (!give_back(turns, item))
            log_event(LOG_ERROR, "job lost sight of until its lock expires", "job:l",
                      item->jobs->id);
        work_item_free(item);
    }
    turns->hint.look = true;
}

/* One transaction. False: rolled back, nothing is held. */
static bool attempt(struct turns *turns, struct turn *turn, struct work *work,
                    struct error *error) {
    if (!store_begin(turns->store, purpose(turns, work), error))
        return false;
    CRASH_POINT("turn_begun");
    bool ok = write(turns, turn, work, error);
    CRASH_POINT("turn_written");
    if (ok)
        ok = build(turn, work, error);
    else
        job_free_list(work->jobs);
    ok = ok && commit(turns, turn, error);
    if (!ok) {
        store_rollback(turns->store);
        work_items_free(turn->items);
        work_items_free(work->created);
        job_free_list(work->capacity.jobs);
        job_free_list(work->reaped.worker_died);
        turn->items = NULL;
    }
    if (work->requests)
        job_requests_done(turn->requests, ok);
    return ok;
}

/* ---- after the commit ---- */

static void count_acquired(struct metrics *metrics, const struct work_item *items) {
    for (const struct work_item *item = items; item; item = item->next)
        for (const struct job *job = item->jobs; job; job = job->next)
            metrics_add(metrics, job->definition, METRIC_ACQUIRED, 1);
}

static void tell_reaped(const struct store_reaped *reaped) {
    if (reaped->freed > 0 || reaped->crashed > 0)
        log_event(LOG_WARN, "dead executor found", "freed:d crashed:d suspects:d", reaped->freed,
                  reaped->crashed, reaped->suspects);
    for (const struct job *job = reaped->worker_died; job; job = job->next)
        log_event(LOG_ERROR, "incident", "job:l handler:s reason:s crashes:d", job->id,
                  job->handler, failure_reason_name(REASON_WORKER_DIED), (int)job->crashes);
    job_free_list(reaped->worker_died);
}

static void looked(struct turns *turns, struct turn *turn, const struct work *work) {
    turn->promoted = work->promoted;
    turn->acquired = work->count;
    struct store_acquire_stats met = store_acquire_stats(turns->store);
    turns->starved = met.starved;
    back_off_looked(&turns->back_off, turns->settings, work->asked, work->count, met, work->at);
    if (met.lock_failures)
        metrics_add(&turns->metrics, 0, METRIC_LOCK_FAILURES, met.lock_failures);
    metrics_add(&turns->metrics, 0, METRIC_ACQUISITIONS, work->asked > 0);
    if (work->count > 0)
        count_acquired(&turns->metrics, turn->items);
    work_items_watch(&turns->outcomes.watched, turn->items);
}

static void note_draining(struct turns *turns) {
    bool draining = store_draining(turns->store);
    if (draining && !turns->draining)
        log_event(LOG_INFO, "draining", "until:s", "told to work again, or stopped");
    if (!draining && turns->draining)
        log_event(LOG_INFO, "working again", "");
    turns->draining = draining;
}

/* A date that comes while this turn waits for its transaction may be over in the store by then:
 * another executor has made the job ready. So it stays for the next turn. */
static time_ms next_look(const struct turns *turns, const struct work *work) {
    time_ms next = back_off_next(&turns->back_off, turns->settings, turns->deaf, work->now,
                                 earlier(work->next, work->missed_next));
    bool stays = !work->looks && turns->next > work->now;
    return stays ? earlier(next, turns->next) : next;
}

static void committed(struct turns *turns, struct turn *turn, const struct work *work) {
    CRASH_POINT("turn_committed");
    read_taken(turns, turn);
    turn->written = true;
    turn->freed = work->reaped.freed;
    turn->lapsed = work->lapsed;
    turns->published = true;
    if (work->renews)
        lease_renewed(&turns->lease, work->now, work->at);
    if (work->misses)
        turns->missed_seen = work->at;
    turns->missed_next = work->missed_next;
    if (work->flushes) {
        metrics_written(&turns->metrics);
        turns->flushed = work->at;
    }
    tell_reaped(&work->reaped);
    if (work->looks)
        looked(turns, turn, work);
    turns->hint = work->capacity.ready;
    turn->items = work_items_merge(&turns->acquire, turn->items, work->created);
    outcomes_done(&turns->outcomes, turn, &turns->metrics);
    drop_unread(turns, turn);
    turns->next = next_look(turns, work);
    note_draining(turns);
}

/* Without a loop no turn follows in a second: when nothing is left to run, the counters are written
 * at once. */
static void flush_behind(struct turns *turns, const struct turn *turn) {
    struct error error = {0};
    if (turn->requests || !turn->acquiring || turn->items || turns_flush(turns, &error))
        return;
    log_event(LOG_WARN, "metrics not written", "reason:s", error.text);
}

bool turns_take(struct turns *turns, struct turn *turn, struct error *error) {
    struct work work;
    outcomes_add(&turns->outcomes, turn->outcomes);
    turn->outcomes = NULL;
    turn->items = NULL;
    turn->settled = turn->done = turn->failed = turn->stale = 0;
    turn->acquired = turn->promoted = turn->freed = 0;
    turn->written = turn->lapsed = turn->left = false;
    while (plan(turns, turn, &work)) {
        if (attempt(turns, turn, &work, error)) {
            committed(turns, turn, &work);
            flush_behind(turns, turn);
            break;
        }
        if (!work.again)
            return false;
    }
    turn->next = turns->next;
    turn->again = turns->hint.look && turn->acquiring;
    if (turn->again && back_off_holds(&turns->back_off, work.at)) {
        turn->again = false;
        turn->next = earlier(turn->next, work.now + turns->back_off.held - work.at);
    }
    turn->starved = turns->starved && !back_off_holds(&turns->back_off, clock_monotonic());
    turn->draining = turns->draining;
    return true;
}

bool turns_flush(struct turns *turns, struct error *error) {
    struct metrics *metrics = &turns->metrics;
    if (!metrics->dirty)
        return true;
    if (!store_begin(turns->store, STORE_TURN, error))
        return false;
    if (!metrics_write(metrics, turns->store, error) || !store_commit(turns->store, error)) {
        store_rollback(turns->store);
        return false;
    }
    CRASH_POINT("metrics_flushed");
    metrics_written(metrics);
    turns->flushed = clock_monotonic();
    return true;
}
