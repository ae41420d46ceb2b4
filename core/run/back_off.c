#include "run/back_off.h"
#include "base/log.h"

enum { GATHER = 8, GATHER_MAX = 50, GATHER_COMMITS = 10, SLOW_COMMIT = 1 };
enum { GATHERED = 16, GATHERED_SLOWLY = 1000 };
enum { FILE_LEAST = 50, FILE_MOST = 4000, FILE_TIME = 5 };
enum { LEVEL_MAX = 30, RETRY_FIRST = 100, RETRY_MAX = 5000, AWAY_FIRST = 20, AWAY_MAX = 500 };

/* base * factor^(level - 1), never above `cap`; stops multiplying as soon as the cap is reached. */
static time_ms grown(time_ms base, double factor, int level, time_ms cap) {
    double wait = (double)base;
    for (int i = 1; i < level && wait < (double)cap; i++)
        wait *= factor;
    return wait < (double)cap ? (time_ms)wait : cap;
}

time_ms back_off_idle_wait(const struct settings *settings, int level) {
    if (level <= 0)
        return 0;
    return grown(settings->wait, settings->wait_factor, level, settings->max_wait);
}

time_ms back_off_failure_wait(const struct settings *settings, int level, double jitter) {
    if (level <= 0 || settings->backoff <= 0 || settings->max_backoff <= 0)
        return 0;
    time_ms wait = grown(settings->backoff, settings->wait_factor, level, settings->max_backoff);
    return wait + (time_ms)((double)(wait / 2) * jitter);
}

time_ms back_off_full_wait(const struct settings *settings, int room) {
    return room > 0 ? 0 : settings->queue_full_wait;
}

int back_off_page(const struct settings *settings, int level, int room) {
    int64_t page = (int64_t)settings_page(settings) << (level < LEVEL_MAX ? level : LEVEL_MAX);
    if (room <= 0)
        return 0;
    return page < room ? (int)page : room;
}

time_ms back_off_gather(double commit_ms, int *most) {
    double time = commit_ms * GATHER_COMMITS;
    bool slow = commit_ms > SLOW_COMMIT;
    *most = slow ? GATHERED_SLOWLY : GATHERED;
    if (!slow || time <= GATHER)
        return GATHER;
    return time < GATHER_MAX ? (time_ms)time : GATHER_MAX;
}

int back_off_file(int step, double took, double commit_ms) {
    int next = took - commit_ms > FILE_TIME ? step / 2 : step * 2;
    if (next < FILE_LEAST)
        return FILE_LEAST;
    return next < FILE_MOST ? next : FILE_MOST;
}

time_ms back_off_retry_wait(int level) {
    return grown(RETRY_FIRST, 2, level, RETRY_MAX);
}

time_ms back_off_away_wait(int level) {
    return grown(AWAY_FIRST, 2, level, AWAY_MAX);
}

static void learn_failures(struct back_off *back_off, const struct settings *settings,
                           int lock_failures) {
    if (lock_failures > 0) {
        back_off->clean_cycles = 0;
        if (back_off->failure_level < LEVEL_MAX)
            back_off->failure_level++;
        return;
    }
    back_off->clean_cycles++;
    if (back_off->clean_cycles < settings->backoff_decrease_threshold)
        return;
    back_off->clean_cycles = 0;
    if (back_off->failure_level > 0)
        back_off->failure_level--;
}

void back_off_learn(struct back_off *back_off, const struct settings *settings, int asked, int got,
                    int lock_failures) {
    if (asked <= 0)
        return;
    if (got > 0 || lock_failures > 0)
        back_off->idle_level = 0;
    else if (back_off->idle_level < LEVEL_MAX)
        back_off->idle_level++;
    learn_failures(back_off, settings, lock_failures);
}

double back_off_jitter(struct back_off *back_off) {
    back_off->dice = back_off->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(back_off->dice >> 11) / (double)(UINT64_C(1) << 53);
}

static void tell_levels(struct back_off *back_off, const struct settings *settings, int levels) {
    bool crowded = levels > LEVELS_COMPARED && settings->aging > 0;
    if (crowded && !back_off->crowded)
        log_event(LOG_WARN, "too many priority levels for aging", "ready:d expected_at_most:d",
                  levels, LEVELS_COMPARED);
    back_off->crowded = crowded;
}

void back_off_looked(struct back_off *back_off, const struct settings *settings, int asked, int got,
                     struct store_acquire_stats stats, time_ms at) {
    tell_levels(back_off, settings, stats.levels);
    back_off_learn(back_off, settings, asked, got, stats.lock_failures);
    back_off->held =
        at + back_off_failure_wait(settings, back_off->failure_level, back_off_jitter(back_off));
}

bool back_off_holds(const struct back_off *back_off, time_ms at) {
    return at < back_off->held;
}

time_ms back_off_next(const struct back_off *back_off, const struct settings *settings, bool deaf,
                      time_ms now, time_ms next) {
    if (!deaf || back_off->idle_level == 0)
        return next;
    time_ms idle = now + back_off_idle_wait(settings, back_off->idle_level);
    return idle < next ? idle : next;
}
