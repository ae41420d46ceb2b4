/* cycle.c - repetitions: dates go on, stay on the grid, end where they must, and are found from
 * any instant. Lines: the cycle, a zone, an instant at which it was created. */
#include "time/cycle.h"
#include "../fuzz.h"
#include "time/repeat.h"

#define STEPS 40

/* Firing n, counted from the anchor as the header says. */
static time_ms on_grid(const struct cycle *cycle, int64_t n) {
    struct span span = {cycle->period.months * n, cycle->period.days * n, cycle->period.ms * n};
    return zone_add(cycle->zone, cycle->anchor, &span);
}

static void walk(const struct cycle *cycle) {
    time_ms at = cycle->first;
    for (int n = 0; n < STEPS && at != TIME_NEVER; n++) {
        time_ms next = cycle_next(cycle, at);
        PROMISE(at <= TIME_LAST && at <= cycle->end && cycle_next(cycle, at - 1) == at);
        PROMISE(cycle->is_cron || on_grid(cycle, cycle->lead + n) >= at);
        PROMISE(next > at && n < cycle->times);
        at = next;
    }
}

static void jump(const struct cycle *cycle) {
    for (size_t i = 0; i < fuzz_instant_count; i++) {
        time_ms after = fuzz_instants[i], next = cycle_next(cycle, after);
        PROMISE(next > after && (next == TIME_NEVER || next <= TIME_LAST));
        if (next != TIME_NEVER)
            PROMISE(cycle_next(cycle, next - 1) == next);
    }
}

static void as_text(const struct cycle *cycle) {
    json_t *dates = json_array();
    PROMISE(repeat_dates(dates, cycle, FUZZ_NOW, 0, 3) && json_array_size(dates) <= 3);
    json_decref(dates);
}

void fuzz_cycle(const uint8_t *data, size_t size) {
    char *text = fuzz_copy(data, size), *rest = text;
    const char *expression = fuzz_line(&rest), *name = fuzz_line(&rest), *when = fuzz_line(&rest);
    struct error error = {0};
    struct cycle cycle;
    time_ms origin = FUZZ_NOW;
    const struct zone *zone = fuzz_zone_named(name);
    if (when && !time_parse(when, &origin, NULL))
        origin = FUZZ_NOW;
    if (!cycle_parse(expression, zone, origin, &cycle, &error))
        fuzz_refusal(&error, expression);
    else {
        walk(&cycle);
        jump(&cycle);
        as_text(&cycle);
    }
    free(text);
}
