/* job_requests.h - the requests of running jobs to the store: ids for new jobs, progress, more time
 * (rules §20). Workers leave requests, the turn writes them with everything else. One mutex; never
 * held during a write. */
#pragma once

#include "store/store.h"

struct job_requests;

/* `wake` is called from worker threads when something waits for the loop. NULL: no memory. */
struct job_requests *job_requests_new(void (*wake)(void *arg), void *arg);
void job_requests_free(struct job_requests *requests);

/* ---- for workers; any thread ---- */

/* A reserved job id; waits for a turn if none is left. 0: error. */
int64_t job_requests_next_id(struct job_requests *requests, struct error *error);
/* Returns when it is committed or refused. */
bool job_requests_extend(struct job_requests *requests, int64_t job, int64_t token, time_ms until,
                         struct error *error);
/* Returns at once. Only the last progress of a job is written. */
bool job_requests_progress(struct job_requests *requests, int64_t job, double fraction,
                           const char *text, struct error *error);

/* ---- for the loop ---- */

/* The monotonic instant by which a turn should write them: progress may wait for company up to a
 * fifth of a second. TIME_NEVER: nothing waits. */
time_ms job_requests_due(struct job_requests *requests);
/* Writes all of them inside the turn's transaction; job_requests_done follows in any case. */
bool job_requests_write(struct job_requests *requests, struct store *store, time_ms now,
                        struct error *error);
/* Wakes the waiting workers. Requests that were not committed are written by the next turn. */
void job_requests_done(struct job_requests *requests, bool committed);
/* Once a second: ids reserved before the last call are given up, so that ids follow creation. */
void job_requests_tick(struct job_requests *requests);
/* From now on every request is refused (ERROR_CLOSED), also those that wait. */
void job_requests_close(struct job_requests *requests);
