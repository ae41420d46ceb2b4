/* again_contract.c - a turn whose jobs go back, and one that takes such jobs again, wait for the
 * server as often for many jobs as for a few, and send as many statements. Run with
 * spec/postgres/contracts. */
#include "asked.h"

enum { FEW = 100, MANY = 1000 };

/* "work" may start often enough. */
static bool deploy(struct contract *c) {
    static char name[] = "work", file[] = "handlers/work.lua", text[] = "10000/PT1M";
    struct definition declared = {.name = name,
                                  .file = file,
                                  .rate_text = text,
                                  .rate = {.count = 10000, .window = 60000},
                                  .properties = json_object()};
    struct definitions definitions = {.count = 1, .list = &declared};
    struct store_deployment deployment = {.name = "x", .hash = "h", .definitions = &definitions};
    int64_t id = 0;
    bool done = store_deploy(c->store, &deployment, NULL, NOW, &id, &c->error);
    json_decref(declared.properties);
    return done;
}

static bool make(struct contract *c, int count) {
    bool done = store_begin(c->store, STORE_COMMAND, &c->error);
    for (int i = 0; done && i < count; i++)
        done = create(c, c->store, (struct job){.retries = 3}, NOW) != 0;
    return done && store_commit(c->store, &c->error);
}

/* Takes so many; `unread`: as an executor does beside others. NULL: not as many. */
static struct job *take(struct contract *c, int count, bool unread, struct asked *asked) {
    struct acquire all = everything;
    struct job *jobs = NULL;
    int taken = 0;
    bool more = false;
    all.want = all.idle = count;
    all.unread = unread;
    struct asked before = asked_now(c);
    bool done = store_acquire(c->store, &all, NOW, &jobs, &taken, &more, &c->error);
    *asked = asked_since(c, before, done && taken == count);
    return jobs;
}

static struct outcome end_of(struct job *job, enum outcome_kind kind, int at) {
    static char messages[MANY][16];
    struct outcome outcome = {.job = job, .kind = kind, .due = TIME_NONE, .lane_ends = true};
    outcome.started = kind == OUTCOME_RETURNED ? TIME_NONE : NOW;
    outcome.ended = NOW;
    if (kind != OUTCOME_FAILURE)
        return outcome;
    snprintf(messages[at], sizeof messages[at], "no %lld", (long long)job->id);
    outcome.message = messages[at];
    outcome.decided = true;
    outcome.retries = job->retries - 1;
    return outcome;
}

/* Settles these runs in one turn, and frees them. */
static struct asked settle_all(struct contract *c, struct job *jobs, enum outcome_kind kind) {
    static struct outcome outcomes[MANY];
    enum settled settled = SETTLED;
    int count = 0;
    for (struct job *job = jobs; job; job = job->next, count++) {
        outcomes[count] = end_of(job, kind, count);
        outcomes[count].next = job->next ? &outcomes[count + 1] : NULL;
    }
    struct asked before = asked_now(c);
    bool done = count && store_begin(c->store, STORE_TURN, &c->error) &&
                store_settle_bulk(c->store, outcomes, &c->error);
    for (int i = 0; done && i < count; i++)
        done = store_settle(c->store, &outcomes[i], NOW, &settled, &c->error) && settled == SETTLED;
    done = done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
    job_free_list(jobs);
    return asked_since(c, before, done);
}

/* What it costs to take jobs, to let them go back, and to take them again. */
struct costs {
    struct asked taken, back, again;
};

static struct costs costs_of(struct contract *c, enum outcome_kind kind, bool unread, int count) {
    struct costs costs = {{0}, {0}, {0}};
    struct asked ignored;
    if (!make(c, count))
        return costs;
    struct job *jobs = take(c, count, false, &costs.taken);
    costs.back = settle_all(c, jobs, kind);
    jobs = take(c, count, unread, &costs.again);
    settle_all(c, jobs, OUTCOME_RETURNED);
    jobs = take(c, count, unread, &ignored);
    settle_all(c, jobs, OUTCOME_SUCCESS);
    return costs;
}

static bool as_often(struct contract *c, enum outcome_kind kind, bool unread) {
    costs_of(c, kind, unread, FEW); /* the statements are known now */
    const struct costs few = costs_of(c, kind, unread, FEW);
    const struct costs many = costs_of(c, kind, unread, MANY);
    return as_much(few.taken, many.taken) && as_much(few.back, many.back) &&
           as_much(few.again, many.again);
}

#define ROWS(of) contract_number(c, "SELECT count(*) FROM " of)

static void failed(struct contract *c) {
    EXPECT(as_often(c, OUTCOME_FAILURE, false));
    EXPECT(as_often(c, OUTCOME_FAILURE, true));
    EXPECT(ROWS("attempt WHERE n=1 AND message='no ' || job") == 4 * FEW + 2 * MANY);
    EXPECT(ROWS("ended WHERE attempt=2 AND retries=2") == 4 * FEW + 2 * MANY);
}

static void unrun(struct contract *c) {
    EXPECT(as_often(c, OUTCOME_RETURNED, false));
    EXPECT(as_often(c, OUTCOME_RETURNED, true));
    EXPECT(ROWS("attempt") == 0);
    EXPECT(ROWS("ended WHERE attempt=1 AND retries=3") == 4 * FEW + 2 * MANY);
}

static void paced(struct contract *c) {
    EXPECT(deploy(c));
    EXPECT(as_often(c, OUTCOME_RETURNED, true));
    EXPECT(contract_number(c, "SELECT max(n) FROM rate WHERE at<>n AND definition>0") ==
           2 * FEW + MANY);
}

/* Jobs that go back stand where they stood: before those that came later. */
static void in_their_places(struct contract *c) {
    struct asked ignored;
    EXPECT(make(c, FEW));
    struct job *jobs = take(c, FEW, false, &ignored);
    EXPECT(jobs && make(c, FEW));
    const int64_t first = jobs->id;
    EXPECT(settle_all(c, jobs, OUTCOME_RETURNED).waits > 0);
    EXPECT(ROWS("ready r JOIN job j ON j.id=r.id AND j.place=r.place") == 2 * FEW);
    jobs = take(c, FEW, false, &ignored);
    EXPECT(jobs && jobs->id == first && jobs->attempt == 1);
    settle_all(c, jobs, OUTCOME_SUCCESS);
}

/* ---- rows that are read behind the commit ---- */

/* Of jobs with priorities, each of which says its own in its payload. */
static bool make_prior(struct contract *c, int count) {
    bool done = store_begin(c->store, STORE_COMMAND, &c->error);
    for (int i = 0; done && i < count; i++) {
        char payload[24];
        const int size = snprintf(payload, sizeof payload, "{\"p\":%d}", i % 7);
        const struct job job = {
            .retries = 3, .priority = i % 7, .payload = payload, .payload_size = (size_t)size};
        done = create(c, c->store, job, NOW) != 0;
    }
    return done && store_commit(c->store, &c->error);
}

/* The ids and the order stay, and each job has its own row. */
static void read_behind(struct contract *c) {
    static struct job *list[FEW];
    static int64_t ids[FEW];
    struct asked ignored;
    int count = 0, right = 0;
    EXPECT(make_prior(c, FEW));
    struct job *jobs = take(c, FEW, true, &ignored), *next = NULL;
    for (struct job *job = jobs; job && count < FEW; job = next, count++) {
        next = job->next;
        job->next = NULL;
        list[count] = job;
        ids[count] = job->id;
    }
    EXPECT(count == FEW && list[0]->unread && list[0]->priority > list[count - 1]->priority);
    EXPECT(store_read_taken(c->store, list, (size_t)count, &c->error));
    for (int i = 0; i < count; i++) {
        char payload[24];
        snprintf(payload, sizeof payload, "{\"p\":%d}", (int)list[i]->priority);
        right += list[i]->id == ids[i] && !list[i]->unread && list[i]->payload &&
                 strncmp(list[i]->payload, payload, strlen(payload)) == 0;
        list[i]->next = i + 1 < count ? list[i + 1] : NULL;
    }
    EXPECT(right == count);
    settle_all(c, list[0], OUTCOME_SUCCESS);
}

static const struct check checks[] = {
    {"jobs that failed go back and are taken again as a set", failed},
    {"jobs that did not run go back and are taken again as a set", unrun},
    {"jobs of a rate are taken, given back and taken again as a set", paced},
    {"jobs that did not run stand where they stood", in_their_places},
    {"rows that are read behind the commit come to their jobs in any order", read_behind},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
