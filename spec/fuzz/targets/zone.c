/* zone.c - names of zones: what is found has the name, lies in the folder, and its local times
 * come back. */
#include "time/zone.h"
#include "../fuzz.h"

static void there_and_back(const struct zone *zone, time_ms at) {
    time_ms local = zone_local(zone, at), again = zone_instant(zone, local);
    PROMISE(again <= at && zone_local(zone, again) == local);
    PROMISE(zone_reached(zone, at) >= local);
    PROMISE(zone_instant(zone, zone_reached(zone, at) + 1) > at);
}

void fuzz_zone(const uint8_t *data, size_t size) {
    char *text = fuzz_copy(data, size);
    struct error error = {0};
    const struct zone *zone = zone_find(text, &error);
    if (zone) {
        PROMISE(strcmp(zone_name(zone), text) == 0 || !*text);
        PROMISE(!strstr(text, "..") && *text != '/');
        for (size_t i = 0; i < fuzz_instant_count; i++)
            there_and_back(zone, fuzz_instants[i]);
    } else
        fuzz_refusal(&error, NULL);
    free(text);
}
