/* fence.c - the locks of many runs that have ended: one statement ends them, where the result is
 * the same (rules §1). */
#include "store/rules/ground/transaction.h"
#include "store/rules/place/backlog.h"
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

/* True if nothing but the job as it was taken says what becomes of it after the failure. A run by
 * hand may be of a dead or suspended job. */
static bool failure_plain(const struct store *store, const struct outcome *outcome) {
    const struct job *job = outcome->job;
    return store->engine->sets && outcome->kind == OUTCOME_FAILURE && !outcome->created &&
           !outcome->stuck && !outcome->lines && !outcome->warning && job->retries > 0 &&
           !job->suspended && !job->conflicts && !store->meta.fair;
}

/* True if no earlier outcome asks whether this job is locked, and nothing of it can be refused. */
static bool fence_plain(const struct store *store, const struct outcome *outcome) {
    const struct job *job = outcome->job;
    return (outcome->kind == OUTCOME_SUCCESS || failure_plain(store, outcome)) &&
           !outcome->refused && job->owner == store->self.id && !outcome->unit && !job->batch &&
           !job->repeat && !job->crashes && !job->suspect && !backlog_counts(store, job->stream);
}

/* True if the outcome must not be settled with others: its verbs may concern any job of the list,
 * or a created job may be refused. */
static bool fence_alone(const struct store *store, const struct outcome *outcome) {
    if (outcome->effects)
        return true;
    for (const struct job_spec *spec = outcome->created; spec; spec = spec->next)
        if (spec->job.unique_key || backlog_of(store, spec->job.handler))
            return true;
    return false;
}

/* The ids of a run of tokens without a gap. */
struct run {
    int64_t token, last_token, count, id, last_id;
};

static struct run run_of(const struct passing *passing, int64_t at) {
    const struct job *job = passing->list[at]->job;
    struct run run = {.token = job->token, .id = job->id, .last_id = job->id};
    for (; at < passing->room && passing->list[at]; at++, run.count++) {
        job = passing->list[at]->job;
        run.id = job->id < run.id ? job->id : run.id;
        run.last_id = job->id > run.last_id ? job->id : run.last_id;
        run.last_token = job->token;
    }
    return run;
}

/* YES: few other locks lie between its ids. */
static enum answer run_narrow(struct store *store, const struct run *run, struct error *error) {
    int64_t one = 0;
    enum answer found =
        db_value(&store->db, error, &one,
                 "SELECT 1 FROM locked WHERE id BETWEEN ?1 AND ?2 LIMIT 1 OFFSET ?3", "iii",
                 run->id, run->last_id, SPREAD * run->count);
    return answer_not(found);
}

/* Every lock with one of its tokens is that of one of its outcomes. *whole: all of them were there,
 * as they were taken. */
static bool run_pass(struct store *store, const struct run *run, bool *whole, struct error *error) {
    const struct place_range range = {run->id, run->last_id, run->token, run->last_token};
    if (!place_unlock_range(store, &range, error))
        return false;
    *whole = *whole && db_changes(&store->db) == run->count;
    return true;
}

static bool passing_all(struct store *store, struct passing *passing, bool *whole,
                        struct error *error) {
    for (int64_t at = 0; *whole && at < passing->room; at++) {
        if (!passing->list[at])
            continue;
        struct run run = run_of(passing, at);
        enum answer narrow = run.count < RUN_LEAST ? NO : run_narrow(store, &run, error);
        if (narrow == FAILED || (narrow == YES && !run_pass(store, &run, whole, error)))
            return false;
        for (int64_t i = 0; i < run.count; i++)
            passing->list[at + i]->fenced = narrow == YES;
        at += run.count;
    }
    return true;
}

static void passing_forget(struct passing *passing) {
    for (int64_t at = 0; at < passing->room; at++)
        if (passing->list[at])
            passing->list[at]->fenced = false;
}

static bool passing_end(struct store *store, void *arg, struct error *error) {
    struct passing *passing = arg;
    return passing_all(store, passing, &passing->whole, error) && passing->whole;
}

/* Ends all locks, or none if one of the runs has lost its lock: then each is asked by itself. */
static bool passing_try(struct store *store, struct passing *passing, struct error *error) {
    bool undone = false;
    passing->whole = true;
    if (txn_try(store, passing_end, passing, &undone, error))
        return true;
    passing_forget(passing);
    return !passing->whole && undone;
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
        if (fence_plain(store, outcome))
            passing->list[outcome->job->token - passing->first] = outcome;
    return true;
}

/* ---- where the engine tells which locks it has ended ---- */

/* The plain outcomes, by their tokens. */
struct fenced {
    struct set set; /* first */
    struct outcome **list;
    int64_t *ids, *tokens, *owners;
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
        (*found)->fenced = true;
}

static void fenced_fill(struct fenced *fenced, const struct store *store,
                        struct outcome *outcomes) {
    size_t *count = &fenced->set.count;
    for (struct outcome *outcome = outcomes; outcome; outcome = outcome->next)
        if (fence_plain(store, outcome))
            fenced->list[(*count)++] = outcome;
    qsort(fenced->list, *count, sizeof(struct outcome *), by_token);
    for (size_t i = 0; i < *count; i++) {
        fenced->ids[i] = fenced->list[i]->job->id;
        fenced->tokens[i] = fenced->list[i]->job->token;
        fenced->owners[i] = store->self.id;
    }
}

static bool settle_set(struct store *store, struct outcome *outcomes, size_t count,
                       struct error *error) {
    struct fenced fenced = {.set = {.kind = SET_FENCE, .found = fenced_found}};
    fenced.list = calloc(count, sizeof(struct outcome *));
    fenced.set.columns[0] = fenced.ids = malloc(count * sizeof *fenced.ids);
    fenced.set.columns[1] = fenced.tokens = malloc(count * sizeof *fenced.tokens);
    fenced.set.columns[2] = fenced.owners = malloc(count * sizeof *fenced.owners);
    bool done = (fenced.list && fenced.ids && fenced.tokens && fenced.owners) ||
                db_no_memory(&store->db, error);
    if (done)
        fenced_fill(&fenced, store, outcomes);
    done = done && (!fenced.set.count || store->engine->set(store, &fenced.set, error));
    free(fenced.list);
    free(fenced.ids);
    free(fenced.tokens);
    free(fenced.owners);
    return done;
}

bool work_settle_bulk(struct store *store, struct outcome *outcomes, struct error *error) {
    struct passing passing = {0};
    int64_t count = 0;
    bool alone = false;
    for (struct outcome *outcome = outcomes; outcome; outcome = outcome->next, count++) {
        outcome->fenced = false;
        alone = alone || fence_alone(store, outcome);
    }
    if (alone || count < RUN_LEAST)
        return true;
    if (store->engine->sets)
        return settle_set(store, outcomes, (size_t)count, error);
    bool done = passing_fill(store, &passing, outcomes, count, error) &&
                (!passing.room || passing_try(store, &passing, error));
    free(passing.list);
    return done;
}
