/* rate_contract.c - rates on random histories: two executors, starts that were none, lanes, runs by
 * hand, clocks that jump ahead; every window is looked at by a search through all starts. */
#include "contract.h"

#define STARTS 400
#define WINDOW 60000

struct start {
    int64_t token;
    time_ms at;
};

static struct start starts[STARTS];
static int start_count;

static struct definition declared;
static struct definitions definitions = {.count = 1, .list = &declared};

/* "work" may start so many times in a window. */
static bool deploy_rate(struct contract *c, struct rate rate) {
    static char text[RATE_TEXT_SIZE], name[] = "work", file[] = "handlers/work.lua";
    struct store_deployment deployment = {.name = "x", .definitions = &definitions};
    char hash[32];
    int64_t id = 0;
    rate_format(&rate, text);
    snprintf(hash, sizeof hash, "h%d", (int)rate.count);
    if (!declared.properties)
        declared.properties = json_object();
    declared.name = name;
    declared.file = file;
    declared.rate_text = text;
    declared.rate = rate;
    deployment.hash = hash;
    return store_deploy(c->store, &deployment, NULL, NOW, &id, &c->error);
}

static bool deploy(struct contract *c, int count) {
    return deploy_rate(c, (struct rate){count, WINDOW});
}

static bool in_any_window(int allowed) {
    for (int i = 0; i < start_count; i++) {
        int inside = 0;
        for (int j = 0; j < start_count; j++)
            inside += starts[j].at >= starts[i].at && starts[j].at < starts[i].at + WINDOW;
        if (inside > allowed)
            return false;
    }
    return true;
}

static void forget(int64_t token) {
    for (int i = 0; i < start_count; i++)
        if (starts[i].token == token)
            starts[i] = starts[--start_count];
}

static struct job *held[STARTS];
static int held_count;

static bool look(struct contract *c, struct store *store, time_ms now) {
    struct acquire acquire = everything;
    struct job *list = NULL, *next = NULL;
    int count = 0;
    bool more = false;
    acquire.want = 1 + rand() % 10;
    acquire.idle = rand() % 4;
    if (!store_acquire(store, &acquire, now, &list, &count, &more, &c->error))
        return false;
    int paced = 0;
    for (struct job *job = list; job; job = next) {
        next = job->next;
        job->next = NULL;
        if (strcmp(job->handler, "work") == 0) {
            starts[start_count++] = (struct start){job->token, now};
            paced++;
        }
        held[held_count++] = job;
    }
    return paced <= acquire.idle;
}

/* Some end well, some fail, some never began. */
static bool end(struct contract *c, struct store *const stores[2], time_ms now) {
    struct job *job = held[--held_count];
    struct store *store = stores[job->owner == c->self.id ? 0 : 1];
    struct outcome outcome = {.job = job, .due = TIME_NONE, .started = now, .ended = now};
    enum settled settled = SETTLED;
    int dice = rand() % 4;
    static const enum outcome_kind kinds[] = {OUTCOME_RETURNED, OUTCOME_FAILURE, OUTCOME_SUCCESS,
                                              OUTCOME_SUCCESS};
    outcome.kind = kinds[dice];
    outcome.retries = 5;
    outcome.decided = true;
    outcome.lane_ends = true;
    outcome.lane_token = job->token;
    if (dice == 0) {
        outcome.started = TIME_NONE;
        forget(job->token);
    }
    bool done = store_settle(store, &outcome, now, &settled, &c->error);
    job_free(job);
    return done;
}

static bool work(struct contract *c, struct store *const stores[2], time_ms now) {
    static const char *const lanes[] = {NULL, NULL, "a", "b"};
    int dice = rand() % 10;
    if (dice < 4 && start_count < STARTS / 2)
        return create(c, stores[0],
                      (struct job){.handler = rand() % 3 ? "work" : "other",
                                   .lane = lanes[rand() % 4],
                                   .priority = rand() % 3},
                      now) > 0;
    if (dice < 8)
        return look(c, stores[rand() % 2], now);
    return held_count == 0 || end(c, stores, now);
}

static void windows(struct contract *c) {
    struct store_executor other = {0};
    time_ms now = NOW;
    int allowed = 1 + rand() % 5;
    start_count = held_count = 0;
    EXPECT(deploy(c, allowed));
    struct store *second = contract_join(c, "other", NOW, &other);
    struct store *const stores[2] = {c->store, second};
    bool fine = second != NULL;
    for (int i = 0; fine && i < 300; i++) {
        fine = work(c, stores, now);
        now += rand() % 20 ? rand() % 8000 : rand() % 90000;
    }
    bool kept = in_any_window(allowed);
    while (held_count)
        job_free(held[--held_count]);
    store_close(second);
    EXPECT(fine);
    EXPECT(kept);
    EXPECT(start_count > 5);
}

static void many_windows(struct contract *c) {
    for (unsigned seed = 1; seed <= 8 && !c->failure; seed++) {
        srand(seed);
        windows(c);
        if (c->failure)
            printf("# seed %u\n", seed);
        contract_verify(c);
        store_close(c->store);
        contract_renew(c, false);
        c->store = contract_join(c, "node", NOW, &c->self);
        if (!c->store)
            return;
    }
}

static struct acquire idle(int workers) {
    struct acquire acquire = everything;
    acquire.idle = workers;
    return acquire;
}

static int count(struct contract *c, const struct acquire *acquire, time_ms now) {
    struct job *jobs = NULL;
    int found = 0;
    bool more = false;
    if (!store_acquire(c->store, acquire, now, &jobs, &found, &more, &c->error))
        return -1;
    job_free_list(jobs);
    return found;
}

static void idle_workers(struct contract *c) {
    struct acquire two = idle(2), none = idle(0);
    EXPECT(deploy(c, 10));
    for (int i = 0; i < 5; i++)
        EXPECT(create(c, c->store, (struct job){.handler = "work", .priority = 9}, NOW));
    EXPECT(create(c, c->store, (struct job){.handler = "other"}, NOW));
    EXPECT(count(c, &none, NOW) == 1 && store_acquire_stats(c->store).starved);
    EXPECT(count(c, &two, NOW) == 2 && store_acquire_stats(c->store).starved);
    EXPECT(count(c, &two, NOW) == 2);
    EXPECT(count(c, &two, NOW) == 1 && !store_acquire_stats(c->store).starved);
}

/* The jobs of a lane, of which one worker runs all, come first. */
static void idle_behind_lane(struct contract *c) {
    struct acquire two = idle(2);
    EXPECT(deploy(c, 5));
    for (int i = 0; i < 3; i++)
        EXPECT(
            create(c, c->store, (struct job){.handler = "other", .priority = 9, .lane = "a"}, NOW));
    for (int i = 0; i < 2; i++)
        EXPECT(create(c, c->store, (struct job){.handler = "work"}, NOW));
    EXPECT(count(c, &two, NOW) == 4);
}

static void next_instant(struct contract *c) {
    struct acquire one = idle(1);
    time_ms next = 0;
    EXPECT(deploy(c, 1));
    EXPECT(create(c, c->store, (struct job){.handler = "work"}, NOW));
    EXPECT(create(c, c->store, (struct job){.handler = "work"}, NOW));
    EXPECT(count(c, &one, NOW) == 1);
    EXPECT(count(c, &one, NOW + 5) == 0);
    EXPECT(store_next(c->store, NOW + 5, &next, &c->error) && next == NOW + WINDOW);
}

static void another_rate(struct contract *c) {
    struct acquire many = idle(9);
    EXPECT(deploy(c, 2));
    for (int i = 0; i < 9; i++)
        EXPECT(create(c, c->store, (struct job){.handler = "work"}, NOW));
    EXPECT(count(c, &many, NOW) == 2);
    EXPECT(deploy(c, 5));
    EXPECT(count(c, &many, NOW) == 3);
    EXPECT(deploy(c, 1));
    EXPECT(count(c, &many, NOW + WINDOW - 1) == 0);
    EXPECT(count(c, &many, NOW + WINDOW) == 1);
}

/* The starts are a while apart; the last one is in a window of its own. */
static void longer_window(struct contract *c) {
    static const time_ms at[] = {NOW, NOW + 10000, NOW + 20000, NOW + 20000 + 2 * WINDOW};
    struct acquire one = idle(1);
    EXPECT(deploy(c, 3));
    for (int i = 0; i < 9; i++)
        EXPECT(create(c, c->store, (struct job){.handler = "work"}, NOW));
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        EXPECT(count(c, &one, at[i]) == 1);
    EXPECT(deploy_rate(c, (struct rate){2, 10 * WINDOW}));
    EXPECT(count(c, &one, at[3] + 1) == 0);
    EXPECT(count(c, &one, at[3] + 10 * WINDOW - 1) == 1);
}

/* A run that has begun is given back, then a job whose run has not. */
static void given_back(struct contract *c) {
    struct acquire one = idle(1);
    enum settled settled = SETTLED;
    EXPECT(deploy(c, 1) && create(c, c->store, (struct job){.handler = "work"}, NOW));
    struct job *job = NULL;
    int found = 0;
    bool more = false;
    EXPECT(store_acquire(c->store, &one, NOW, &job, &found, &more, &c->error) && job);
    EXPECT(settle(c, c->store, job, (struct outcome){.kind = OUTCOME_RETURNED}, NOW) == SETTLED);
    EXPECT(count(c, &one, NOW) == 0);
    EXPECT(store_acquire(c->store, &one, NOW + WINDOW, &job, &found, &more, &c->error) && job);
    struct outcome unrun = {.job = job,
                            .kind = OUTCOME_RETURNED,
                            .started = TIME_NONE,
                            .ended = NOW + WINDOW,
                            .due = TIME_NONE};
    bool done = store_settle(c->store, &unrun, NOW + WINDOW, &settled, &c->error);
    job_free(job);
    EXPECT(done && count(c, &one, NOW + WINDOW) == 1);
}

/* A worker may begin later than its job was locked: so much later its start counts. */
static void grace(struct contract *c) {
    struct acquire one = idle(1);
    struct store_executor steady = {.name = "steady", .workers = 1, .serves = &one};
    struct error error = {0};
    time_ms next = 0, begun = clock_monotonic();
    bool more = false;
    int found = 0;
    struct job *job = NULL;
    one.steady = true;
    EXPECT(deploy(c, 1));
    EXPECT(create(c, c->store, (struct job){.handler = "work"}, NOW));
    EXPECT(create(c, c->store, (struct job){.handler = "work"}, NOW));
    struct store *store = store_open(c->url, STORE_CREATE, &c->settings, &c->error);
    EXPECT(store);
    time_ms grace = rate_grace(&declared.rate, false);
    bool fine = store_join(store, &steady, NOW, LEASE, &error) &&
                store_acquire(store, &one, NOW, &job, &found, &more, &error) && job;
    time_ms begin_by = job ? job->begin_by : 0;
    job_free_list(job);
    fine = fine && store_acquire(store, &one, NOW, &job, &found, &more, &error) && !job &&
           store_next(store, NOW, &next, &error);
    time_ms passed = clock_monotonic() - begun;
    store_close(store);
    EXPECT(fine && grace > 0);
    EXPECT(begin_by >= begun + grace / 2 && begin_by <= begun + passed + (grace + 1) / 2);
    EXPECT(next >= NOW + WINDOW + grace - passed && next <= NOW + WINDOW + grace);
}

/* Above a thousand starts one may come later by a part of the window, and never earlier. */
static void parts(struct contract *c) {
    struct acquire many = everything;
    const time_ms part = WINDOW / 100;
    many.idle = 3000;
    EXPECT(deploy(c, 1500));
    for (int i = 0; i < 1800; i++)
        EXPECT(create(c, c->store, (struct job){.handler = "work"}, NOW));
    EXPECT(count(c, &many, NOW + 1) == 1000 && count(c, &many, NOW + part) == 500);
    EXPECT(count(c, &many, NOW + WINDOW) == 0);
    EXPECT(count(c, &many, NOW + WINDOW + part - 1) == 0);
    EXPECT(count(c, &many, NOW + WINDOW + part) == 300);
}

/* An executor whose time passes by itself, for which every run is a short one. */
struct steady {
    struct store *store;
    struct acquire acquire;
    struct store_executor self;
};

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

static bool steady_open(struct contract *c, struct steady *steady) {
    steady->acquire = everything;
    steady->acquire.steady = true;
    steady->acquire.horizon =
        (struct horizon){.run = short_run, .brief = is_short, .span = 1000, .time = 1000};
    steady->self =
        (struct store_executor){.name = "steady", .workers = 1, .serves = &steady->acquire};
    steady->store = store_open(c->url, STORE_CREATE, &c->settings, &c->error);
    return steady->store && store_join(steady->store, &steady->self, NOW, LEASE, &c->error);
}

/* Takes short jobs with so many ms of time for them; -1: error. */
static int steady_take(struct contract *c, struct steady *steady, double soon, struct job **jobs) {
    int found = 0;
    bool more = false;
    *jobs = NULL;
    steady->acquire.horizon.soon = soon;
    return store_acquire(steady->store, &steady->acquire, NOW, jobs, &found, &more, &c->error)
               ? found
               : -1;
}

static bool steady_end(struct contract *c, struct steady *steady, struct job *jobs,
                       enum outcome_kind kind) {
    time_ms started = kind == OUTCOME_RETURNED ? TIME_NONE : NOW;
    enum settled settled = SETTLED;
    bool done = true;
    for (struct job *job = jobs; done && job; job = job->next) {
        struct outcome outcome = {
            .job = job, .kind = kind, .due = TIME_NONE, .started = started, .ended = NOW};
        done = store_settle(steady->store, &outcome, NOW, &settled, &c->error);
    }
    job_free_list(jobs);
    return done;
}

static void short_jobs(struct contract *c) {
    struct steady steady;
    struct job *jobs;
    EXPECT(deploy(c, 10));
    for (int i = 0; i < 20; i++)
        EXPECT(create(c, c->store, (struct job){.handler = "work"}, NOW));
    EXPECT(steady_open(c, &steady));
    int none = steady_take(c, &steady, 0, &jobs);
    bool starved = store_acquire_stats(steady.store).starved;
    int some = steady_take(c, &steady, 4, &jobs);
    bool ended = steady_end(c, &steady, jobs, OUTCOME_RETURNED);
    int all = steady_take(c, &steady, 100, &jobs);
    ended = ended && steady_end(c, &steady, jobs, OUTCOME_SUCCESS);
    int more = steady_take(c, &steady, 100, &jobs);
    store_close(steady.store);
    EXPECT(none == 0 && starved && some == 4);
    EXPECT(ended && all == 10 && more == 0);
}

static void short_windows(struct contract *c) {
    const time_ms window = 500;
    struct steady steady;
    struct job *jobs;
    time_ms next = 0, later = 0;
    EXPECT(deploy_rate(c, (struct rate){10, window}));
    for (int i = 0; i < 20; i++)
        EXPECT(create(c, c->store, (struct job){.handler = "work"}, NOW));
    EXPECT(steady_open(c, &steady));
    time_ms begun = clock_monotonic();
    int taken = steady_take(c, &steady, 100, &jobs);
    bool asked = store_next(steady.store, NOW, &later, &c->error);
    time_ms begin_by = jobs ? jobs->begin_by : 0, looked = clock_monotonic() - begun;
    bool ended = steady_end(c, &steady, jobs, OUTCOME_SUCCESS);
    time_ms passed = clock_monotonic() - begun;
    int more = steady_take(c, &steady, 100, &jobs);
    asked = asked && store_next(steady.store, NOW, &next, &c->error);
    store_close(steady.store);
    EXPECT(ended && asked && taken == 10 && more == 0);
    EXPECT(begin_by >= begun + 50 && later >= NOW + window + 100 - looked);
    EXPECT(next <= NOW + window + 1 || passed >= 50);
}

static const struct check checks[] = {
    {"no window has more starts than the rate, on random histories", many_windows},
    {"a job under a rate is locked only for an idle worker", idle_workers},
    {"the jobs of a lane take one idle worker from those under a rate", idle_behind_lane},
    {"the instant at which a rate lets the next one start is known", next_instant},
    {"a start counts from the last moment at which its worker may begin", grace},
    {"a rate that is deployed anew counts what has started", another_rate},
    {"a rate with a longer window counts what was started before it", longer_window},
    {"a run that is given back has started, a job that is given back unrun has not", given_back},
    {"more than a thousand starts are counted in parts of the window", parts},
    {"short jobs under a rate are taken as many as begin at once", short_jobs},
    {"a start counts as of the end of its run, if that is earlier by far", short_windows},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
