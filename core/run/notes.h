/* notes.h - what running jobs ask of the store: ids for new jobs, progress, more time
 * (rules §20). Workers leave notes, the turn writes them with everything else. One mutex; never
 * held during a write. */
#ifndef MOONSHIFT_RUN_NOTES_H
#define MOONSHIFT_RUN_NOTES_H

#include "store/store.h"

struct notes;

/* `wake` is called from worker threads when something waits for the loop. NULL: no memory. */
struct notes *notes_new(void (*wake)(void *arg), void *arg);
void notes_free(struct notes *notes);

/* ---- for workers; any thread ---- */

/* A reserved job id; waits for a turn if none is left. 0: error. */
int64_t notes_next_id(struct notes *notes, struct error *error);
/* Returns when it is committed or refused. */
bool notes_extend(struct notes *notes, int64_t job, int64_t token, time_ms until,
                  struct error *error);
/* Returns at once; what was said last about a job is what is written. */
bool notes_progress(struct notes *notes, int64_t job, double fraction, const char *text,
                    struct error *error);

/* ---- for the loop ---- */

/* The monotonic instant by which a turn should write them: progress may wait for company up to a
 * fifth of a second. TIME_NEVER: nothing waits. */
time_ms notes_due(struct notes *notes);
/* Writes all of them inside the turn's transaction; notes_done follows in any case. */
bool notes_write(struct notes *notes, struct store *store, time_ms now, struct error *error);
/* Tells those who wait; what was not committed is written by the next turn. */
void notes_done(struct notes *notes, bool committed);
/* Once a second: ids reserved before the last call are given up, so that ids follow creation. */
void notes_tick(struct notes *notes);
/* From now on everything is refused (ERROR_CLOSED), those who wait included. */
void notes_close(struct notes *notes);

#endif
