/* history.h - what is appended about runs (rules §16): ended jobs, failed attempts, lines. */
#pragma once

#include "job/outcome.h"
#include "store/rules/ground/row.h"

/* To what a job belonged: columns of what is kept of it, and the job's own. */
#define BELONGS "instance, root_instance, activity, tenant, lane_key, schedule"
#define BELONGS_TO "instance, root, activity, tenant, lane_key, schedule"
#define BELONGS_ROW                                                                                \
    "coalesce(instance, CAST(instance_id AS TEXT)), root, activity, tenant, lane_key, schedule"

/* The columns of a failed attempt; and what becomes of an earlier one with its number. */
#define ATTEMPT                                                                                    \
    "job, n, at, stream, executor, started, retries, due, priority, reason, message, stack,"       \
    " batch, " BELONGS
#define ATTEMPT_AGAIN                                                                              \
    "ON CONFLICT(job, n) DO UPDATE SET at=excluded.at, stream=excluded.stream,"                    \
    " executor=excluded.executor, started=excluded.started, retries=excluded.retries,"             \
    " due=excluded.due, priority=excluded.priority, reason=excluded.reason,"                       \
    " message=excluded.message, stack=excluded.stack, batch=excluded.batch,"                       \
    " instance=excluded.instance, root_instance=excluded.root_instance,"                           \
    " activity=excluded.activity, tenant=excluded.tenant, lane_key=excluded.lane_key,"             \
    " schedule=excluded.schedule"

/* In the column ended.outcome. */
enum history_end { ENDED_SUCCESSFUL = 1, ENDED_DELETED, ENDED_CANCELLED, ENDED_SKIPPED };
const char *history_end_name(int end);
/* That of a run whose kind ends its job. */
enum history_end history_end_of(const struct outcome *outcome);

/* A job that is going without a run having ended it; its row is still there. */
bool history_removed(struct store *store, const struct job_row *row, enum history_end end,
                     time_ms now, struct error *error);
/* Removes an entry. Its number does not come again: who follows the log has read as far as that. */
bool history_remove(struct store *store, int64_t job, int64_t seq, struct error *error);
/* A job that its run ended. */
bool history_ended(struct store *store, const struct outcome *outcome, enum history_end end,
                   struct error *error);
/* A run that has put its job off until row->due; of one job the newest hundred are kept. */
bool history_snoozed(struct store *store, const struct outcome *outcome, const struct job_row *row,
                     struct error *error);
/* A failure, with the values from before it. */
bool history_failed(struct store *store, const struct outcome *outcome,
                    const struct job_row *before, struct error *error);
bool history_say(struct store *store, const struct outcome *outcome, struct error *error);
static inline bool history_lines(struct store *store, const struct outcome *outcome,
                                 struct error *error) {
    return (!outcome->lines && !outcome->warning) || history_say(store, outcome, error);
}

/* Of an ended job. */
struct ended {
    int64_t seq, job;
    time_ms at;
    int32_t attempt;
    enum history_end end; /* of history_find */
    bool instance;        /* of an operator's verb: it is an instance of a process, not a job */
};
/* By its number; NO: it is not known to have ended. */
enum answer history_find(struct store *store, int64_t job, struct ended *ended,
                         struct error *error);

/* Refuses a job that is not there, and says of one that has ended where its story is. False. */
bool history_missing(struct store *store, int64_t job, struct error *error);

/* Of a run whose lock is gone: kept where its job was cancelled, which has its entry already. */
bool history_late_lines(struct store *store, const struct outcome *outcome, struct error *error);

/* The last ended row that ended_by_job knows; those after it are filed later. */
bool history_filed(struct store *store, int64_t *filed, struct error *error);

/* How many rows of ended jobs are not filed, or of the trail if those are more. */
bool history_unfiled(struct store *store, int64_t *count, struct error *error);

/* Moves *filed on where no rows follow it for long, as in a store whose history was removed.
 * `first_behind` asks for the first number behind ?1, or 0. */
bool history_skip_gap(struct store *store, const char *first_behind, int64_t *filed,
                      struct error *error);
