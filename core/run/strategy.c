#include "run/strategy.h"

enum { LEVEL_MAX = 30, RETRY_FIRST = 100, RETRY_MAX = 5000 };

/* base * factor^(level - 1), never above `cap`; stops multiplying as soon as the cap is reached. */
static time_ms grown(time_ms base, double factor, int level, time_ms cap) {
    double wait = (double)base;
    for (int i = 1; i < level && wait < (double)cap; i++)
        wait *= factor;
    return wait < (double)cap ? (time_ms)wait : cap;
}

time_ms strategy_idle_wait(const struct settings *settings, int level) {
    if (level <= 0)
        return 0;
    return grown(settings->wait, settings->wait_factor, level, settings->max_wait);
}

time_ms strategy_failure_wait(const struct settings *settings, int level, double jitter) {
    if (level <= 0 || settings->backoff <= 0 || settings->max_backoff <= 0)
        return 0;
    time_ms wait = grown(settings->backoff, settings->wait_factor, level, settings->max_backoff);
    return wait + (time_ms)((double)(wait / 2) * jitter);
}

time_ms strategy_full_wait(const struct settings *settings, int room) {
    return room > 0 ? 0 : settings->queue_full_wait;
}

int strategy_page(const struct settings *settings, int level, int room) {
    int64_t page = (int64_t)settings->page << (level < LEVEL_MAX ? level : LEVEL_MAX);
    if (room <= 0)
        return 0;
    return page < room ? (int)page : room;
}

time_ms strategy_retry_wait(int level) {
    return grown(RETRY_FIRST, 2, level, RETRY_MAX);
}

static void after_failures(struct strategy *strategy, const struct settings *settings,
                           int lock_failures) {
    if (lock_failures > 0) {
        strategy->clean_cycles = 0;
        if (strategy->failure_level < LEVEL_MAX)
            strategy->failure_level++;
        return;
    }
    strategy->clean_cycles++;
    if (strategy->clean_cycles < settings->backoff_decrease_threshold)
        return;
    strategy->clean_cycles = 0;
    if (strategy->failure_level > 0)
        strategy->failure_level--;
}

void strategy_after(struct strategy *strategy, const struct settings *settings, int asked, int got,
                    int lock_failures) {
    if (asked <= 0)
        return;
    if (got > 0 || lock_failures > 0)
        strategy->idle_level = 0;
    else if (strategy->idle_level < LEVEL_MAX)
        strategy->idle_level++;
    after_failures(strategy, settings, lock_failures);
}
