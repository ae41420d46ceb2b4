/* watch.h - what the foreman looks after beside the turns: the second, the file, the folder. */
#ifndef MOONSHIFT_RUN_WATCH_H
#define MOONSHIFT_RUN_WATCH_H

#include "run/foreman_state.h"

/* What is done once a second. */
void watch_tick(struct foreman *foreman, time_ms now);
/* Brings the status up to date / and shows it to whoever looks on. */
void watch_publish(struct foreman *foreman);
void watch_show(struct foreman *foreman);
/* A reload that has finished is adopted or refused. */
void watch_reload(struct foreman *foreman);

#endif
