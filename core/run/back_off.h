/* back_off.h - when an executor looks for jobs again, and for how many it asks (rules §5). The
 * first half are pure functions over the settings; the second moves the levels by what each
 * acquisition has taught. */
#pragma once

#include "store/store.h"

#define LEVELS_COMPARED 4096 /* more ready priority levels than this cost too much to compare */

struct back_off {
    int idle_level;    /* acquisitions in a row that found nothing, where no bell can ring */
    int failure_level; /* lock failures */
    int clean_cycles;  /* since the last lock failure */
    time_ms held;      /* monotonic: nothing is looked for before it */
    bool crowded;      /* too many levels were ready: it has been said */
    uint64_t dice;     /* for jitter */
};

/* wait * factor^(level-1), capped: 5, 10, 20, 40, 60 s with the defaults; 0 at level 0. */
time_ms back_off_idle_wait(const struct settings *settings, int level);
/* backoff * factor^(level-1), capped; `jitter` in [0, 1) adds 0-50 %. 0 if off. */
time_ms back_off_failure_wait(const struct settings *settings, int level, double jitter);
/* How long not to look while the queue has no room for what waits. */
time_ms back_off_full_wait(const struct settings *settings, int room);
/* page * 2^level, but never more than there is room for. */
int back_off_page(const struct settings *settings, int level, int room);
/* How long outcomes wait for others, and how many at most, while the workers have enough to do:
 * 8 ms and 16. If a commit takes more than 1 ms they wait for ten times as long as it takes, 50 ms
 * at most. */
time_ms back_off_gather(double commit_ms, int *most);
/* How many ended jobs the next step files, after one of `step` jobs took `took` ms: twice as many,
 * or half as many if that was more than 5 ms beside the commit. A commit takes as long for a few
 * jobs. 50 to 4000. */
int back_off_file(int step, double took, double commit_ms);
/* After the n-th error in a row that will pass (a busy store): 0.1, 0.2, 0.4 … 5 s. */
time_ms back_off_retry_wait(int level);
/* The same while the store's server is away, which may be back at any moment: 20, 40 … 500 ms. */
time_ms back_off_away_wait(int level);

/* Moves the levels after an acquisition that asked for `asked` jobs. Nothing asked, nothing learnt.
 */
void back_off_learn(struct back_off *back_off, const struct settings *settings, int asked, int got,
                    int lock_failures);
/* Does the same for what the store reports, at the monotonic instant `at`. Warns once if there are
 * too many priority levels. */
void back_off_looked(struct back_off *back_off, const struct settings *settings, int asked, int got,
                     struct store_acquire_stats stats, time_ms at);
/* Returns the wall-clock instant of the next look: `next`, when something is known to fall due, or
 * sooner for a `deaf` executor, for which no bell can ring. */
time_ms back_off_next(const struct back_off *back_off, const struct settings *settings, bool deaf,
                      time_ms now, time_ms next);
/* True while lock failures forbid to look. */
bool back_off_holds(const struct back_off *back_off, time_ms at);
/* [0, 1), evenly. */
double back_off_jitter(struct back_off *back_off);
