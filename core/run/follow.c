#include "run/follow.h"
#include <stdatomic.h>
#include <stdlib.h>

struct follow {
    struct follow *next;
    int64_t lane_token;
    struct job *jobs;
    bool refused;
};

static struct follow **find(struct follow **at, int64_t lane_token) {
    while (*at && (*at)->lane_token != lane_token)
        at = &(*at)->next;
    return at;
}

/* Takes the entry out: its jobs, and whether they may run. */
static struct job *take(struct follow **at, bool *refused) {
    struct follow *follow = *at;
    if (!follow)
        return NULL;
    struct job *jobs = follow->jobs;
    *refused = follow->refused;
    *at = follow->next;
    free(follow);
    return jobs;
}

void follows_clear(struct follows *follows) {
    bool refused;
    while (follows->list)
        job_free_list(take(&follows->list, &refused));
}

int follows_waiting(const struct follows *follows, int64_t lane_token) {
    struct follow *list = follows->list;
    const struct follow *follow = list ? *find(&list, lane_token) : NULL;
    int count = 0;
    for (const struct job *job = follow ? follow->jobs : NULL; job; job = job->next)
        count++;
    return count;
}

bool follows_add(struct follows *follows, struct outcome *outcome) {
    struct follow **at = find(&follows->list, outcome->lane_token);
    if (!*at && !(*at = calloc(1, sizeof **at)))
        return false;
    (*at)->lane_token = outcome->lane_token;
    struct job **end = &(*at)->jobs;
    while (*end)
        end = &(*end)->next;
    *end = outcome->follows;
    outcome->follows = NULL;
    return true;
}

void follows_refuse(struct follows *follows, int64_t lane_token) {
    struct follow *follow = *find(&follows->list, lane_token);
    if (follow)
        follow->refused = true;
}

struct item *follows_end(struct follows *follows, const struct outcome *outcome) {
    bool refused = false;
    struct job *jobs = take(find(&follows->list, outcome->lane_token), &refused);
    if (!jobs && !outcome->awaited)
        return NULL;
    struct item *item = item_follow(jobs, outcome);
    if (item && refused)
        atomic_store(&item->refused, 1);
    return item;
}
