/* limit_contract.c - limits on random histories. Two executors have items of short jobs that share
 * a place, and lanes. Runs fail or never begin, operators take locks away, limits come and go.
 * Whatever happens, no more runs are on than the limit allows. */
#include "contract.h"

enum { ITEMS = 256, STEPS = 160 };

static struct definition declared;
static struct definitions definitions = {.count = 1, .list = &declared};
static int deployments;

/* "work" may run so many times at once; 0: as often as it likes. */
static bool deploy(struct contract *c, int limit, int cluster_limit) {
    static char name[] = "work", file[] = "handlers/work.lua";
    struct store_deployment deployment = {.name = "x", .definitions = &definitions};
    char hash[32];
    int64_t id = 0;
    snprintf(hash, sizeof hash, "h%d", ++deployments);
    deployment.hash = hash;
    declared = (struct definition){
        .name = name, .file = file, .limit = limit, .cluster_limit = cluster_limit};
    declared.properties = json_object();
    bool done = store_deploy(c->store, &deployment, NULL, NOW, &id, &c->error);
    json_decref(declared.properties);
    return done;
}

static double short_run(const void *arg, int64_t definition) {
    (void)arg;
    (void)definition;
    return 1;
}

static bool is_short(const void *arg, int64_t definition) {
    (void)arg;
    (void)definition;
    return true;
}

static bool is_long(const void *arg, int64_t definition) {
    return !is_short(arg, definition);
}

/* What runs one after the other: its jobs that are left. */
static struct item {
    struct job *jobs;
    int owner; /* 0 or 1 */
} items[ITEMS];
static int item_count;

static bool together(const struct job *a, const struct job *b) {
    return a->permit ? a->permit == b->permit : a->lane_id && a->lane_id == b->lane_id;
}

/* Makes items of what was acquired, as it stands. */
static bool keep(struct job *jobs, int owner) {
    while (jobs && item_count < ITEMS) {
        struct job *last = jobs;
        while (last->next && together(jobs, last->next))
            last = last->next;
        items[item_count++] = (struct item){jobs, owner};
        jobs = last->next;
        last->next = NULL;
    }
    return !jobs;
}

static int running(int owner) {
    int count = 0;
    for (int i = 0; i < item_count; i++)
        count +=
            strcmp(items[i].jobs->handler, "work") == 0 && (owner < 0 || items[i].owner == owner);
    return count;
}

static bool look(struct contract *c, struct store *store, int owner, time_ms now) {
    struct acquire acquire = everything;
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    acquire.want = 1 + rand() % 40;
    if (rand() % 4)
        acquire.horizon = (struct horizon){.run = short_run,
                                           .brief = is_short,
                                           .span = 100,
                                           .time = 300,
                                           .workers = 1 + rand() % 3};
    return store_acquire(store, &acquire, now, &jobs, &count, &more, &c->error) &&
           keep(jobs, owner);
}

/* Ends the next job of an item: well, badly or unrun. */
static bool end(struct contract *c, struct store *const stores[2], int at, time_ms now) {
    static const enum outcome_kind kinds[] = {OUTCOME_RETURNED, OUTCOME_FAILURE, OUTCOME_SUCCESS,
                                              OUTCOME_SUCCESS};
    struct item *item = &items[at];
    struct job *job = item->jobs;
    enum settled settled = SETTLED;
    struct outcome outcome = {
        .job = job, .due = TIME_NONE, .started = now, .ended = now, .retries = 5, .decided = true};
    outcome.kind = kinds[rand() % 4];
    outcome.lane_ends = !job->next;
    outcome.lane_token = job->token;
    if (outcome.kind == OUTCOME_RETURNED)
        outcome.started = TIME_NONE;
    item->jobs = job->next;
    job->next = NULL;
    bool done = store_settle(stores[item->owner], &outcome, now, &settled, &c->error);
    job_free(job);
    if (!item->jobs)
        *item = items[--item_count];
    return done;
}

static bool cancel(struct contract *c) {
    const struct job *job = item_count ? items[rand() % item_count].jobs : NULL;
    while (job && job->next && rand() % 3)
        job = job->next;
    struct command_run run = {0};
    json_t *command =
        json_pack("{ss s[I]}", "verb", "cancel", "ids", (json_int_t)(job ? job->id : INT64_C(1)));
    struct error ignored = {0};
    store_command(c->store, command, &run, NOW, &ignored); /* it may be gone already */
    json_decref(run.rest);
    json_decref(command);
    return true;
}

static bool work(struct contract *c, struct store *const stores[2], time_ms now) {
    static const char *const lanes[] = {NULL, NULL, NULL, NULL, "a"};
    int dice = rand() % 12;
    if (dice < 3) {
        bool begun = store_begin(c->store, STORE_TURN, &c->error);
        for (int i = 0; i < 6; i++)
            create(c, c->store,
                   (struct job){.handler = rand() % 4 ? "work" : "other",
                                .lane = lanes[rand() % 5],
                                .priority = rand() % 3},
                   now);
        return begun && store_commit(c->store, &c->error);
    }
    if (dice < 5)
        return look(c, stores[dice % 2], dice % 2, now);
    if (dice == 5 && rand() % 4 == 0)
        return cancel(c);
    for (int i = 0; i < 4 && item_count; i++)
        if (!end(c, stores, rand() % item_count, now))
            return false;
    return true;
}

static bool end_all(struct contract *c, struct store *const stores[2], time_ms now) {
    while (item_count)
        if (!end(c, stores, 0, now))
            return false;
    return true;
}

/* How many one executor may lock of jobs that are there in plenty: all places are free again. */
static int places(struct contract *c, struct store *const stores[2], time_ms now) {
    struct acquire acquire = everything;
    struct job *jobs = NULL;
    int count = 0, found = 0;
    bool more = false;
    for (int i = 0; i < 20; i++)
        create(c, c->store, (struct job){.handler = "work", .priority = 9}, now);
    if (!store_acquire(stores[0], &acquire, now, &jobs, &count, &more, &c->error))
        return -1;
    for (const struct job *job = jobs; job; job = job->next)
        found += strcmp(job->handler, "work") == 0;
    return keep(jobs, 0) && end_all(c, stores, now) ? found : -1;
}

static void history(struct contract *c, bool changes, int *shared) {
    struct store_executor other = {0};
    int limit = rand() % 2 ? 1 + rand() % 4 : 0, cluster = limit ? 0 : 1 + rand() % 4;
    item_count = 0;
    EXPECT(deploy(c, limit, cluster));
    struct store *second = contract_join(c, "other", NOW, &other);
    struct store *const stores[2] = {c->store, second};
    bool fine = second != NULL, kept = true;
    for (int i = 0; fine && kept && i < STEPS; i++) {
        fine = work(c, stores, NOW + i);
        if (changes && rand() % 40 == 0)
            fine = fine && deploy(c, 0, 0) && deploy(c, limit, cluster);
        kept = (!limit || (running(0) <= limit && running(1) <= limit)) &&
               (!cluster || running(-1) <= cluster);
        for (int at = 0; at < item_count; at++)
            *shared += items[at].jobs->permit != 0 && items[at].jobs->next;
    }
    fine = fine && end_all(c, stores, NOW + STEPS);
    int free = fine ? places(c, stores, NOW + STEPS) : -1;
    store_close(second);
    EXPECT(fine);
    EXPECT(kept);
    EXPECT(free == (limit ? limit : cluster));
}

static void histories(struct contract *c, bool changes) {
    int shared = 0;
    for (unsigned seed = 1; seed <= 5 && !c->failure; seed++) {
        srand(seed);
        history(c, changes, &shared);
        if (c->failure)
            printf("# seed %u\n", seed);
        contract_verify(c);
        store_close(c->store);
        contract_renew(c, false);
        c->store = contract_join(c, "node", NOW, &c->self);
        if (!c->store)
            return;
    }
    EXPECT(c->failure || shared > 100);
}

static void many(struct contract *c) {
    histories(c, false);
}

static void many_changes(struct contract *c) {
    histories(c, true);
}

static struct acquire brief(int workers) {
    struct acquire acquire = everything;
    acquire.horizon = (struct horizon){
        .run = short_run, .brief = is_short, .span = 100, .time = 300, .workers = workers};
    return acquire;
}

static struct job *take(struct contract *c, struct store *store, const struct acquire *acquire) {
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    return store_acquire(store, acquire, NOW, &jobs, &count, &more, &c->error) ? jobs : NULL;
}

static bool make(struct contract *c, const char *handler, int64_t priority, int count) {
    for (int i = 0; i < count; i++)
        if (!create(c, c->store, (struct job){.handler = (char *)handler, .priority = priority},
                    NOW))
            return false;
    return true;
}

/* The permits of so many jobs in their order. */
static int permits(struct contract *c, const struct acquire *acquire, int64_t *list, int most) {
    struct job *jobs = take(c, c->store, acquire);
    int count = 0;
    for (const struct job *job = jobs; job && count < most; job = job->next)
        list[count++] = job->permit;
    job_free_list(jobs);
    return count;
}

static int having(const int64_t *list, int count, int64_t permit) {
    int found = 0;
    for (int i = 0; i < count; i++)
        found += list[i] == permit;
    return found;
}

static void items_of_workers(struct contract *c) {
    struct acquire two = brief(2);
    int64_t list[64];
    EXPECT(deploy(c, 0, 4) && make(c, "work", 0, 10));
    EXPECT(permits(c, &two, list, 64) == 10);
    EXPECT(list[0] && list[9] && list[0] != list[9]);
    EXPECT(having(list, 10, list[0]) == 5 && having(list, 10, list[9]) == 5);
}

/* 20 ms of expected runs make an item; what is over waits. */
static void bounded_items(struct contract *c) {
    struct acquire two = brief(2);
    int64_t list[64];
    EXPECT(deploy(c, 1, 0) && make(c, "work", 0, 50));
    EXPECT(permits(c, &two, list, 64) == 20 && having(list, 20, list[0]) == 20);
    EXPECT(permits(c, &two, list, 64) == 0);
}

/* A job of another definition runs before those of a lower priority. */
static void order(struct contract *c) {
    struct acquire one = brief(1);
    int64_t list[64];
    EXPECT(deploy(c, 4, 0));
    EXPECT(make(c, "work", 9, 2) && make(c, "other", 5, 1) && make(c, "work", 1, 2));
    EXPECT(permits(c, &one, list, 64) == 5 && list[2] == 0);
    EXPECT(list[0] && list[0] == list[1] && list[3] && list[3] == list[4] && list[0] != list[3]);
}

static int taken(struct contract *c, struct store *store, time_ms now) {
    struct store_reaped reaped;
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    if (!store_reap(store, now, &reaped, &c->error) ||
        !store_acquire(store, &everything, now, &jobs, &count, &more, &c->error))
        return -1;
    job_free_list(jobs);
    return count;
}

/* A stopped executor keeps the place of a run whose lock was extended, until that ends. */
static void extended(struct contract *c) {
    const time_ms later = NOW + LEASE + 1, until = NOW + LEASE + 1000;
    struct store_executor other = {0};
    struct acquire one = brief(1);
    EXPECT(deploy(c, 0, 2) && make(c, "work", 0, 9));
    struct job *jobs = take(c, c->store, &one), *last = jobs;
    while (last && last->next)
        last = last->next;
    bool shared = last && last->permit && last->permit == jobs->permit;
    bool fine = shared && store_extend(c->store, last->id, last->token, until, &c->error);
    job_free_list(jobs);
    struct store *second = contract_join(c, "other", later, &other);
    int before = second ? taken(c, second, later) : -1;
    int after = second ? taken(c, second, until + 1) : -1;
    store_close(second);
    EXPECT(fine);
    EXPECT(before == 1 && after == 1);
}

/* The run of a job that was given up, or that ends after all. */
static int end_run(struct contract *c, const struct job *job, bool gives_up) {
    static char at[] = "handlers/work.lua:3", stuck[] = "does not end";
    struct outcome end = {.kind = OUTCOME_FAILURE, .reason = REASON_TIMEOUT};
    struct job *copy = job_copy(job);
    if (!copy)
        return -1;
    end.stuck = gives_up ? at : NULL;
    end.message = stuck;
    end.outlived = !gives_up;
    return settle(c, c->store, copy, end, NOW);
}

static void stuck(struct contract *c) {
    struct acquire one = brief(1);
    one.horizon.brief = is_long;
    EXPECT(deploy(c, 0, 1) && make(c, "work", 0, 3));
    struct job *job = take(c, c->store, &one);
    EXPECT(job && !job->next && end_run(c, job, true) == SETTLED);
    EXPECT(take(c, c->store, &one) == NULL);
    EXPECT(end_run(c, job, false) == SETTLED_STALE);
    job_free(job);
    job = take(c, c->store, &one);
    EXPECT(job && !job->next);
    job_free(job);
}

/* How many of three jobs may run at once where its file says this. */
static int running_under(struct contract *c, int limit, const char *beside) {
    char hash[32];
    static char name[] = "work", file[] = "handlers/work.lua";
    struct store_deployment deployment = {.name = "x", .definitions = &definitions, .hash = hash};
    int64_t id = 0;
    snprintf(hash, sizeof hash, "h%d", ++deployments);
    declared = (struct definition){.name = name, .file = file, .limit = limit};
    declared.properties = json_loads(beside, 0, NULL);
    bool done = store_deploy(c->store, &deployment, NULL, NOW, &id, &c->error);
    json_decref(declared.properties);
    for (int i = 0; done && i < 3; i++)
        done = create(c, c->store, (struct job){0}, NOW) != 0;
    return done ? acquire_count(c, c->store, NOW) : -1;
}

static void limit_beside(struct contract *c) {
    EXPECT(running_under(c, 0, "{\"limit\":1,\"rate\":\"x\"}") == 3);
}

static void null_beside(struct contract *c) {
    EXPECT(running_under(c, 1, "{\"limit\":null,\"rate\":null}") == 1);
}

static const struct check checks[] = {
    {"no more runs are on than the limit allows, on random histories", many},
    {"a limit that comes and goes leaves no run that counts for ever", many_changes},
    {"short jobs under a limit share a place for each worker", items_of_workers},
    {"jobs that share a place are expected to take 20 ms at most", bounded_items},
    {"a job waits for none of a lower priority that share a place", order},
    {"a property of the folder's own is no limit", limit_beside},
    {"a limit counts beside a property of that name", null_beside},
    {"a place that is shared is kept while the lock of one job is extended", extended},
    {"a run that was given up keeps its place until it ends after all", stuck},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
