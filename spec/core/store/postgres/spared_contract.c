/* spared_contract.c - jobs that stay in `ready` once although their lane runs. Run with
 * spec/postgres/contracts. */
#include "../contract.h"
#include "store/postgres/db/connection.h"
#include "store/rules/place/mark.h"
#include <poll.h>

enum { LANES = 20, EACH = 3, PAGE = 100 };

/* Each job that is made is in a lane of LANES; a store that has met such jobs reads lanes along. */
static bool make(struct contract *c, int each) {
    char lane[16];
    bool fine = true;
    for (int i = 0; fine && i < each * LANES; i++) {
        snprintf(lane, sizeof lane, "lane %d", i % LANES);
        fine = create(c, c->store, (struct job){.retries = 3, .lane = lane}, NOW) != 0;
    }
    return fine;
}

/* What the store takes, one job of each free lane. NULL: none, or an error. */
static struct job *take(struct contract *c, struct store *store) {
    struct acquire page = everything;
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    page.want = PAGE;
    page.lane_run = 1;
    return store_acquire(store, &page, NOW, &jobs, &count, &more, &c->error) ? jobs : NULL;
}

static int length(const struct job *jobs) {
    int count = 0;
    for (; jobs; jobs = jobs->next)
        count++;
    return count;
}

#define ROWS(of) contract_number(c, "SELECT count(*) FROM " of)

static bool stand(struct contract *c, int ready, int parked) {
    return ROWS("ready") == ready && ROWS("parked") == parked;
}

static void once(struct contract *c) {
    EXPECT(make(c, EACH));
    struct job *running = take(c, c->store);
    const int taken = length(running);
    const bool spared = stand(c, LANES, LANES), none = !take(c, c->store);
    job_free_list(running);
    EXPECT(taken == LANES && spared && none);
    EXPECT(stand(c, 0, 2 * LANES));
}

static void not_behind_others(struct contract *c) {
    struct store_executor self;
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other && make(c, EACH));
    struct job *running = take(c, other);
    const bool none = !take(c, c->store);
    const bool parked = stand(c, 0, 2 * LANES);
    job_free_list(running);
    store_close(other);
    EXPECT(none && parked);
}

static void not_with_marks(struct contract *c) {
    EXPECT(make(c, EACH));
    c->store->marks.placed = c->store->placed;
    c->store->marks.until = clock_monotonic() + 3600000;
    struct job *running = take(c, c->store);
    const int taken = length(running);
    job_free_list(running);
    marks_forget(c->store);
    EXPECT(taken == LANES && stand(c, 0, 2 * LANES));
}

/* The end of a run in a turn that knows of nothing else to look for. */
static bool looks_after(struct contract *c, struct job *job) {
    struct capacity capacity = {.acquire = &everything, .room = 1};
    bool done = store_begin(c->store, STORE_TURN, &c->error);
    store_set_capacity(c->store, &capacity);
    done = done && settle(c, c->store, job, (struct outcome){0}, NOW) == SETTLED &&
           store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
    return done && capacity.ready.look && capacity.ready.blind;
}

static struct job *cut(struct job **jobs) {
    struct job *first = *jobs;
    *jobs = first->next;
    first->next = NULL;
    return first;
}

static void looked_for(struct contract *c) {
    EXPECT(make(c, 1));
    struct job *running = take(c, c->store);
    EXPECT(running && length(running) == LANES);
    const bool without = looks_after(c, cut(&running));
    EXPECT(make(c, 1));
    struct job *next = take(c, c->store);
    const bool with = looks_after(c, cut(&running));
    struct job *last = take(c, c->store);
    const int64_t ready = ROWS("ready");
    const int taken[] = {length(next), length(last)};
    job_free_list(running);
    job_free_list(next);
    job_free_list(last);
    EXPECT(!without && with);
    EXPECT(taken[0] == 1 && taken[1] == 1 && ready == 0);
}

static bool rings(struct store *store) {
    struct pollfd bell = {.fd = store_bell(store), .events = POLLIN};
    return poll(&bell, 1, 10000) == 1;
}

/* A job of one lane, behind the one that `store` runs. */
static struct job *run_then_make(struct contract *c, struct store *store, int64_t priority) {
    struct job first = {.retries = 3, .lane = "lane"}, next = first;
    next.priority = priority;
    bool made = create(c, c->store, first, NOW) != 0;
    struct job *running = made ? take(c, store) : NULL;
    made = made && create(c, c->store, next, NOW) != 0 && !take(c, store);
    return made ? running : NULL;
}

/* It stands ready, and the job that is shown is not for the one that waits. */
static void told_after_death(struct contract *c) {
    struct store_executor self;
    struct acquire high = everything;
    struct store *dead = contract_join(c, "dead", NOW, &self);
    struct store *idle = store_open(c->url, STORE_CREATE, &c->settings, &c->error);
    struct store_reaped reaped = {0};
    high.priority_min = 5;
    self = (struct store_executor){.name = "idle", .workers = 4, .serves = &high};
    EXPECT(dead && idle && store_join(idle, &self, NOW, 2 * LEASE, &c->error));
    struct job *running = run_then_make(c, dead, 9);
    const bool spared = stand(c, 1, 0);
    store_bell_empty(idle);
    bool done = running && store_renew(c->store, NOW + LEASE, LEASE, &c->error) &&
                store_reap(c->store, NOW + LEASE + 1, &reaped, &c->error);
    const bool told = done && rings(idle);
    job_free_list(running);
    job_free_list(reaped.worker_died);
    store_close(dead);
    store_close(idle);
    EXPECT(spared && told && reaped.freed == 1);
}

/* A lane that becomes free shows its next job, and so does one whose job a command takes away. */
static void told_of_next(struct contract *c) {
    const struct job one = {.retries = 3, .lane = "lane"};
    struct store_executor self;
    struct store *idle = contract_join(c, "idle", NOW, &self);
    EXPECT(idle && create(c, c->store, one, NOW));
    struct job *running = take(c, c->store);
    const int64_t next = create(c, c->store, one, NOW), last = create(c, c->store, one, NOW);
    const bool none = !take(c, c->store) && !take(c, c->store);
    const bool parked = running && next && last && stand(c, 0, 2);
    store_bell_empty(idle);
    bool ended = parked && settle(c, c->store, cut(&running), (struct outcome){0}, NOW) == SETTLED;
    const bool freed = ended && rings(idle) && stand(c, 1, 1);
    store_bell_empty(idle);
    const bool shown =
        freed && give_cancel(c->store, IDS(next), NOW, &c->error) && rings(idle) && stand(c, 1, 0);
    job_free_list(running);
    store_close(idle);
    EXPECT(none && parked && ended);
    EXPECT(freed);
    EXPECT(shown);
}

static const struct check checks[] = {
    {"the first job behind a run of this executor stays ready once, then it is parked", once},
    {"behind a run of another executor jobs are parked at once", not_behind_others},
    {"jobs are parked at once where pages go on behind the last job taken", not_with_marks},
    {"others are told when the executor that has spared them dies", told_after_death},
    {"others are told of the next job of a lane", told_of_next},
    {"the executor looks for such a job when a lane becomes free", looked_for},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
