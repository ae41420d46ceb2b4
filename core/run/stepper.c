#include "run/stepper.h"
#include "base/json.h"
#include "engine/driver.h"
#include "engine/outbox.h"
#include "run/turn.h"
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

struct stepper {
    struct engine *engine;
    struct turns *turns;             /* NULL until the first turn */
    const struct settings *settings; /* it joined under these */
    int served; /* 1 + number of the newest generation that the executor knows */
};

struct stepper *stepper_new(struct engine *engine, struct error *error) {
    struct stepper *stepper = calloc(1, sizeof *stepper);
    if (stepper)
        stepper->engine = engine;
    else
        error_no_memory(error);
    return stepper;
}

void stepper_free(struct stepper *stepper) {
    if (!stepper)
        return;
    turns_free(stepper->turns);
    free(stepper);
}

void stepper_leave(struct stepper *stepper, const struct settings *settings) {
    if (stepper->settings != settings)
        return;
    turns_free(stepper->turns);
    stepper->turns = NULL;
    stepper->settings = NULL;
    engine_leave(stepper->engine);
}

/* Joins the store under `settings` if it has not, or under others. */
static bool join(struct stepper *stepper, const struct settings *settings, struct error *error) {
    struct engine *engine = stepper->engine;
    if (stepper->turns && stepper->settings == settings)
        return true;
    stepper_leave(stepper, stepper->settings);
    if (!engine_join(engine, settings, error))
        return false;
    stepper->settings = settings;
    stepper->served = 0;
    stepper->turns = turns_new(engine_store(engine), settings, engine_clock(engine), 1, error);
    return stepper->turns != NULL;
}

/* Nothing runs any more: on a file, the stepper is no executor until it is one again. */
static void rest(struct stepper *stepper) {
    bool pending = stepper->turns && turns_pending(stepper->turns);
    if (store_kind(engine_store(stepper->engine)) != STORE_MEMORY && !pending)
        stepper_leave(stepper, stepper->settings);
    engine_tidy(stepper->engine);
}

static bool take(struct stepper *stepper, struct turn *turn, struct error *error) {
    static const struct definitions nothing;
    struct error untold = {0}; /* a turn that fails looks at its reason */
    const struct generations *generations = engine_generations(stepper->engine);
    int number = generations ? generations->list[0]->number : 0;
    if (stepper->served <= number)
        turns_serve(stepper->turns, generations ? &generations->served : &nothing);
    stepper->served = number + 1;
    return turns_take(stepper->turns, turn, error ? error : &untold);
}

/* ---- a round ---- */

/* The state of one round of turns, runs and outcomes. */
struct round {
    struct stepper *stepper;
    int64_t runs, max;        /* runs so far, and at most */
    bool over;                /* more was there to run */
    bool follows;             /* a job of the item has created what may follow it */
    bool quiet;               /* this round has looked at the store */
    bool made;                /* jobs were made of rows of the outbox */
    struct outcome *outcomes; /* not yet settled, in order */
    struct outcome **last;
};

static void keep(struct round *round, struct outcome *outcome) {
    *round->last = outcome;
    round->last = &outcome->next;
}

static void add(struct stepper_run *run, const struct turn *turn) {
    run->done += turn->done;
    run->failed += turn->failed;
    run->settled += turn->settled;
    run->acquired += turn->acquired;
}

/* What other programs asked for is looked for again with the jobs that it has become. */
static bool empty_outbox(struct round *round, struct turn *turn, struct error *error) {
    bool more = turn->outbox && turn->acquiring && !round->over, done = true;
    while (done && more) {
        turn->again = round->made = true;
        round->quiet = false;
        done = engine_outbox(round->stepper->engine, &more, error);
    }
    return done;
}

/* Settles the outcomes of the round and, with room, acquires. */
static bool turn(struct round *round, int room, bool following, struct turn *turn,
                 struct stepper_run *run, struct error *error) {
    *turn = (struct turn){.outcomes = round->outcomes,
                          .room = room,
                          .idle = clock_is_virtual(engine_clock(round->stepper->engine)) ? room : 1,
                          .acquiring = room > 0,
                          .following = following,
                          .quiet = round->quiet};
    round->quiet = true; /* the store itself says when others write */
    round->outcomes = NULL;
    round->last = &round->outcomes;
    if (!take(round->stepper, turn, error))
        return false;
    engine_tidy(round->stepper->engine);
    add(run, turn);
    return empty_outbox(round, turn, error);
}

/* Settles before the next item runs. Follow-ups in the lane run first. */
static bool settle_now(struct round *round, struct work_item **items, struct stepper_run *run,
                       struct error *error) {
    struct turn now;
    if (!turn(round, 0, !round->over, &now, run, error))
        return false;
    struct work_item **end = &now.items;
    while (*end)
        end = &(*end)->next;
    *end = *items;
    *items = now.items;
    return true;
}

/* The lease is renewed by a turn of its own when jobs run long: a lock must not outlive it. */
static bool renew(struct round *round, struct work_item **items, struct stepper_run *run,
                  struct error *error) {
    const struct stepper *stepper = round->stepper;
    time_ms left = turns_lease(stepper->turns) - clock_monotonic();
    return left > stepper->settings->lock_time / 3 * 2 || settle_now(round, items, run, error);
}

/* Cancelled, suspended or taken by hand since it was acquired: not to be run. */
static bool is_gone(struct engine *engine, const struct job *job) {
    return store_holds(engine_store(engine), job->id, job->token, NULL) == NO;
}

/* Runs the job, or gives it back once the round has run its share. */
static struct outcome *run_or_return(struct round *round, const struct work_item *item,
                                     struct job *job, bool give_back) {
    struct engine *engine = round->stepper->engine;
    round->over |= round->runs >= round->max;
    bool late = job->begin_by && clock_monotonic() > job->begin_by;
    bool over = round->over && !job->kept; /* it has called its handlers, and walks again */
    bool back = give_back || late || over || item->refused || is_gone(engine, job);
    round->runs += !back;
    return back ? outcome_new(job, OUTCOME_RETURNED) : engine_run_job(engine, NULL, job);
}

/* Runs the next job of an item, or decides when it runs again. */
static bool run_next(struct round *round, struct work_item *item, bool give_back,
                     struct error *error) {
    struct outcome *outcome = work_item_undecided(item);
    if (outcome)
        engine_decide(round->stepper->engine, NULL, outcome);
    else
        outcome = run_or_return(round, item, work_item_take(item), give_back);
    if (!outcome)
        return error_no_memory(error);
    if (outcome->unit)
        work_item_hand_on(item, outcome);
    outcome->lane_ends = !item->jobs && !item->goes_on;
    outcome->lane_token = item->lane_token;
    outcome->followed = item->followed;
    round->follows |= outcome_may_follow(outcome);
    keep(round, outcome);
    return true;
}

static bool run_items(struct round *round, struct work_item *items, struct stepper_run *run,
                      struct error *error) {
    bool ok = true;
    for (struct work_item *item = items; item; item = items) {
        items = item->next;
        round->follows = false;
        while (item->jobs) {
            bool ran = run_next(round, item, !ok, ok ? error : NULL);
            ok = ran && ok && renew(round, &items, run, error);
        }
        work_item_free(item);
        ok = ok && (!round->follows || settle_now(round, &items, run, error));
    }
    return ok;
}

static double wait_of(struct stepper *stepper, const struct turn *turn) {
    if (turn->again || turns_looks(stepper->turns))
        return 0;
    if (turn->next == TIME_NEVER)
        return INFINITY;
    double wait = (double)(turn->next - clock_now(engine_clock(stepper->engine))) / 1000;
    return wait > 0 ? wait : 0;
}

/* Settles the rest. Jobs that waited for the end of their item are given back. */
static bool finish(struct round *round, struct stepper_run *run, bool ok, struct turn *last,
                   struct error *error) {
    round->over = true;
    do {
        if (!turn(round, 0, false, last, run, ok ? error : NULL))
            return false;
        ok = run_items(round, last->items, run, ok ? error : NULL) && ok;
    } while (round->outcomes);
    return ok;
}

static bool start(struct round *round, struct stepper *stepper, const struct settings *settings,
                  int64_t max, struct stepper_run *run, struct error *error) {
    *run = (struct stepper_run){0};
    *round = (struct round){.stepper = stepper, .max = max, .last = &round->outcomes};
    return engine_enter(stepper->engine, error) && join(stepper, settings, error);
}

/* Nothing is measured on this thread, and what runs may create what comes first. */
enum { STEP_ROOM = 128 };

static int room_of(const struct settings *settings) {
    return settings->queue ? settings->queue : STEP_ROOM;
}

bool stepper_turn(struct stepper *stepper, const struct settings *settings, struct stepper_run *run,
                  struct error *error) {
    struct round round;
    struct turn first, second;
    if (!settings)
        settings = engine_settings(stepper->engine);
    if (!start(&round, stepper, settings, INT64_MAX, run, error) ||
        !turn(&round, room_of(settings), true, &first, run, error))
        return false;
    bool ok = run_items(&round, first.items, run, error);
    if (!finish(&round, run, ok, &second, error))
        return false;
    run->wait = round.made ? 0 : wait_of(stepper, &second);
    return true;
}

static bool drain(struct round *round, int room, struct stepper_run *run, struct error *error) {
    struct turn now;
    bool ok = true, more = true;
    while (more) {
        if (!turn(round, room, true, &now, run, error))
            return false;
        more = now.items || now.again;
        ok = run_items(round, now.items, run, error);
        more = more && ok && !round->over;
    }
    return (ok && !round->over) || finish(round, run, ok, &now, error);
}

bool stepper_drain(struct stepper *stepper, int64_t max, struct stepper_run *run,
                   struct error *error) {
    struct round round;
    const struct settings *settings = engine_settings(stepper->engine);
    if (!start(&round, stepper, settings, max, run, error))
        return false;
    bool ok = drain(&round, room_of(settings), run, error);
    rest(stepper);
    if (!ok || !round.over)
        return ok;
    return error_set(error, ERROR_FAILED,
                     "drain did not end after %lld runs (expected jobs that come to an end)",
                     (long long)max);
}

/* ---- one job by hand ---- */

/* Reads the result or the error for the caller, before the turn takes the outcome over. */
static bool tell(const struct outcome *outcome, json_t **result, struct error *error) {
    *result = NULL;
    const char *text = outcome->stack ? outcome->stack : outcome->message;
    if (outcome_traits[outcome->kind].fails)
        return error_set(error, ERROR_FAILED, "%s: %s", outcome->job->handler, text ? text : "");
    if (outcome->result)
        *result = json_read(outcome->result, strlen(outcome->result), "result", NULL);
    return true;
}

enum { SETTLE_PAUSE = 20 }; /* ms */

/* What becomes of a run by hand. */
struct by_hand {
    struct stepper *stepper;
    struct generation *generation;
    json_t **result;
    struct error *failure; /* of the job */
};

/* The outcome that the turn asks for: what the store refuses has failed, which is decided here, and
 * a job whose instance has moved on meanwhile walks again. NULL: none, or no memory. */
static struct outcome *go_on(const struct by_hand *hand, struct work_item *item) {
    struct engine *engine = hand->stepper->engine;
    struct outcome *outcome = work_item_undecided(item);
    if (outcome)
        engine_decide(engine, hand->generation, outcome);
    else
        outcome = engine_run_job(engine, hand->generation, work_item_take(item));
    if (!outcome)
        return NULL;
    json_decref(*hand->result);
    tell(outcome, hand->result, hand->failure);
    outcome->lane_ends = true;
    outcome->lane_token = item->lane_token;
    return outcome;
}

/* Another run may insist on the lane of its instance: it is waited for, but not for ever. */
static bool settle(const struct by_hand *hand, struct outcome *outcome, int64_t id,
                   struct error *error) {
    const time_ms until = clock_monotonic() + hand->stepper->settings->patience;
    struct turn turn = {0};
    do {
        turn = (struct turn){.outcomes = outcome, .leaving = clock_monotonic() >= until};
        if (!take(hand->stepper, &turn, error))
            return false;
        const bool goes_on = turn.items != NULL;
        outcome = goes_on ? go_on(hand, turn.items) : NULL;
        work_items_free(turn.items);
        if (goes_on && !outcome)
            return error_no_memory(error);
        if (!outcome && turns_pending(hand->stepper->turns))
            poll(NULL, 0, SETTLE_PAUSE);
    } while (outcome || turns_pending(hand->stepper->turns));
    if (turn.leaving)
        return error_set(error, ERROR_CONFLICT,
                         "job %lld is given back: another run of its instance"
                         " goes before it (expected its end within %lld ms)",
                         (long long)id, (long long)hand->stepper->settings->patience);
    return turn.stale == 0 ||
           error_set(error, ERROR_CONFLICT,
                     "job %lld lost its lock while it ran: its result was refused", (long long)id);
}

static bool execute(struct stepper *stepper, int64_t id, bool force, json_t **result,
                    struct error *error) {
    struct generation *generation;
    struct job *job = engine_take(stepper->engine, id, force, &generation, error);
    struct outcome *outcome = job ? engine_run_job(stepper->engine, generation, job) : NULL;
    if (!outcome)
        return job ? error_no_memory(error) : false;
    outcome->lane_ends = true;
    outcome->lane_token = outcome->job->token;
    struct error failure = {0};
    const struct by_hand hand = {stepper, generation, result, &failure};
    tell(outcome, result, &failure);
    if (!settle(&hand, outcome, id, error))
        return false;
    if (failure.code == ERROR_NONE)
        return true;
    if (error)
        *error = failure;
    return false;
}

bool stepper_execute(struct stepper *stepper, int64_t id, bool force, json_t **result,
                     struct error *error) {
    *result = NULL;
    if (!engine_enter(stepper->engine, error) ||
        !join(stepper, engine_settings(stepper->engine), error))
        return false;
    bool ok = execute(stepper, id, force, result, error);
    rest(stepper);
    if (ok)
        return true;
    json_decref(*result);
    *result = NULL;
    return false;
}
