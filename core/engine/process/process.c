/* Commands to processes: each is walked on this thread, in the state that runs jobs by hand, and
 * what it does is written in one transaction (docs/processes.md). That of several processes may be
 * the same one. */
#include "base/json.h"
#include "engine/engine_state.h"
#include "engine/intake.h"
#include "engine/process/process_later.h"
#include "engine/process/process_walk.h"
#include <string.h>

/* Keeps a message in a transaction of its own. */
static enum answer keep(struct process_walk *walk, struct engine *engine, struct error *error) {
    enum answer done = FAILED;
    if (!once_begin(engine, error))
        return FAILED;
    done = process_walk_keep(walk, engine, error);
    if (done == NO)
        return engine_end(engine, true, error) ? NO : FAILED;
    return once_end(engine, done == YES, error) ? YES : FAILED;
}

/* What waits for a signal may be too much for one walk, or what it needs is busy. */
static bool give_by_jobs(struct process_walk *walk, struct engine *engine,
                         struct engine_order *given, struct error *error) {
    given->by_jobs = walk->cause.receivers > 0;
    given->told = walk->cause.lists && !given->by_jobs ? json_array() : NULL;
    return once_begin(engine, error) &&
           once_end(engine, process_walk_signal(walk, engine, error), error);
}

/* The result of the walk, as it is told. */
static bool tell(const struct process_walk *walk, json_t **told, struct error *error) {
    const char *text = walk->outcome->result;
    *told = text ? json_read(text, strlen(text), "result", error) : json_array();
    return *told || (!text && error_no_memory(error));
}

/* What has come of it, before the end of the transaction. */
static bool fill(const struct process_walk *walk, struct engine_order *given, struct error *error) {
    given->instance = walk->instance;
    given->lines = walk->lines;
    return !walk->cause.lists || tell(walk, &given->told, error);
}

/* With the answer that is kept under a key. NO: another change came first. */
static enum answer settle_once(struct process_walk *walk, struct engine *engine,
                               struct engine_order *given, struct error *error) {
    if (!once_begin(engine, error))
        return FAILED;
    enum answer done = store_units_ahead(engine->store, &walk->outcome, 1, error)
                           ? process_walk_settle(walk, engine, false, error)
                           : FAILED;
    if (done == NO) {
        engine_end(engine, false, error);
        return NO;
    }
    bool fine = done == YES && store_settle_end(engine->store, error) &&
                process_lanes_write(engine, error) && fill(walk, given, error);
    if (!once_end(engine, fine, error))
        return FAILED;
    process_lanes_forget(engine);
    return YES;
}

static enum answer settle_by_itself(struct process_walk *walk, struct engine *engine,
                                    struct engine_order *given, struct error *error) {
    enum answer done = process_walk_settle(walk, engine, true, error);
    if (done == YES)
        process_lanes_given(engine);
    return done == YES && !fill(walk, given, error) ? FAILED : done;
}

static bool walk_here(struct process_walk *walk, struct engine *engine, struct engine_order *given,
                      struct error *error) {
    enum answer done = NO;
    while (done == NO && process_walk_run(walk, engine, error))
        done = engine->request ? settle_once(walk, engine, given, error)
                               : settle_by_itself(walk, engine, given, error);
    engine_tidy(engine);
    return done == YES;
}

/* A trial: it is walked, and nothing is written. */
static bool try(struct process_walk *walk, struct engine *engine, json_t **told,
                struct error *error) {
    bool done = process_walk_run(walk, engine, error) && tell(walk, told, error);
    engine_tidy(engine);
    return done;
}

static bool give(struct process_walk *walk, struct engine *engine, struct engine_order *given,
                 struct error *error) {
    engine_ids_begin(engine);
    if (json_is_true(json_object_get(walk->command, "dry_run")))
        return try(walk, engine, &given->told, error);
    if (given->later || (!given->now && !process_walk_is_ours(walk, engine)))
        return process_later(engine, &walk->cause, walk->command, given->retries, &given->job,
                             error);
    return walk_here(walk, engine, given, error);
}

/* Reads the command; with its lane, if it is walked here. */
static bool read_command(struct process_walk *walk, struct engine *engine,
                         const struct engine_order *given, struct error *error) {
    struct store_reach reach = {0};
    enum answer reached = NO;
    json_t *words = !given->later && (given->now || engine->generations)
                        ? process_cause_about(walk->command, &reach)
                        : NULL;
    if (words)
        reached = process_lane_reach(engine, &reach, error);
    engine->reached = reached == YES ? &reach : NULL;
    bool done = reached != FAILED && process_walk_read(walk, engine, error);
    engine->reached = NULL;
    store_reach_clear(&reach);
    json_decref(words);
    return done;
}

/* Reads the command and does it. NO: something began to wait for the message meanwhile. */
static enum answer give_once(struct process_walk *walk, struct engine *engine,
                             struct engine_order *given, struct error *error) {
    if (!read_command(walk, engine, given, error))
        return FAILED;
    given->kept = walk->cause.keeps != 0;
    if (given->kept)
        return keep(walk, engine, error);
    const size_t receivers = walk->cause.receivers;
    if (walk->cause.broadcast && (!receivers || receivers > SIGNAL_MOST))
        return give_by_jobs(walk, engine, given, error) ? YES : FAILED;
    return give(walk, engine, given, error) ? YES : FAILED;
}

bool engine_order(struct engine *engine, const json_t *command, struct engine_order *given,
                  struct error *error) {
    struct process_walk walk = {.command = command};
    enum answer done = engine_idle(engine, error) ? NO : FAILED;
    while (done == NO)
        done = give_once(&walk, engine, given, error);
    given->instance = walk.instance;
    given->lines = walk.lines;
    walk.lines = NULL;
    process_lanes_drop(engine);
    process_walk_clear(&walk);
    return store_seen(engine->store, error) && done == YES;
}

static json_t *answer_of(const struct engine_order *order) {
    if (order->told)
        return order->told;
    return order->by_jobs ? json_true() : json_integer(order->instance);
}

bool engine_process(struct engine *engine, const json_t *command, json_t **answer,
                    struct error *error) {
    struct engine_order order = {.now = true};
    bool done = engine_order(engine, command, &order, error);
    *answer = done ? answer_of(&order) : NULL;
    if (!done)
        json_decref(order.told);
    outcome_lines_free(order.lines);
    return done && (*answer || error_no_memory(error));
}
