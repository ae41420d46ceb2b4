/* batch.h - one operation for many ids, without blocking (rules §17): what the store offers beside
 * the commands of job/command.h, which are
 *
 *   { verb = "suspend_batch" | "activate_batch" | "retry_failed", batch = ID }
 *   { verb = "delete_batch", batch = ID, history = true | false }   an ended one: only with history
 *
 * for people (done in steps of at most 1 000 jobs, each with a `rest`; an entry in the log), and
 * for the stock handlers moonshift/batch_seed and moonshift/batch_monitor, as effects only,
 *
 *   { verb = "batch_seed", batch = ID }                the next execution jobs, and the next seed
 *   { verb = "batch_monitor", batch = ID, ended = B }  ends the batch, or makes the next monitor
 *
 * A batch is filled in parts of at most 1 000 ids, each in a transaction of its own; its seed job
 * is created in the transaction that ends filling. An id is any JSON value: a number of a job, a
 * payload. Execution jobs are of the definition "batch/TYPE", their payload is { batch = ID, ids =
 * [...] }, and job.config (struct job, job/job.h) is the config of their batch as JSON text. */
#pragma once

#include "store/store.h"

enum {
    BATCH_PART = 1000,        /* ids in one part at most */
    BATCH_INVOCATIONS = 1000, /* ids in one execution job at most */
    BATCH_CONFIG = 64 * 1024  /* bytes of its config at most */
};

/* How a batch begins. */
struct store_batch {
    const char *type;        /* "set-job-retries": execution jobs are "batch/set-job-retries" */
    const json_t *config;    /* an object for the handler, or NULL */
    const char *name;        /* NULL: none */
    const char *on_complete; /* a handler that gets { batch = ID, … } when it ends; NULL: none */
    int64_t jobs_per_seed;   /* execution jobs that one seed job makes; 0: as the settings say */
    int64_t invocations;     /* ids of one execution job; 0: as the settings say of its type */
    int64_t retries;         /* runs of each of its jobs; 0: as the settings say */
    const int64_t *priority; /* of its jobs, whatever is overridden; NULL: batch_job_priority */
};

/* Begins one in the state "filling". The type is not checked: callers do that. */
bool store_batch_begin(struct store *store, const struct store_batch *batch, time_ms now,
                       int64_t *id, struct error *error);
/* Adds one part: an array of 1 to 1 000 values. ERROR_CONFLICT: it is not being filled. */
bool store_batch_add(struct store *store, int64_t id, const json_t *ids, struct error *error);
/* Adds the next jobs that match the filters, at most 1 000 with ids above *after, which goes on.
 * All that were there when the batch was begun are meant. Of those created since, only a job with
 * an id drawn before may be among them. *more: call again. */
bool store_batch_find(struct store *store, int64_t id, const json_t *filters, int64_t *after,
                      bool *more, time_ms now, struct error *error);
/* Adds the ids of a page of rows, which were asked for by the filters with ids above *after. Those
 * that were created after the batch was begun are left out. */
bool store_batch_found(struct store *store, int64_t id, const json_t *filters, const json_t *rows,
                       int64_t *after, bool *more, struct error *error);
/* Ends filling: the seed job is there. ERROR_INVALID if there are no ids: delete it then with
 * store_batch_abandon. */
bool store_batch_start(struct store *store, int64_t id, time_ms now, struct error *error);
/* A batch whose filling failed goes without a trace. */
bool store_batch_abandon(struct store *store, int64_t id, struct error *error);

/* Lists the batches that match { id, type, name, state, running, finished } (lists: any of). Each
 * is an object with id, type, name, ids, jobs_per_seed, invocations, retries, priority, config,
 * on_complete, who, start, execution_start, end, and:
 *   - state: "filling", "active", "suspended", "deleting", "completed" or "deleted";
 *   - total, created, completed, remaining, failed: numbers of execution jobs. total = completed +
 *     remaining; failed jobs are among those remaining;
 *   - seed, monitor: the ids of those jobs while they exist. */
json_t *store_batches(struct store *store, const json_t *filters, const struct store_page *page,
                      struct error *error);
/* One; NULL with ERROR_NOT_FOUND. Also store_ask "batch" of { id }. */
json_t *store_batch(struct store *store, int64_t id, struct error *error);
