#include "run/pool/work_item.h"
#include <stdatomic.h>
#include <stdlib.h>

void work_item_free(struct work_item *item) {
    if (!item || atomic_fetch_sub(&item->owners, 1) > 1)
        return;
    job_free_list(item->jobs);
    lane_frames_clear(&item->frames);
    outcome_free(item->undecided);
    free(item);
}

struct job *work_item_take(struct work_item *item) {
    struct job *job = item->jobs;
    if (!job)
        return NULL;
    item->jobs = job->next;
    job->next = NULL;
    item->count--;
    return lane_frames_give(&item->frames, job);
}

struct outcome *work_item_undecided(struct work_item *item) {
    struct outcome *outcome = item->undecided;
    if (!outcome)
        return NULL;
    outcome->job = work_item_take(item);
    item->undecided = NULL;
    return outcome;
}

void work_item_hand_on(struct work_item *item, const struct outcome *outcome) {
    if (!lane_frames_note(&item->frames, outcome, item->jobs))
        atomic_store(&item->refused, 1);
}

static bool together(const struct job *first, const struct job *job) {
    if (first->lane_id)
        return job->lane_id == first->lane_id;
    return first->permit && job->permit == first->permit;
}

/* The jobs of the first job's lane, or with its permit, that follow it without a gap, cut off the
 * list. */
static void fill(struct work_item *item, struct job **jobs) {
    struct job *first = *jobs, *last = first;
    item->count = 1;
    while (last->next && together(first, last->next)) {
        last = last->next;
        item->count++;
    }
    *jobs = last->next;
    last->next = NULL;
    item->jobs = first;
    item->lane_token = first->token;
}

static struct work_item *item_new(void) {
    struct work_item *item = calloc(1, sizeof *item);
    if (!item)
        return NULL;
    atomic_init(&item->owners, 1);
    atomic_init(&item->refused, 0);
    return item;
}

bool work_items_build(struct job *jobs, struct work_item **items) {
    struct work_item **end = items;
    *items = NULL;
    while (jobs) {
        struct work_item *item = *end = item_new();
        if (!item)
            break;
        fill(item, &jobs);
        end = &item->next;
    }
    if (!jobs)
        return true;
    job_free_list(jobs);
    work_items_free(*items);
    *items = NULL;
    return false;
}

struct work_item *work_item_of_refused(struct outcome *outcome) {
    struct work_item *item = item_new();
    if (!item)
        return NULL;
    item->jobs = outcome->job;
    item->jobs->begin_by = 0; /* it has begun */
    item->count = 1;
    item->lane_token = outcome->lane_token;
    item->followed = outcome->followed;
    item->worker = outcome->awaited;
    item->goes_on = !outcome->lane_ends;
    item->undecided = outcome;
    outcome->job = NULL;
    outcome->next = NULL;
    outcome->awaited = 0;
    outcome->refused = false;
    return item;
}

struct work_item *work_items_merge(const struct acquire *order, struct work_item *a,
                                   struct work_item *b) {
    struct work_item *merged = NULL, **end = &merged;
    while (a && b) {
        struct sort_key left = acquire_sort_key(a->jobs), right = acquire_sort_key(b->jobs);
        struct work_item **best = acquire_before(order, &right, &left) ? &b : &a;
        *end = *best;
        *best = (*best)->next;
        end = &(*end)->next;
    }
    *end = a ? a : b;
    return merged;
}

void work_items_free(struct work_item *items) {
    while (items) {
        struct work_item *next = items->next;
        work_item_free(items);
        items = next;
    }
}

void work_items_watch(struct work_item **watched, struct work_item *items) {
    for (struct work_item *item = items; item; item = item->next) {
        if (item->count < 2 || !item->jobs->lane_id)
            continue;
        atomic_fetch_add(&item->owners, 1);
        item->watched = *watched;
        *watched = item;
    }
}

static struct work_item **find(struct work_item **watched, int64_t lane_token) {
    while (*watched && (*watched)->lane_token != lane_token)
        watched = &(*watched)->watched;
    return watched;
}

void work_items_refuse(struct work_item *watched, int64_t lane_token) {
    struct work_item *item = *find(&watched, lane_token);
    if (item)
        atomic_store(&item->refused, 1);
}

void work_items_end(struct work_item **watched, int64_t lane_token) {
    struct work_item **at = find(watched, lane_token), *item = *at;
    if (!item)
        return;
    *at = item->watched;
    work_item_free(item);
}

void work_items_forget(struct work_item **watched) {
    while (*watched)
        work_items_end(watched, (*watched)->lane_token);
}

/* ---- follow-ups ---- */

struct lane_follow_ups {
    struct lane_follow_ups *next;
    int64_t lane_token;
    struct job *jobs;
    struct lane_frames
        frames; /* where the runs of the lane have left the instances of these jobs */
    bool refused;
};

static struct lane_follow_ups **find_lane(struct lane_follow_ups **at, int64_t lane_token) {
    while (*at && (*at)->lane_token != lane_token)
        at = &(*at)->next;
    return at;
}

/* Takes the entry out: its jobs, which are the caller's, its frames, and whether they may run. */
static struct lane_follow_ups take(struct lane_follow_ups **at) {
    struct lane_follow_ups *follow = *at, taken = {0};
    if (!follow)
        return taken;
    taken = *follow;
    *at = follow->next;
    free(follow);
    return taken;
}

void follow_ups_clear(struct follow_ups *follows) {
    while (follows->list) {
        struct lane_follow_ups taken = take(&follows->list);
        job_free_list(taken.jobs);
        lane_frames_clear(&taken.frames);
    }
}

int follow_ups_waiting(const struct follow_ups *follows, int64_t lane_token) {
    struct lane_follow_ups *list = follows->list;
    const struct lane_follow_ups *follow = list ? *find_lane(&list, lane_token) : NULL;
    int count = 0;
    for (const struct job *job = follow ? follow->jobs : NULL; job; job = job->next)
        count++;
    return count;
}

bool follow_ups_add(struct follow_ups *follows, struct outcome *outcome) {
    struct lane_follow_ups **at = find_lane(&follows->list, outcome->lane_token);
    if (!*at && !(*at = calloc(1, sizeof **at)))
        return false;
    (*at)->lane_token = outcome->lane_token;
    struct job **end = &(*at)->jobs;
    while (*end)
        end = &(*end)->next;
    *end = outcome->follows;
    for (const struct job *job = outcome->follows; job; job = job->next)
        if (!lane_frames_note_job(&(*at)->frames, job))
            (*at)->refused = true;
    outcome->follows = NULL;
    return true;
}

void follow_ups_move(struct follow_ups *follows, const struct outcome *outcome) {
    struct lane_follow_ups *follow = *find_lane(&follows->list, outcome->lane_token);
    if (follow && !lane_frames_note(&follow->frames, outcome, follow->jobs))
        follow->refused = true;
}

void follow_ups_refuse(struct follow_ups *follows, int64_t lane_token) {
    struct lane_follow_ups *follow = *find_lane(&follows->list, lane_token);
    if (follow)
        follow->refused = true;
}

/* An item of follow-ups (taken over, perhaps none) in the lane of a run that has ended. NULL: no
 * memory, nothing is left of them. */
static struct work_item *item_of(struct lane_follow_ups *taken, const struct outcome *outcome) {
    struct work_item *item = item_new();
    if (!item) {
        job_free_list(taken->jobs);
        lane_frames_clear(&taken->frames);
        return NULL;
    }
    item->jobs = taken->jobs;
    item->frames = taken->frames;
    item->lane_token = outcome->lane_token;
    item->worker = outcome->awaited;
    for (const struct job *job = item->jobs; job; job = job->next)
        item->count++;
    item->followed = outcome->followed + item->count;
    atomic_store(&item->refused, taken->refused);
    return item;
}

struct work_item *follow_ups_end(struct follow_ups *follows, const struct outcome *outcome) {
    struct lane_follow_ups taken = take(find_lane(&follows->list, outcome->lane_token));
    return taken.jobs || outcome->awaited ? item_of(&taken, outcome) : NULL;
}

struct work_item *follow_ups_later(struct outcome *outcome) {
    struct lane_follow_ups none = {0};
    struct work_item *item = outcome->awaited ? item_of(&none, outcome) : NULL;
    outcome->awaited = 0;
    return item;
}

/* ---- items in line ---- */

void queue_init(struct queue *queue) {
    *queue = (struct queue){0};
}

/* Behind `before`; NULL: at the front. */
static void put_behind(struct queue *queue, struct work_item *before, struct work_item *item) {
    struct work_item **at = before ? &before->next : &queue->first;
    item->next = *at;
    *at = item;
    if (!item->next)
        queue->last = item;
}

void queue_push(struct queue *queue, struct work_item *item) {
    put_behind(queue, queue->last, item);
}

static bool overtakes(const struct acquire *order, const struct work_item *item,
                      const struct work_item *other) {
    struct sort_key own = acquire_sort_key(item->jobs), its = acquire_sort_key(other->jobs);
    return acquire_before(order, &own, &its);
}

/* Skips what is known to stay before the item: all, or all up to the one that was inserted last.
 * NULL: nothing is known. */
static struct work_item *skip(const struct queue *queue, const struct acquire *order,
                              const struct work_item *item) {
    if (queue->last && !overtakes(order, item, queue->last))
        return queue->last;
    bool behind = queue->inserted && !overtakes(order, item, queue->inserted);
    return behind ? queue->inserted : NULL;
}

void queue_insert(struct queue *queue, const struct acquire *order, struct work_item *item) {
    struct work_item *before = skip(queue, order, item);
    struct work_item *next = before ? before->next : queue->first;
    for (; next && (next->followed || !overtakes(order, item, next)); next = next->next)
        before = next;
    put_behind(queue, before, item);
    queue->inserted = item;
}

void queue_unshift(struct queue *queue, struct work_item *item) {
    put_behind(queue, NULL, item);
}

struct work_item *queue_shift(struct queue *queue) {
    struct work_item *item = queue->first;
    if (!item)
        return NULL;
    queue->first = item->next;
    if (!queue->first)
        queue->last = NULL;
    if (queue->inserted == item)
        queue->inserted = NULL;
    item->next = NULL;
    return item;
}

void queue_append(struct queue *queue, struct queue *from) {
    if (!from->first)
        return;
    if (queue->last)
        queue->last->next = from->first;
    else
        queue->first = from->first;
    queue->last = from->last;
    queue_init(from);
}

void queue_pull(struct queue *queue, bool (*test)(void *arg, const struct work_item *item),
                void *arg, struct queue *to) {
    struct work_item *item = queue_take(queue), *next;
    for (; item; item = next) {
        next = item->next;
        queue_push(test(arg, item) ? to : queue, item);
    }
}

struct work_item *queue_take(struct queue *queue) {
    struct work_item *items = queue->first;
    queue_init(queue);
    return items;
}
