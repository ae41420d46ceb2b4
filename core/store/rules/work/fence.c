/* fence.c - the locks of many runs that have ended: one statement ends them, where the result is
 * the same (rules §1). */
#include "store/rules/ground/transaction.h"
#include "store/rules/place/places.h"
#include "store/rules/work/work.h"
#include <stdlib.h>

enum { RUN_LEAST = 4 }; /* fewer locks go one by one */
enum { SPREAD = 8 };    /* tokens looked at for each outcome, and locks of others, at most */

/* A table of outcomes by their tokens, from `first` on. */
struct passing {
    int64_t first, room;
    struct outcome **list;
    bool whole; /* none of their runs has lost its lock so far */
};

/* Those that might have gone with others do not. */
static void fence_none(struct outcome *outcomes) {
    for (struct outcome *outcome = outcomes; outcome; outcome = outcome->next)
        if (outcome->way == WAY_OTHERS)
            outcome->way = WAY_UNASKED;
}

/* The ids of a run of tokens without a gap, of one owner. */
struct run {
    int64_t token, last_token, count, id, last_id, owner;
};

static struct run run_of(const struct passing *passing, int64_t at) {
    const struct job *job = passing->list[at]->job;
    struct run run = {.token = job->token, .id = job->id, .last_id = job->id, .owner = job->owner};
    for (; at < passing->room && passing->list[at]; at++, run.count++) {
        job = passing->list[at]->job;
        if (job->owner != run.owner)
            break;
        run.id = job->id < run.id ? job->id : run.id;
        run.last_id = job->id > run.last_id ? job->id : run.last_id;
        run.last_token = job->token;
    }
    return run;
}

/* YES: few other locks lie between its ids. Where there are few ids that is not asked. */
static enum answer run_narrow(struct store *store, const struct run *run, struct error *error) {
    int64_t one = 0;
    if (run->last_id - run->id < SPREAD * run->count)
        return YES;
    enum answer found =
        db_value(&store->db, error, &one,
                 "SELECT 1 FROM locked WHERE id BETWEEN ?1 AND ?2 LIMIT 1 OFFSET ?3", "iii",
                 run->id, run->last_id, SPREAD * run->count);
    return answer_not(found);
}

/* Every lock with one of its tokens is that of one of its outcomes. *whole: all of them were there,
 * as they were taken. */
static bool run_pass(struct store *store, const struct run *run, bool *whole, struct error *error) {
    const struct place_range range = {run->id, run->last_id, run->token, run->last_token,
                                      run->owner};
    if (!place_unlock_range(store, &range, error))
        return false;
    *whole = *whole && db_changes(&store->db) == run->count;
    return true;
}

static bool passing_end(struct store *store, void *arg, struct error *error) {
    struct passing *passing = arg;
    for (int64_t at = 0; passing->whole && at < passing->room; at++) {
        if (!passing->list[at])
            continue;
        struct run run = run_of(passing, at);
        enum answer narrow = run.count < RUN_LEAST ? NO : run_narrow(store, &run, error);
        if (narrow == FAILED || (narrow == YES && !run_pass(store, &run, &passing->whole, error)))
            return false;
        for (int64_t i = 0; i < run.count; i++)
            passing->list[at + i]->way = narrow == YES ? WAY_OTHERS : WAY_UNASKED;
        at += run.count - 1;
    }
    return passing->whole;
}

/* Ends all locks, or none if one of the runs has lost its lock: then each is asked by itself. */
static bool passing_try(struct store *store, struct passing *passing, struct outcome *outcomes,
                        struct error *error) {
    bool undone = false;
    passing->whole = true;
    if (passing->room && txn_try(store, passing_end, passing, &undone, error))
        return true;
    fence_none(outcomes);
    return !passing->room || (!passing->whole && undone);
}

/* Two may be of one lock, as a worker may hand back twice. The later one is asked by itself, when
 * the lock has ended. */
static void passing_put(struct passing *passing, struct outcome *outcome) {
    struct outcome **place = &passing->list[outcome->job->token - passing->first];
    if (*place)
        outcome->way = WAY_UNASKED;
    else
        *place = outcome;
}

/* Fills the table with the plain outcomes. It stays without room if the tokens lie too far apart.
 */
static bool passing_fill(struct store *store, struct passing *passing, struct outcome *outcomes,
                         int64_t count, struct error *error) {
    int64_t last = INT64_MIN;
    passing->first = INT64_MAX;
    for (const struct outcome *outcome = outcomes; outcome; outcome = outcome->next) {
        int64_t token = outcome->job->token;
        passing->first = token < passing->first ? token : passing->first;
        last = token > last ? token : last;
    }
    if (last - passing->first >= SPREAD * count)
        return true;
    passing->room = last - passing->first + 1;
    passing->list = calloc((size_t)passing->room, sizeof(struct outcome *));
    if (!passing->list)
        return db_no_memory(&store->db, error);
    for (struct outcome *outcome = outcomes; outcome; outcome = outcome->next)
        if (outcome->way == WAY_OTHERS)
            passing_put(passing, outcome);
    return true;
}

/* ---- where the engine tells which locks it has ended ---- */

/* The plain outcomes, by their tokens. */
struct fenced {
    struct set set; /* first */
    struct outcome **list;
};

static int by_token(const void *left, const void *right) {
    const struct outcome *const *a = left, *const *b = right;
    return ((*a)->job->token > (*b)->job->token) - ((*a)->job->token < (*b)->job->token);
}

static void fenced_found(struct set *set, int64_t token) {
    const struct fenced *fenced = (struct fenced *)set;
    struct job job = {.token = token};
    const struct outcome key = {.job = &job}, *pointer = &key;
    struct outcome **found = bsearch(&pointer, fenced->list, set->count, sizeof pointer, by_token);
    if (found)
        (*found)->way = WAY_OTHERS;
}

static bool unit_cuts(const struct unit *unit, int64_t instance) {
    for (size_t i = 0; i < unit->left_count; i++)
        if (unit->left[i].instance == instance && unit->left[i].what & UNIT_JOB)
            return true;
    for (size_t i = 0; i < unit->instance_count; i++)
        if (unit->instances[i].id == instance && !unit->instances[i].frame)
            return true;
    return false;
}

/* True if a unit of the list may remove the job. It must find the lock, which tells what it
 * removes from what has ended. */
static bool is_cut_off(const struct job *job, const struct outcome *outcomes) {
    for (; job->instance_id && outcomes; outcomes = outcomes->next)
        if (outcomes->unit && unit_cuts(outcomes->unit, job->instance_id))
            return true;
    return false;
}

/* numbers: room for ids, tokens and owners. */
static void fenced_fill(struct fenced *fenced, struct outcome *outcomes, size_t room,
                        int64_t *numbers) {
    size_t *count = &fenced->set.count;
    for (struct outcome *outcome = outcomes; outcome; outcome = outcome->next)
        if (outcome->way == WAY_OTHERS && !is_cut_off(outcome->job, outcomes))
            fenced->list[(*count)++] = outcome;
    fence_none(outcomes);
    qsort(fenced->list, *count, sizeof(struct outcome *), by_token);
    for (int i = 0; i < 3; i++)
        fenced->set.columns[i] = numbers + (size_t)i * room;
    for (size_t i = 0; i < *count; i++) {
        numbers[i] = fenced->list[i]->job->id;
        numbers[room + i] = fenced->list[i]->job->token;
        numbers[2 * room + i] = fenced->list[i]->job->owner;
    }
}

static bool settle_set(struct store *store, struct outcome *outcomes, size_t count,
                       struct error *error) {
    struct fenced fenced = {.set = {.kind = SET_FENCE, .found = fenced_found}};
    int64_t *numbers = malloc(3 * count * sizeof *numbers);
    fenced.list = calloc(count, sizeof(struct outcome *));
    bool done = (numbers && fenced.list) || db_no_memory(&store->db, error);
    if (done)
        fenced_fill(&fenced, outcomes, count, numbers);
    done = done && (!fenced.set.count || store->engine->set(store, &fenced.set, error));
    free(fenced.list);
    free(numbers);
    return done;
}

static bool ask_ahead(struct store *store, struct outcome *outcomes, struct error *error) {
    size_t count = 0, units = 0;
    for (const struct outcome *outcome = outcomes; outcome; outcome = outcome->next)
        count += outcome->unit != NULL;
    struct outcome **list = count ? malloc(count * sizeof *list) : NULL;
    for (struct outcome *outcome = outcomes; list && outcome; outcome = outcome->next)
        if (outcome->unit)
            list[units++] = outcome;
    bool done = list ? store_units_ahead(store, list, units, error)
                     : !count || db_no_memory(&store->db, error);
    free(list);
    return done;
}

bool store_settle_bulk(struct store *store, struct outcome *outcomes, struct error *error) {
    struct passing passing = {0};
    int64_t count = 0;
    bool asks = false;
    if (store->engine->sets && !ask_ahead(store, outcomes, error))
        return false;
    for (struct outcome *outcome = outcomes; outcome; outcome = outcome->next, count++) {
        outcome->way = settle_way(store, outcome, true);
        asks = asks || outcome->way == WAY_ASKS || outcome->way == WAY_CAREFUL;
    }
    if (asks || count < RUN_LEAST) {
        fence_none(outcomes);
        return true;
    }
    if (store->engine->sets)
        return settle_set(store, outcomes, (size_t)count, error);
    bool done = passing_fill(store, &passing, outcomes, count, error) &&
                passing_try(store, &passing, outcomes, error);
    free(passing.list);
    return done;
}
