#include "run/pace.h"
#include "base/log.h"

double pace_jitter(struct pace *pace) {
    pace->dice = pace->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(pace->dice >> 11) / (double)(UINT64_C(1) << 53);
}

static void tell_levels(struct pace *pace, const struct settings *settings, int levels) {
    bool crowded = levels > PACE_LEVELS && settings->aging > 0;
    if (crowded && !pace->crowded)
        log_event(LOG_WARN, "too many priority levels for aging", "ready:d expected_at_most:d",
                  levels, PACE_LEVELS);
    pace->crowded = crowded;
}

void pace_looked(struct pace *pace, const struct settings *settings, int asked, int got,
                 struct store_met met, time_ms at) {
    tell_levels(pace, settings, met.levels);
    strategy_after(&pace->strategy, settings, asked, got, met.lock_failures);
    pace->held =
        at + strategy_failure_wait(settings, pace->strategy.failure_level, pace_jitter(pace));
}

void pace_drains(struct pace *pace, const struct store *store) {
    bool draining = store_draining(store);
    if (draining && !pace->draining)
        log_event(LOG_INFO, "draining", "until:s", "told to work again, or stopped");
    if (!draining && pace->draining)
        log_event(LOG_INFO, "working again", "");
    pace->draining = draining;
}

bool pace_holds(const struct pace *pace, time_ms at) {
    return at < pace->held;
}

/* A store in memory has nobody else who could ring. */
time_ms pace_next(const struct pace *pace, const struct settings *settings,
                  const struct store *store, time_ms now, time_ms next) {
    int level = pace->strategy.idle_level;
    if (!store_path(store) || store_bell(store) >= 0 || level == 0)
        return next;
    time_ms idle = now + strategy_idle_wait(settings, level);
    return idle < next ? idle : next;
}
