#include "time/repeat.h"
#include "base/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void repeat_local(const struct zone *zone, time_ms at, char *text) {
    int offset = zone_offset(zone, at), minutes = abs(offset) / 60;
    time_format(at + (time_ms)offset * 1000, text);
    size_t size = strlen(text); /* its last letter is Z */
    snprintf(text + size - 1, LOCAL_TEXT_SIZE - size, "%c%02d:%02d", offset < 0 ? '-' : '+',
             minutes / 60, minutes % 60);
}

json_t *repeat_date(const struct zone *zone, time_ms at) {
    char local[LOCAL_TEXT_SIZE];
    json_t *date = json_object();
    repeat_local(zone, at, local);
    return json_kept(date,
                     date && json_put_text(date, "local", local) && json_put_time(date, "utc", at));
}

bool repeat_dates(json_t *array, const struct cycle *cycle, time_ms after, time_ms shift,
                  int count) {
    for (int i = 0; i < count; i++) {
        after = cycle_next(cycle, after);
        if (after == TIME_NEVER)
            return true;
        if (json_array_append_new(array, repeat_date(cycle->zone, after + shift)) != 0)
            return false;
    }
    return true;
}
