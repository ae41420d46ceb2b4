/* tzif.c - compiled zone files: whatever their bytes, stretches follow each other without a gap. */
#include "time/tzif.h"
#include "../fuzz.h"
#include "time/span.h"

#define STEPS 50

static struct tzif_stretch stretch(const struct tzif *tzif, int64_t second) {
    struct tzif_stretch found = tzif_at(tzif, second);
    PROMISE(found.from <= second && second < found.until);
    PROMISE(found.offset > TZIF_OFFSET_MIN && found.offset < TZIF_OFFSET_MAX);
    return found;
}

/* From a stretch to the next and back to its last second. */
static void walk(const struct tzif *tzif, int64_t second) {
    for (int i = 0; i < STEPS && second < TIME_LAST / 1000; i++) {
        struct tzif_stretch here = stretch(tzif, second);
        if (here.until == INT64_MAX)
            return;
        PROMISE(stretch(tzif, here.until - 1).offset == here.offset);
        PROMISE(stretch(tzif, here.until).from == here.until);
        second = here.until;
    }
}

void fuzz_tzif(const uint8_t *data, size_t size) {
    struct tzif tzif;
    const char *problem = tzif_read(&tzif, (const char *)data, size);
    if (problem) {
        PROMISE(*problem && !tzif.seconds && !tzif.offsets);
        return;
    }
    for (size_t i = 0; i < fuzz_instant_count; i++)
        walk(&tzif, divide_down(fuzz_instants[i], 1000));
    tzif_clear(&tzif);
}
