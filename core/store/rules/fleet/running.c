#include "store/rules/fleet/running.h"
#include <stdlib.h>

time_ms running_since(const struct running *running, int64_t job, int64_t token) {
    for (size_t i = 0; i < running->count; i++)
        if (running->list[i].job == job && running->list[i].token == token)
            return running->list[i].since;
    return TIME_NONE;
}

bool running_has(const struct running *running, int64_t job, int64_t token) {
    return running_since(running, job, token) != TIME_NONE;
}

void running_clear(struct running *running) {
    free(running->list);
    *running = (struct running){0};
}
