/* aside_contract.c - a job that is set aside leaves its place, and what it held is free. */
#include "contract.h"

static const char why[] = "its row cannot be read";

static bool aside(struct contract *c, int64_t id, const struct outcome *outcome) {
    return store_set_aside(c->store, id, outcome, why, NOW, &c->error);
}

/* A run of the job that has ended; `last`: of its item. */
static struct outcome ended(struct job *job, bool last) {
    return (struct outcome){.job = job,
                            .kind = OUTCOME_SUCCESS,
                            .lane_ends = last,
                            .lane_token = job->token,
                            .due = TIME_NONE};
}

/* Sets the job of a run aside, and forgets it. */
static bool run_aside(struct contract *c, struct job *job, bool last) {
    struct outcome outcome = ended(job, last);
    bool done = aside(c, job->id, &outcome);
    job_free(job);
    return done;
}

static bool write_rows(struct contract *c, const char *sql) {
    return store_begin(c->store, STORE_COMMAND, &c->error) &&
           db_run(&c->store->db, &c->error, sql, "") && store_commit(c->store, &c->error);
}

static int64_t rows(struct contract *c, const char *table) {
    char sql[64];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
    return contract_number(c, sql);
}

static void told(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.due = NOW + 1000}, NOW);
    EXPECT(aside(c, id, NULL) && rows(c, "timer") == 0);
    FIELD(id, "state", NOW, "dead");
    FIELD(id, "retries", NOW, "0");
    FIELD(id, "message", NOW, why);
    EXPECT(contract_number(c, "SELECT count(*) FROM incident WHERE ended IS NULL AND message="
                              "'its row cannot be read' AND type='failedJob'") == 1);
    EXPECT(aside(c, id, NULL) && rows(c, "incident") == 1);
}

static void beside_stuck(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.due = NOW + 1000}, NOW);
    EXPECT(write_rows(c, "INSERT INTO incident(type, job, created, definition, message)"
                         " SELECT 'handlerStuck', id, 1, 1, 'at line 7' FROM job"));
    EXPECT(aside(c, id, NULL) && rows(c, "incident") == 2);
    EXPECT(contract_number(c, "SELECT count(*) FROM incident WHERE message='at line 7'") == 1);
}

/* Jobs of one lane, the first of which is locked alone; the others are parked behind it. */
static struct job *run_in_lane(struct contract *c, int64_t ids[3]) {
    for (int i = 0; i < 3; i++)
        ids[i] = create(c, c->store, (struct job){.lane = "one", .retries = 3}, NOW);
    struct job *job = acquire_one(c, c->store, NOW);
    return acquire_count(c, c->store, NOW) == 0 ? job : NULL;
}

static void of_a_lane(struct contract *c) {
    int64_t ids[3];
    struct job *job = run_in_lane(c, ids);
    EXPECT(job && rows(c, "lane") == 1 && run_aside(c, job, true));
    EXPECT(rows(c, "lane") == 0 && acquire_count(c, c->store, NOW) == 2);
}

static void with_others(struct contract *c) {
    int64_t ids[3];
    struct job *job = run_in_lane(c, ids);
    EXPECT(job && run_aside(c, job, false));
    EXPECT(rows(c, "lane") == 1 && acquire_count(c, c->store, NOW) == 0);
    EXPECT(write_rows(c, "DELETE FROM lane") && aside(c, ids[1], NULL));
}

static void before_others(struct contract *c) {
    int64_t ids[3];
    struct job *job = run_in_lane(c, ids), *next;
    EXPECT(job &&
           settle(c, c->store, job, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) == SETTLED);
    EXPECT(aside(c, ids[1], NULL));
    EXPECT((next = acquire_one(c, c->store, NOW)) && next->id == ids[2]);
    job_free(next);
}

/* "work" may run once at a time. */
static bool limited(struct contract *c) {
    static char name[] = "work", file[] = "handlers/work.lua";
    struct definition declared = {.name = name, .file = file, .limit = 1};
    struct definitions all = {.count = 1, .list = &declared};
    struct store_deployment deployment = {.name = "x", .hash = "h", .definitions = &all};
    int64_t id = 0;
    declared.properties = json_object();
    bool done = store_deploy(c->store, &deployment, NULL, NOW, &id, &c->error);
    json_decref(declared.properties);
    return done && create(c, c->store, (struct job){.retries = 3}, NOW) &&
           create(c, c->store, (struct job){.retries = 3}, NOW);
}

static void under_a_limit(struct contract *c) {
    EXPECT(limited(c));
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job && rows(c, "limited") == 1 && run_aside(c, job, true));
    EXPECT(rows(c, "limited") == 0 && acquire_count(c, c->store, NOW) == 1);
}

static double short_run(const void *arg, int64_t definition) {
    return arg == NULL && definition ? 1 : 0;
}

static bool is_short(const void *arg, int64_t definition) {
    return arg == NULL && definition;
}

/* Both jobs, which share a place under the limit. */
static struct job *acquire_shared(struct contract *c) {
    struct acquire acquire = everything;
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    acquire.horizon = (struct horizon){
        .run = short_run, .brief = is_short, .span = 100, .time = 300, .workers = 1};
    bool done = store_acquire(c->store, &acquire, NOW, &jobs, &count, &more, &c->error);
    return done && count == 2 && jobs->permit && jobs->permit == jobs->next->permit ? jobs : NULL;
}

static void of_a_shared_place(struct contract *c) {
    EXPECT(limited(c));
    struct job *first = acquire_shared(c), *second = first ? first->next : NULL;
    EXPECT(second && rows(c, "limited") == 1);
    first->next = NULL;
    EXPECT(run_aside(c, first, false) && rows(c, "limited") == 1);
    EXPECT(run_aside(c, second, true) && rows(c, "limited") == 0);
}

/* The job that store_misplaced names; 0: none. */
static int64_t misplaced(struct contract *c) {
    int64_t id = 0;
    const char *reason = NULL;
    return store_misplaced(c->store, &id, &reason, &c->error) == YES && reason ? id : 0;
}

static void without_a_row(struct contract *c) {
    int64_t ids[3];
    struct job *job = run_in_lane(c, ids);
    EXPECT(job && misplaced(c) == 0);
    job_free(job);
    int64_t ready = create(c, c->store, (struct job){0}, NOW);
    char sql[96];
    snprintf(sql, sizeof sql, "DELETE FROM job WHERE id IN (%lld, %lld)", (long long)ready,
             (long long)ids[1]);
    EXPECT(write_rows(c, sql));
    int64_t found = misplaced(c);
    EXPECT((found == ready || found == ids[1]) && aside(c, found, NULL));
    EXPECT(misplaced(c) == ready + ids[1] - found && aside(c, misplaced(c), NULL));
    EXPECT(misplaced(c) == 0 && rows(c, "incident") == 2);
    EXPECT(contract_number(c, "SELECT count(definition) FROM incident") == 0);
    EXPECT(contract_number(c, "SELECT count(*) FROM incident WHERE type='failedJob'") == 2);
}

static void in_two_places(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    EXPECT(write_rows(c, "INSERT INTO timer(due, id, stream, rank, lane)"
                         " SELECT 1, id, stream, rank, lane FROM ready"));
    EXPECT(c->store->engine->sets || write_rows(c, "INSERT INTO meta(key, value)"
                                                   " SELECT 'waiting/timer/'||stream, 1"
                                                   " FROM timer"));
    EXPECT(misplaced(c) == id && aside(c, id, NULL) && misplaced(c) == 0);
    EXPECT(rows(c, "ready") == 0 && rows(c, "timer") == 0);
}

static const struct check checks[] = {
    {"a job that is set aside is dead, and has one incident that says why", told},
    {"that of a run of it that is stuck stays as it is", beside_stuck},
    {"its run gives its lane back, and what is parked there goes on", of_a_lane},
    {"… but not while other jobs of its item hold the lane", with_others},
    {"what is parked behind a job that waits takes its turn", before_others},
    {"its run counts against no limit any more", under_a_limit},
    {"… and the place that it shares is free with the last of its item", of_a_shared_place},
    {"jobs that have a place and no row are found, ready or parked", without_a_row},
    {"a job in two places is found, and leaves both", in_two_places},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
