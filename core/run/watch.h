/* watch.h - what the foreman looks after beside the turns: the second, the file, the folder. */
#ifndef MOONSHIFT_RUN_WATCH_H
#define MOONSHIFT_RUN_WATCH_H

#include "run/foreman_state.h"

/* What is done once a second. */
void watch_tick(struct foreman *foreman, time_ms now);
/* After a turn: if a verb has taken locks, those who ran under them are cut off, and what waits is
 * not begun. `ask`: the turn did not look at the store. */
void watch_cuts(struct foreman *foreman, bool ask);
/* Brings the status up to date. */
void watch_publish(struct foreman *foreman);
/* Starts a reload that was asked for; one that has finished is adopted or refused. */
void watch_reload(struct foreman *foreman);

#endif
