/* cron.c - cron expressions: the next date is later, within the calendar, matches, and none was
 * passed over. A second line names a zone. */
#include "time/cron.h"
#include "../fuzz.h"

#define NEAR 2000 /* seconds that are looked at one by one */

static bool matches(const struct cron *cron, int64_t second) {
    int64_t day = divide_down(second, 86400), year;
    int month, of_month, of_day = (int)(second - day * 86400);
    civil_from_days(day, &year, &month, &of_month);
    return cron_has_year(cron, year) && cron->months >> month & 1 &&
           cron_month_days(cron, year, month) >> of_month & 1 && cron->hours >> of_day / 3600 & 1 &&
           cron->minutes >> of_day / 60 % 60 & 1 && cron->seconds >> of_day % 60 & 1;
}

/* Zones of whole hours apart: what UTC has must be there, and nothing else. */
static void none_is_missed(const struct cron *cron, time_ms after, time_ms next) {
    int64_t from = divide_down(after, 1000) + 1;
    for (int64_t second = from; second < from + NEAR; second++) {
        if (next != TIME_NEVER && second * 1000 >= next)
            break;
        PROMISE(second * 1000 > TIME_LAST || !matches(cron, second));
    }
}

static void dates(const struct cron *cron, const struct zone *zone, time_ms after) {
    bool utc = strcmp(zone_name(zone), "UTC") == 0;
    for (int i = 0; i < 3; i++) {
        time_ms next = cron_next(cron, zone, after);
        if (utc && i == 0)
            none_is_missed(cron, after, next);
        if (next == TIME_NEVER)
            return;
        PROMISE(next > after && next <= TIME_LAST);
        PROMISE(cron_next(cron, zone, next - 1) == next);
        PROMISE(!utc || (next % 1000 == 0 && matches(cron, next / 1000)));
        after = next;
    }
}

void fuzz_cron(const uint8_t *data, size_t size) {
    char *text = fuzz_copy(data, size), *rest = text;
    const char *expression = fuzz_line(&rest), *name = fuzz_line(&rest);
    struct error error = {0};
    struct cron cron;
    const struct zone *zone = fuzz_zone_named(name);
    if (!cron_parse(expression, &cron, &error))
        fuzz_refusal(&error, expression);
    else {
        for (size_t i = 0; i < fuzz_instant_count; i++)
            dates(&cron, zone, fuzz_instants[i]);
    }
    free(text);
}
