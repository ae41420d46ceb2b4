/* batch.h - a batch as its row has it, and its counters (rules §17). They change in the transaction
 * that changes its jobs: noted as struct tally, written before the commit. So total = completed +
 * remaining is true in every transaction. Only execution jobs count; their definitions are under
 * "batch/". */
#pragma once

#include "store/rules/ground/row.h"
#include "store/rules/job/select.h"
#include "store/rules/job/tally.h"

/* In the column batch.state. */
enum batch_state {
    BATCH_FILLING,
    BATCH_ACTIVE,
    BATCH_SUSPENDED,
    BATCH_DELETING, /* its jobs go, in steps */
    BATCH_COMPLETED,
    BATCH_DELETED,
    BATCH_STATES
};
const char *batch_state_name(int state);

struct batch {
    int64_t id, total, made, open, failed;
    enum batch_state state;
    int64_t jobs_per_seed, invocations, retries, priority; /* retries 0: as configured */
    bool priority_given;
    bool held;                    /* its execution jobs alone are suspended */
    int64_t parts, part, reached; /* see schema.sql */
    int64_t upto, ids;
    int64_t seed, monitor;             /* jobs; 0: none */
    char definition[JOB_NAME_MAX + 1]; /* of the execution jobs */
};

/* ERROR_NOT_FOUND names it. */
bool batch_load(struct store *store, int64_t id, struct batch *batch, struct error *error);

/* One of its jobs, written: a seed or monitor with the handler's name, an execution job with what
 * its payload has behind the batch's id (NULL: nothing) and its category. */
struct batch_job {
    const char *handler, *ids;
    const struct defined *defined; /* what the handler's definition says; NULL: it is read */
    int64_t lane;                  /* of the instance that it walks; 0: none */
    time_ms due;
};
bool batch_job(struct store *store, const struct batch *batch, const struct batch_job *what,
               time_ms now, int64_t *id, struct error *error);

/* Nothing of it runs any more: completed or deleted. */
bool batch_end(struct store *store, const struct batch *batch, enum batch_state state, time_ms now,
               struct error *error);

/* The config of a job that is taken; borrowed until the next call. */
bool batch_config(struct store *store, struct job *job, struct error *error);

/* What its seed and its monitor do with their success. */
bool batch_seed(struct store *store, struct batch *batch, time_ms now, struct error *error);
bool batch_monitor(struct store *store, struct batch *batch, bool ended, time_ms now,
                   struct error *error);

/* At most `limit` rows of a batch's history go: ended runs, attempts, lines, incidents; *count. */
bool batch_forget(struct store *store, int64_t batch, int limit, int *count, struct error *error);

/* A verb on one. */
bool batch_command(struct store *store, struct command *command, struct step *step, time_ms now,
                   struct error *error);
bool batch_preview(struct store *store, const struct command *command, int64_t *count,
                   struct error *error);
