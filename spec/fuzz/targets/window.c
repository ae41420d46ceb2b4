/* window.c - windows of the day, an entry a line: they open later than now and close later than
 * that, and are open in between. */
#include "time/window.h"
#include "../fuzz.h"

static void opens_and_closes(const struct window *window, time_ms now) {
    time_ms closes = window_closes(window, now), opens = window_opens(window, now);
    PROMISE(closes == TIME_NONE || closes > now);
    PROMISE(opens > now && (opens == TIME_NEVER || opens <= now + 10 * DAY_MS));
    if (closes != TIME_NONE)
        PROMISE(window_closes(window, closes - 1) >= closes);
    if (opens != TIME_NEVER)
        PROMISE(window_closes(window, opens) > opens);
}

void fuzz_window(const uint8_t *data, size_t size) {
    static const char *const zones[] = {NULL, "Europe/Berlin", "Pacific/Apia", "Asia/Kathmandu"};
    char *text = fuzz_copy(data, size), *rest = text;
    struct error error = {0};
    struct window window;
    json_t *entries = json_array();
    for (char *line; (line = fuzz_line(&rest));)
        json_array_append_new(entries, json_string_nocheck(line));
    for (size_t i = 0; i < 4; i++) {
        if (!window_read(&window, entries, zones[i], &error)) {
            fuzz_refusal(&error, NULL);
            break;
        }
        PROMISE((size_t)window.count == json_array_size(entries));
        for (size_t j = 2; j + 3 < fuzz_instant_count; j++)
            opens_and_closes(&window, fuzz_instants[j]);
    }
    json_decref(entries);
    free(text);
}
