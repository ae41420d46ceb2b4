/* running.h - what the workers of an executor run this moment, or ran as it died. */
#pragma once

#include "base/clock.h"
#include <stdbool.h>
#include <stddef.h>

struct running {
    time_ms alive; /* the executor's last sign of life; TIME_NONE: not known */
    bool vanished; /* nobody here can know what runs: with its machine, if it is dead. And the store
                    */
    bool missed;   /* was there long enough that a living executor would have come back */
    size_t count;
    struct {
        int64_t job, token;
        time_ms since;
    } * list; /* owned */
};

bool running_has(const struct running *running, int64_t job, int64_t token);
/* Since when this run goes on; TIME_NONE: it does not. */
time_ms running_since(const struct running *running, int64_t job, int64_t token);
/* What the loop was doing, which has the only token below 0: how many rows its turn dealt with, 0:
 * it was in no turn; *job: the only one. */
int running_turn(const struct running *running, int64_t *job);
void running_clear(struct running *running);
