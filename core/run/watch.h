/* watch.h - what the foreman looks after beside the turns: the second, the file, the folder. */
#ifndef MOONSHIFT_RUN_WATCH_H
#define MOONSHIFT_RUN_WATCH_H

#include "run/foreman_state.h"

/* What is done once a second. */
void watch_tick(struct foreman *foreman, time_ms now);
/* Brings the status up to date. */
void watch_publish(struct foreman *foreman);
/* Starts a reload that was asked for; one that has finished is adopted or refused. */
void watch_reload(struct foreman *foreman);

#endif
