#include "run/profile.h"
#include "base/json.h"

struct acquire profile_acquire(const struct settings *settings, const struct clock *clock) {
    struct acquire acquire = {
        .lane_run = settings->lane_run,
        .priority_min = settings->priority_min,
        .priority_max = settings->priority_max,
        .by_priority = settings->by_priority,
        .prefer_timers = settings->prefer_timers,
        .by_due_date = settings->by_due_date,
        .ensure_due_date = settings->ensure_due_date,
        .deployment_aware = settings->deployment_aware,
        .aging = settings->aging,
        .steady = !clock_is_virtual(clock),
        .categories = settings->categories,
        .executor_name = settings->name,
    };
    return acquire;
}

json_t *profile_new(const struct settings *settings, const struct acquire *serves, int workers) {
    json_t *profile = json_pack("{s:s s:i s:i}", "acquisition", settings->acquisition, "queue",
                                settings->queue, "workers", workers);
    if (profile && json_array_size(settings->history_cleanup_window))
        json_put(profile, "cleanup", json_true());
    if (profile &&
        (!serves->handlers || json_put(profile, "handlers", definitions_names(serves->handlers))))
        return profile;
    json_decref(profile);
    return NULL;
}
