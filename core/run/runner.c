#include "run/runner.h"
#include "base/crash_point.h"
#include "base/log.h"
#include "run/account.h"
#include "run/runner_state.h"
#include "store/intake.h"

/* ms. A handler is missing only if no executor that starts at this moment has it. */
enum { FULL_WAIT = 1000, MISSING_GRACE = 2000 };
enum { AWAY_TOLD = 60000 }; /* a server that is away is told so often */
enum { FAILING = 3 };       /* turns that fail in a row are told in lists */
enum { COMMIT_WEIGHT = 8 }; /* a commit counts for one eighth of the average */
enum { STOP_WAIT = 200 };   /* results are tried to be written that often at the end */
enum { TICK = 1000, FILE_PAUSE = 5, QUIET = 50, LEFT_WAIT = 60000, RETIRE_WAIT = 3600000 };
enum { STRAYS_WAIT = 10000, STRAYS_IDLE = 500, STRAYS_BUSY = 20 };
enum { PAGES_IDLE = 250, PAGES_BUSY = 3000 }; /* of the log, before a checkpoint */
enum { CUT_AGAIN = 50 };

/* ---- called by other threads, and for the doorbell ---- */

int runner_bell(const struct runner *runner) {
    return store_bell(runner->store);
}

/* Rows of the outbox need no turn of this loop until they are jobs. */
void runner_rang(struct runner *runner) {
    if (store_bell_empty(runner->store))
        runner->rang = runner->heard = true;
    relay_look(runner->relay, runner->store);
}

static void wake(struct runner *runner) {
    runner->options.wake(runner->options.wake_arg);
}

void runner_reload(struct runner *runner) {
    atomic_store(&runner->reloads, true);
    wake(runner);
}

void runner_tell(struct runner *runner) {
    atomic_store(&runner->tells, true);
    wake(runner);
}

/* ---- a turn ---- */

static void pause_work(struct runner *runner, bool paused) {
    runner->paused = paused;
    mutex_lock(&runner->mutex);
    runner->status.paused = paused;
    mutex_unlock(&runner->mutex);
}

static void set_away(struct runner *runner, time_ms since) {
    runner->away_since = since;
    mutex_lock(&runner->mutex);
    runner->status.away = since != 0;
    mutex_unlock(&runner->mutex);
}

/* A primary that is to come back, or a standby that is to take over. */
static void server_away(struct runner *runner, const struct error *error, time_ms now) {
    const bool fresh = runner->away_since == 0;
    if (fresh)
        set_away(runner, now);
    if (fresh || now >= runner->away_told + AWAY_TOLD) {
        log_event(LOG_ERROR, "store away", "reason:s since_ms:l", error->text,
                  now - runner->away_since);
        runner->away_told = now;
    }
}

static void server_back(struct runner *runner, time_ms now) {
    if (runner->away_since == 0)
        return;
    log_event(LOG_INFO, "store back", "away_ms:l", now - runner->away_since);
    set_away(runner, 0);
}

static void try_later(struct runner *runner, time_ms wait, time_ms now) {
    runner->retry_at = now + (runner->stage == WORKING || wait < STOP_WAIT ? wait : STOP_WAIT);
}

/* An executor lives and takes nothing: lists and figures say so. */
static void tell_failing(struct runner *runner, const struct error *error) {
    if (runner->errors < FAILING)
        return;
    if (!runner->failing)
        runner->failing = clock_now(runner->options.clock);
    store_failing(runner->store, error->text, runner->failing, NULL);
}

static void tell_working(struct runner *runner) {
    if (runner->failing && store_failing(runner->store, NULL, 0, NULL))
        runner->failing = 0;
}

static void turn_failed(struct runner *runner, const struct error *error, time_ms now) {
    runner->rang = true;
    runner->refused = *error;
    if (runner_lost(error)) {
        runner_give_up(runner, error);
    } else if (error->code == ERROR_FULL) {
        if (!runner->paused)
            log_event(LOG_ERROR, "store full", "reason:s", error->text);
        pause_work(runner, true);
        runner->retry_at = now + FULL_WAIT;
    } else if (error->code == ERROR_UNAVAILABLE) {
        try_later(runner, back_off_away_wait(++runner->errors), now);
        server_away(runner, error, now);
    } else {
        try_later(runner, back_off_retry_wait(++runner->errors), now);
        log_event(LOG_WARN, "turn failed", "reason:s retry_ms:l", error->text,
                  runner->retry_at - now);
        tell_failing(runner, error);
    }
}

static void count(struct runner *runner, const struct turn *turn) {
    mutex_lock(&runner->mutex);
    runner->status.done += turn->done;
    runner->status.failed += turn->failed;
    runner->status.stale += turn->stale;
    runner->status.acquired += turn->acquired;
    runner->status.draining = turn->draining;
    mutex_unlock(&runner->mutex);
}

static void note_written(struct runner *runner, const struct turn *turn, time_ms now) {
    runner->written = runner->changed = runner->heard = true;
    runner->untidy = runner->untidy || turn->settled > 0 || store_has_pending_purge(runner->store);
    runner->look_at = now + runner->settings.max_wait;
    runner->turned_at = now;
    runner->commit += (turn->commit - runner->commit) / COMMIT_WEIGHT;
    durations_commit(turn->durations, turn->commit);
    runner->unfiled += turn->settled;
    count(runner, turn);
}

static void turned(struct runner *runner, const struct turn *turn, time_ms now) {
    runner->errors = 0;
    server_back(runner, now);
    tell_working(runner);
    relay_look(runner->relay, runner->store);
    runner->next = turn->next;
    runner->again = turn->again || (runner->paused && !turn->acquiring);
    runner->drained = turn->acquiring && !turn->again && !turn->items && !turn->starved &&
                      !turn->held && !turn->outbox && !turns_pending(runner->turns) &&
                      turn->next > clock_now(runner->options.clock);
    if (turn->written)
        note_written(runner, turn, now);
    if (runner->paused && turn->acquiring) {
        pause_work(runner, false);
        log_event(LOG_INFO, "resumed", "");
    }
    if (turn->lapsed)
        client_lapse(runner->client);
    client_lease(runner->client, turns_lease(runner->turns));
    yield_bounded(runner);
    runner_take_back(runner);
    if (turn->items) {
        CRASH_POINT("after_lock_commit");
        client_submit(runner->client, turn->items);
        CRASH_POINT("dispatched");
    }
    if (turn->probes)
        yield_late(runner, turn);
    bool keep = turn->starved && turn->acquiring && turn->room > 0;
    if (keep || runner->keeps)
        keep = client_keep(runner->client, keep);
    runner->keeps = keep;
}

static bool calm(const struct runner *runner, time_ms now) {
    bool settled = runner->stage == WORKING && !runner->rang && !runner->paused &&
                   !runner->errors && !runner->keeps && !turns_pending(runner->turns);
    return settled && now < job_requests_due(runner->requests) &&
           now < turns_renewal(runner->turns) && clock_now(runner->options.clock) < runner->next;
}

/* While the workers have enough to do, outcomes wait a moment for more of them: a commit costs as
 * much CPU for one job as for ten. All other work is done at once. */
static bool gathers(struct runner *runner, time_ms now) {
    int most = 0;
    time_ms span = back_off_gather(runner->commit, &most);
    if (!calm(runner, now) || !client_patient(runner->client, runner->again, most))
        return false;
    if (runner->gather_until == 0)
        runner->gather_until = now + span;
    return now < runner->gather_until;
}

static bool ask_lost(void *arg, struct store_claim *claims, size_t count) {
    struct runner *runner = arg;
    struct error error = {0};
    return store_ask_lost(runner->store, claims, count, &error);
}

static void cut_lost(struct runner *runner, bool ask) {
    int64_t cuts = store_cuts(runner->store, ask);
    if (cuts == runner->cuts)
        return;
    runner->cuts = cuts;
    client_cut_lost(runner->client, true, ask_lost, runner);
}

/* One step of the look for rows that nothing moves. True: it has found none. */
static bool find_strays(struct runner *runner, int step) {
    struct error error = {0};
    struct store_strays *strays = &runner->strays;
    strays->step = step;
    if (!store_find_strays(runner->store, strays, clock_now(runner->options.clock), &error)) {
        log_event(LOG_WARN, "rows that nothing moves stay", "reason:s", error.text);
        strays->more = false;
    }
    if (!strays->found)
        return true;
    log_event(LOG_ERROR, "rows that nothing moves", "rows:d reason:s", strays->found,
              "the store was changed by hand (incident list says more)");
    runner->rang = true;
    return false;
}

/* Nothing would be taken any more: the look goes over all, for a second at most. */
static void look_before_end(struct runner *runner, time_ms now) {
    if (!runner->options.drain || !runner->drained || !client_quiet(runner->client) ||
        runner->turned_at == runner->strays_for)
        return;
    do
        runner->drained = find_strays(runner, STRAYS_IDLE);
    while (runner->drained && runner->strays.more && clock_monotonic() - now < TICK);
    if (runner->drained)
        runner->strays_for = runner->turned_at;
}

/* Takes one turn, unless it must not be tried yet. A full store takes outcomes before new work. */
static void take_turn(struct runner *runner, time_ms now) {
    struct error error = {0};
    runner->drained = false;
    runner->rang = relay_made(runner->relay) || runner->rang;
    runner->gathers = gathers(runner, now);
    if (now < runner->retry_at || runner->gathers)
        return;
    struct turn turn = {.quiet = !runner->rang && !runner->paused,
                        .drains = runner->options.drain,
                        .grace = runner->options.drain ? 0 : MISSING_GRACE,
                        .requests = runner->requests,
                        .durations = runner->options.durations};
    turn.outcomes = client_outcomes(runner->client);
    struct client_room room = client_room(runner->client);
    turn.room = room.places;
    turn.bytes = room.bytes;
    turn.idle = room.idle;
    turn.horizon = room.horizon;
    turn.probes = yield_probes(runner, now);
    turn.acquiring = runner->stage == WORKING && atomic_load(&runner->stops) == 0 &&
                     (!runner->paused || (!turn.outcomes && !turns_pending(runner->turns)));
    turn.leaving = runner->stage != WORKING;
    bool rang = runner->rang;
    runner->rang = false;
    if (turns_take(runner->turns, &turn, &error))
        turned(runner, &turn, now);
    else
        turn_failed(runner, &error, now);
    look_before_end(runner, now);
    runner->gather_until = 0;
    if (turn.written || rang)
        cut_lost(runner, !turn.written);
}

/* ---- once a second ---- */

/* It can wait, unless the store is lost. */
static void tidied(struct runner *runner, bool done, const struct error *error) {
    if (done)
        runner->written = true;
    else if (runner_lost(error))
        runner_give_up(runner, error);
    else
        log_event(LOG_WARN, "ended jobs not filed", "reason:s", error->text);
}

/* True: there is more. */
static bool file_some(struct runner *runner, enum store_chore chore, int step) {
    struct error error = {0};
    bool more = false;
    CRASH_POINT("file_begun");
    tidied(runner, store_tend(runner->store, chore, step, &more, &error), &error);
    runner->unfiled -= runner->unfiled < step ? runner->unfiled : step;
    return more;
}

/* Numbers far apart are on a page each: after a step that took long the next is a shorter one. */
static bool file_ended(struct runner *runner, enum store_chore chore) {
    time_ms begun = clock_monotonic();
    bool more = file_some(runner, chore, runner->file_step);
    runner->file_step =
        back_off_file(runner->file_step, (double)(clock_monotonic() - begun), runner->commit);
    return more;
}

/* The history of a job is looked for in all that is not filed, so an executor that is never idle
 * files, too. */
static void file_behind(struct runner *runner) {
    if (runner->unfiled > FILE_TAIL && !file_ended(runner, CHORE_FILE))
        runner->unfiled = 0;
}

static void purge(struct runner *runner) {
    struct error error = {0};
    if (store_has_pending_purge(runner->store))
        tidied(runner, store_tend(runner->store, CHORE_PURGE, 0, NULL, &error), &error);
}

/* A checkpoint holds the loop up: often and short when nothing runs, seldom under load. */
static void checkpoint(struct runner *runner, int pages) {
    struct error error = {0};
    if (store_tend(runner->store, CHORE_LOG, pages, NULL, &error))
        return;
    if (runner_lost(&error))
        runner_give_up(runner, &error);
    else
        log_event(LOG_WARN, "checkpoint failed", "reason:s", error.text);
}

void runner_file_rest(struct runner *runner) {
    bool more = true;
    for (int i = 0; more && i < REST_STEPS && atomic_load(&runner->stops) == 0 &&
                    runner->fatal.code == ERROR_NONE;
         i++) {
        more = file_some(runner, CHORE_FILE, REST_STEP);
        checkpoint(runner, PAGES_BUSY);
    }
}

/* Detects that the database file was moved or replaced, and stops with an error. */
static void check_files(struct runner *runner) {
    struct error error = {0};
    if (!store_tend(runner->store, CHORE_FILES, 0, NULL, &error))
        runner_give_up(runner, &error);
}

void runner_publish(struct runner *runner) {
    mutex_lock(&runner->mutex);
    client_load(runner->client, &runner->status.running, &runner->status.waiting);
    runner->status.exhausted = client_exhausted(runner->client, &runner->status.stuck);
    runner->status.stopping = runner->stage != WORKING;
    mutex_unlock(&runner->mutex);
}

/* Nothing runs, nothing is known to wait. */
static bool is_idle(const struct runner *runner) {
    return !runner->again && client_quiet(runner->client);
}

/* Files and purges ended jobs step by step while nothing else is to be done, then empties the
 * write-ahead log and the cache. While jobs come now and then it takes one step a second. */
static void tidy(struct runner *runner, time_ms now) {
    if (runner->untidy)
        runner->untidy = file_ended(runner, CHORE_TIDY);
    if (runner->untidy) {
        if (now - runner->turned_at >= QUIET)
            runner->tick_at = now + FILE_PAUSE;
    } else if (runner->written) {
        runner->written = false;
        checkpoint(runner, 1);
        store_tend(runner->store, CHORE_CACHE, 0, NULL, NULL);
    }
}

/* Nothing was looked at since, so nothing can have changed: the store is left in peace. */
static void look_for_unserved(struct runner *runner, time_ms now) {
    if (runner->changed && runner->stage == WORKING)
        runner->changed = !gap_watch_look(runner->gap_watch, now);
}

/* Removes unfinished bulk writes of processes that died. */
static void clear_left(struct runner *runner, time_ms now) {
    struct error error = {0};
    struct store_left left = {0};
    if ((now < runner->left_at && !runner->changed) || runner->stage != WORKING)
        return;
    if (!store_clear_left(runner->store, &left, clock_now(runner->options.clock), &error))
        log_event(LOG_WARN, "what others left stays", "reason:s", error.text);
    if (left.removed)
        log_event(LOG_WARN, "unfinished jobs removed", "jobs:l", left.removed);
    if (left.batch)
        log_event(LOG_WARN, "unfinished batch removed", "batch:l", left.batch);
    runner->left_at = now + (left.living ? TICK : LEFT_WAIT);
    if (left.more) {
        runner->left_at = now;
        runner->tick_at = now + FILE_PAUSE;
    }
}

/* Removes deployments that are not needed any more, one a second at most as it is not urgent. */
static void retire_deployments(struct runner *runner, time_ms now) {
    struct error error = {0};
    int64_t retired = 0;
    bool more = false;
    if (now < runner->retire_at || runner->stage != WORKING)
        return;
    if (!store_retire(runner->store, &retired, &more, clock_now(runner->options.clock), &error))
        log_event(LOG_WARN, "old deployments stay", "reason:s", error.text);
    if (retired)
        log_event(LOG_INFO, "old deployment removed", "deployment:l", retired);
    runner->retire_at = now + (more && error.code == ERROR_NONE ? TICK : RETIRE_WAIT);
}

/* Each deployment is asked for once: one that cannot be loaded is not tried every second. */
static void follow_deployment(struct runner *runner) {
    struct error error = {0};
    int64_t current = 0;
    if (!runner->options.follows || !runner->heard)
        return;
    enum answer found =
        store_deployment_current(runner->store, runner->options.follows, &current, &error);
    if (found == FAILED)
        log_event(LOG_WARN, "deployment not looked for", "reason:s", error.text);
    runner->heard = found == FAILED;
    if (found != YES || current == runner->asked_for)
        return;
    runner->asked_for = current;
    runner->reload_again = true;
}

/* Nothing has changed where no turn has looked since the last time. */
static void look_for_strays(struct runner *runner, time_ms now) {
    if (now < runner->strays_at || runner->turned_at == runner->strays_for ||
        runner->stage != WORKING)
        return;
    find_strays(runner, is_idle(runner) ? STRAYS_IDLE : STRAYS_BUSY);
    if (runner->strays.more)
        return;
    runner->strays_at = now + STRAYS_WAIT;
    runner->strays_for = runner->turned_at;
}

/* What other processes have left behind or brought. */
static void look_around(struct runner *runner, time_ms now) {
    clear_left(runner, now);
    look_for_strays(runner, now);
    retire_deployments(runner, now);
    follow_deployment(runner);
}

static void tick(struct runner *runner, time_ms now) {
    if (now < runner->tick_at)
        return;
    runner->tick_at = (now / TICK + 1) * TICK; /* with the other engines: one wake-up for all */
    check_files(runner);
    if (runner->fatal.code != ERROR_NONE)
        return; /* the rest would read files that are gone */
    store_alive(runner->store, clock_now(runner->options.clock));
    client_tick(runner->client);
    client_cut_lost(runner->client, false, ask_lost, runner);
    job_requests_tick(runner->requests);
    if (now >= runner->look_at) {
        runner->rang = runner->heard = true;
        runner->look_at = now + runner->settings.max_wait;
    }
    if (is_idle(runner))
        tidy(runner, now);
    else if (!runner->again) /* a run may go on for hours */
        purge(runner);
    if (runner->away_since == 0)
        look_around(runner, now);
    adopt_tick(runner);
    look_for_unserved(runner, now);
    runner_publish(runner);
}

/* ---- rounds ---- */

bool runner_round(struct runner *runner) {
    time_ms now = clock_monotonic();
    tick(runner, now);
    adopt_round(runner);
    if (atomic_exchange(&runner->tells, false))
        account_log(runner);
    if (now >= runner->deadline)
        client_tick(runner->client);
    if (runner->fatal.code == ERROR_NONE)
        take_turn(runner, now);
    else
        outcome_free_list(client_outcomes(runner->client));
    if (runner->fatal.code == ERROR_NONE)
        file_behind(runner);
    if (runner->written && runner->fatal.code == ERROR_NONE)
        checkpoint(runner, is_idle(runner) ? PAGES_IDLE : PAGES_BUSY);
    runner_advance(runner, now);
    return runner->stage != ENDED;
}

static time_ms earlier(time_ms a, time_ms b) {
    return a < b ? a : b;
}

/* The monotonic instant at which a turn has something to do. */
static time_ms next_turn(struct runner *runner, time_ms now) {
    int room = client_room(runner->client).places;
    if (now < runner->retry_at)
        return runner->retry_at;
    time_ms until = earlier(job_requests_due(runner->requests), turns_renewal(runner->turns));
    if (runner->stage != WORKING)
        return until;
    if (client_waits(runner->client))
        until = earlier(until, runner->yield_at);
    if (runner->gathers)
        return earlier(until, runner->gather_until);
    if (runner->again || runner->rang)
        return earlier(until, now + back_off_full_wait(&runner->settings, room));
    if (room == 0)
        return until;
    if (runner->next == TIME_NEVER)
        return until;
    return earlier(until, now + (runner->next - clock_now(runner->options.clock)));
}

time_ms runner_wait(struct runner *runner) {
    time_ms now = clock_monotonic();
    runner->deadline = client_deadline(runner->client);
    time_ms until = earlier(runner->tick_at, runner->deadline);
    until = earlier(until, next_turn(runner, now));
    if (runner->stage == CUTTING)
        until = earlier(until, now + CUT_AGAIN);
    if (runner->stage != WORKING)
        until = earlier(until, runner->stage_until);
    return until > now ? until - now : 0;
}
