/* time.c - instants, in ISO 8601 and as people write them: what is read lies within the calendar
 * and reads back the same. */
#include "../fuzz.h"
#include "base/clamp.h"
#include "time/instant.h"

static void reads_back(time_ms time) {
    char text[TIME_TEXT_SIZE];
    time_ms again = 0;
    time_format(time, text);
    PROMISE(strlen(text) == 24 && time_parse(text, &again, NULL));
    PROMISE(again == clamp(time, TIME_FIRST, TIME_LAST));
}

static void calendar(time_ms time) {
    int64_t days = divide_down(time, DAY_MS), year;
    int month, day;
    civil_from_days(days, &year, &month, &day);
    PROMISE(month >= 1 && month <= 12 && day >= 1 && day <= days_in_month(year, month));
    PROMISE(civil_to_days(year, month, day) == days);
}

/* As a person writes it, in zones with and without changes of the clocks. */
static void written(const char *text) {
    static const char *const zones[] = {NULL, "Europe/Berlin", "Pacific/Apia"};
    char shown[INSTANT_TEXT_SIZE];
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        struct wall wall = wall_of_zone(fuzz_zone_named(zones[i]));
        struct error error = {0};
        time_ms time = 0;
        bool exact = false;
        if (!instant_parse(text, &wall, FUZZ_NOW, &time, &exact, &error)) {
            fuzz_refusal(&error, text);
            continue;
        }
        PROMISE(time >= TIME_FIRST && time <= TIME_LAST);
        instant_format(time, &wall, shown);
        PROMISE(strlen(shown) < sizeof shown);
        time_ms iso = 0;
        if (exact && strcmp(text, "now") != 0)
            PROMISE(time_parse(text, &iso, NULL) && iso == time);
    }
}

void fuzz_time(const uint8_t *data, size_t size) {
    char *text = fuzz_copy(data, size);
    struct error error = {0};
    time_ms time = 0;
    if (time_parse(text, &time, &error)) {
        PROMISE(time >= TIME_FIRST && time <= TIME_LAST);
        reads_back(time);
        calendar(time);
    } else
        fuzz_refusal(&error, text);
    written(text);
    if (size >= sizeof time) { /* the same bytes as a number of ms */
        memcpy(&time, data, sizeof time);
        calendar(time);
        if (time != TIME_NONE)
            reads_back(time);
    }
    free(text);
}
