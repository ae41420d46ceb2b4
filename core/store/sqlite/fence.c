/* fence.c - the locks of many runs that have succeeded are given back with one statement, where
 * that is the same as one after the other (rules §1: the fence). */
#include "store/sqlite/backlog.h"
#include "store/sqlite/limit.h"
#include "store/sqlite/starts.h"
#include <stdlib.h>

enum { RUN_LEAST = 4 }; /* fewer locks go one by one */
enum { SPREAD = 8 };    /* tokens looked at for each outcome, and locks of others, at most */

/* Outcomes by their tokens, from `first` on. */
struct passing {
    int64_t first, room;
    struct outcome **list;
};

/* Nothing that is done for the outcomes before it asks whether this job is locked, and nothing of
 * its own can be refused. */
static bool fence_plain(const struct store *store, const struct outcome *outcome) {
    const struct job *job = outcome->job;
    return outcome->kind == OUTCOME_SUCCESS && !outcome->lines && !outcome->warning &&
           job->owner == store->self.id && !job->lane_id && !job->batch && !job->repeat &&
           !job->unique_key && !job->crashes && !backlog_counts(store, job->stream) &&
           !limit_of(store, job->stream) && !starts_of(store, job->stream);
}

/* A verb may be about any job of the list; what it creates may be refused. */
static bool fence_alone(const struct store *store, const struct outcome *outcome) {
    if (outcome->effects)
        return true;
    for (const struct job *job = outcome->created; job; job = job->next)
        if (job->unique_key || backlog_of(store, job->handler))
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

/* 1 not much else is locked between its ids, 0 it is, -1 error. */
static int run_narrow(struct store *store, const struct run *run, struct error *error) {
    int64_t one = 0;
    int found = db_value(&store->db, error, &one,
                         "SELECT 1 FROM locked WHERE id BETWEEN ?1 AND ?2 LIMIT 1 OFFSET ?3", "iii",
                         run->id, run->last_id, SPREAD * run->count);
    return found < 0 ? -1 : !found;
}

/* Every lock with one of its tokens is that of one of its outcomes. *whole: all of them were there,
 * as they were taken. */
static bool run_pass(struct store *store, const struct run *run, bool *whole, struct error *error) {
    if (!db_run(&store->db, error,
                "DELETE FROM locked WHERE id BETWEEN ?1 AND ?2 AND token BETWEEN ?3 AND ?4"
                " AND owner=?5 AND edited=0",
                "iiiii", run->id, run->last_id, run->token, run->last_token, store->self.id))
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
        int narrow = run.count < RUN_LEAST ? 0 : run_narrow(store, &run, error);
        if (narrow < 0 || (narrow && !run_pass(store, &run, whole, error)))
            return false;
        for (int64_t i = 0; i < run.count; i++)
            passing->list[at + i]->fenced = narrow;
        at += run.count;
    }
    return true;
}

static void passing_forget(struct passing *passing) {
    for (int64_t at = 0; at < passing->room; at++)
        if (passing->list[at])
            passing->list[at]->fenced = false;
}

/* If one of them has lost its lock they are asked one by one. */
static bool passing_try(struct store *store, struct passing *passing, struct error *error) {
    bool whole = true;
    if (!db_run(&store->db, error, "SAVEPOINT fence", "") ||
        !passing_all(store, passing, &whole, error))
        return false;
    if (!whole)
        passing_forget(passing);
    return (whole || db_run(&store->db, error, "ROLLBACK TO fence", "")) &&
           db_run(&store->db, error, "RELEASE fence", "");
}

/* The plain ones of the list by their tokens; without room where those lie too far apart. */
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
        return error_set(error, ERROR_FAILED, "store \"%s\": out of memory", store->db.name);
    for (struct outcome *outcome = outcomes; outcome; outcome = outcome->next)
        if (fence_plain(store, outcome))
            passing->list[outcome->job->token - passing->first] = outcome;
    return true;
}

bool store_fence(struct store *store, struct outcome *outcomes, struct error *error) {
    struct passing passing = {0};
    int64_t count = 0;
    bool alone = false;
    for (struct outcome *outcome = outcomes; outcome; outcome = outcome->next, count++) {
        outcome->fenced = false;
        alone = alone || fence_alone(store, outcome);
    }
    if (alone || count < RUN_LEAST)
        return true;
    bool done = passing_fill(store, &passing, outcomes, count, error) &&
                (!passing.room || passing_try(store, &passing, error));
    free(passing.list);
    return done;
}
