/* lanes_contract.c - jobs that wait behind another one in their lane: parked, met again, undone,
 * deleted. Random histories are in lane_histories_contract.c. */
#include "contract.h"

static void append(struct job **list, struct job *jobs_) {
    while (*list)
        list = &(*list)->next;
    *list = jobs_;
}

/* Jobs of one lane, the first of them running, the others parked behind it. */
static struct job *lane_of_four(struct contract *c, int64_t ids[4]) {
    c->settings.lane_run = 1;
    for (int i = 0; i < 4; i++)
        ids[i] = create(c, c->store, (struct job){.lane = "a", .retries = 3}, NOW);
    struct job *first = acquire_one(c, c->store, NOW);
    if (!first || first->id != ids[0] || acquire_count(c, c->store, NOW) != 0) {
        job_free(first);
        return NULL;
    }
    return first;
}

static bool next_is(struct contract *c, int64_t id) {
    struct job *next = acquire_one(c, c->store, NOW);
    bool is = next && next->id == id;
    job_free(next);
    return is;
}

static void cancelled_run(struct contract *c) {
    int64_t ids[4];
    struct job *first = lane_of_four(c, ids);
    EXPECT(first);
    EXPECT(give_cancel(c->store, IDS(ids[0]), NOW, &c->error));
    EXPECT(acquire_count(c, c->store, NOW) == 0);
    EXPECT(settle(c, c->store, first, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) ==
           SETTLED_STALE);
    EXPECT(next_is(c, ids[1]));
}

static void deleted_head(struct contract *c) {
    int64_t ids[4];
    struct job *first = lane_of_four(c, ids);
    EXPECT(first);
    EXPECT(give_delete(c->store, IDS(ids[1]), NOW, &c->error));
    EXPECT(settle(c, c->store, first, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) == SETTLED);
    EXPECT(give_delete(c->store, IDS(ids[2]), NOW, &c->error));
    EXPECT(next_is(c, ids[3]));
}

/* What was parked is taken behind the head, and then another job of the lane is met in `ready`. */
static void met_again(struct contract *c) {
    int64_t ids[4];
    struct job *first = lane_of_four(c, ids);
    EXPECT(first);
    EXPECT(create(c, c->store, (struct job){.lane = "b"}, NOW) &&
           create(c, c->store, (struct job){.lane = "c"}, NOW));
    EXPECT(acquire_count(c, c->store, NOW) == 2); /* so most lanes are free: jobs are read along */
    EXPECT(settle(c, c->store, first, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) == SETTLED);
    EXPECT(create(c, c->store, (struct job){.lane = "a", .retries = 3}, NOW));
    EXPECT(acquire_count(c, c->store, NOW) == 4);
    EXPECT(contract_number(c, "SELECT count(*) FROM parked") == 0);
}

/* A parked job is deleted and its lane is free, which is undone. Another store has written before,
 * so what is parked is read in between. */
static void undone(struct contract *c) {
    int64_t ids[4];
    struct store_executor self;
    struct job *first = lane_of_four(c, ids), *again = first ? job_copy(first) : NULL;
    EXPECT(again && give_delete(c->store, IDS(ids[2], ids[3]), NOW, &c->error));
    store_close(contract_join(c, "other", NOW, &self));
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(give_delete(c->store, IDS(ids[1]), NOW, &c->error));
    EXPECT(settle(c, c->store, first, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) == SETTLED);
    store_rollback(c->store);
    EXPECT(settle(c, c->store, again, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) == SETTLED);
    EXPECT(next_is(c, ids[1]));
}

static void parked_by_another(struct contract *c) {
    struct store_executor self;
    struct job *job = NULL;
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other && create(c, c->store, (struct job){.lane = "a"}, NOW));
    EXPECT((job = acquire_one(c, c->store, NOW)));
    EXPECT(settle(c, c->store, job, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) == SETTLED);
    EXPECT(create(c, c->store, (struct job){.lane = "a"}, NOW));
    EXPECT((job = acquire_one(c, c->store, NOW)));
    int64_t behind = create(c, other, (struct job){.lane = "a"}, NOW);
    EXPECT(acquire_count(c, other, NOW) == 0);
    store_close(other);
    EXPECT(contract_number(c, "SELECT count(*) FROM parked") == 1);
    EXPECT(settle(c, c->store, job, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) == SETTLED);
    EXPECT(next_is(c, behind));
}

/* Creates a job in each of `lanes_`. */
static bool crowd(struct contract *c, struct store *store, int lanes_) {
    char name[32];
    bool done = store_begin(store, STORE_COMMAND, &c->error);
    for (int i = 0; done && i < lanes_; i++) {
        snprintf(name, sizeof name, "lane %d", i);
        done = create(c, store, (struct job){.lane = name}, NOW) != 0;
    }
    return done && store_commit(store, &c->error);
}

/* Settles all of them as successes. */
static bool settle_all(struct contract *c, struct job *list) {
    bool done = store_begin(c->store, STORE_TURN, &c->error);
    while (list) {
        struct job *next = list->next;
        done = done &&
               settle(c, c->store, list, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) == SETTLED;
        list = next;
    }
    return done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
}

/* Takes all that can be had, in *list; how many they are. */
static int take_all(struct contract *c, struct store *store, struct job **list) {
    int count = 0, all = 0;
    bool more = true;
    for (*list = NULL; more; all += count) {
        struct job *some = NULL;
        if (!store_acquire(store, &everything, NOW, &some, &count, &more, &c->error))
            return -1;
        append(list, some);
    }
    return all;
}

/* Another executor has parked one in each of more lanes than are told apart. */
static void many_parked(struct contract *c) {
    enum { MANY = 4500 };
    struct store_executor self;
    struct job *first = NULL, *second = NULL;
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other && crowd(c, c->store, MANY) && take_all(c, c->store, &first) == MANY);
    EXPECT(crowd(c, other, MANY) && take_all(c, other, &second) == 0);
    store_close(other);
    EXPECT(contract_number(c, "SELECT count(*) FROM parked") == MANY && settle_all(c, first));
    EXPECT(contract_number(c, "SELECT count(*) FROM ready") == MANY);
    EXPECT(take_all(c, c->store, &second) == MANY);
    job_free_list(second);
}

/* Takes what has a due date; how many they were. */
static int acquire_dated(struct contract *c) {
    struct acquire dated = everything;
    struct job *jobs_ = NULL;
    int count = 0;
    bool more = false;
    dated.ensure_due_date = true;
    if (!store_acquire(c->store, &dated, NOW, &jobs_, &count, &more, &c->error))
        return -1;
    job_free_list(jobs_);
    return count;
}

/* Between jobs that are parked stands one that this acquisition does not see. */
static void undated_between(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){.lane = "a", .due = NOW - 50}, NOW));
    EXPECT(acquire_dated(c) == 1);
    for (int i = 4; i > 0; i--) {
        EXPECT(create(c, c->store, (struct job){.lane = "a", .due = NOW - 10 * i}, NOW));
        EXPECT(create(c, c->store, (struct job){0}, NOW - 10 * i + 5));
    }
    EXPECT(acquire_dated(c) == 0);
    EXPECT(contract_number(c, "SELECT count(*) FROM parked") == 4);
    EXPECT(acquire_count(c, c->store, NOW) == 4);
}

static void undated_parked(struct contract *c) {
    int64_t ids[4];
    struct job *first = lane_of_four(c, ids);
    EXPECT(first);
    EXPECT(settle(c, c->store, first, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) == SETTLED);
    EXPECT(create(c, c->store, (struct job){.lane = "a", .due = NOW - 50}, NOW));
    EXPECT(acquire_dated(c) == 1);
}

static const struct check checks[] = {
    {"where a date is asked for, a job without one stays between those that are parked",
     undated_between},
    {"… and is not taken from those that are parked", undated_parked},
    {"jobs that were parked are taken once, also if their lane is met again", met_again},
    {"what was parked before a rollback is parked behind it", undone},
    {"a job that another executor has parked is shown", parked_by_another},
    {"… also if it has parked jobs in more lanes than are told apart", many_parked},
    {"a cancelled run holds its lane until it ends, and then the next one runs", cancelled_run},
    {"a job that is deleted shows the one that waits behind it in its lane", deleted_head},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
