/* starts.h - the starts of the definitions that have a rate (rules §20).
 *
 * The table rate keeps, for each such definition, as many instants as its rate allows starts: those
 * of the latest ones. A job may be locked once the least of them is a window old, and its own takes
 * that place: the window slides, over all executors, and what a dead process had locked counts.
 *
 * What is kept is the latest instant at which the job can have begun: when it was locked, and the
 * grace of its rate on top; a worker that comes to it later gives it back, and the start is free
 * again. So between two starts that are that many apart there is always a whole window.
 *
 * Instants are those of the machine's steady clock, moved to where the wall clock stood when it was
 * first asked after a boot: steps of the wall clock change nothing. A virtual clock is taken as it
 * is. A definition without a rate costs nothing. */
#ifndef MOONSHIFT_STORE_SQLITE_STARTS_H
#define MOONSHIFT_STORE_SQLITE_STARTS_H

#include "store/sqlite/connection.h"

/* The definition of the stream if it has a rate, else NULL. */
const struct catalog_definition *starts_of(const struct store *store, int64_t stream);

/* Before the next two, in one transaction or look: it is `now` by the wall clock. */
bool starts_begin(struct store *store, time_ms now, struct error *error);
/* 1 a job may be locked now, 0 not before *at (wall clock), -1 error. */
int starts_open(struct store *store, const struct catalog_definition *definition, time_ms *at,
                struct error *error);
/* The job is being locked with its token; says until when it has to begin. */
bool starts_add(struct store *store, const struct catalog_definition *definition, struct job *job,
                struct error *error);

/* A run of the stream has ended: one that never began has not been a start. */
bool starts_end(struct store *store, const struct outcome *outcome, struct error *error);

/* Makes room for the instants of a definition as it is deployed. */
bool starts_deploy(struct store *store, const struct definition *definition, struct error *error);

#endif
