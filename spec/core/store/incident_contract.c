/* incident_contract.c - incidents that open and end in one transaction: whether one is open is
 * remembered there, and must not be remembered wrongly. */
#include "contract.h"

/* How many incidents of the job are open. */
static int64_t open_of(struct contract *c, int64_t job) {
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM incident WHERE job=%lld AND ended IS NULL",
             (long long)job);
    return contract_number(c, sql);
}

/* Begins a transaction that has looked and found no incident. */
static bool begin(struct contract *c, enum store_purpose purpose) {
    int64_t gone = create(c, c->store, (struct job){.due = NOW + 1000}, NOW);
    return gone && store_begin(c->store, purpose, &c->error) &&
           give_delete(c->store, IDS(gone), NOW, &c->error);
}

static bool set_retries(struct contract *c, int64_t job, int retries) {
    return give_set_retries(c->store, IDS(job), retries, false, TIME_NONE, NOW, &c->error);
}

static void by_command(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.due = NOW + 1000}, NOW);
    EXPECT(begin(c, STORE_COMMAND) && set_retries(c, id, 0) && set_retries(c, id, 2));
    EXPECT(store_commit(c->store, &c->error));
    EXPECT(open_of(c, id) == 0 && contract_number(c, "SELECT count(*) FROM incident") == 1);
}

static void by_failure(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    struct job *job = acquire_one(c, c->store, NOW);
    struct outcome dies = {.kind = OUTCOME_FAILURE, .decided = true};
    EXPECT(job && begin(c, STORE_TURN));
    EXPECT(settle(c, c->store, job, dies, NOW) == SETTLED_DEAD);
    EXPECT(store_settle_end(c->store, &c->error) && set_retries(c, id, 2));
    EXPECT(store_commit(c->store, &c->error));
    EXPECT(open_of(c, id) == 0 && contract_number(c, "SELECT count(*) FROM incident") == 1);
}

enum { RUNS = 9 };

/* Runs that end together; the third one fails for good. The list is read until the commit. */
static bool end_together(struct contract *c, struct job *jobs, struct outcome list[RUNS],
                         int64_t *dead) {
    enum settled settled = SETTLED;
    int count = 0;
    for (; jobs && count < RUNS; jobs = jobs->next, count++)
        list[count] = (struct outcome){.job = jobs,
                                       .kind = count == 2 ? OUTCOME_FAILURE : OUTCOME_SUCCESS,
                                       .permanent = count == 2,
                                       .next = jobs->next ? &list[count + 1] : NULL,
                                       .lane_ends = true,
                                       .lane_token = jobs->token,
                                       .ended = NOW,
                                       .due = TIME_NONE};
    bool done = !jobs && count > 2 && store_settle_bulk(c->store, list, &c->error);
    for (int i = 0; done && i < count; i++)
        done = store_settle(c->store, &list[i], NOW, &settled, &c->error) &&
               settled == (i == 2 ? SETTLED_DEAD : SETTLED);
    *dead = list[2].job->id;
    return done && store_settle_end(c->store, &c->error);
}

static void together(struct contract *c) {
    struct outcome list[RUNS];
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    int64_t dead = 0;
    for (int i = 0; i < RUNS; i++)
        EXPECT(create(c, c->store, (struct job){0}, NOW));
    EXPECT(store_acquire(c->store, &everything, NOW, &jobs, &count, &more, &c->error));
    EXPECT(begin(c, STORE_TURN) && end_together(c, jobs, list, &dead) && set_retries(c, dead, 2));
    EXPECT(store_commit(c->store, &c->error));
    job_free_list(jobs);
    EXPECT(open_of(c, dead) == 0 && contract_number(c, "SELECT count(*) FROM incident") == 1);
}

/* A job is given up while it runs, and its run succeeds. */
static void by_success(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job && set_retries(c, id, 0) && open_of(c, id) == 1);
    EXPECT(store_begin(c->store, STORE_TURN, &c->error));
    EXPECT(settle(c, c->store, job, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) == SETTLED);
    EXPECT(store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error));
    EXPECT(open_of(c, id) == 0);
}

/* A dead job runs by hand and fails, and its handler leaves it one more run. */
static void by_hand(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    struct job *job = NULL;
    struct outcome fails = {.kind = OUTCOME_FAILURE, .decided = true, .retries = 1};
    EXPECT(set_retries(c, id, 0) && open_of(c, id) == 1);
    EXPECT(store_take(c->store, id, false, NOW, &job, &c->error));
    EXPECT(settle(c, c->store, job, fails, NOW) == SETTLED && open_of(c, id) == 0);
}

/* Of a run that is stuck, of a death in it, and of the caller of its instance, by hand. */
static void with_stuck(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.due = NOW + 1000}, NOW);
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error) &&
           db_run(&c->store->db, &c->error,
                  "INSERT INTO incident(id, type, job, created, definition, root_cause) VALUES"
                  "(71, 'handlerStuck', ?1, 1, 1, NULL), (72, 'workerDied', ?1, 1, 1, NULL),"
                  " (73, 'workerDied', NULL, 1, NULL, 72)",
                  "i", id) &&
           db_run(&c->store->db, &c->error, "UPDATE job SET retries=0 WHERE id=?1", "i", id) &&
           store_commit(c->store, &c->error));
    EXPECT(set_retries(c, id, 2) && open_of(c, id) == 1);
    EXPECT(contract_number(c, "SELECT count(*) FROM incident WHERE ended IS NOT NULL") == 2);
}

/* What is remembered goes with a transaction that is undone. */
static void undone(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.due = NOW + 1000}, NOW);
    EXPECT(set_retries(c, id, 0));
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error) && set_retries(c, id, 2) &&
           begin(c, STORE_COMMAND) == false);
    store_rollback(c->store);
    c->error = (struct error){ERROR_NONE, ""};
    EXPECT(open_of(c, id) == 1 && set_retries(c, id, 2) && open_of(c, id) == 0);
}

static const struct check checks[] = {
    {"an incident that a command opens is ended by the next one of its transaction", by_command},
    {"… and one that a failed run opens", by_failure},
    {"… also where many runs end together", together},
    {"a run that succeeds in a turn ends the incident that was opened while it ran", by_success},
    {"a dead job that is run by hand and has a run left ends its incident", by_hand},
    {"with retries all end but that of a run that is stuck, and those of callers", with_stuck},
    {"what was ended in a transaction that is undone is open behind it", undone},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
