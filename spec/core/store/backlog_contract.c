/* backlog_contract.c - backlog limits: what is counted, whatever becomes of a job. Each store that
 * a check leaves behind is verified, its counts included. */
#include "contract.h"

static bool deploy(struct contract *c, const char *hash, const char *declared) {
    json_t *text = json_loads(declared, 0, NULL);
    struct definitions definitions = {0};
    int64_t id = 0;
    bool done = definitions_read(&definitions, text) &&
                store_deploy(c->store,
                             &(struct store_deployment){
                                 .name = "folder", .hash = hash, .definitions = &definitions},
                             NULL, NOW, &id, &c->error);
    definitions_clear(&definitions);
    json_decref(text);
    return done;
}

static bool limit(struct contract *c) {
    return deploy(c, "h1", "[{\"name\":\"work\",\"backlog\":3,\"lane_backlog\":2}]");
}

static int64_t waiting(struct contract *c) {
    int64_t count = -1;
    db_value(&c->store->db, &c->error, &count, "SELECT waiting FROM definition WHERE name='work'",
             "");
    return count;
}

static int64_t lanes(struct contract *c) {
    int64_t count = -1;
    db_value(&c->store->db, &c->error, &count, "SELECT coalesce(sum(waiting), 0) FROM lane_backlog",
             "");
    return count;
}

static const struct job plain = {.retries = 2}, laned = {.lane = "a", .retries = 2};

static void refused(struct contract *c) {
    EXPECT(limit(c));
    EXPECT(create(c, c->store, laned, NOW) && create(c, c->store, laned, NOW));
    EXPECT(!create(c, c->store, laned, NOW) && c->error.code == ERROR_BACKLOG);
    EXPECT_ERROR("backlog of \"work\" is full in lane \"a\": 2 jobs wait (limit 2)");
    EXPECT(create(c, c->store, plain, NOW));
    EXPECT(!create(c, c->store, plain, NOW));
    EXPECT_ERROR("backlog of \"work\" is full: 3 jobs wait (limit 3)");
    EXPECT(waiting(c) == 3 && lanes(c) == 2);
}

static void counted(struct contract *c) {
    struct outcome failure = {.kind = OUTCOME_FAILURE, .decided = true, .retries = 1};
    struct outcome end = {.kind = OUTCOME_SUCCESS}, snooze = {.kind = OUTCOME_SNOOZE};
    struct job *job;
    EXPECT(limit(c) && create(c, c->store, laned, NOW) && create(c, c->store, plain, NOW));
    job = acquire_one(c, c->store, NOW);
    EXPECT(job && settle(c, c->store, job, failure, NOW) == SETTLED && waiting(c) == 2);
    job = acquire_one(c, c->store, NOW);
    EXPECT(job && settle(c, c->store, job, snooze, NOW) == SETTLED && waiting(c) == 2);
    failure.retries = 0;
    job = acquire_one(c, c->store, NOW);
    EXPECT(job && settle(c, c->store, job, failure, NOW) == SETTLED_DEAD && waiting(c) == 1);
    EXPECT(lanes(c) == 0);
    EXPECT(give_delete(c->store, IDS(1), NOW, &c->error) && waiting(c) == 1);
    job = acquire_one(c, c->store, NOW);
    EXPECT(job && settle(c, c->store, job, end, NOW) == SETTLED && waiting(c) == 0);
}

static void operated(struct contract *c) {
    EXPECT(limit(c) && create(c, c->store, laned, NOW) && create(c, c->store, plain, NOW));
    EXPECT(give_set_suspended(c->store, IDS(1), true, NOW, &c->error) && waiting(c) == 2);
    EXPECT(give_dead_letter(c->store, IDS(1, 2), NOW, &c->error) && waiting(c) == 0);
    EXPECT(give_retry(c->store, IDS(1), false, TIME_NONE, NOW, &c->error) && lanes(c) == 1);
    EXPECT(give_cancel(c->store, IDS(1, 2), NOW, &c->error) && waiting(c) == 0 && lanes(c) == 0);
}

/* A job that runs is dead as soon as an operator says so. */
static void dead_while_it_runs(struct contract *c) {
    struct job *job;
    EXPECT(limit(c) && create(c, c->store, laned, NOW));
    EXPECT((job = acquire_one(c, c->store, NOW)) && waiting(c) == 1);
    EXPECT(give_dead_letter(c->store, IDS(1), NOW, &c->error) && waiting(c) == 0);
    EXPECT(settle(c, c->store, job, (struct outcome){0}, NOW) == SETTLED && waiting(c) == 0);
    EXPECT(create(c, c->store, laned, NOW) == 2);
    EXPECT((job = acquire_one(c, c->store, NOW)));
    EXPECT(give_cancel(c->store, IDS(2), NOW, &c->error) && waiting(c) == 0);
    EXPECT(settle(c, c->store, job, (struct outcome){0}, NOW) == SETTLED_STALE && waiting(c) == 0);
}

static void comes_and_goes(struct contract *c) {
    EXPECT(create(c, c->store, laned, NOW) && create(c, c->store, plain, NOW));
    EXPECT(create(c, c->store, plain, NOW));
    EXPECT(give_dead_letter(c->store, IDS(3), NOW, &c->error));
    EXPECT(limit(c) && waiting(c) == 2 && lanes(c) == 1);
    EXPECT(deploy(c, "h2", "[{\"name\":\"work\",\"backlog\":3}]") && waiting(c) == 2);
    EXPECT(lanes(c) == 0);
    EXPECT(deploy(c, "h3", "[{\"name\":\"work\"}]"));
    EXPECT(create(c, c->store, laned, NOW) && create(c, c->store, laned, NOW));
    EXPECT(limit(c) && waiting(c) == 4 && lanes(c) == 3);
    EXPECT(!create(c, c->store, plain, NOW));
}

/* Another connection sees the limit, and the count, at once. */
static void two_stores(struct contract *c) {
    struct store_executor self;
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other && create(c, other, laned, NOW) && limit(c));
    bool fine = create(c, other, plain, NOW) && create(c, c->store, plain, NOW) &&
                !create(c, other, plain, NOW);
    store_close(other);
    EXPECT(fine && waiting(c) == 3);
}

static const struct check checks[] = {
    {"a job beyond the limit is refused", refused},
    {"a count follows each outcome", counted},
    {"a count follows each verb", operated},
    {"a job that dies while it runs counts once", dead_while_it_runs},
    {"a limit counts what is there, and is forgotten", comes_and_goes},
};

static const struct check on_file[] = {
    {"a limit holds for every connection", two_stores},
};

int main(void) {
    int status = contract_run(checks, sizeof checks / sizeof *checks, true);
    return contract_run(on_file, sizeof on_file / sizeof *on_file, false) || status;
}
