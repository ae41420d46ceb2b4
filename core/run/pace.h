/* pace.h - what acquisitions teach: when to look again, when to keep still (rules §5). The rules
 * are those of strategy.h; here they meet what the store reports. */
#ifndef MOONSHIFT_RUN_PACE_H
#define MOONSHIFT_RUN_PACE_H

#include "run/strategy.h"
#include "store/store.h"

#define PACE_LEVELS 4096 /* more ready priority levels than this cost too much to compare */

struct pace {
    struct strategy strategy;
    time_ms held;  /* monotonic: nothing is looked for before it */
    bool crowded;  /* too many levels were ready: it has been said */
    bool draining; /* told to take nothing more */
    uint64_t dice; /* for jitter */
};

/* After an acquisition that asked for `asked` jobs, at the monotonic instant `at`. */
void pace_looked(struct pace *pace, const struct settings *settings, int asked, int got,
                 struct store_met met, time_ms at);
/* Notes, and tells once, whether the store says to drain. */
void pace_drains(struct pace *pace, const struct store *store);
/* The wall-clock instant of the next look: `next`, what is known to fall due, or sooner where
 * nobody can ring. */
time_ms pace_next(const struct pace *pace, const struct settings *settings,
                  const struct store *store, time_ms now, time_ms next);
/* Lock failures forbid to look as yet. */
bool pace_holds(const struct pace *pace, time_ms at);
/* [0, 1), evenly. */
double pace_jitter(struct pace *pace);

#endif
