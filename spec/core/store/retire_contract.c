/* retire_contract.c - deployments that nobody needs go by themselves, a day after a newer one came,
 * and never while anybody needs them. */
#include "contract.h"

#define DAY INT64_C(86400000)

/* Its id; 0: error. */
static int64_t deploy(struct contract *c, const char *hash, const char *executor, time_ms now) {
    json_t *declared = json_pack("[{s:s}]", "name", "work");
    struct definitions definitions = {0};
    int64_t id = 0;
    bool done = definitions_read(&definitions, declared) &&
                store_deploy(c->store,
                             &(struct store_deployment){
                                 .name = "shop",
                                 .hash = hash,
                                 .definitions = &definitions,
                                 .files = &(struct store_file){"handlers/work.lua", "return 1", 8},
                                 .file_count = 1,
                             },
                             executor, now, &id, &c->error);
    definitions_clear(&definitions);
    json_decref(declared);
    return done ? id : 0;
}

/* One whole search: what it removed, as a sum of ids; -1: error. *steps: how many it took. */
static int64_t search(struct contract *c, time_ms now, int *steps) {
    int64_t sum = 0, retired = 0;
    bool more = true;
    for (*steps = 0; more && *steps < 100; ++*steps) {
        if (!store_retire(c->store, &retired, &more, now, &c->error))
            return -1;
        sum += retired;
    }
    return sum;
}

static int64_t retired(struct contract *c, time_ms now) {
    int steps = 0;
    return search(c, now, &steps);
}

static size_t files(struct contract *c, int64_t id) {
    json_t *list = store_deployment_files(c->store, id, &c->error);
    size_t count = json_array_size(list);
    json_decref(list);
    return count;
}

static void after_a_day(struct contract *c) {
    EXPECT(deploy(c, "h1", "node", NOW) == 1 && deploy(c, "h2", "node", NOW + 5 * DAY) == 2);
    EXPECT(retired(c, NOW + 6 * DAY - 1) == 0 && files(c, 1) == 1);
    EXPECT(retired(c, NOW + 6 * DAY) == 1 && files(c, 1) == 0);
    EXPECT_ERROR("no deployment 1");
    EXPECT(retired(c, NOW + 60 * DAY) == 0 && files(c, 2) == 1);
}

static void with_jobs(struct contract *c) {
    EXPECT(deploy(c, "h1", NULL, NOW) == 1);
    int64_t job = create(c, c->store, (struct job){0}, NOW);
    EXPECT(job && deploy(c, "h2", NULL, NOW) == 2);
    EXPECT(retired(c, NOW + 2 * DAY) == 0);
    struct job *taken = acquire_one(c, c->store, NOW);
    EXPECT(taken && retired(c, NOW + 2 * DAY) == 0);
    EXPECT(settle(c, c->store, taken, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) == SETTLED);
    EXPECT(retired(c, NOW + 2 * DAY) == 1);
}

static void in_steps(struct contract *c) {
    int steps = 0;
    EXPECT(deploy(c, "h1", NULL, NOW) == 1 && deploy(c, "h2", NULL, NOW) == 2);
    for (int i = 0; i < 2500; i++)
        EXPECT(create(c, c->store, (struct job){0}, NOW));
    EXPECT(search(c, NOW + DAY, &steps) == 1 && steps == 5);
}

static void registered(struct contract *c) {
    EXPECT(deploy(c, "h1", "node", NOW) == 1 && deploy(c, "h1", "other", NOW) == 1);
    EXPECT(deploy(c, "h2", "node", NOW) == 2);
    EXPECT(retired(c, NOW + 2 * DAY) == 0);
    EXPECT(deploy(c, "h2", "other", NOW) == 2);
    EXPECT(retired(c, NOW + 2 * DAY) == 1);
}

static void loaded(struct contract *c) {
    struct store_executor self;
    json_t *profile = json_pack("{s:i}", "deployment", 1);
    EXPECT(deploy(c, "h1", NULL, NOW) == 1 && deploy(c, "h2", NULL, NOW) == 2);
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other && store_publish(other, profile, NOW, &c->error));
    json_decref(profile);
    EXPECT(retired(c, NOW + DAY) == 0);
    EXPECT(store_leave(other, &c->error));
    store_close(other);
    EXPECT(retired(c, NOW + DAY) == 1);
}

static void taken_back(struct contract *c) {
    EXPECT(deploy(c, "h1", NULL, NOW) == 1 && deploy(c, "h2", NULL, NOW) == 2);
    EXPECT(deploy(c, "h1", NULL, NOW) == 1);
    EXPECT(retired(c, NOW + 9 * DAY) == 0 && files(c, 1) == 1 && files(c, 2) == 1);
}

static const struct check checks[] = {
    {"a deployment goes a day after a newer one of its name came", after_a_day},
    {"a deployment stays while a job of it is there", with_jobs},
    {"jobs are looked at a thousand at a time", in_steps},
    {"a deployment stays while an executor is registered for it and no newer one", registered},
    {"a deployment stays while an executor has it loaded", loaded},
    {"a deployment stays if it was taken back, and so does the newest", taken_back},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
