/* admission.h - what a job has while it is alive, that is, has retries left and has not ended: its
 * unique key and its place in the backlog (rules §20). */
#pragma once

#include "store/rules/ground/row.h"

/* The job is dead now, or goes undone: gives both up. Call while its row is there. */
bool admission_end(struct store *store, const struct job_row *row, struct error *error);

/* A dead job has retries again. YES: it has both; NO: another holds its key (error says who). */
enum answer admission_again(struct store *store, const struct job_row *row, time_ms now,
                            struct error *error);

/* From one to the other, if there is a change. False also if another holds the key. */
bool admission_move(struct store *store, const struct job_row *old, const struct job_row *row,
                    time_ms now, struct error *error);

/* The job was done; its row is still there. */
bool admission_done(struct store *store, const struct job *job, time_ms now, struct error *error);
