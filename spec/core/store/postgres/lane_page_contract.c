/* lane_page_contract.c - jobs of many lanes are taken a page at a time: each once, in the order of
 * its lane, and with few waits for the server. A command holds a lane with fewer. Run with
 * spec/postgres/contracts. */
#include "../contract.h"
#include "store/postgres/db/connection.h"

enum {
    LANES = 40,
    EACH_TURN = 120, /* jobs that are made before a turn */
    MAKING = 10,     /* turns before which jobs are made */
    PAGE = 150,
    WAITS = 8, /* of an acquisition */
    TURNS_MOST = 200,
    JOBS_MOST = EACH_TURN * MAKING + 1
};

static int64_t last_of[LANES]; /* the last job of each lane that was taken */
static bool taken_before[JOBS_MOST];
static int64_t first_id;

static int lane_of(const struct job *job) {
    return atoi(job->lane + strlen("lane "));
}

static bool make(struct contract *c, int turn) {
    char lane[16];
    bool fine = store_begin(c->store, STORE_COMMAND, &c->error);
    for (int i = 0; fine && i < EACH_TURN; i++) {
        snprintf(lane, sizeof lane, "lane %d", (i * 7 + turn) % LANES);
        int64_t id = create(c, c->store, (struct job){.retries = 3, .lane = lane}, NOW);
        first_id = first_id ? first_id : id;
        fine = id != 0;
    }
    return fine && store_commit(c->store, &c->error);
}

/* True if each job of the list is taken for the first time, in the order of its lane. */
static bool in_order(const struct job *jobs) {
    for (; jobs; jobs = jobs->next) {
        bool *before = &taken_before[jobs->id - first_id];
        int64_t *last = &last_of[lane_of(jobs)];
        if (*before || *last > jobs->id)
            return false;
        *before = true;
        *last = jobs->id;
    }
    return true;
}

static bool end_all(struct contract *c, struct job *jobs, int count) {
    static struct outcome outcomes[PAGE];
    enum settled settled = SETTLED;
    int64_t token = 0;
    for (int i = 0; i < count; i++, jobs = jobs->next) {
        bool first = i == 0 || outcomes[i - 1].job->lane_id != jobs->lane_id;
        token = first ? jobs->token : token;
        outcomes[i] = (struct outcome){
            .job = jobs, .started = NOW, .ended = NOW, .due = TIME_NONE, .lane_token = token};
        outcomes[i].lane_ends = !jobs->next || jobs->next->lane_id != jobs->lane_id;
        outcomes[i].next = i + 1 < count ? &outcomes[i + 1] : NULL;
    }
    bool done = store_begin(c->store, STORE_TURN, &c->error) &&
                store_settle_bulk(c->store, outcomes, &c->error);
    for (int i = 0; done && i < count; i++)
        done = store_settle(c->store, &outcomes[i], NOW, &settled, &c->error) && settled == SETTLED;
    done = done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
    return done;
}

/* What was taken a turn ago still runs while more is taken: its lanes are passed. */
static bool turn(struct contract *c, struct job **running, int *count) {
    struct acquire page = everything;
    struct job *jobs = NULL;
    int taken = 0;
    bool more = false;
    const struct session *session = &postgres_of(c->store)->session;
    const int64_t before = session->waits;
    page.want = PAGE;
    page.lane_run = 5;
    bool done = store_acquire(c->store, &page, NOW, &jobs, &taken, &more, &c->error) &&
                session->waits - before <= WAITS && in_order(jobs) &&
                (!*count || end_all(c, *running, *count));
    job_free_list(*running);
    *running = jobs;
    *count = taken;
    return done;
}

#define ROWS(of) contract_number(c, "SELECT count(*) FROM " of)

static void drain(struct contract *c) {
    struct job *running = NULL;
    int64_t parked = 0;
    int count = 0, taken = 0, turns = 0;
    for (; (count || taken < EACH_TURN * MAKING) && turns < TURNS_MOST; turns++) {
        EXPECT(turns >= MAKING || make(c, turns));
        EXPECT(turn(c, &running, &count));
        taken += count;
        if (turns < MAKING)
            parked += ROWS("parked");
    }
    EXPECT(taken == EACH_TURN * MAKING && parked > 0);
    EXPECT(ROWS("ready") == 0 && ROWS("parked") == 0 && ROWS("lane") == 0 && ROWS("locks") == 0);
}

static enum answer hold(struct contract *c, struct lane_want *want) {
    return store_lane_hold(c->store, want, &c->error);
}

/* The lane is held in one flight. Who finds it taken asks whose it is. */
static void holds(struct contract *c) {
    struct lane_want one = {{7, 0}, 7, false, NOW, NOW + 1000, 0};
    struct lane_want other = one, late = one, end = one, stale = one;
    const struct session *session = &postgres_of(c->store)->session;
    EXPECT(hold(c, &stale) == YES && stale.hold.token);
    late.now = NOW + 1000;
    late.until = NOW + 2000;
    const int64_t before = session->waits;
    EXPECT(hold(c, &late) == YES && session->waits - before == 1);
    EXPECT(late.hold.token > stale.hold.token);
    EXPECT(hold(c, &other) == NO && !other.hold.token && other.hold.lane == 7);
    end.ends = true;
    EXPECT(hold(c, &end) == NO && ROWS("lane") == 1);
    EXPECT(store_begin(c->store, STORE_HOLD, &c->error) &&
           store_lane_release(c->store, &stale.hold, &c->error) &&
           store_commit(c->store, &c->error) && ROWS("lane") == 1);
}

static bool change(struct contract *c, const char *sql) {
    return db_run(&c->store->db, &c->error, sql, "");
}

/* What the flight cannot know is found by the transaction behind it. */
static void holds_where_known(struct contract *c) {
    struct lane_want newer = {{8, 0}, 8, false, NOW, NOW + 1000, 0}, moved = newer;
    EXPECT(store_begin(c->store, STORE_HOLD, &c->error) && store_commit(c->store, &c->error));
    EXPECT(change(c, "UPDATE schema_version SET version=version+1000, oldest=oldest+1000"));
    EXPECT(hold(c, &newer) == FAILED && c->error.code == ERROR_CONFIG && !newer.hold.token);
    EXPECT(change(c, "UPDATE schema_version SET version=version-1000, oldest=oldest-1000"));
    EXPECT(ROWS("lane WHERE id=8") == 0);
    EXPECT(change(c, "UPDATE meta SET value=value+1 WHERE key='timeline'"));
    EXPECT(hold(c, &moved) == YES && moved.hold.token && ROWS("lane WHERE id=8") == 1);
}

static const struct check checks[] = {
    {"a lane is held only where schema and server are those that are known", holds_where_known},
    {"a command holds a lane with one wait, and what it has lost is not released", holds},
    {"each job of many lanes is taken once, in the order of its lane", drain},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
