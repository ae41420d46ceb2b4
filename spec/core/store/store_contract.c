/* store_contract.c - the life of a job as the store keeps it: created, locked, settled. */
#include "contract.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"

static void creates(struct contract *c) {
    static const char payload[] = "{\"n\":9223372036854775807}";
    struct job job = {.handler = "billing/send",
                      .priority = 7,
                      .retries = 5,
                      .lane = "a",
                      .instance = "i",
                      .root = "r",
                      .activity = "act",
                      .category = "cat",
                      .tenant = "t",
                      .payload = payload,
                      .payload_size = sizeof payload - 1};
    int64_t id = create(c, c->store, job, NOW);
    EXPECT(id == 1);
    FIELD(id, "handler", NOW, "billing/send");
    FIELD(id, "priority", NOW, "7");
    FIELD(id, "retries", NOW, "5");
    FIELD(id, "lane", NOW, "a");
    FIELD(id, "exclusive", NOW, "true");
    FIELD(id, "instance", NOW, "i");
    FIELD(id, "root", NOW, "r");
    FIELD(id, "activity", NOW, "act");
    FIELD(id, "category", NOW, "cat");
    FIELD(id, "tenant", NOW, "t");
    FIELD(id, "payload", NOW, "{\"n\":9223372036854775807}");
    FIELD(id, "created", NOW, "2026-01-01T00:00:00.000Z");
    FIELD(id, "due", NOW, "");
    FIELD(id, "state", NOW, "ready");
    FIELD(id, "attempt", NOW, "1");
    FIELD(id, "rev", NOW, "1");
}

static void acquires(struct contract *c) {
    int64_t low = create(c, c->store, (struct job){.priority = 1}, NOW);
    int64_t high = create(c, c->store, (struct job){.priority = 9}, NOW);
    struct job *first = acquire_one(c, c->store, NOW), *second = acquire_one(c, c->store, NOW);
    EXPECT(first && first->id == high && second && second->id == low);
    EXPECT(second->token > first->token && first->owner == c->self.id);
    EXPECT(first->lock_expiration == NOW + LEASE && first->state == JOB_LOCKED);
    FIELD(high, "state", NOW, "locked");
    FIELD(high, "lock_expiration", NOW, "2026-01-01T00:05:00.000Z");
    FIELD(high, "rev", NOW, "1");
    char owner[64];
    snprintf(owner, sizeof owner, "node/%lld", (long long)c->self.id);
    FIELD(high, "lock_owner", NOW, owner);
    job_free(first);
    job_free(second);
}

static void promotes(struct contract *c) {
    int count = 0;
    time_ms next = 0;
    int64_t later = create(c, c->store, (struct job){.due = NOW + 1000}, NOW);
    int64_t past = create(c, c->store, (struct job){.due = NOW - 1000}, NOW);
    FIELD(later, "state", NOW, "scheduled");
    EXPECT(store_next(c->store, NOW, &next, &c->error) && next == NOW + 1000);
    EXPECT(store_promote(c->store, NOW + 999, 10, &count, &c->error) && count == 0);
    EXPECT(acquire_count(c, c->store, NOW + 999) == 1);
    FIELD(past, "state", NOW, "locked");
    EXPECT(store_promote(c->store, NOW + 1000, 10, &count, &c->error) && count == 1);
    EXPECT(acquire_count(c, c->store, NOW + 1000) == 1);
    EXPECT(store_next(c->store, NOW, &next, &c->error) && next == TIME_NEVER);
}

static void promotes_bounded(struct contract *c) {
    int count = 0;
    for (int i = 0; i < 25; i++)
        EXPECT(create(c, c->store, (struct job){.due = NOW + 1 + i % 3}, NOW));
    for (int i = 0; i < 2; i++)
        EXPECT(store_promote(c->store, NOW + 9, 10, &count, &c->error) && count == 10);
    EXPECT(store_promote(c->store, NOW + 9, 10, &count, &c->error) && count == 5);
    EXPECT(acquire_count(c, c->store, NOW + 9) == 25);
}

static void succeeds(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    char result[] = "{\"sum\":3}";
    struct outcome end = {.kind = OUTCOME_SUCCESS, .result = result};
    EXPECT(settle(c, c->store, acquire_one(c, c->store, NOW), end, NOW + 5) == SETTLED);
    EXPECT(!store_job(c->store, id, NOW, &c->error) && c->error.code == ERROR_NOT_FOUND);
    EXPECT_ERROR("job 1 has ended (see moonshift log --job 1)");
    json_t *log = store_log(c->store, NULL, NULL, &c->error), *entry = json_array_get(log, 0);
    EXPECT(json_array_size(log) == 2);
    EXPECT(strcmp(json_string_value(json_object_get(entry, "outcome")), "successful") == 0);
    EXPECT(strcmp(json_string_value(json_object_get(entry, "handler")), "work") == 0);
    EXPECT(json_integer_value(json_object_get(json_object_get(entry, "result"), "sum")) == 3);
    json_decref(log);
}

static void fails(struct contract *c) {
    char message[2000] = "", stack[] = "stack traceback: …";
    memset(message, 'x', sizeof message - 1);
    memcpy(message, "\u00e4", 2);
    int64_t id = create(c, c->store, (struct job){.priority = 4}, NOW);
    struct outcome end = {.kind = OUTCOME_FAILURE,
                          .decided = true,
                          .retries = 2,
                          .due = NOW + 9000,
                          .message = message,
                          .stack = stack};
    EXPECT(settle(c, c->store, acquire_one(c, c->store, NOW), end, NOW + 5) == SETTLED);
    json_t *job = store_job(c->store, id, NOW, &c->error);
    const char *kept = json_string_value(json_object_get(job, "message"));
    EXPECT(kept && strlen(kept) == JOB_MESSAGE_MAX + 1 && kept[0] == '\xc3');
    EXPECT(strcmp(json_string_value(json_object_get(job, "stack")), stack) == 0);
    json_decref(job);
    FIELD(id, "retries", NOW, "2");
    FIELD(id, "attempt", NOW, "2");
    FIELD(id, "rev", NOW, "2");
    FIELD(id, "due", NOW, "2026-01-01T00:00:09.000Z");
    FIELD(id, "state", NOW + 5, "scheduled");
    json_t *log = store_log(c->store, NULL, NULL, &c->error), *entry = json_array_get(log, 0);
    EXPECT(strcmp(json_string_value(json_object_get(entry, "outcome")), "failed") == 0);
    EXPECT(json_integer_value(json_object_get(entry, "retries")) == 3);
    EXPECT(json_integer_value(json_object_get(entry, "attempt")) == 1);
    json_decref(log);
}

static void dies(struct contract *c) {
    struct outcome end = {.kind = OUTCOME_FAILURE, .decided = true, .message = NULL};
    int64_t id = create(c, c->store, (struct job){.activity = "pay"}, NOW);
    EXPECT(settle(c, c->store, acquire_one(c, c->store, NOW), end, NOW) == SETTLED_DEAD);
    FIELD(id, "state", NOW, "dead");
    EXPECT(acquire_count(c, c->store, NOW + LEASE) == 0);
    struct job *again = NULL;
    EXPECT(store_take(c->store, id, false, NOW, &again, &c->error) && again);
    EXPECT(settle(c, c->store, again, end, NOW) == SETTLED_DEAD);
    json_t *incidents = query_list(c->store, &incident_table, NULL, NULL, &c->error);
    json_t *one = json_array_get(incidents, 0);
    EXPECT(json_array_size(incidents) == 1 && json_is_true(json_object_get(one, "open")));
    EXPECT(strcmp(json_string_value(json_object_get(one, "type")), "failedJob") == 0);
    EXPECT(strcmp(json_string_value(json_object_get(one, "activity")), "pay") == 0);
    json_decref(incidents);
}

static void dead_succeeds(struct contract *c) {
    struct outcome bad = {.kind = OUTCOME_FAILURE, .decided = true};
    struct outcome good = {.kind = OUTCOME_SUCCESS};
    struct job *job = NULL;
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    EXPECT(settle(c, c->store, acquire_one(c, c->store, NOW), bad, NOW) == SETTLED_DEAD);
    EXPECT(store_take(c->store, id, false, NOW, &job, &c->error));
    EXPECT(settle(c, c->store, job, good, NOW) == SETTLED);
    json_t *open = json_loads("{\"open\":true}", 0, NULL);
    json_t *incidents = query_list(c->store, &incident_table, open, NULL, &c->error);
    EXPECT(json_array_size(incidents) == 0);
    json_decref(incidents);
    json_decref(open);
}

static void standard(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 2}, NOW);
    struct outcome end = {.kind = OUTCOME_FAILURE};
    EXPECT(settle(c, c->store, acquire_one(c, c->store, NOW), end, NOW) == SETTLED);
    FIELD(id, "retries", NOW, "1");
    FIELD(id, "state", NOW, "ready");
    FIELD(id, "due", NOW, "");
    end.permanent = true;
    EXPECT(settle(c, c->store, acquire_one(c, c->store, NOW), end, NOW) == SETTLED_DEAD);
}

static void snoozes(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    struct outcome end = {.kind = OUTCOME_SNOOZE, .due = NOW + 60000};
    EXPECT(settle(c, c->store, acquire_one(c, c->store, NOW), end, NOW) == SETTLED);
    FIELD(id, "state", NOW, "scheduled");
    FIELD(id, "retries", NOW, "3");
    FIELD(id, "attempt", NOW, "1");
    FIELD(id, "due", NOW, "2026-01-01T00:01:00.000Z");
}

/* One more conflict of the job `id`, whose count is `n` afterwards. */
static bool conflicts(struct contract *c, int64_t id, const char *n) {
    struct outcome end = {.kind = OUTCOME_CONFLICT};
    char message[] = "moved";
    end.message = message;
    return settle(c, c->store, acquire_one(c, c->store, NOW), end, NOW) == SETTLED &&
           strcmp(field(c, id, "conflicts", NOW), n) == 0;
}

/* The store is verified afterwards: a count without its job would be found. */
static void counts_conflicts(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    EXPECT(conflicts(c, id, "1") && conflicts(c, id, "2"));
    struct outcome failure = {.kind = OUTCOME_FAILURE, .due = NOW, .retries = 2, .decided = true};
    EXPECT(settle(c, c->store, acquire_one(c, c->store, NOW), failure, NOW) == SETTLED);
    FIELD(id, "conflicts", NOW, "0");
    EXPECT(conflicts(c, id, "1"));
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job && job->conflicts == 1);
    EXPECT(settle(c, c->store, job, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) == SETTLED);
    id = create(c, c->store, (struct job){0}, NOW);
    EXPECT(conflicts(c, id, "1"));
    EXPECT(contract_operate(c, "{ss,s[I]}", "verb", "delete", "ids", (json_int_t)id));
}

static void returns(struct contract *c) {
    int64_t first = create(c, c->store, (struct job){0}, NOW);
    EXPECT(create(c, c->store, (struct job){0}, NOW + 1));
    struct job *job = acquire_one(c, c->store, NOW + 1);
    EXPECT(job && job->id == first);
    EXPECT(settle(c, c->store, job, (struct outcome){.kind = OUTCOME_RETURNED}, NOW) == SETTLED);
    FIELD(first, "rev", NOW, "1");
    job = acquire_one(c, c->store, NOW + 1);
    EXPECT(job && job->id == first && job->attempt == 1 && job->retries == 3);
    job_free(job);
}

static void creates_with(struct contract *c) {
    struct job_spec child = {.job = {.handler = "child", .due = TIME_NONE}};
    int64_t reserved = store_reserve_ids(c->store, 2, &c->error);
    EXPECT(reserved == 1 && create(c, c->store, (struct job){0}, NOW) == 3);
    child.job.id = reserved;
    struct outcome bad = {.kind = OUTCOME_FAILURE, .decided = true, .retries = 1};
    struct outcome good = {.kind = OUTCOME_SUCCESS};
    bad.created = good.created = &child;
    EXPECT(settle(c, c->store, acquire_one(c, c->store, NOW), bad, NOW) == SETTLED);
    EXPECT(matches(c, "{}") == 1);
    EXPECT(settle(c, c->store, acquire_one(c, c->store, NOW), good, NOW) == SETTLED);
    EXPECT(matches(c, "{\"id\":1,\"handler\":\"child\"}") == 1);
    EXPECT(create(c, c->store, (struct job){0}, NOW) == 4);
}

static void rolls_back(struct contract *c) {
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(create(c, c->store, (struct job){.handler = "new"}, NOW) == 1);
    EXPECT(acquire_count(c, c->store, NOW) == 1);
    store_rollback(c->store);
    EXPECT(matches(c, "{}") == 0);
    EXPECT(store_knows(c->store, "new", NULL, &c->error) == NO);
    EXPECT(create(c, c->store, (struct job){.handler = "new"}, NOW) == 1);
    EXPECT(acquire_count(c, c->store, NOW) == 1);
}

static void never_reuses(struct contract *c) {
    for (int64_t id = 1; id < 4; id++) {
        EXPECT(create(c, c->store, (struct job){0}, NOW) == id);
        EXPECT(give_delete(c->store, IDS(id), NOW, &c->error));
    }
}

static void lines(struct contract *c) {
    char first[] = "one", second[] = "two";
    struct outcome_line two = {NULL, NOW, second}, one = {&two, NOW, first};
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(store_progress(c->store, id, 0.5, "half", NOW, &c->error));
    EXPECT(store_line(c->store, id, 1, "zero", NOW, &c->error));
    FIELD(id, "progress", NOW,
          "{\"fraction\":0.5,\"text\":\"half\",\"at\":\"2026-01-01T00:00:00.000Z\"}");
    struct outcome end = {.kind = OUTCOME_FAILURE, .lines = &one};
    EXPECT(settle(c, c->store, job, end, NOW) == SETTLED);
    json_t *log = store_log(c->store, NULL, NULL, &c->error), *entry = json_array_get(log, 0);
    char *said = json_dumps(json_object_get(entry, "lines"), JSON_COMPACT);
    bool same = said && strcmp(said, "[\"zero\",\"one\",\"two\"]") == 0;
    free(said);
    json_decref(log);
    EXPECT(same);
    EXPECT(acquire_count(c, c->store, NOW) == 1);
}

static void leaves(struct contract *c) {
    int64_t plain = create(c, c->store, (struct job){0}, NOW);
    int64_t lane = create(c, c->store, (struct job){.lane = "a"}, NOW);
    EXPECT(acquire_count(c, c->store, NOW) == 2);
    EXPECT(store_leave(c->store, &c->error));
    FIELD(plain, "state", NOW, "ready");
    FIELD(lane, "state", NOW, "ready");
    EXPECT(store_join(c->store, &c->self, NOW, LEASE, &c->error));
    EXPECT(acquire_count(c, c->store, NOW) == 2);
}

static void nothing_left(struct contract *c) {
    struct job *jobs = NULL;
    struct acquire two = everything;
    int count = 0;
    bool more = true;
    for (int i = 0; i < 5; i++)
        EXPECT(create(c, c->store, (struct job){0}, NOW));
    two.want = 2;
    for (int left = 5; left > 0; left -= 2) {
        EXPECT(store_acquire(c->store, &two, NOW, &jobs, &count, &more, &c->error));
        EXPECT(count == (left < 2 ? left : 2) && more == (left > 2));
        job_free_list(jobs);
    }
}

static const struct check checks[] = {
    {"a created job keeps every field", creates},
    {"the better priority is acquired first, with a growing token", acquires},
    {"a job due later is scheduled and taken once it is due, never early", promotes},
    {"at most so many timers become ready at once", promotes_bounded},
    {"a success removes the job and is logged", succeeds},
    {"a failure keeps message and stack and comes back when due", fails},
    {"retries at 0 are a dead job with one open incident", dies},
    {"a dead job that succeeds by hand resolves its incident", dead_succeeds},
    {"an undecided failure follows the standard strategy", standard},
    {"a snooze costs neither retry nor attempt", snoozes},
    {"conflicts are counted as long as they come in a row", counts_conflicts},
    {"a returned job is back at its place", returns},
    {"what a job creates is written with its success, with a reserved id", creates_with},
    {"a rollback leaves nothing behind, also in memory", rolls_back},
    {"ids are never reused", never_reuses},
    {"lines and progress are kept beside the job", lines},
    {"an executor that leaves gives its locks back", leaves},
    {"acquisition says whether ready jobs were left behind", nothing_left},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
