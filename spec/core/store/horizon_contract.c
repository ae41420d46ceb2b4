/* horizon_contract.c - an acquisition fills the workers' time up to a horizon and leaves the rest;
 * what is ready can be asked for without taking it. */
#include "contract.h"

/* "slow" runs for longer than the horizon, "work" for a tenth of it. */
static double run(const void *arg, int64_t definition) {
    return definition == *(const int64_t *)arg ? 1000 : 10;
}

static int64_t slow; /* its definition */

static struct acquire ahead(double time) {
    struct acquire acquire = everything;
    acquire.horizon = (struct horizon){.run = run, .arg = &slow, .span = 100, .time = time};
    return acquire;
}

static int taken(struct contract *c, struct acquire acquire, bool *more) {
    struct job *jobs = NULL;
    int count = 0;
    if (!store_acquire(c->store, &acquire, NOW, &jobs, &count, more, &c->error))
        return -1;
    job_free_list(jobs);
    return count;
}

static bool make(struct contract *c, struct job job, int count) {
    job.retries = 3;
    for (int i = 0; i < count; i++)
        if (!create(c, c->store, job, NOW))
            return false;
    return true;
}

/* A job of "slow" comes and goes, so that its definition is known. */
static bool know_slow(struct contract *c) {
    if (!make(c, (struct job){.handler = "slow"}, 1))
        return false;
    struct job *job = acquire_one(c, c->store, NOW);
    slow = job ? job->definition : 0;
    return job &&
           settle(c, c->store, job, (struct outcome){.kind = OUTCOME_CANCELLED}, NOW) == SETTLED;
}

static void short_runs(struct contract *c) {
    bool more = false;
    EXPECT(know_slow(c) && make(c, (struct job){0}, 50));
    EXPECT(taken(c, ahead(200), &more) == 20 && more);
    EXPECT(taken(c, ahead(0.5), &more) == 1 && more);
    EXPECT(taken(c, ahead(0), &more) == 0 && more);
    EXPECT(taken(c, everything, &more) == 29 && !more);
}

static void long_run(struct contract *c) {
    bool more = false;
    EXPECT(know_slow(c) && make(c, (struct job){.handler = "slow", .priority = 5}, 1) &&
           make(c, (struct job){0}, 50));
    EXPECT(taken(c, ahead(200), &more) == 11 && more);
}

static void large(struct contract *c) {
    char payload[1002] = "\"";
    bool more = false;
    struct acquire acquire = everything;
    memset(payload + 1, 'x', 999);
    payload[1000] = '"';
    EXPECT(make(c, (struct job){.payload = payload, .payload_size = 1001}, 9));
    acquire.bytes = 2500;
    EXPECT(taken(c, acquire, &more) == 3 && more);
    acquire.bytes = 1;
    EXPECT(taken(c, acquire, &more) == 1 && more);
    acquire.bytes = 0;
    EXPECT(taken(c, acquire, &more) == 5 && !more);
}

static void lane(struct contract *c) {
    bool more = false;
    EXPECT(know_slow(c) && make(c, (struct job){.lane = "a", .priority = 5}, 16) &&
           make(c, (struct job){0}, 50));
    EXPECT(taken(c, ahead(200), &more) == 20 && more);
    EXPECT(matches(c, "{\"state\":\"locked\",\"lane\":\"a\"}") == 10);
}

static void slow_lane(struct contract *c) {
    bool more = false;
    EXPECT(know_slow(c) && make(c, (struct job){.handler = "slow", .lane = "a"}, 5));
    EXPECT(taken(c, ahead(200), &more) == 1 && !more);
    EXPECT(matches(c, "{\"state\":\"locked\"}") == 1 && matches(c, "{\"state\":\"waiting\"}") == 4);
}

static void best(struct contract *c) {
    struct acquire low = everything;
    struct sort_key key = {0};
    bool found = true;
    EXPECT(store_best(c->store, &everything, NOW, &key, &found, &c->error) && !found);
    EXPECT(make(c, (struct job){.priority = 3}, 1) && make(c, (struct job){.priority = 8}, 1));
    EXPECT(store_best(c->store, &everything, NOW, &key, &found, &c->error) && found);
    EXPECT(key.priority == 8);
    low.priority_max = 5;
    EXPECT(store_best(c->store, &low, NOW, &key, &found, &c->error) && found);
    EXPECT(key.priority == 3 && matches(c, "{\"state\":\"ready\"}") == 2);
}

static bool joined(struct contract *c, struct store **other, struct acquire *serves) {
    struct store_executor self = {.name = "other", .workers = 1, .serves = serves};
    *other = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    return *other && store_join(*other, &self, NOW, LEASE, &c->error) &&
           store_begin(c->store, STORE_COMMAND, &c->error) && store_commit(c->store, &c->error);
}

static void shared(struct contract *c) {
    struct acquire low = everything;
    struct store *other = NULL;
    struct job *job = NULL;
    low.priority_max = 5;
    EXPECT(make(c, (struct job){.priority = 8}, 1) && (job = acquire_one(c, c->store, NOW)));
    EXPECT(!store_shared(c->store, job, NOW));
    EXPECT(joined(c, &other, &low) && !store_shared(c->store, job, NOW));
    job->priority = 5;
    EXPECT(store_shared(c->store, job, NOW) && !store_shared(c->store, job, NOW + LEASE));
    size_t touched;
    EXPECT(give_drain(c->store, "other", true, &touched, NOW, &c->error));
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error) && store_commit(c->store, &c->error));
    EXPECT(!store_shared(c->store, job, NOW));
    store_close(other);
    job_free(job);
}

int main(void) {
    static const struct check checks[] = {
        {"short runs are taken until the workers' time is filled", short_runs},
        {"a long run fills the time of one worker", long_run},
        {"the job that reaches the bound of bytes is the last", large},
        {"the jobs of a lane fill the time of one worker", lane},
        {"behind a long run of its lane nothing is taken", slow_lane},
        {"the best ready job is told and left", best},
        {"what another executor takes is known by its range, its lease and whether it drains",
         shared},
    };
    return contract_run(checks, sizeof checks / sizeof checks[0], false);
}
