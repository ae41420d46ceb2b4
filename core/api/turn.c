#include "api/engine_state.h"
#include <math.h>

/* What one round of turning, running and settling has in hand. */
struct round {
    struct engine *engine;
    int64_t runs, max;        /* runs so far, and at most */
    bool over;                /* more was there to run */
    bool follows;             /* a job of the item has created what may follow it */
    bool quiet;               /* this round has looked at the store */
    struct outcome *outcomes; /* not yet settled, in order */
    struct outcome **last;
};

bool engine_join(struct engine *engine, const struct settings *settings, struct error *error) {
    if (engine->executor && engine->joined_as == settings)
        return true;
    engine_leave(engine, engine->joined_as);
    if (!engine_register(engine, settings, error))
        return false;
    engine->executor = executor_new(engine->store, settings, engine->options.clock, 1, error);
    engine->joined_as = settings;
    if (!engine->executor)
        return false;
    executor_serve(engine->executor, &engine->served);
    return true;
}

void engine_leave(struct engine *engine, const struct settings *settings) {
    if (engine->joined_as != settings)
        return;
    executor_free(engine->executor);
    engine->executor = NULL;
    engine->joined_as = NULL;
}

void engine_rest(struct engine *engine) {
    bool pending = engine->executor && executor_pending(engine->executor);
    if (store_path(engine->store) && !pending)
        engine_leave(engine, engine->joined_as);
    engine_tidy(engine);
}

json_t *engine_status(struct engine *engine) {
    return engine->executor ? executor_status(engine->executor) : NULL;
}

void engine_push_raised(struct engine *engine) {
    if (engine->current)
        script_push_raised(engine->current->script);
}

static void keep(struct round *round, struct outcome *outcome) {
    *round->last = outcome;
    round->last = &outcome->next;
}

static void add(struct engine_run *run, const struct turn *turn) {
    run->done += turn->done;
    run->failed += turn->failed;
    run->settled += turn->settled;
    run->acquired += turn->acquired;
}

/* Settles what the round has in hand and, with room, acquires. */
static bool turn(struct round *round, int room, bool following, struct turn *turn,
                 struct engine_run *run, struct error *error) {
    *turn = (struct turn){.outcomes = round->outcomes,
                          .room = room,
                          .idle = clock_is_virtual(round->engine->options.clock) ? room : 1,
                          .acquiring = room > 0,
                          .following = following,
                          .quiet = round->quiet};
    round->quiet = true; /* the store itself says when others write */
    round->outcomes = NULL;
    round->last = &round->outcomes;
    if (!executor_turn(round->engine->executor, turn, error))
        return false;
    engine_tidy(round->engine);
    add(run, turn);
    return true;
}

struct outcome *engine_run_job(struct engine *engine, struct generation *generation,
                               struct job *job) {
    store_slot_set(engine->store, 0, job->id, job->token, engine_now(engine));
    engine->running = true;
    struct outcome *outcome = script_run(generation->script, job);
    engine->running = false;
    store_slot_clear(engine->store, 0);
    generation_freshen(engine, generation);
    return outcome;
}

/* Settles before the next item runs; what follows in the lane runs first. */
static bool settle_now(struct round *round, struct item **items, struct engine_run *run,
                       struct error *error) {
    struct turn now;
    if (!turn(round, 0, !round->over, &now, run, error))
        return false;
    struct item **end = &now.items;
    while (*end)
        end = &(*end)->next;
    *end = *items;
    *items = now.items;
    return true;
}

/* The lease is renewed by a turn of its own when jobs run long: a lock must not outlive it. */
static bool renew(struct round *round, struct item **items, struct engine_run *run,
                  struct error *error) {
    struct engine *engine = round->engine;
    time_ms left = executor_lease(engine->executor) - clock_monotonic();
    return left > engine->joined_as->lock_time / 3 * 2 || settle_now(round, items, run, error);
}

/* Cancelled, suspended or taken by hand since it was acquired: not to be run. */
static bool is_gone(struct engine *engine, const struct job *job) {
    return store_holds(engine->store, job->id, job->token, NULL) == 0;
}

/* Runs the next job of an item, or gives it back once the round has run its share. */
static bool run_next(struct round *round, struct item *item, bool give_back, struct error *error) {
    struct job *job = item_take(item);
    struct generation *generation = engine_serving(round->engine, job->handler);
    round->over |= round->runs >= round->max;
    bool late = job->begin_by && clock_monotonic() > job->begin_by;
    bool back = give_back || late || round->over || item->refused || is_gone(round->engine, job);
    struct outcome *outcome =
        back ? outcome_new(job, OUTCOME_RETURNED) : engine_run_job(round->engine, generation, job);
    if (!outcome)
        return error_set(error, ERROR_FAILED, "out of memory");
    round->runs += !back;
    outcome->lane_ends = !item->jobs;
    outcome->lane_token = item->lane_token;
    outcome->followed = item->followed;
    round->follows |= outcome_may_follow(outcome);
    keep(round, outcome);
    return true;
}

static bool run_items(struct round *round, struct item *items, struct engine_run *run,
                      struct error *error) {
    bool ok = true;
    for (struct item *item = items; item; item = items) {
        items = item->next;
        round->follows = false;
        while (item->jobs) {
            bool ran = run_next(round, item, !ok, ok ? error : NULL);
            ok = ran && ok && renew(round, &items, run, error);
        }
        item_free(item);
        ok = ok && (!round->follows || settle_now(round, &items, run, error));
    }
    return ok;
}

static double wait_of(const struct engine *engine, const struct turn *turn) {
    if (turn->again)
        return 0;
    if (turn->next == TIME_NEVER)
        return INFINITY;
    double wait = (double)(turn->next - engine_now(engine)) / 1000;
    return wait > 0 ? wait : 0;
}

/* Settles what is left; what still waited for the end of its item is given back. */
static bool finish(struct round *round, struct engine_run *run, bool ok, struct turn *last,
                   struct error *error) {
    round->over = true;
    do {
        if (!turn(round, 0, false, last, run, ok ? error : NULL))
            return false;
        ok = run_items(round, last->items, run, ok ? error : NULL) && ok;
    } while (round->outcomes);
    return ok;
}

static bool start(struct round *round, struct engine *engine, const struct settings *settings,
                  int64_t max, struct engine_run *run, struct error *error) {
    *run = (struct engine_run){0};
    *round = (struct round){.engine = engine, .max = max, .last = &round->outcomes};
    if (!engine_idle(engine, error))
        return false;
    engine->ids_left = 0; /* ids grow in commit order: none from before what was created since */
    return engine_join(engine, settings, error);
}

bool engine_turn_as(struct engine *engine, const struct settings *settings, struct engine_run *run,
                    struct error *error) {
    struct round round;
    struct turn first, second;
    if (!start(&round, engine, settings, INT64_MAX, run, error) ||
        !turn(&round, settings->queue, true, &first, run, error))
        return false;
    bool ok = run_items(&round, first.items, run, error);
    if (!finish(&round, run, ok, &second, error))
        return false;
    run->wait = executor_looks(engine->executor) ? 0 : wait_of(engine, &second);
    return true;
}

bool engine_turn(struct engine *engine, struct engine_run *run, struct error *error) {
    return engine_turn_as(engine, engine->options.settings, run, error);
}

static bool drain(struct round *round, int room, struct engine_run *run, struct error *error) {
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

bool engine_drain(struct engine *engine, int64_t max, struct engine_run *run, struct error *error) {
    struct round round;
    const struct settings *settings = engine->options.settings;
    if (!start(&round, engine, settings, max, run, error))
        return false;
    bool ok = drain(&round, settings->queue, run, error);
    engine_rest(engine);
    if (!ok || !round.over)
        return ok;
    return error_set(error, ERROR_FAILED,
                     "drain did not end after %lld runs (expected jobs that come to an end)",
                     (long long)max);
}
