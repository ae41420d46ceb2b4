/* unique_contract.c - unique keys and backlogs: who holds them, in whatever order things happen. */
#include "contract.h"
#include <signal.h>
#include <sys/wait.h>

static struct job_spec keyed(enum on_conflict on_conflict) {
    return (struct job_spec){.job = {.unique_key = "k", .retries = 3}, .on_conflict = on_conflict};
}

/* The outcome of creating such a job; -1: refused. */
static int make(struct contract *c, struct store *store, struct job_spec spec, int64_t *id) {
    spec = completed(spec);
    if (!store_create(store, &spec, 0, NOW, &c->error))
        return -1;
    *id = spec.reply.id;
    return (int)spec.reply.creation;
}

static int64_t keys(struct contract *c) {
    int64_t count = -1;
    db_value(&c->store->db, &c->error, &count, "SELECT count(*) FROM unique_key", "");
    return count;
}

static void held(struct contract *c) {
    int64_t id = 0;
    EXPECT(make(c, c->store, keyed(ON_CONFLICT_KEEP), &id) == CREATION_CREATED && id == 1);
    EXPECT(make(c, c->store, keyed(ON_CONFLICT_KEEP), &id) == CREATION_KEPT && id == 1);
    EXPECT(make(c, c->store, keyed(ON_CONFLICT_REFUSE), &id) == -1);
    EXPECT(c->error.code == ERROR_CONFLICT);
    EXPECT_ERROR("unique \"k\" of \"work\" is held by job 1");
    FIELD(1, "unique", NOW, "k");
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(make(c, c->store, keyed(ON_CONFLICT_REPLACE), &id) == CREATION_KEPT && id == 1);
    EXPECT(settle(c, c->store, job, (struct outcome){0}, NOW) == SETTLED && keys(c) == 0);
    EXPECT(make(c, c->store, keyed(ON_CONFLICT_REFUSE), &id) == CREATION_CREATED && id == 2);
}

static void dies(struct contract *c) {
    int64_t id = 0;
    struct outcome failure = {.kind = OUTCOME_FAILURE, .decided = true};
    EXPECT(make(c, c->store, keyed(ON_CONFLICT_KEEP), &id) == CREATION_CREATED);
    EXPECT(settle(c, c->store, acquire_one(c, c->store, NOW), failure, NOW) == SETTLED_DEAD);
    EXPECT(keys(c) == 0);
    EXPECT(make(c, c->store, keyed(ON_CONFLICT_KEEP), &id) == CREATION_CREATED && id == 2);
    EXPECT(!give_retry(c->store, IDS(1), false, TIME_NONE, NOW, &c->error));
    EXPECT_ERROR("unique \"k\" of \"work\" is held by job 2");
    EXPECT(give_dead_letter(c->store, IDS(2), NOW, &c->error));
    EXPECT(!give_retry(c->store, IDS(1, 2), false, TIME_NONE, NOW, &c->error));
    EXPECT_ERROR("unique \"k\" of \"work\" is held by job 1");
    EXPECT(keys(c) == 0 && give_retry(c->store, IDS(1), false, TIME_NONE, NOW, &c->error));
    EXPECT(keys(c) == 1);
}

/* By hand a dead job may run beside the one that has its key; it is not revived by that. */
static void dead_by_hand(struct contract *c) {
    int64_t id = 0;
    struct job *job = NULL;
    struct outcome again = {.kind = OUTCOME_FAILURE, .decided = true, .retries = 2};
    EXPECT(make(c, c->store, keyed(ON_CONFLICT_KEEP), &id) == CREATION_CREATED);
    EXPECT(give_dead_letter(c->store, IDS(1), NOW, &c->error));
    EXPECT(make(c, c->store, keyed(ON_CONFLICT_KEEP), &id) == CREATION_CREATED && id == 2);
    EXPECT(store_take(c->store, 1, false, NOW, &job, &c->error));
    EXPECT(settle(c, c->store, job, again, NOW) == SETTLED_DEAD);
    FIELD(1, "retries", NOW, "0");
    EXPECT(store_take(c->store, 1, false, NOW, &job, &c->error));
    EXPECT(settle(c, c->store, job, (struct outcome){0}, NOW) == SETTLED && keys(c) == 1);
}

static void replaced(struct contract *c) {
    int64_t id = 0;
    struct job_spec first = keyed(ON_CONFLICT_KEEP), second = keyed(ON_CONFLICT_REPLACE);
    first.job.lane = "l";
    second.job.priority = 9;
    second.job.due = NOW + 1000;
    second.job.type = JOB_TIMER;
    second.job.payload = "{\"a\":1}";
    second.job.payload_size = 7;
    EXPECT(make(c, c->store, first, &id) == CREATION_CREATED);
    EXPECT(make(c, c->store, second, &id) == CREATION_REPLACED && id == 1);
    FIELD(1, "priority", NOW, "9");
    FIELD(1, "type", NOW, "timer");
    FIELD(1, "lane", NOW, "l");
    FIELD(1, "payload", NOW, "{\"a\":1}");
    FIELD(1, "state", NOW, "scheduled");
    EXPECT(make(c, c->store, keyed(ON_CONFLICT_REPLACE), &id) == CREATION_REPLACED && id == 1);
    FIELD(1, "payload", NOW, "{}");
    FIELD(1, "state", NOW, "ready");
    EXPECT(acquire_count(c, c->store, NOW) == 1);
}

static void replaced_in_its_lane(struct contract *c) {
    int64_t id = 0;
    struct job_spec other = {.job = {.lane = "l", .retries = 3}},
                    parked = keyed(ON_CONFLICT_REPLACE);
    parked.job.lane = "l";
    EXPECT(make(c, c->store, other, &id) == CREATION_CREATED);
    EXPECT(make(c, c->store, parked, &id) == CREATION_CREATED && id == 2);
    EXPECT(make(c, c->store, other, &id) == CREATION_CREATED);
    struct job *job = acquire_one(c, c->store, NOW);
    parked.job.priority = 5;
    EXPECT(job && make(c, c->store, parked, &id) == CREATION_REPLACED);
    EXPECT(settle(c, c->store, job, (struct outcome){0}, NOW) == SETTLED);
    EXPECT((job = acquire_one(c, c->store, NOW)) && job->id == 2);
    EXPECT(settle(c, c->store, job, (struct outcome){0}, NOW) == SETTLED);
    EXPECT((job = acquire_one(c, c->store, NOW)) && job->id == 3);
    job_free(job);
}

static void swept(struct contract *c) {
    char key[32];
    int64_t id = 0;
    for (int i = 0; i < 250; i++) {
        snprintf(key, sizeof key, "k%d", i);
        struct job_spec spec = {.job = {.unique_key = key, .retries = 1},
                                .unique_until = NOW + 1000};
        EXPECT(make(c, c->store, spec, &id) == CREATION_CREATED);
    }
    for (int i = 0; i < 240; i++)
        EXPECT(settle(c, c->store, acquire_one(c, c->store, NOW), (struct outcome){0}, NOW) ==
               SETTLED);
    EXPECT(keys(c) == 250);
    for (int i = 0; i < 3; i++) {
        snprintf(key, sizeof key, "later%d", i);
        struct job_spec later = {.job = {.unique_key = key, .retries = 1},
                                 .unique_until = NOW + 9000};
        EXPECT(create_spec(c, c->store, later, NOW + 2000));
    }
    EXPECT(keys(c) == 13); /* ten are alive */
}

/* Both are asked for together, once their definition is known. */
static void kept_in_a_list(struct contract *c) {
    struct job_spec second = completed((struct job_spec){.job = {.unique_key = "b", .retries = 1},
                                                         .unique_until = NOW + 9000}),
                    first = completed((struct job_spec){.job = {.unique_key = "a", .retries = 1},
                                                        .unique_until = NOW + 9000});
    first.next = &second;
    EXPECT(create(c, c->store, (struct job){0}, NOW) == 1);
    EXPECT(store_create(c->store, &first, 0, NOW, &c->error));
    EXPECT(first.reply.creation == CREATION_CREATED && first.reply.id == 2);
    EXPECT(second.reply.creation == CREATION_CREATED && second.reply.id == 3);
    EXPECT(keys(c) == 2 && matches(c, "{}") == 3);
}

static void refused_alone(struct contract *c) {
    int64_t id = 0;
    enum settled settled;
    EXPECT(make(c, c->store, keyed(ON_CONFLICT_KEEP), &id) == CREATION_CREATED);
    EXPECT(create(c, c->store, (struct job){.priority = 9}, NOW) == 2);
    struct job *job = acquire_one(c, c->store, NOW);
    struct job_spec child = completed(keyed(ON_CONFLICT_REFUSE));
    struct outcome outcome = {.job = job, .created = &child};
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    EXPECT(!store_settle(c->store, &outcome, NOW, &settled, &c->error) && outcome.undone);
    EXPECT_ERROR("unique \"k\" of \"work\" is held by job 1");
    outcome.created = NULL;
    outcome.kind = OUTCOME_FAILURE;
    EXPECT(store_settle(c->store, &outcome, NOW, &settled, &c->error) && settled == SETTLED);
    EXPECT(store_commit(c->store, &c->error) && matches(c, "{}") == 3);
    job_free(job);
}

static void dies_with_its_process(struct contract *c) {
    int64_t id = 0;
    struct store_reaped reaped;
    struct job_spec spec = keyed(ON_CONFLICT_KEEP);
    c->settings.crash_limit = 1;
    EXPECT(make(c, c->store, spec, &id) == CREATION_CREATED);
    pid_t child = fork();
    if (child == 0) {
        struct store_executor self;
        struct store *store = contract_join(c, "other", NOW, &self);
        struct job *job = store ? acquire_one(c, store, NOW) : NULL;
        if (job)
            store_slot_set(store, 0, job->id, job->token, NOW);
        _exit(job ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT(status == 0 && store_reap(c->store, NOW, &reaped, &c->error));
    job_free_list(reaped.worker_died);
    c->settings.crash_limit = 3;
    EXPECT(reaped.crashed == 1 && keys(c) == 0);
    EXPECT(make(c, c->store, spec, &id) == CREATION_CREATED && id == 2);
}

/* Each of two processes tries every key; the numbers of those it got add up to all. */
static int race(struct contract *c, const char *name) {
    char key[32];
    int won = 0;
    struct store_executor self;
    struct store *store = contract_join(c, name, NOW, &self);
    for (int i = 0; store && i < 100; i++) {
        int64_t id = 0;
        snprintf(key, sizeof key, "k%d", i);
        struct job_spec spec = {.job = {.unique_key = key, .retries = 1}};
        won += make(c, store, spec, &id) == CREATION_CREATED;
    }
    store_close(store);
    return won;
}

static void one_wins(struct contract *c) {
    pid_t child = fork();
    if (child == 0)
        _exit(race(c, "other"));
    int own = race(c, "own"), status = 0;
    waitpid(child, &status, 0);
    EXPECT(own + WEXITSTATUS(status) == 100);
    EXPECT(keys(c) == 100 && matches(c, "{}") == 100);
}

static const struct check checks[] = {
    {"a key is held until its job is done", held},
    {"a dead job gives its key up, and is not revived beside another", dies},
    {"a dead job that is run by hand takes no key from another", dead_by_hand},
    {"a job that waits takes over what replaces it", replaced},
    {"a job that is parked takes over what replaces it", replaced_in_its_lane},
    {"keys whose time is over go with later ones", swept},
    {"keys that are kept for a time are free for the jobs that bring them", kept_in_a_list},
    {"what is refused to a run undoes that run alone", refused_alone},
};

static const struct check on_file[] = {
    {"of two processes exactly one gets a key", one_wins},
};

static const struct check file_checks[] = {
    {"a job whose process dies once too often gives its key up", dies_with_its_process},
};

int main(void) {
    int status = contract_run(checks, sizeof checks / sizeof *checks, true);
    status |= contract_run(on_file, sizeof on_file / sizeof *on_file, false);
    return status |
           contract_run_of_file(file_checks, sizeof file_checks / sizeof *file_checks, false);
}
