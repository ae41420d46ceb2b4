#include "base/repeat.h"

bool repeat_open(const struct repeat *repeat, struct cycle *cycle, struct error *error) {
    const struct zone *zone = zone_find(repeat->zone, error);
    if (!zone || !cycle_parse(repeat->text, zone, repeat->origin, cycle, error))
        return false;
    if (!repeat->starts || cycle->is_cron)
        return true;
    if (cycle->lead == 0)
        return error_set(error, ERROR_INVALID,
                         "cycle \"%s\": has a start of its own (expected no due date beside it)",
                         repeat->text);
    cycle->lead = 0; /* the origin is the first firing */
    cycle->first = cycle_next(cycle, repeat->origin - 1);
    return true;
}

time_ms repeat_first(const struct repeat *repeat, const struct cycle *cycle, time_ms now) {
    if (!cycle->is_cron)
        return cycle_next(cycle, now - 1);
    return cycle_next(cycle, repeat->starts && repeat->origin >= now ? repeat->origin - 1 : now);
}
