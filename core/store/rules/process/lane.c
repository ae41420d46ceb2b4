#include "store/rules/process/lane.h"
#include "store/rules/ground/engine.h"
#include "store/rules/place/places.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- the lane for a command ---- */

/* Says what has the lane or stands beside it: a command, which has no job, before a run. NO:
 * nothing does. */
static enum answer lane_read(struct store *store, int64_t lane, struct lane_run *run,
                             struct error *error) {
    enum answer step =
        db_read(&store->db, error,
                "SELECT a.owner, l.id, j.activity FROM lane a LEFT JOIN locks l"
                " ON l.lane=a.id OR (l.token=a.token AND l.owner=a.owner) LEFT JOIN job j"
                " ON j.id=l.id WHERE a.id IN (?1, ?2) ORDER BY a.owner, l.token LIMIT 1",
                "iit<ii", &run->owner, &run->job, run->activity, sizeof run->activity, lane, ~lane);
    run->held = step == YES;
    return step;
}

/* A store in memory has one thread: nothing runs while a command asks. What this executor has taken
 * and not begun waits for it. */
static bool is_idle(const struct store *store, const struct lane_run *run) {
    return store->kind == STORE_MEMORY || run->owner == store->self.id;
}

bool store_lane_look(struct store *store, int64_t lane, struct lane_run *run, struct error *error) {
    *run = (struct lane_run){0};
    enum answer found = lane_read(store, lane, run, error);
    if (found == YES && run->owner)
        run->held = !is_idle(store, run) && !store->engine->has_died(store, run->owner);
    return found != FAILED;
}

static enum answer hold_end(struct store *store, enum answer held, struct error *error) {
    if (held == YES)
        return store_commit(store, error) ? YES : FAILED;
    store_rollback(store);
    return held;
}

/* NO: it is taken, by a run or by a command. */
static enum answer hold(struct store *store, struct lane_want *want, struct error *error) {
    bool known = false;
    enum answer held = store->engine->hold ? store->engine->hold(store, want, &known, error) : NO;
    if (held != NO || known)
        return held;
    if (!store_begin(store, STORE_HOLD, error))
        return FAILED;
    return hold_end(store, place_hold_until(store, want, error), error);
}

/* The run of this owner has it. */
static enum answer take_from_dead(struct store *store, struct lane_want *want, int64_t owner,
                                  struct error *error) {
    bool taken = false;
    if (owner == store->self.id || !store->engine->has_died(store, owner))
        return NO;
    if (!store_begin(store, STORE_HOLD, error))
        return FAILED;
    const int64_t token = meta_token(store);
    if (!place_hold_after(store, want->hold.lane, token, owner, want->until, &taken, error))
        return hold_end(store, FAILED, error);
    want->hold.token = taken ? token : 0;
    return hold_end(store, taken ? YES : NO, error);
}

/* What ends the instance does not mind a run: it holds what keeps other commands off. */
enum answer store_lane_hold(struct store *store, struct lane_want *want, struct error *error) {
    const int64_t lane = want->hold.lane;
    int64_t owner = 0;
    want->hold.token = want->rev = 0;
    enum answer held = hold(store, want, error);
    if (held == NO && db_value(&store->db, error, &owner, "SELECT owner FROM lane WHERE id=?1", "i",
                               lane) == FAILED)
        return FAILED;
    if (owner)
        held = take_from_dead(store, want, owner, error);
    if (held != NO || !want->ends || !owner)
        return held;
    want->hold.lane = ~lane;
    held = hold(store, want, error);
    if (held != YES)
        want->hold.lane = lane;
    return held;
}

enum answer store_reach(struct store *store, struct store_reach *reach, struct error *error) {
    return store->engine->reach ? store->engine->reach(store, reach, error) : NO;
}

void store_reach_clear(struct store_reach *reach) {
    json_decref(reach->frame);
    json_decref(reach->found);
    reach->frame = reach->found = NULL;
}

/* ---- lanes for a list ---- */

static bool hold_each(struct store *store, struct lane_want *wants, size_t count, size_t *held,
                      struct error *error) {
    enum answer holds = YES;
    while (*held < count && (holds = place_hold_until(store, &wants[*held], error)) == YES)
        ++*held;
    return holds != FAILED;
}

/* What a set of lanes gives back to its caller. */
struct lanes_held {
    struct set set; /* first */
    struct lane_want *wants;
    size_t held;
};

static bool lanes_read(struct set *set, struct store *store, struct row *row, struct error *error) {
    struct lanes_held *lanes = (struct lanes_held *)set;
    enum answer step = NO;
    while ((step = db_step(&store->db, row, error)) == YES) {
        struct lane_want *want = &lanes->wants[lanes->held];
        want->hold.token = set->columns[1][lanes->held++];
        want->rev = row_int(row, 1);
    }
    return step == NO;
}

static bool hold_set(struct store *store, struct lane_want *wants, size_t count, size_t *held,
                     struct error *error) {
    int64_t *columns = malloc(5 * count * sizeof *columns);
    struct lanes_held lanes = {.set = {.kind = SET_HOLD_FREE, .count = count, .read = lanes_read},
                               .wants = wants};
    if (!columns)
        return db_no_memory(&store->db, error);
    for (size_t i = 0; i < count; i++) {
        columns[i] = wants[i].hold.lane;
        columns[count + i] = meta_token(store);
        columns[2 * count + i] = wants[i].instance;
        columns[3 * count + i] = wants[i].until;
        columns[4 * count + i] = wants[i].now;
    }
    for (size_t i = 0; i < 5; i++)
        lanes.set.columns[i] = columns + i * count;
    bool done = store->engine->set(store, &lanes.set, error);
    free(columns);
    *held = lanes.held;
    return done;
}

bool store_lanes_hold(struct store *store, struct lane_want *wants, size_t count, size_t *held,
                      struct error *error) {
    *held = 0;
    if (!store_begin(store, STORE_HOLD, error))
        return false;
    bool done = store->engine->sets ? hold_set(store, wants, count, held, error)
                                    : hold_each(store, wants, count, held, error);
    done = hold_end(store, done ? YES : FAILED, error) == YES;
    if (!done)
        *held = 0;
    return done;
}

bool store_lane_insist(struct store *store, const struct lane_hold *hold, struct lane_hold *beside,
                       struct error *error) {
    *beside = (struct lane_hold){~hold->lane, hold->token};
    return place_hold_beside(store, hold->lane, hold->token, error);
}

bool store_lane_extend(struct store *store, const struct lane_hold *hold, time_ms until,
                       struct error *error) {
    return place_hold_on(store, hold->lane, hold->token, until, error);
}

bool store_lane_release(struct store *store, const struct lane_hold *hold, struct error *error) {
    return place_release_later(store, hold->lane, hold->token, error);
}

/* ---- of commands that have died ---- */

enum { EXPIRED_MAX = 1000 }; /* that go in one turn */

static enum answer expired_next(struct store *store, time_ms now, struct lane_hold *hold,
                                struct error *error) {
    return db_read(&store->db, error,
                   "SELECT id, token FROM lane WHERE until<=?1 AND owner=0 LIMIT 1", "ii<i",
                   &hold->lane, &hold->token, now);
}

bool lanes_expire(struct store *store, time_ms now, bool *changed, struct error *error) {
    struct lane_hold hold;
    int64_t one = 0;
    enum answer found = NO;
    for (int i = 0; i < EXPIRED_MAX; i++) {
        if ((found = expired_next(store, now, &hold, error)) != YES)
            break;
        if (!place_release(store, hold.lane, hold.token, error))
            return false;
        *changed = true;
    }
    if (found == NO)
        found = db_value(&store->db, error, &one,
                         "SELECT 1 FROM lane WHERE until IS NOT NULL LIMIT 1", "");
    store->lanes_unheld = found == NO;
    return found != FAILED;
}

/* ---- for a run outside of it ---- */

enum answer lane_of(struct store *store, int64_t instance, int64_t *lane, struct error *error) {
    int64_t root = 0;
    *lane = job_instance_lane(instance);
    if (!store->rules->lane_of_root)
        return YES;
    enum answer found =
        db_value(&store->db, error, &root, "SELECT coalesce(root, id) FROM instance WHERE id=?1",
                 "i", instance);
    if (found == YES)
        *lane = job_instance_lane(root);
    return found;
}

/* *held: the lane that the run has now; 0: another run has it. */
static bool lane_take(struct store *store, const struct job *job, int64_t *held,
                      struct error *error) {
    int64_t lane = 0;
    bool taken = false;
    enum answer found = lane_of(store, job->instance_id, &lane, error);
    if (found == YES && !place_hold(store, lane, job->token, &taken, error))
        return false;
    *held = taken ? lane : 0;
    return found != FAILED;
}

enum answer lane_insist(struct store *store, const struct outcome *outcome, struct job *job,
                        struct error *error) {
    const bool contends = outcome->unit && outcome->unit->contends;
    job->behind++;
    if (job->lane_held || !job->instance_id || (!contends && job->behind < LANE_CONFLICTS))
        return YES;
    job->lane_held = job->lane_id;
    if (!job->lane_id && !lane_take(store, job, &job->lane_held, error))
        return FAILED;
    if (!job->lane_held)
        return contends ? NO : YES;
    int64_t token = job->lane_id ? outcome->lane_token : job->token;
    return place_insist(store, job->lane_held, token, true, error) ? YES : FAILED;
}

bool lane_give_back(struct store *store, const struct outcome *outcome, struct error *error) {
    const struct job *job = outcome->job;
    if (!job->lane_held)
        return true;
    return job->lane_id ? place_insist(store, job->lane_held, outcome->lane_token, false, error)
                        : place_release(store, job->lane_held, job->token, error);
}
