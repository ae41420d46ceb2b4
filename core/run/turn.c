#include "run/turn.h"
#include "base/crash_point.h"
#include "base/json.h"
#include "base/log.h"
#include "run/back_off.h"
#include "run/care.h"
#include "run/lease.h"
#include "run/outcomes.h"
#include "run/unread.h"
#include "store/outbox.h"
#include <stdlib.h>

enum { PROMOTE_MAX = 1000, SECOND = 1000, MANY = 64 };

struct turns {
    struct store *store;
    const struct settings *settings;
    struct clock *clock;
    struct store_executor self;
    struct acquire acquire;
    struct back_off back_off;
    struct care care;
    struct outcomes outcomes;
    struct metrics metrics;
    struct store_acquire_stats met; /* by the last look */
    struct ready_hint hint;
    time_ms next; /* what the store said last */
    time_ms wall; /* when the last turn was planned */
    struct lease lease;
    time_ms flushed;                /* monotonic */
    time_ms dead_seen, missed_seen; /* monotonic; last looks for executors, for handlers */
    time_ms missed_next;            /* when to ask again: some are, but not for long enough yet */
    int taken;                      /* jobs of an acquisition, a moving mean */
    bool draining;                  /* told to take nothing more */
    bool deaf;      /* no bell can ring for it, although others may write to its file */
    bool published; /* the store knows which handlers are served */
};

/* The plan and the findings of the open turn. */
struct work {
    time_ms now, at; /* wall clock, monotonic */
    bool requests, settles, reaps, looks, renews, flushes, misses, probes;
    int rows; /* that it may deal with */
    bool lapsed;
    bool begun;    /* its transaction was: what fails before that is no row's fault */
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
    if (!turns)
        return error_null(error_no_memory(error));
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
    return outcomes_pending(&turns->outcomes);
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
    return store_sees_dead(turns->store, work->now) || store_sees_held(turns->store);
}

/* Once a second while we look for jobs at all; sooner only when a missing one has been so for long
 * enough. */
static bool must_look_for_missing(const struct turns *turns, const struct work *work) {
    return clock_is_virtual(turns->clock) || work->at - turns->missed_seen >= SECOND ||
           work->now >= turns->missed_next;
}

/* With few rows a turn does one thing alone: it settles, or reaps, or takes jobs. */
static void narrow(struct turns *turns, const struct turn *turn, struct work *work) {
    int rows = 2;
    for (const struct outcome *outcome = turns->outcomes.list; outcome; outcome = outcome->next)
        rows++;
    rows = work->may_look && turn->room > rows ? turn->room : rows;
    work->rows = care_limit(&turns->care, rows);
    work->probes = turn->probes && !turns->care.most;
    if (!turns->care.most)
        return;
    if (work->settles && rows - 2 < work->rows)
        work->rows = rows - 2;
    work->reaps = work->reaps && !work->settles;
    work->may_look = work->may_look && !work->settles && !work->reaps;
    work->looks = work->looks && work->may_look;
    work->misses = work->misses && work->may_look;
}

static bool plan(struct turns *turns, const struct turn *turn, struct work *work) {
    time_ms requests_at = turn->requests ? job_requests_due(turn->requests) : TIME_NEVER;
    bool room = turn->acquiring && turn->room > 0;
    *work = (struct work){.now = clock_now(turns->clock), .at = clock_monotonic()};
    work->settles = turns->outcomes.list != NULL;
    work->requests = requests_at != TIME_NEVER;
    bool steady = lease_in_step(&turns->lease, work->now, work->at);
    work->renews = lease_is_due(&turns->lease, work->now, work->at);
    work->reaps = must_reap(turns, work, steady);
    work->flushes = turns->metrics.dirty && work->at - turns->flushed >= SECOND;
    store_alive(turns->store, work->now);
    bool changed = store_has_changes(turns->store); /* asked in any case: the bell is emptied */
    bool fed = turns->met.starved && (turn->idle > 0 || turn->horizon.soon > 0);
    bool back = work->now < turns->wall; /* the wall clock was set back: dates may be due earlier */
    turns->wall = work->now;
    if (changed || !turn->quiet || fed || back || work->now >= turns->next)
        turns->hint.look = turns->hint.blind = true;
    work->may_look = room && !back_off_holds(&turns->back_off, work->at);
    work->looks = work->may_look && (turns->hint.look || work->reaps);
    work->misses =
        work->may_look && (work->looks || work->settles) && must_look_for_missing(turns, work);
    narrow(turns, turn, work);
    return !turns->published || work->settles || work->reaps || work->renews || work->flushes ||
           work->looks || work->probes || requests_at <= work->at;
}

/* ---- inside the transaction ---- */

/* What this turn made ready is looked for in this turn. */
static bool acquire(struct turns *turns, const struct turn *turn, struct work *work,
                    struct error *error) {
    work->looks =
        work->may_look && work->capacity.room > 0 && (work->looks || work->capacity.ready.look);
    if (!work->looks)
        return true;
    const int most = care_limit(&turns->care, PROMOTE_MAX);
    if (!store_promote(turns->store, work->now, most, &work->promoted, error))
        return false;
    if (most == 1 && work->promoted) { /* a row alone: it is taken by the next turn */
        work->capacity.ready.blind = work->capacity.ready.look = true;
        return true;
    }
    store_touch(turns->store, 0);
    work->asked =
        care_limit(&turns->care, back_off_page(turns->settings, turns->back_off.failure_level,
                                               work->capacity.room));
    turns->acquire.want = work->asked;
    turns->acquire.bytes = work->capacity.bytes;
    /* To read the rows of a few jobs behind the commit takes longer than to read them along. */
    turns->acquire.unread = turns->taken >= MANY && store_contended(turns->store);
    turns->acquire.horizon = turn->horizon;
    turns->acquire.drains = turn->drains;
    turns->acquire.idle = turn->idle - (turn->room - work->capacity.room); /* some are pre-locked */
    if (!store_acquire(turns->store, &turns->acquire, work->now, &work->jobs, &work->count,
                       &work->more, error))
        return false;
    turns->taken = (turns->taken + work->count) / 2;
    if (work->promoted >= most)
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

/* What a turn has died of comes behind the commit, with fewer rows. */
static bool reap(struct turns *turns, struct work *work, struct error *error) {
    if (!store_reap(turns->store, work->now, &work->reaped, error))
        return false;
    if (!work->reaped.turn)
        return true;
    care_inherit(&turns->care, work->reaped.turn, work->at);
    work->may_look = false;
    work->capacity.ready.blind = work->capacity.ready.look = true;
    return true;
}

static bool write(struct turns *turns, struct turn *turn, struct work *work, struct error *error) {
    struct store *store = turns->store;
    time_ms now = work->now;
    /* Asked while no other process can write: if locks were taken away, it has happened by now. */
    const time_ms begun = clock_now(turns->clock);
    work->lapsed = work->renews && lease_is_over(&turns->lease, begun, clock_monotonic());
    work->capacity = (struct capacity){.acquire = &turns->acquire,
                                       .room = turn->acquiring ? turn->room : 0,
                                       .bytes = turn->bytes,
                                       .ready = turns->hint};
    store_set_capacity(store, &work->capacity);
    if (work->renews && !store_renew(store, begun, turns->settings->lock_time, error))
        return false;
    if (!turns->published && !publish(turns, now, error))
        return false;
    if (work->requests && !job_requests_write(turn->requests, store, now, error))
        return false;
    if (!settle(turns, turn, work, error))
        return false;
    if (work->reaps && !reap(turns, work, error))
        return false;
    if (!acquire(turns, turn, work, error))
        return false;
    if (work->probes && !store_best(store, &turns->acquire, now, &turn->best, &turn->left, error))
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

/* One transaction. False: rolled back, nothing is held. */
static bool attempt(struct turns *turns, struct turn *turn, struct work *work,
                    struct error *error) {
    work->begun = store_begin(turns->store, purpose(turns, work), error);
    if (!work->begun)
        return false;
    store_care(turns->store, work->rows, turns->self.workers);
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
    const int64_t touched = store_touched(turns->store);
    store_care(turns->store, 0, turns->self.workers);
    store_touch(turns->store, touched);
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
    turns->met = store_acquire_stats(turns->store);
    back_off_looked(&turns->back_off, turns->settings, work->asked, work->count, turns->met,
                    work->at);
    if (turns->met.lock_failures)
        metrics_add(&turns->metrics, 0, METRIC_LOCK_FAILURES, turns->met.lock_failures);
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
    if (turns->outcomes.waiting)
        next = earlier(next, work->now + OUTCOMES_PAUSE);
    bool stays = !work->looks && turns->next > work->now;
    return stays ? earlier(next, turns->next) : next;
}

static void committed(struct turns *turns, struct turn *turn, const struct work *work) {
    CRASH_POINT("turn_committed");
    unread_read(turns->store, turn);
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
    turns->hint.look =
        unread_drop(turns->store, turn, &turns->outcomes, work->now) || turns->hint.look;
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

/* One transaction with as many outcomes as it may have; *more: some are left. */
static bool once(struct turns *turns, struct turn *turn, struct work *work, bool *more,
                 struct error *error) {
    struct work_item *before = turn->items, **end = &before;
    struct outcome *rest = outcomes_cut(&turns->outcomes, turns->care.most);
    turn->items = NULL;
    bool ok = attempt(turns, turn, work, error);
    if (ok) {
        care_worked(&turns->care, work->settles || work->count > 0, work->at);
        committed(turns, turn, work);
        flush_behind(turns, turn);
    }
    *more = ok && rest;
    outcomes_add(&turns->outcomes, rest);
    while (*end)
        end = &(*end)->next;
    *end = turn->items;
    turn->items = before;
    return ok;
}

static bool set_aside(struct turns *turns, struct turn *turn, int64_t job,
                      const struct error *reason, struct error *error) {
    struct outcome *outcome = turns->outcomes.list;
    bool runs = outcome && outcome->job->id == job;
    if (!store_set_aside(turns->store, job, runs ? outcome : NULL, reason->text,
                         clock_now(turns->clock), error))
        return false;
    CRASH_POINT("set_aside");
    turns->hint.look = turns->hint.blind = true;
    if (runs)
        outcomes_aside(&turns->outcomes, turn, &turns->metrics, reason);
    else
        log_event(LOG_ERROR, "incident", "job:l reason:s", job, reason->text);
    return true;
}

/* Alone such a job may not fail, and be run twice. */
static bool set_misplaced_aside(struct turns *turns, struct turn *turn, struct error *error) {
    int64_t job = 0;
    const char *why = NULL;
    struct error reason = {0};
    if (store_misplaced(turns->store, &job, &why, error) != YES)
        return false;
    error_set(&reason, ERROR_DAMAGED, "job %lld: %s", (long long)job, why);
    return set_aside(turns, turn, job, &reason, error);
}

/* True if the turn may be tried again at once. */
static bool recover(struct turns *turns, struct turn *turn, const struct work *work,
                    struct error *error) {
    struct error ignored = {0};
    const struct error reason = *error;
    if (!work->begun || store_is_corrupt(turns->store))
        return false;
    bool first = !turns->care.most;
    if (first && !error_refuses(&reason) && set_misplaced_aside(turns, turn, &ignored))
        return true;
    switch (care_failed(&turns->care, work->rows, store_touched(turns->store), &reason)) {
    case CARE_HALF:
        return true;
    case CARE_LATER: /* it is not said to be final yet */
        error->code = ERROR_FAILED;
        return clock_is_virtual(turns->clock);
    case CARE_ASIDE:
        return set_aside(turns, turn, turns->care.row, &reason, error);
    case CARE_NONE:
        break;
    }
    return false;
}

/* Turns until one has done all; false: the last one has failed. */
static bool turn_all(struct turns *turns, struct turn *turn, struct work *work,
                     struct error *error) {
    bool more = true;
    while (more && plan(turns, turn, work)) {
        if (once(turns, turn, work, &more, error))
            continue;
        more = work->again || recover(turns, turn, work, error);
        if (!more)
            return false;
    }
    return true;
}

bool turns_take(struct turns *turns, struct turn *turn, struct error *error) {
    struct work work;
    outcomes_add(&turns->outcomes, turn->outcomes);
    turn->outcomes = NULL;
    outcomes_recall(&turns->outcomes, clock_is_virtual(turns->clock), turn->leaving);
    turn->items = NULL;
    turn->settled = turn->done = turn->failed = turn->stale = 0;
    turn->acquired = turn->promoted = turn->freed = 0;
    turn->written = turn->lapsed = turn->left = false;
    /* What was taken or written before the failure goes on; that is met again by the next turn. */
    bool done = turn_all(turns, turn, &work, error);
    if (!done && !turn->written)
        return false;
    turns->hint.look = turns->hint.look || !done;
    turn->next = turns->next;
    turn->again = turns->hint.look && turn->acquiring;
    if (turn->again && back_off_holds(&turns->back_off, work.at)) {
        turn->again = false;
        turn->next = earlier(turn->next, work.now + turns->back_off.held - work.at);
    }
    turn->held = turns->met.held;
    turn->starved = turns->met.starved && !back_off_holds(&turns->back_off, clock_monotonic());
    turn->draining = turns->draining;
    turn->outbox = store_outbox_waits(turns->store);
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
