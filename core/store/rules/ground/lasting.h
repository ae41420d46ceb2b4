/* lasting.h - memory that stays until the open transaction has ended.
 *
 * What is written later in a transaction than it is asked for reads its job and texts then. A row
 * that is kept back takes these types only, so memory that a caller lends does not compile. */
#pragma once

#include "base/arena.h"
#include "job/outcome.h"
#include "store/rules/ground/txn_hook.h"

struct store;

/* Made by txn_job, outcome_job and created_job alone. job NULL: no memory. */
struct lasting_job {
    const struct job *job;
};

/* Made by txn_text alone. text NULL: no memory. */
struct lasting_text {
    const char *text;
};

/* What the open transaction has copied. */
struct lasting {
    struct job *jobs; /* a list */
    struct arena texts;
};

/* A copy of a job, which the transaction owns. */
struct lasting_job txn_job(struct store *store, const struct job *job, struct error *error);
/* A copy of a text, which the transaction owns. */
struct lasting_text txn_text(struct store *store, const char *text, struct error *error);
/* The job of an outcome. Outcomes last until their transaction has ended: see store_settle. */
struct lasting_job outcome_job(const struct outcome *outcome);
/* A job that is being created: itself if its list outlasts the rows that are kept back (see
 * bulk.lasts), else a copy. */
struct lasting_job created_job(struct store *store, const struct job *job, struct error *error);

void lasting_clear(struct lasting *lasting);

/* Everything is freed as the transaction ends, behind all other hooks. */
extern const struct txn_hook lasting_hook;
