#include "run/item.h"
#include <stdatomic.h>
#include <stdlib.h>

void item_free(struct item *item) {
    if (!item || atomic_fetch_sub(&item->owners, 1) > 1)
        return;
    job_free_list(item->jobs);
    free(item);
}

struct job *item_take(struct item *item) {
    struct job *job = item->jobs;
    if (!job)
        return NULL;
    item->jobs = job->next;
    job->next = NULL;
    item->count--;
    return job;
}

/* The jobs of the first job's lane that follow it without a gap, cut off the list. */
static void fill(struct item *item, struct job **jobs) {
    struct job *first = *jobs, *last = first;
    item->count = 1;
    while (first->lane_id != 0 && last->next && last->next->lane_id == first->lane_id) {
        last = last->next;
        item->count++;
    }
    *jobs = last->next;
    last->next = NULL;
    item->jobs = first;
    item->lane_token = first->token;
}

static struct item *item_new(void) {
    struct item *item = calloc(1, sizeof *item);
    if (!item)
        return NULL;
    atomic_init(&item->owners, 1);
    atomic_init(&item->refused, 0);
    return item;
}

bool items_build(struct job *jobs, struct item **items) {
    struct item **end = items;
    *items = NULL;
    while (jobs) {
        struct item *item = *end = item_new();
        if (!item)
            break;
        fill(item, &jobs);
        end = &item->next;
    }
    if (!jobs)
        return true;
    job_free_list(jobs);
    items_free(*items);
    *items = NULL;
    return false;
}

struct item *item_follow(struct job *jobs, const struct outcome *outcome) {
    struct item *item = item_new();
    if (!item) {
        job_free_list(jobs);
        return NULL;
    }
    item->jobs = jobs;
    item->lane_token = outcome->lane_token;
    item->worker = outcome->awaited;
    for (; jobs; jobs = jobs->next)
        item->count++;
    item->followed = outcome->followed + item->count;
    return item;
}

struct item *items_merge(const struct acquire *order, struct item *a, struct item *b) {
    struct item *merged = NULL, **end = &merged;
    while (a && b) {
        struct spot left = acquire_spot(a->jobs), right = acquire_spot(b->jobs);
        struct item **best = acquire_before(order, &right, &left) ? &b : &a;
        *end = *best;
        *best = (*best)->next;
        end = &(*end)->next;
    }
    *end = a ? a : b;
    return merged;
}

void items_free(struct item *items) {
    while (items) {
        struct item *next = items->next;
        item_free(items);
        items = next;
    }
}

void items_watch(struct item **watched, struct item *items) {
    for (struct item *item = items; item; item = item->next) {
        if (item->count < 2)
            continue;
        atomic_fetch_add(&item->owners, 1);
        item->watched = *watched;
        *watched = item;
    }
}

static struct item **find(struct item **watched, int64_t lane_token) {
    while (*watched && (*watched)->lane_token != lane_token)
        watched = &(*watched)->watched;
    return watched;
}

void items_refuse(struct item *watched, int64_t lane_token) {
    struct item *item = *find(&watched, lane_token);
    if (item)
        atomic_store(&item->refused, 1);
}

void items_end(struct item **watched, int64_t lane_token) {
    struct item **at = find(watched, lane_token), *item = *at;
    if (!item)
        return;
    *at = item->watched;
    item_free(item);
}

void items_forget(struct item **watched) {
    while (*watched)
        items_end(watched, (*watched)->lane_token);
}
