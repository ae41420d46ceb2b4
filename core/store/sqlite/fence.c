/* fence.c - the locks of many runs that have succeeded are given back with one statement, where
 * that is the same as one after the other (rules §1: the fence). */
#include "store/sqlite/connection.h"
#include "store/sqlite/limit.h"
#include "store/sqlite/starts.h"
#include <stdlib.h>

enum { RUN_LEAST = 4 }; /* fewer locks go one by one */

/* An outcome by its token. */
struct passing {
    int64_t token, id;
    struct outcome *outcome;
};

/* Nothing that is done for the outcomes before it asks whether this job is locked, and nothing of
 * its own can be refused. */
static bool fence_plain(const struct store *store, const struct outcome *outcome) {
    const struct job *job = outcome->job;
    return outcome->kind == OUTCOME_SUCCESS && !outcome->lines && !outcome->warning &&
           job->owner == store->self.id && !job->lane_id && !job->batch && !job->repeat &&
           !job->unique_key && !job->crashes && !store->catalog.backlogs &&
           !limit_of(store, job->stream) && !starts_of(store, job->stream);
}

/* A verb may be about any job of the list; what it creates may be refused. */
static bool fence_alone(const struct outcome *outcome) {
    if (outcome->effects)
        return true;
    for (const struct job *job = outcome->created; job; job = job->next)
        if (job->unique_key)
            return true;
    return false;
}

static int by_token(const void *left, const void *right) {
    const struct passing *a = left, *b = right;
    return (a->token > b->token) - (a->token < b->token);
}

/* Are all of them as they were acquired? The range of their ids may hold locks of others: then only
 * so many are looked at. 1 yes, 0 they are asked one by one, -1 error. */
static int run_whole(struct store *store, const struct passing *run, int64_t count, int64_t first,
                     int64_t last, struct error *error) {
    int64_t theirs = 0;
    int found = db_value(&store->db, error, &theirs,
                         "SELECT sum(token BETWEEN ?4 AND ?5 AND owner=?6 AND edited=0)"
                         " FROM (SELECT token, owner, edited FROM locked WHERE id BETWEEN ?1 AND ?2"
                         " LIMIT ?3)",
                         "iiiiii", first, last, 4 * count + 64, run->token, run[count - 1].token,
                         store->self.id);
    return found < 0 ? -1 : theirs == count;
}

/* Tokens without a gap: every lock with one of them is that of one of these outcomes. */
static bool run_pass(struct store *store, const struct passing *run, int64_t count,
                     struct error *error) {
    int64_t first = run->id, last = run->id;
    for (int64_t i = 1; i < count; i++) {
        first = run[i].id < first ? run[i].id : first;
        last = run[i].id > last ? run[i].id : last;
    }
    int whole = run_whole(store, run, count, first, last, error);
    if (whole <= 0)
        return whole == 0;
    for (int64_t i = 0; i < count; i++)
        run[i].outcome->fenced = true;
    return db_run(&store->db, error,
                  "DELETE FROM locked WHERE id BETWEEN ?1 AND ?2 AND token BETWEEN ?3 AND ?4"
                  " AND owner=?5 AND edited=0",
                  "iiiii", first, last, run->token, run[count - 1].token, store->self.id) &&
           (db_changes(&store->db) == count ||
            error_set(error, ERROR_DAMAGED, "store \"%s\": damaged: %d locks where there were %lld",
                      store->db.name, db_changes(&store->db), (long long)count));
}

static bool passing_all(struct store *store, struct passing *list, int64_t count,
                        struct error *error) {
    qsort(list, (size_t)count, sizeof *list, by_token);
    for (int64_t at = 0, end; at < count; at = end) {
        end = at + 1;
        while (end < count && list[end].token == list[end - 1].token + 1)
            end++;
        if (end - at >= RUN_LEAST && !run_pass(store, list + at, end - at, error))
            return false;
    }
    return true;
}

bool store_fence(struct store *store, struct outcome *outcomes, struct error *error) {
    int64_t count = 0, plain = 0;
    bool alone = false;
    for (struct outcome *outcome = outcomes; outcome; outcome = outcome->next, count++) {
        outcome->fenced = false;
        alone = alone || fence_alone(outcome);
    }
    struct passing *list =
        !alone && count >= RUN_LEAST ? malloc((size_t)count * sizeof *list) : NULL;
    if (!list)
        return true;
    for (struct outcome *outcome = outcomes; outcome; outcome = outcome->next)
        if (fence_plain(store, outcome))
            list[plain++] = (struct passing){outcome->job->token, outcome->job->id, outcome};
    bool done = passing_all(store, list, plain, error);
    free(list);
    return done;
}
