#include "store/rules/ground/lasting.h"
#include "store/rules/ground/state.h"
#include <string.h>

struct lasting_job txn_job(struct store *store, const struct job *job, struct error *error) {
    struct job *copy = job_copy(job);
    if (!copy) {
        db_no_memory(&store->db, error);
        return (struct lasting_job){NULL};
    }
    copy->next = store->lasting.jobs;
    store->lasting.jobs = copy;
    return (struct lasting_job){copy};
}

struct lasting_text txn_text(struct store *store, const char *text, struct error *error) {
    size_t size = strlen(text) + 1;
    char *copy = arena_room(&store->lasting.texts, size);
    if (!copy) {
        db_no_memory(&store->db, error);
        return (struct lasting_text){NULL};
    }
    arena_keep(&store->lasting.texts, size);
    return (struct lasting_text){memcpy(copy, text, size)};
}

struct lasting_job outcome_job(const struct outcome *outcome) {
    return (struct lasting_job){outcome->job};
}

struct lasting_job created_job(struct store *store, const struct job *job, struct error *error) {
    return store->bulk.lasts ? (struct lasting_job){job} : txn_job(store, job, error);
}

void lasting_clear(struct lasting *lasting) {
    job_free_list(lasting->jobs);
    lasting->jobs = NULL;
    arena_clear(&lasting->texts);
}

static void lasting_over(struct store *store) {
    job_free_list(store->lasting.jobs);
    store->lasting.jobs = NULL;
    arena_empty(&store->lasting.texts);
}

const struct txn_hook lasting_hook = {.committed = lasting_over, .drop = lasting_over};
