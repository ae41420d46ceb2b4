/* schedule_policy.h - the keys of a schedule beside its cycle (rules §20): what happens to an
 * occurrence that meets the run before it, how far due dates are spread, and how many late
 * occurrences run. Pure functions. */
#pragma once

#include "time/cycle.h"
#include <jansson.h>

/* Applies when an occurrence falls due while the one before it runs, or is due and waits. */
enum overlap {
    OVERLAP_SKIP,   /* the new one does not run */
    OVERLAP_QUEUE,  /* the new one runs after the old one, never beside it */
    OVERLAP_REPLACE /* the old one is cancelled */
};

struct schedule_policy {
    enum overlap overlap;
    time_ms jitter;   /* ms; 0: none */
    int32_t catch_up; /* late runs at most, of misfire "all"; 0: any number */
};

/* Reads { overlap, jitter, catch_up, misfire } of a schedule and ignores its other keys. */
bool schedule_policy_read(const json_t *spec, struct schedule_policy *policy, struct error *error);

/* True for the keys that only a schedule has. */
bool schedule_policy_key(const char *key);

/* Returns how many ms after `date` the occurrence of the schedule `name` is due. The result depends
 * on the name and the date alone. It is below the jitter and below the way to the cycle's next
 * date.
 */
time_ms schedule_policy_delay(const struct schedule_policy *policy, const char *name,
                              const struct cycle *cycle, time_ms date);
