/* few.h - a question for few jobs costs what they cost, however many others there are, and its
 * answer is the one of a look at every row. The contract that includes it says what a question
 * costs. */
#include "contract.h"

#define MANY 9000

/* From here to the next call: what the questions have cost since the last one. */
static int64_t cost_since(struct contract *c);

static bool make(struct contract *c, int count, const struct job *job) {
    bool done = store_begin(c->store, STORE_COMMAND, &c->error);
    for (int i = 0; done && i < count; i++)
        done = create(c, c->store, *job, NOW) != 0;
    return store_commit(c->store, &c->error) && done;
}

/* The number of jobs; -1: error. *cost: what it took. */
static int64_t ask(struct contract *c, json_t *filters, int64_t *cost) {
    int64_t count = -1;
    cost_since(c);
    json_t *list = store_jobs(c->store, filters, NULL, NOW, &c->error);
    bool fine = list && store_jobs_count(c->store, filters, NOW, &count, &c->error);
    *cost = cost_since(c);
    if (fine && count != (int64_t)json_array_size(list))
        count = -1;
    json_decref(list);
    json_decref(filters);
    return count;
}

/* It is found at less than one step a row of the others. */
static bool cheap(struct contract *c, int64_t wanted, json_t *filters) {
    int64_t cost = 0;
    const int64_t found = ask(c, filters, &cost);
    return found == wanted && cost > 0 && cost < MANY;
}

static void few_of_a_handler(struct contract *c) {
    EXPECT(make(c, MANY, &(struct job){.handler = "many"}));
    EXPECT(make(c, 3, &(struct job){.handler = "few"}));
    EXPECT(make(c, 2, &(struct job){.handler = "few", .suspended = true}));
    EXPECT(cheap(c, 5, json_pack("{ss}", "handler", "few")));
    EXPECT(cheap(c, 5, json_pack("{s[ss]}", "handler", "few", "none")));
    EXPECT(cheap(c, 0, json_pack("{ss}", "handler", "none")));
    EXPECT(cheap(c, 0, json_pack("{ss}", "topic", "none")));
    EXPECT(cheap(c, 0, json_pack("{ss}", "category", "none")));
    EXPECT(cheap(c, 0, json_pack("{si}", "deployment", 77)));
    EXPECT(cheap(c, 0, json_pack("{ss}", "owner", "none")));
    EXPECT(cheap(c, 0, json_pack("{ss}", "worker", "none")));
}

static void few_beside_timers(struct contract *c) {
    EXPECT(make(c, MANY, &(struct job){.handler = "many", .due = NOW + 1000}));
    EXPECT(make(c, 3, &(struct job){.handler = "few"}));
    EXPECT(cheap(c, 3, json_pack("{ss}", "handler", "few")));
    EXPECT(cheap(c, 3, json_pack("{ssss}", "handler", "few", "state", "ready")));
    EXPECT(make(c, 1, &(struct job){.handler = "few", .due = NOW + 1000}));
    EXPECT(ask(c, json_pack("{ss}", "handler", "few"), &(int64_t){0}) == 4);
}

/* Some among many of another state, before them and behind. */
static void few_scheduled(struct contract *c) {
    EXPECT(make(c, 1, &(struct job){.handler = "many", .due = NOW + 1000}));
    EXPECT(make(c, MANY, &(struct job){.handler = "many"}));
    EXPECT(make(c, 2, &(struct job){.handler = "many", .due = NOW + 1000}));
    EXPECT(cheap(c, 3, json_pack("{ss}", "state", "scheduled")));
    EXPECT(cheap(c, 0, json_pack("{ss}", "state", "waiting")));
    EXPECT(cheap(c, 0, json_pack("{ss}", "state", "locked")));
    EXPECT(cheap(c, 0, json_pack("{ss}", "state", "dead")));
}

static void few_suspended(struct contract *c) {
    int64_t cost = 0;
    EXPECT(make(c, MANY, &(struct job){.handler = "many"}));
    EXPECT(make(c, 2, &(struct job){.handler = "many", .suspended = true}));
    EXPECT(cheap(c, 2, json_pack("{ss}", "state", "suspended")));
    EXPECT(cheap(c, 2, json_pack("{sb}", "suspended", 1)));
    EXPECT(cheap(c, 2, json_pack("{ss}", "suspended_by", "job")));
    EXPECT(ask(c, json_pack("{sb}", "suspended", 0), &cost) == MANY);
}

/* A job of the handler in every place: ready, timer, parked, locked, dead, suspended. */
static void every_place(struct contract *c) {
    int64_t dead = 0, cost = 0;
    int count = 0;
    bool more = false;
    struct job *list = NULL;
    struct acquire command = everything;
    command.want = 1;
    EXPECT(make(c, 3, &(struct job){.handler = "few", .lane = "a", .priority = 9}));
    EXPECT((dead = create(c, c->store, (struct job){.handler = "few"}, NOW)));
    EXPECT(make(c, 1, &(struct job){.handler = "few", .due = NOW + 1000}));
    EXPECT(make(c, 1, &(struct job){.handler = "few", .suspended = true}));
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error) &&
           store_acquire(c->store, &command, NOW, &list, &count, &more, &c->error) &&
           store_commit(c->store, &c->error) && count == 1);
    json_t *verb = json_pack("{ss,s[I]}", "verb", "dead_letter", "ids", (json_int_t)dead);
    struct command_run run = {0};
    EXPECT(store_command(c->store, verb, &run, NOW, &c->error));
    json_decref(verb);
    EXPECT(ask(c, json_pack("{ss}", "handler", "few"), &cost) == 6);
    for (int state = JOB_READY; state <= JOB_DEAD; state++) {
        int64_t found = ask(
            c,
            json_pack("{ssss}", "handler", "few", "state", job_state_name((enum job_state)state)),
            &cost);
        EXPECT(found == 1 + (state == JOB_WAITING) - (state == JOB_READY));
    }
    job_free(list);
}

static const struct check checks[] = {
    {"few jobs of a handler are found at their own cost", few_of_a_handler},
    {"few jobs beside many timers of others are found at their own cost", few_beside_timers},
    {"few scheduled jobs are found at their own cost", few_scheduled},
    {"few suspended jobs are found at their own cost", few_suspended},
    {"a handler's jobs are found in every place", every_place},
};
