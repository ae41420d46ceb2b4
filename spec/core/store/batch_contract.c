/* batch_contract.c - batches: how they begin, their seed, their counters, their end (rules §17). */
#include "contract.h"
#include "store/batch.h"
#include "store/rules/ground/kinds.h"

enum { ENDLESS = 1000 }; /* more runs than any batch here has */

/* `count` ids from 1 on, in parts. 0: error. */
static int64_t begin(struct contract *c, struct store_batch batch, int count) {
    int64_t id = 0;
    if (!batch.type)
        batch.type = "enqueue";
    bool fine = store_batch_begin(c->store, &batch, NOW, &id, &c->error);
    for (int next = 1; fine && next <= count;) {
        json_t *part = json_array();
        for (int i = 0; i < BATCH_PART && next <= count; i++)
            json_array_append_new(part, json_integer(next++));
        fine = store_batch_add(c->store, id, part, &c->error);
        json_decref(part);
    }
    return fine && store_batch_start(c->store, id, NOW, &c->error) ? id : 0;
}

static int64_t number(struct contract *c, int64_t id, const char *name) {
    json_t *batch = store_batch(c->store, id, &c->error);
    int64_t value = batch ? json_integer_value(json_object_get(batch, name)) : -1;
    json_decref(batch);
    return value;
}

static bool is_state(struct contract *c, int64_t id, const char *state) {
    json_t *batch = store_batch(c->store, id, &c->error);
    bool is = batch && strcmp(json_string_value(json_object_get(batch, "state")), state) == 0;
    json_decref(batch);
    return is;
}

/* created, completed, remaining, failed; and the sum that always holds. */
static bool counts(struct contract *c, int64_t id, int created, int completed, int remaining,
                   int failed) {
    json_t *batch = store_batch(c->store, id, &c->error);
    json_int_t total = 0, made = 0, done = 0, left = 0, dead = 0;
    json_unpack(batch, "{sI,sI,sI,sI,sI}", "total", &total, "created", &made, "completed", &done,
                "remaining", &left, "failed", &dead);
    json_decref(batch);
    bool same = made == created && done == completed && left == remaining && dead == failed;
    if (!same)
        error_set(&c->error, ERROR_FAILED,
                  "created %lld, completed %lld, remaining %lld, failed %lld", (long long)made,
                  (long long)done, (long long)left, (long long)dead);
    return same && total == done + left;
}

/* What the stock handlers ask for. */
static json_t *effects_of(struct contract *c, const struct job *job) {
    if (strcmp(job->handler, "moonshift/batch_seed") == 0)
        return json_pack("[{ss,sI}]", "verb", "batch_seed", "batch", (json_int_t)job->batch);
    if (strcmp(job->handler, "moonshift/batch_monitor") != 0)
        return NULL;
    return json_pack("[{ss,sI,sb}]", "verb", "batch_monitor", "batch", (json_int_t)job->batch,
                     "ended", (int)(number(c, job->batch, "remaining") == 0));
}

static int succeed(struct contract *c, struct job *job, time_ms now) {
    json_t *effects = effects_of(c, job);
    struct outcome good = {.kind = OUTCOME_SUCCESS, .effects = effects};
    int settled = settle(c, c->store, job, good, now);
    json_decref(effects);
    return settled;
}

static struct job *take(struct contract *c, int64_t id) {
    struct job *job = NULL;
    return store_take(c->store, id, false, NOW, &job, &c->error) ? job : NULL;
}

/* Runs the seed alone. */
static int run_seed(struct contract *c, int64_t id) {
    struct job *seed = take(c, number(c, id, "seed"));
    return seed ? succeed(c, seed, NOW) : -1;
}

/* Runs what is ready until nothing is; how many, -1: error, or there is no end to it. */
static int drain(struct contract *c, time_ms now) {
    for (int ran = 0; ran < ENDLESS; ran++) {
        struct job *job = acquire_one(c, c->store, now);
        if (!job)
            return ran;
        if (succeed(c, job, now) != SETTLED)
            return -1;
    }
    return -1;
}

static int fail(struct contract *c, struct job *job) {
    char message[] = "no";
    struct outcome bad = {.kind = OUTCOME_FAILURE, .message = message};
    return settle(c, c->store, job, bad, NOW);
}

#define EXECUTIONS "{\"handler\":\"batch/enqueue\"}"

static void thirteen(struct contract *c) {
    int64_t id = begin(c, (struct store_batch){.jobs_per_seed = 10}, 13);
    EXPECT(id == 1 && counts(c, id, 0, 0, 13, 0));
    EXPECT(run_seed(c, id) == SETTLED && matches(c, EXECUTIONS) == 10);
    EXPECT(number(c, id, "seed") && !number(c, id, "monitor"));
    EXPECT(counts(c, id, 10, 0, 13, 0));
    EXPECT(run_seed(c, id) == SETTLED && matches(c, EXECUTIONS) == 13);
    EXPECT(!number(c, id, "seed") && number(c, id, "monitor"));
    EXPECT(matches(c, "{\"batch\":1}") == 14 && counts(c, id, 13, 0, 13, 0));
    EXPECT(drain(c, NOW) == 14 && is_state(c, id, "completed") && counts(c, id, 13, 13, 0, 0));
}

static void payloads(struct contract *c) {
    int64_t id = 0;
    json_t *ids = json_loads("[\"a\\\"],\\\\\",{\"x\":[1,{}]},[],null,7]", 0, NULL);
    json_t *config = json_pack("{ss}", "handler", "work");
    struct store_batch batch = {.type = "enqueue", .invocations = 2, .config = config};
    EXPECT(store_batch_begin(c->store, &batch, NOW, &id, &c->error));
    EXPECT(store_batch_add(c->store, id, ids, &c->error));
    EXPECT(store_batch_add(c->store, id, ids, &c->error));
    EXPECT(store_batch_start(c->store, id, NOW, &c->error));
    json_decref(ids);
    json_decref(config);
    EXPECT(run_seed(c, id) == SETTLED && counts(c, id, 5, 0, 5, 0));
    static const char *const expected[] = {
        "{\"batch\":1,\"ids\":[\"a\\\"],\\\\\",{\"x\":[1,{}]}]}",
        "{\"batch\":1,\"ids\":[[],null]}",
        "{\"batch\":1,\"ids\":[7,\"a\\\"],\\\\\"]}",
        "{\"batch\":1,\"ids\":[{\"x\":[1,{}]},[]]}",
        "{\"batch\":1,\"ids\":[null,7]}",
    };
    for (int i = 0; i < 5; i++) {
        struct job *job = acquire_one(c, c->store, NOW);
        EXPECT(job && strcmp(job->payload, expected[i]) == 0);
        EXPECT(strcmp(job->config, "{\"handler\":\"work\"}") == 0);
        EXPECT(succeed(c, job, NOW) == SETTLED);
    }
    EXPECT(drain(c, NOW) == 1 && is_state(c, id, "completed"));
}

static bool add_two(struct contract *c, int64_t id, int one, int other) {
    json_t *ids = json_pack("[i, i]", one, other);
    bool done = store_batch_add(c->store, id, ids, &c->error);
    json_decref(ids);
    return done;
}

static void given_twice(struct contract *c) {
    int64_t id = 0, next = 0;
    struct store_batch batch = {.type = "mark"};
    EXPECT(store_batch_begin(c->store, &batch, NOW, &id, &c->error) && add_two(c, id, 1, 2) &&
           add_two(c, id, 2, 3));
    EXPECT(store_batch_begin(c->store, &batch, NOW, &next, &c->error) && add_two(c, next, 2, 3));
    EXPECT(number(c, id, "total") == 3 && number(c, next, "total") == 2);
}

static void invocations(struct contract *c) {
    c->settings.invocations_per_batch_job = 3;
    c->settings.invocations_by_type = json_pack("{si}", "delete-jobs", 5);
    int64_t first = begin(c, (struct store_batch){0}, 10);
    int64_t second = begin(c, (struct store_batch){.type = "delete-jobs"}, 10);
    int64_t third = begin(c, (struct store_batch){.type = "delete-jobs", .invocations = 4}, 10);
    c->settings.invocations_per_batch_job = 1;
    json_decref(c->settings.invocations_by_type);
    c->settings.invocations_by_type = NULL;
    EXPECT(number(c, first, "total") == 4 && number(c, second, "total") == 2);
    EXPECT(number(c, third, "total") == 3);
}

static void refusals(struct contract *c) {
    int64_t id = 0;
    struct store_batch batch = {.type = "enqueue", .invocations = 1001};
    EXPECT(!store_batch_begin(c->store, &batch, NOW, &id, &c->error));
    EXPECT_ERROR("invocations: 1001 (expected a whole number from 1 to 1000)");
    batch.invocations = 0;
    EXPECT(store_batch_begin(c->store, &batch, NOW, &id, &c->error));
    EXPECT(!store_batch_start(c->store, id, NOW, &c->error));
    EXPECT_ERROR("ids: none (a batch needs at least one)");
    EXPECT(!contract_operate(c, "{ss,sI}", "verb", "suspend_batch", "batch", (json_int_t)id));
    EXPECT_ERROR("suspend_batch: batch 1 is filling");
    EXPECT(store_batch_abandon(c->store, id, &c->error));
    EXPECT(!store_batch(c->store, id, &c->error));
    EXPECT_ERROR("no batch 1");
    id = begin(c, (struct store_batch){0}, 1);
    EXPECT(id == 2);
    EXPECT(!store_batch_start(c->store, id, NOW, &c->error));
    EXPECT_ERROR("batch 2 is not being filled any more (it is active)");
    EXPECT(!contract_operate(c, "{ss,sI}", "verb", "batch_seed", "batch", (json_int_t)id));
    EXPECT_ERROR("batch_seed: only the seed of batch 2 can do that");
}

static void monitor(struct contract *c) {
    int64_t id = begin(c, (struct store_batch){0}, 2);
    EXPECT(run_seed(c, id) == SETTLED);
    struct job *one = acquire_one(c, c->store, NOW), *two = acquire_one(c, c->store, NOW);
    EXPECT(one && two && drain(c, NOW) == 1); /* the monitor, which comes again */
    FIELD(number(c, id, "monitor"), "due", NOW, "2026-01-01T00:00:30.000Z");
    EXPECT(succeed(c, one, NOW + 1) == SETTLED && drain(c, NOW + 1) == 0);
    EXPECT(succeed(c, two, NOW + 2) == SETTLED);
    FIELD(number(c, id, "monitor"), "due", NOW, "2026-01-01T00:00:00.002Z");
    EXPECT(drain(c, NOW + 2) == 1 && is_state(c, id, "completed"));
}

static void failures(struct contract *c) {
    int64_t id = begin(c, (struct store_batch){.retries = 2}, 3);
    EXPECT(run_seed(c, id) == SETTLED);
    struct job *job = acquire_one(c, c->store, NOW);
    int64_t bad = job->id;
    EXPECT(fail(c, job) == SETTLED && counts(c, id, 3, 0, 3, 0));
    EXPECT(fail(c, take(c, bad)) == SETTLED_DEAD && counts(c, id, 3, 0, 3, 1));
    EXPECT(drain(c, NOW) == 3 && counts(c, id, 3, 2, 1, 1) && is_state(c, id, "active"));
    EXPECT(contract_operate(c, "{ss,sI}", "verb", "retry_failed", "batch", (json_int_t)id));
    FIELD(bad, "retries", NOW, "2");
    EXPECT(counts(c, id, 3, 2, 1, 0));
    EXPECT(give_dead_letter(c->store, IDS(bad), NOW, &c->error) && counts(c, id, 3, 2, 1, 1));
    EXPECT(succeed(c, take(c, bad), NOW) == SETTLED && counts(c, id, 3, 3, 0, 0));
    EXPECT(drain(c, NOW) == 1 && is_state(c, id, "completed"));
}

/* A success goes with what it asked for, and with its transaction. */
static void undone(struct contract *c) {
    enum settled settled;
    int64_t id = begin(c, (struct store_batch){0}, 2);
    EXPECT(run_seed(c, id) == SETTLED);
    EXPECT(create(c, c->store, (struct job){.unique_key = "k", .due = NOW + 1}, NOW));
    struct job *first = acquire_one(c, c->store, NOW), *second = acquire_one(c, c->store, NOW);
    struct job *copy = job_copy(first);
    struct job_spec refused =
        completed((struct job_spec){.job.unique_key = "k", .on_conflict = ON_CONFLICT_REFUSE});
    struct outcome outcome = {
        .job = first, .created = &refused, .due = TIME_NONE, .lane_token = first->token};
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(!store_settle(c->store, &outcome, NOW, &settled, &c->error) && outcome.undone);
    EXPECT(succeed(c, second, NOW) == SETTLED && store_commit(c->store, &c->error));
    EXPECT(counts(c, id, 2, 1, 1, 0));
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error) && succeed(c, copy, NOW) == SETTLED);
    store_rollback(c->store);
    EXPECT(create(c, c->store, (struct job){0}, NOW) && counts(c, id, 2, 1, 1, 0));
    EXPECT(succeed(c, first, NOW) == SETTLED && counts(c, id, 2, 2, 0, 0));
}

static void deleted_jobs(struct contract *c) {
    int64_t id = begin(c, (struct store_batch){0}, 3);
    EXPECT(run_seed(c, id) == SETTLED);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(give_dead_letter(c->store, IDS(job->id), NOW, &c->error) && counts(c, id, 3, 0, 3, 1));
    EXPECT(give_cancel(c->store, IDS(job->id), NOW, &c->error) && counts(c, id, 3, 1, 2, 0));
    EXPECT(succeed(c, job, NOW) == SETTLED_STALE && counts(c, id, 3, 1, 2, 0));
    job = acquire_one(c, c->store, NOW);
    EXPECT(give_cancel(c->store, IDS(job->id, job->id + 1), NOW, &c->error));
    EXPECT(counts(c, id, 3, 3, 0, 0));
    job_free(job);
    EXPECT(drain(c, NOW) == 1 && is_state(c, id, "completed"));
}

static void suspended(struct contract *c) {
    int64_t id = begin(c, (struct store_batch){.jobs_per_seed = 10}, 13);
    EXPECT(run_seed(c, id) == SETTLED);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(contract_operate(c, "{ss,sI}", "verb", "suspend_batch", "batch", (json_int_t)id));
    EXPECT(is_state(c, id, "suspended") && drain(c, NOW) == 0);
    EXPECT(succeed(c, job, NOW) == SETTLED_STALE && counts(c, id, 10, 0, 13, 0));
    EXPECT(run_seed(c, id) == SETTLED && drain(c, NOW) == 0); /* by hand: its jobs sleep, too */
    EXPECT(matches(c, "{\"batch\":1,\"suspended\":true}") == 14);
    EXPECT(contract_operate(c, "{ss,sI}", "verb", "activate_batch", "batch", (json_int_t)id));
    EXPECT(is_state(c, id, "active") && drain(c, NOW) == 14 && is_state(c, id, "completed"));
    EXPECT(!contract_operate(c, "{ss,sI}", "verb", "suspend_batch", "batch", (json_int_t)id));
    EXPECT_ERROR("suspend_batch: batch 1 is completed");
}

static void revived(struct contract *c) {
    int64_t id = begin(c, (struct store_batch){.jobs_per_seed = 2}, 3);
    EXPECT(give_cancel(c->store, IDS(number(c, id, "seed")), NOW, &c->error));
    EXPECT(drain(c, NOW) == 0);
    EXPECT(contract_operate(c, "{ss,sI}", "verb", "activate_batch", "batch", (json_int_t)id));
    EXPECT(run_seed(c, id) == SETTLED && run_seed(c, id) == SETTLED);
    EXPECT(give_delete(c->store, IDS(number(c, id, "monitor")), NOW, &c->error));
    EXPECT(drain(c, NOW) == 3 && is_state(c, id, "active"));
    EXPECT(contract_operate(c, "{ss,sI}", "verb", "activate_batch", "batch", (json_int_t)id));
    EXPECT(drain(c, NOW) == 1 && is_state(c, id, "completed"));
}

/* One command with all that follows from it; steps, 0: error. */
static int operate_all(struct contract *c, json_t *command) {
    struct command_run run = {0};
    int steps = 0;
    while (command) {
        bool fine = store_command(c->store, command, &run, NOW, &c->error);
        json_decref(command);
        if (!fine)
            return 0;
        command = run.rest;
        steps++;
    }
    return steps;
}

static int64_t log_size(struct contract *c) {
    json_t *log = store_log(c->store, NULL, NULL, &c->error);
    int64_t size = (int64_t)json_array_size(log);
    json_decref(log);
    return size;
}

static void deleted(struct contract *c) {
    int64_t id = begin(c, (struct store_batch){.jobs_per_seed = 2000}, 2500);
    EXPECT(run_seed(c, id) == SETTLED);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(operate_all(c, json_pack("{ss,sI}", "verb", "delete_batch", "batch", (json_int_t)id)) ==
           2);
    EXPECT(is_state(c, id, "deleted") && counts(c, id, 2000, 2000, 500, 0));
    EXPECT(succeed(c, job, NOW) == SETTLED_STALE && matches(c, "{}") == 0);
    EXPECT(!contract_operate(c, "{ss,sI}", "verb", "delete_batch", "batch", (json_int_t)id));
    EXPECT_ERROR("delete_batch: batch 1 is deleted (only its history can go)");
    EXPECT(log_size(c) > 2000);
    EXPECT(operate_all(c, json_pack("{ss,sI,sb}", "verb", "delete_batch", "batch", (json_int_t)id,
                                    "history", 1)) > 1);
    EXPECT(!store_batch(c->store, id, &c->error) && log_size(c) == 0);
}

static void seeding_deleted(struct contract *c) {
    int64_t id = begin(c, (struct store_batch){.jobs_per_seed = 1}, 3);
    struct job *seed = acquire_one(c, c->store, NOW);
    EXPECT(operate_all(
        c, json_pack("{ss,sI,sb}", "verb", "delete_batch", "batch", (json_int_t)id, "history", 1)));
    EXPECT(succeed(c, seed, NOW) == SETTLED_STALE && matches(c, "{}") == 0);
}

static void priorities(struct contract *c) {
    int64_t nine = 9;
    c->settings.batch_job_priority = 4;
    int64_t plain = begin(c, (struct store_batch){0}, 2);
    int64_t given = begin(c, (struct store_batch){.priority = &nine}, 1);
    FIELD(number(c, plain, "seed"), "priority", NOW, "4");
    FIELD(number(c, given, "seed"), "priority", NOW, "9");
    EXPECT(run_seed(c, plain) == SETTLED);
    EXPECT(contract_operate(c, "{ss,ss,si,sb}", "verb", "override_priority", "definition",
                            "batch/enqueue", "priority", 7, "cascade", 1));
    EXPECT(matches(c, "{\"handler\":\"batch/enqueue\",\"min_priority\":7}") == 2);
    int64_t later = begin(c, (struct store_batch){0}, 1);
    EXPECT(run_seed(c, later) == SETTLED && run_seed(c, given) == SETTLED);
    EXPECT(matches(c, "{\"handler\":\"batch/enqueue\",\"min_priority\":7}") == 4);
    EXPECT(matches(c, "{\"handler\":\"batch/enqueue\",\"min_priority\":8}") == 1);
    c->settings.batch_job_priority = 0;
}

static void found_jobs(struct contract *c) {
    int64_t id = 0, after = 0;
    bool more = true;
    int parts = 0;
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    for (int i = 0; i < 1500; i++)
        EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    EXPECT(store_commit(c->store, &c->error));
    struct store_batch batch = {.type = "delete-jobs"};
    EXPECT(store_batch_begin(c->store, &batch, NOW, &id, &c->error));
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW)); /* is not meant */
    for (; more; parts++)
        EXPECT(store_batch_find(c->store, id, NULL, &after, &more, NOW, &c->error));
    EXPECT(parts == 2 && number(c, id, "ids") == 1500);
    EXPECT(store_batch_start(c->store, id, NOW, &c->error));
}

static void missing(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    EXPECT(contract_operate(c, "{ss,s[iI],sb}", "verb", "suspend", "ids", 99, (json_int_t)id,
                            "ignore_missing", 1));
    FIELD(id, "state", NOW, "suspended");
    EXPECT(!contract_operate(c, "{ss,s[iI]}", "verb", "activate", "ids", 99, (json_int_t)id));
    EXPECT_ERROR("no job 99");
}

static void asked(struct contract *c) {
    int64_t first = begin(c, (struct store_batch){.name = "one"}, 1);
    int64_t second = begin(c, (struct store_batch){.type = "suspend"}, 1);
    EXPECT(run_seed(c, first) == SETTLED && drain(c, NOW) == 5 && second == 2);
    static const struct {
        const char *filters;
        size_t count;
    } questions[] = {{"{}", 2},
                     {"{\"type\":\"suspend\"}", 1},
                     {"{\"name\":[\"one\",\"two\"]}", 1},
                     {"{\"state\":\"completed\"}", 2},
                     {"{\"state\":[\"active\",\"filling\"]}", 0},
                     {"{\"running\":true}", 0},
                     {"{\"finished\":true,\"id\":1}", 1}};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        json_t *wanted = json_loads(questions[i].filters, 0, NULL);
        json_t *found = store_batches(c->store, wanted, NULL, &c->error);
        json_decref(wanted);
        size_t count = json_array_size(found);
        json_decref(found);
        EXPECT(count == questions[i].count);
    }
    json_t *wanted = json_pack("{ss}", "state", "ended");
    EXPECT(!store_batches(c->store, wanted, NULL, &c->error));
    json_decref(wanted);
    EXPECT_ERROR("filter \"state\": \"ended\" (expected filling, active, suspended, deleting, "
                 "completed or deleted)");
}

/* ---- random histories ---- */

static uint32_t dice(uint32_t *seed, uint32_t sides) {
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 16) % sides;
}

/* One thing that happens to a batch or to one of its jobs; what is refused changes nothing. */
static void happen(struct contract *c, int64_t batch, int64_t first, uint32_t *seed,
                   struct job **held) {
    static const char *const commands[] = {"suspend_batch", "activate_batch", "activate_batch",
                                           "retry_failed"};
    int64_t id = first + dice(seed, 50);
    struct job *job = NULL;
    switch (dice(seed, 9)) {
    case 0:
        contract_operate(c, "{ss,sI}", "verb", commands[dice(seed, 4)], "batch", (json_int_t)batch);
        break;
    case 1:
        give_cancel(c->store, IDS(id), NOW, &c->error);
        break;
    case 2:
        give_dead_letter(c->store, IDS(id), NOW, &c->error);
        break;
    case 3:
        give_set_retries(c->store, IDS(id), (int32_t)dice(seed, 3), false, 0, NOW, &c->error);
        break;
    case 4: /* ends later, whatever happens meanwhile */
        job = *held;
        *held = acquire_one(c, c->store, NOW);
        break;
    case 5:
        job = acquire_one(c, c->store, NOW);
        if (job && fail(c, job) >= 0)
            job = NULL;
        break;
    default:
        job = acquire_one(c, c->store, NOW);
    }
    if (job)
        succeed(c, job, NOW);
}

static bool is_true(struct contract *c) {
    json_t *found = store_verify(c->store, NULL, &c->error);
    bool whole = found && json_array_size(found) == 0;
    if (json_array_size(found))
        error_set(&c->error, ERROR_DAMAGED, "%s", json_string_value(json_array_get(found, 0)));
    json_decref(found);
    return whole;
}

static void histories(struct contract *c) {
    int rounds = contract_count("HISTORIES", 25);
    for (uint32_t seed = 1, round = 0; round < (uint32_t)rounds; round++) {
        struct job *held = NULL;
        int64_t batch = begin(c, (struct store_batch){.jobs_per_seed = 7, .retries = 2}, 40);
        int64_t first = number(c, batch, "seed");
        for (int i = 0; batch && i < 60; i++) {
            happen(c, batch, first, &seed, &held);
            EXPECT(is_true(c));
        }
        job_free(held);
        EXPECT(operate_all(c, json_pack("{ss,sI,sb}", "verb", "delete_batch", "batch",
                                        (json_int_t)batch, "history", 1)));
        EXPECT(is_true(c) && !store_batch(c->store, batch, &c->error));
    }
}

static const struct check checks[] = {
    {"13 ids with 10 jobs a seed take two seeds", thirteen},
    {"ids of any kind arrive as they were, also across parts", payloads},
    {"ids for each job are given, or set by type, or for all", invocations},
    {"what a batch cannot be is refused", refusals},
    {"the last execution job wakes the monitor", monitor},
    {"failed jobs count as remaining until they are retried", failures},
    {"what is undone is not counted", undone},
    {"jobs that are deleted count as completed", deleted_jobs},
    {"a suspended batch rests, also while it is seeded", suspended},
    {"a seed or monitor deleted by hand comes back with an activation", revived},
    {"a deleted batch goes in steps, its history on demand", deleted},
    {"a seed whose batch is deleted makes nothing", seeding_deleted},
    {"priorities are set, overridden, or given", priorities},
    {"jobs that match are added in parts", found_jobs},
    {"an id that is given twice is there once, and another batch has it too", given_twice},
    {"a verb passes over missing ids if told so", missing},
    {"batches are found by type, name, state and end", asked},
    {"counters are true at every step of random histories", histories},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
