/* cycle.h - jobs that repeat: each occurrence makes the next one when it is locked. (rules §14)
 *
 * The job that waits for its date has a row in the table cycle; the row moves on to its successor,
 * so that there is one for each cycle, whatever becomes of the occurrences before. */
#pragma once

#include "store/rules/ground/row.h"

/* A job that was just created begins its cycle; its due date is the first. */
bool cycle_begin(struct store *store, const struct job_spec *spec, struct error *error);

/* In the transaction that locks `job`: creates its next occurrence, unless that was done or the
 * cycle is over. Sets job->followed: there is, or was, a next one. The job's texts must outlive a
 * change of its row. */
bool cycle_follow(struct store *store, struct job *job, time_ms now, struct error *error);

enum deferred {
    DEFERRED_NOT,  /* to be run now */
    DEFERRED,      /* its row says a later date, or is gone: the caller takes it out of its place */
    DEFERRED_LEFT, /* left where it is: for others, or until the run before it has ended */
    DEFERRED_FAILED
};

/* Cancels jobs as an operator does, whatever runs (job/job_commands.h). */
typedef bool cycle_cancel(struct store *store, struct ids ids, time_ms now, struct error *error);

/* A job that was found ready is put off if it is not due (the clock was set back), or if its date
 * was missed and its misfire policy is "skip". That of a schedule is left while the schedule is
 * paused; it may take a later date over (catch_up), and does what its overlap policy says if it
 * meets the run before it (rules §20). */
enum deferred cycle_defer(struct store *store, struct job *job, time_ms now, cycle_cancel *cancel,
                          struct error *error);

/* The cycle ends with this job, if it still waits for its date. */
bool cycle_end(struct store *store, int64_t job, struct error *error);

/* All later dates move by `span` ms too. */
bool cycle_shift(struct store *store, int64_t job, time_ms span, struct error *error);

/* The date of the cycle that comes first after `from`, without what was shifted: the job's own from
 * now on. */
bool cycle_resume(struct store *store, int64_t job, time_ms from, time_ms *due,
                  struct error *error);

/* Adds the next `count` dates of a job that waits, its own first, as repeat_dates does; of a job
 * that is gone, none. */
bool cycle_dates(struct store *store, int64_t job, int count, json_t *dates, struct error *error);
