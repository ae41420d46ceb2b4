/* strategy.h - how long to wait and how many to ask for (rules §5). Pure functions over one struct.
 */
#ifndef MOONSHIFT_RUN_STRATEGY_H
#define MOONSHIFT_RUN_STRATEGY_H

#include "base/settings.h"

struct strategy {
    int idle_level;    /* consecutive idle cycles, where nobody can ring */
    int failure_level; /* lock failures */
    int clean_cycles;  /* since the last lock failure */
};

/* wait * factor^(level-1), capped: 5, 10, 20, 40, 60 s with the defaults; 0 at level 0. */
time_ms strategy_idle_wait(const struct settings *settings, int level);
/* backoff * factor^(level-1), capped; `jitter` in [0, 1) adds 0-50 %. 0 if off. */
time_ms strategy_failure_wait(const struct settings *settings, int level, double jitter);
/* How long to keep from looking when the queue has no room for what waits. */
time_ms strategy_full_wait(const struct settings *settings, int room);
/* page * 2^level, but never more than there is room for. */
int strategy_page(const struct settings *settings, int level, int room);
/* After the n-th error in a row that will pass (a busy store): 0.1, 0.2, 0.4 … 5 s. */
time_ms strategy_retry_wait(int level);
/* Moves the levels after one cycle that asked for `asked` jobs; nothing asked, nothing learnt. */
void strategy_after(struct strategy *strategy, const struct settings *settings, int asked, int got,
                    int lock_failures);

#endif
