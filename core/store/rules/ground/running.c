#include "store/rules/ground/running.h"
#include <limits.h>
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

int running_turn(const struct running *running, int64_t *job) {
    *job = 0;
    for (size_t i = 0; i < running->count; i++)
        if (running->list[i].token < 0) {
            bool one = running->list[i].token == -1 && running->list[i].job != INT64_MAX;
            *job = one ? running->list[i].job : 0;
            return running->list[i].token > INT_MIN ? (int)-running->list[i].token : INT_MAX;
        }
    return 0;
}

void running_clear(struct running *running) {
    free(running->list);
    *running = (struct running){0};
}
