#include "job/acquire.h"
#include <string.h>

__extension__ typedef __int128 wide; /* priority times milliseconds does not fit 64 bits */

struct acquire acquire_from(const struct settings *settings) {
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
        .categories = settings->categories,
        .executor_name = settings->name,
    };
    return acquire;
}

const struct wanted_topic *acquire_wanted(const struct acquire *acquire, const char *topic) {
    for (size_t i = 0; topic && i < acquire->wanted_count; i++)
        if (strcmp(acquire->wanted[i].name, topic) == 0)
            return &acquire->wanted[i];
    return NULL;
}

bool acquire_sifts(const struct acquire *acquire) {
    bool sifts = acquire->ensure_due_date;
    for (size_t i = 0; i < acquire->wanted_count; i++)
        sifts = sifts || acquire->wanted[i].tenant;
    return sifts;
}

struct sort_key acquire_sort_key(const struct job *job) {
    return (struct sort_key){job->priority, job->due == TIME_NONE ? job->created : job->due,
                             job->id, job->type == JOB_TIMER};
}

/* Everybody ages alike: who waits longer by `aging` stands one priority higher. */
static int by_priority(const struct acquire *order, const struct sort_key *a,
                       const struct sort_key *b) {
    if (!order->by_priority)
        return 0;
    wide left = a->priority, right = b->priority;
    if (order->aging > 0) {
        left = left * order->aging - a->place;
        right = right * order->aging - b->place;
    }
    return (left > right) - (left < right);
}

bool acquire_before(const struct acquire *order, const struct sort_key *a,
                    const struct sort_key *b) {
    int higher = by_priority(order, a, b);
    if (higher)
        return higher > 0;
    if (order->prefer_timers && a->timer != b->timer)
        return a->timer;
    if (order->by_due_date && a->place != b->place)
        return a->place < b->place;
    return a->id < b->id;
}
