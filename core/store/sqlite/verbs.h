/* verbs.h - the operator's verbs by what they are done to (rules §11); operate.c is the way in. */
#ifndef MOONSHIFT_STORE_SQLITE_VERBS_H
#define MOONSHIFT_STORE_SQLITE_VERBS_H

#include "base/order.h"
#include "store/sqlite/connection.h"

#define VERB_IDS 1000 /* jobs in one transaction */

/* A verb on jobs, with its entry in the log. */
bool verbs_operate(struct store *store, const struct order *order, struct ids ids, time_ms now,
                   struct error *error);
/* Would it be refused? Only reads. */
bool verbs_check(struct store *store, const struct order *order, struct ids ids, time_ms now,
                 struct error *error);
/* recycle.c: jobs that wait repeat by order->cycle from now on. */
bool verbs_set_cycle(struct store *store, struct ids ids, const struct order *order, time_ms now,
                     struct error *error);

/* Changes of jobs that are part of a larger verb: no entry in the operation log of their own. */
bool verbs_set_retries(struct store *store, struct ids ids, const struct order *order, time_ms now,
                       struct error *error);
bool verbs_set_priority(struct store *store, struct ids ids, int64_t priority, time_ms now,
                        struct error *error);
/* Puts the reasons, or takes them away; what stays suspended is counted in store->journal.held. */
bool verbs_set_suspended(struct store *store, struct ids ids, int reasons, bool suspended,
                         time_ms now, struct error *error);
/* Running ones, too. */
bool verbs_cancel(struct store *store, struct ids ids, time_ms now, struct error *error);
bool verbs_delete(struct store *store, struct ids ids, time_ms now, struct error *error);
/* One, if it is there. */
bool verbs_delete_known(struct store *store, int64_t id, time_ms now, struct error *error);
/* `retries` 0: the configured number for each job. */
bool verbs_retry(struct store *store, struct ids ids, int32_t retries, time_ms now,
                 struct error *error);

/* The jobs of one step, at most VERB_IDS; selected in the transaction that changes them. */
struct step {
    int64_t list[VERB_IDS + 1]; /* one more tells whether there are more */
    struct ids ids;
    int64_t window; /* ids that one step looks at; 0: all */
    bool more;
    int64_t job; /* that was created; 0: none */
};

/* The jobs that match order->query, or those of order->ids, from where the order stands; moves it
 * behind them. */
bool step_select(struct store *store, struct step *step, struct order *order, time_ms now,
                 struct error *error);
/* Ids from a kept statement whose last three parameters are after, upto and a limit. */
bool step_read(struct store *store, struct step *step, struct order *order, sqlite3_stmt *rows,
               struct error *error);
/* Where a step ends that begins behind order->after. */
int64_t step_end(const struct step *step, const struct order *order);

/* A verb on a definition, or an instance: first itself, then its jobs in steps. *touched: jobs of
 * this step. */
bool definition_operate(struct store *store, struct order *order, struct step *step, time_ms now,
                        struct error *error);
bool instance_operate(struct store *store, struct order *order, struct step *step, time_ms now,
                      struct error *error);
/* How many jobs they would touch; only read. */
bool definition_preview(struct store *store, const struct order *order, int64_t *count,
                        struct error *error);
bool instance_preview(struct store *store, const struct order *order, int64_t *count,
                      struct error *error);
bool incident_operate(struct store *store, const struct order *order, time_ms now,
                      struct error *error);
/* *job: of run_schedule, the new one. */
bool schedule_operate(struct store *store, const struct order *order, int64_t *job, time_ms now,
                      struct error *error);
/* How many it would touch, or why it would be refused. */
bool incident_preview(struct store *store, const struct order *order, int64_t *count,
                      struct error *error);
bool schedule_preview(struct store *store, const struct order *order, int64_t *count,
                      struct error *error);
bool batch_preview(struct store *store, const struct order *order, int64_t *count,
                   struct error *error);
bool batch_operate(struct store *store, struct order *order, struct step *step, time_ms now,
                   struct error *error);

/* A verb on ended jobs; one run of history cleanup. */
bool history_operate(struct store *store, struct order *order, struct step *step, time_ms now,
                     struct error *error);
/* How many ended jobs it is for; only reads. */
bool history_preview(struct store *store, const struct order *order, int64_t *count,
                     struct error *error);
bool cleanup_operate(struct store *store, const struct order *order, struct step *step, time_ms now,
                     struct error *error);

/* What a job asked for with its success, in order (rules §12: a date is such a job). */
bool operate_effects(struct store *store, const json_t *effects, const struct job *job, time_ms now,
                     struct error *error);

/* Definitions and suspended instances are read again, here and by everybody else. */
bool catalog_changed(struct store *store, struct error *error);

#endif
