/* cycle_contract.c - repeating jobs: one next occurrence, whatever becomes of the one before. */
#include "contract.h"
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#define HOUR 3600000

static int64_t cycle(struct contract *c, struct job_spec spec, const char *text) {
    spec.job.repeat = text;
    spec.job.type = JOB_TIMER;
    spec.job.due = NOW + HOUR;
    spec.job.retries = spec.job.retries ? spec.job.retries : 3;
    spec.origin = NOW;
    return create_spec(c, c->store, spec, NOW);
}

/* Every job by its due date in hours since NOW: "1 2". */
static const char *hours(struct contract *c) {
    static char text[256];
    json_t *jobs = store_jobs(c->store, NULL, NULL, NOW, &c->error);
    size_t size = 0;
    text[0] = 0;
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        time_ms due = NOW;
        time_parse(json_string_value(json_object_get(json_array_get(jobs, i), "due")), &due, NULL);
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%lld", i ? " " : "",
                                 (long long)((due - NOW) / HOUR));
    }
    json_decref(jobs);
    return text;
}

static int64_t rows(struct contract *c, const char *filters) {
    return matches(c, filters);
}

static void locked_once(struct contract *c) {
    EXPECT(cycle(c, (struct job_spec){.job.priority = 7, .job.tenant = "t"}, "R/PT1H") == 1);
    EXPECT(acquire_count(c, c->store, NOW + HOUR - 1) == 0);
    EXPECT(store_promote(c->store, NOW + HOUR, 10, &(int){0}, &c->error));
    struct job *job = acquire_one(c, c->store, NOW + HOUR);
    EXPECT(job && job->id == 1);
    EXPECT(strcmp(hours(c), "1 2") == 0);
    FIELD(2, "priority", NOW, "7");
    FIELD(2, "tenant", NOW, "t");
    FIELD(2, "state", NOW, "scheduled");
    EXPECT(settle(c, c->store, job, (struct outcome){.kind = OUTCOME_RETURNED}, NOW + HOUR) ==
           SETTLED);
    EXPECT((job = acquire_one(c, c->store, NOW + HOUR)) && job->id == 1);
    struct outcome failure = {.kind = OUTCOME_FAILURE, .decided = true};
    failure.retries = 2;
    EXPECT(settle(c, c->store, job, failure, NOW + HOUR) == SETTLED);
    EXPECT((job = acquire_one(c, c->store, NOW + HOUR)) && job->id == 1);
    EXPECT(strcmp(hours(c), "1 2") == 0);
    EXPECT(settle(c, c->store, job, (struct outcome){0}, NOW + HOUR) == SETTLED);
    EXPECT(strcmp(hours(c), "2") == 0);
}

static void rolled_back(struct contract *c) {
    EXPECT(cycle(c, (struct job_spec){0}, "R/PT1H") == 1);
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(store_promote(c->store, NOW + HOUR, 10, &(int){0}, &c->error));
    EXPECT(acquire_count(c, c->store, NOW + HOUR) == 1);
    store_rollback(c->store);
    EXPECT(strcmp(hours(c), "1") == 0);
    EXPECT(store_promote(c->store, NOW + HOUR, 10, &(int){0}, &c->error));
    EXPECT(acquire_count(c, c->store, NOW + HOUR) == 1);
    EXPECT(strcmp(hours(c), "1 2") == 0);
}

static void two_executors(struct contract *c) {
    struct store_executor self;
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other && cycle(c, (struct job_spec){0}, "R/PT1H") == 1);
    EXPECT(store_promote(c->store, NOW + HOUR, 10, &(int){0}, &c->error));
    int mine = acquire_count(c, c->store, NOW + HOUR), theirs = acquire_count(c, other, NOW + HOUR);
    store_close(other);
    EXPECT(mine == 1 && theirs == 0);
    EXPECT(strcmp(hours(c), "1 2") == 0);
}

static void by_hand(struct contract *c) {
    struct job *job = NULL;
    EXPECT(cycle(c, (struct job_spec){0}, "R2/PT1H") == 1);
    EXPECT(store_take(c->store, 1, false, NOW, &job, &c->error));
    EXPECT(strcmp(hours(c), "1 2") == 0);
    EXPECT(settle(c, c->store, job, (struct outcome){0}, NOW) == SETTLED);
    EXPECT(store_take(c->store, 2, false, NOW, &job, &c->error));
    EXPECT(settle(c, c->store, job, (struct outcome){0}, NOW) == SETTLED);
    EXPECT(rows(c, "{}") == 0);
}

static void deleted(struct contract *c) {
    EXPECT(cycle(c, (struct job_spec){0}, "R/PT1H") == 1);
    EXPECT(give_delete(c->store, IDS(1), NOW, &c->error));
    EXPECT(rows(c, "{}") == 0);
}

static void put_off(struct contract *c) {
    EXPECT(cycle(c, (struct job_spec){.misfire = MISFIRE_SKIP, .job.lane = "a"}, "R/PT1H") == 1);
    EXPECT(cycle(c, (struct job_spec){.misfire = MISFIRE_SKIP, .job.lane = "a"}, "R2/PT1H") == 2);
    EXPECT(create(c, c->store, (struct job){.due = NOW + HOUR, .lane = "a"}, NOW) == 3);
    EXPECT(store_promote(c->store, NOW + 3 * HOUR + 1, 10, &(int){0}, &c->error));
    EXPECT(acquire_count(c, c->store, NOW + 3 * HOUR + 1) == 1);
    EXPECT(strcmp(hours(c), "4 1") == 0);
    FIELD(3, "state", NOW, "locked");
}

/* The clock was set back between the promotion and the acquisition. */
static void never_early(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){.due = NOW + HOUR, .lane = "a"}, NOW) == 1);
    EXPECT(store_promote(c->store, NOW + HOUR, 10, &(int){0}, &c->error));
    EXPECT(acquire_count(c, c->store, NOW) == 0);
    FIELD(1, "state", NOW, "scheduled");
    EXPECT(store_promote(c->store, NOW + HOUR, 10, &(int){0}, &c->error));
    EXPECT(acquire_count(c, c->store, NOW + HOUR) == 1);
}

static void unknown_zone(struct contract *c) {
    EXPECT(cycle(c, (struct job_spec){.zone = "Moon/Crater"}, "R/PT1H") == 1);
    EXPECT(create(c, c->store, (struct job){0}, NOW) == 2);
    EXPECT(store_promote(c->store, NOW + HOUR, 10, &(int){0}, &c->error));
    EXPECT(acquire_count(c, c->store, NOW + HOUR) == 1);
    FIELD(1, "state", NOW + HOUR, "ready");
    FIELD(2, "state", NOW + HOUR, "locked");
}

/* ---- kill -9 ---- */

/* Takes and settles until it is killed; each commit is one step on. */
static void run_on(struct contract *c, int says) {
    struct store_executor self;
    struct store *store = contract_join(c, "child", NOW, &self);
    for (int hour = 1; store && hour < 100000; hour++) {
        time_ms now = NOW + (time_ms)hour * HOUR;
        struct job *job = NULL;
        if (!store_renew(store, now, LEASE, &c->error) ||
            !store_begin(store, STORE_COMMAND, &c->error) ||
            !store_promote(store, now, 10, &(int){0}, &c->error))
            _exit(98);
        job = acquire_one(c, store, now);
        if (!store_commit(store, &c->error) || !job ||
            settle(c, store, job, (struct outcome){0}, now) != SETTLED)
            _exit(97);
        if (hour == 3 && write(says, "!", 1) != 1)
            _exit(96);
    }
    _exit(95);
}

static void killed_at(struct contract *c, useconds_t wait) {
    int pipes[2], status = 0;
    char ready = 0;
    EXPECT(pipe(pipes) == 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        run_on(c, pipes[1]);
    close(pipes[1]);
    EXPECT(read(pipes[0], &ready, 1) == 1);
    usleep(wait);
    kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    close(pipes[0]);
    EXPECT(WIFSIGNALED(status));
}

/* Of the occurrence that ran, and the one that waits, nothing is lost and nothing is twice. */
static void killed(struct contract *c) {
    EXPECT(cycle(c, (struct job_spec){.zone = "Europe/Berlin"}, "R/PT1H") == 1);
    for (int i = 0; i < 5; i++) {
        struct store_reaped reaped = {0};
        killed_at(c, (useconds_t)(i * 700));
        if (c->failure)
            return;
        EXPECT(store_begin(c->store, STORE_COMMAND, &c->error) &&
               store_commit(c->store, &c->error));
        EXPECT(store_reap(c->store, NOW, &reaped, &c->error));
        job_free_list(reaped.worker_died);
        EXPECT(rows(c, "{\"due_after\": \"2026-01-01T00:00:00Z\"}") <= 2);
        EXPECT(rows(c, "{}") >= 1);
        contract_verify(c);
        store_close(c->store);
        contract_renew(c, false);
        EXPECT((c->store = contract_join(c, "node", NOW, &c->self)));
        EXPECT(cycle(c, (struct job_spec){0}, "R/PT1H") == 1);
    }
}

/* The next occurrence of a job that is late stands between jobs that an acquisition has seen. */
static void among_others(struct contract *c) {
    const time_ms later = NOW + 10 * HOUR;
    struct job *list = NULL;
    struct acquire command = everything;
    int count = 0, promoted = 0;
    bool more = true;
    EXPECT(cycle(c, (struct job_spec){.misfire = MISFIRE_ALL}, "R/PT1H") == 1);
    for (int i = 0; i < 200; i++)
        EXPECT(create(c, c->store,
                      (struct job){.type = JOB_TIMER, .due = NOW + HOUR / 2 + i * (HOUR / 20)},
                      NOW));
    EXPECT(store_promote(c->store, later, 1000, &promoted, &c->error) && promoted == 192);
    for (command.want = 7; more; command.want += 13) {
        EXPECT(store_acquire(c->store, &command, later, &list, &count, &more, &c->error));
        job_free_list(list);
        contract_verify(c);
        EXPECT(!c->failure);
    }
    EXPECT(rows(c, "{\"state\":\"locked\"}") == 191 + 10);
}

static const struct check checks[] = {
    {"occurrences that are late are made among other jobs, and all are taken once", among_others},
    {"a repeating job makes its next when it is locked, once", locked_once},
    {"a lock that is rolled back has made no next", rolled_back},
    {"a run by hand makes a later one, after the last none", by_hand},
    {"a waiting job that is deleted ends its cycle", deleted},
    {"a missed date is passed over where the policy says skip", put_off},
    {"a job is not taken before its date when the clock was set back", never_early},
    {"a cycle whose zone is not known here is left for others", unknown_zone},
};

static const struct check shared[] = {
    {"two executors make one next between them", two_executors},
    {"a cycle goes on after kill -9 at any moment, once", killed},
};

int main(void) {
    int memory = contract_run(checks, sizeof checks / sizeof *checks, true);
    return contract_run(shared, sizeof shared / sizeof *shared, false) | memory;
}
