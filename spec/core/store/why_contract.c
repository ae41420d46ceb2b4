/* why_contract.c - every reason for which a job waits, in the words that people read. */
#include "contract.h"
#include "store/rules/ground/kinds.h"
#include <sys/wait.h>

#define MINUTE 60000

/* The facts of the answer asked for last. */
static json_t *facts;

static const char *why(struct contract *c, int64_t id, time_ms now) {
    json_decref(facts);
    facts = store_why(c->store, id, now, &c->error);
    return facts ? json_string_value(json_object_get(facts, "text")) : c->error.text;
}

static char paper[] = "no paper";

static const char *fact(const char *name) {
    const char *text = json_string_value(json_object_get(facts, name));
    return text ? text : "";
}

static int64_t number(const char *name) {
    return json_integer_value(json_object_get(facts, name));
}

#define WHY(id, now, words)                                                                        \
    do {                                                                                           \
        error_set(&c->error, ERROR_NONE, "%s", why(c, id, now));                                   \
        EXPECT(strcmp(c->error.text, words) == 0);                                                 \
    } while (0)
#define FACT(name, text) EXPECT(strcmp(fact(name), text) == 0)

/* The contract's own executor leaves; another one with these habits joins. */
static struct store *only(struct contract *c, const char *name, const struct acquire *serves,
                          struct store_executor *self) {
    *self = (struct store_executor){.name = name, .workers = 4, .serves = serves};
    if (c->store)
        store_leave(c->store, &c->error);
    struct store *store = store_open(c->url, STORE_CREATE, &c->settings, &c->error);
    if (!store || !store_join(store, self, NOW, LEASE, &c->error)) {
        store_close(store);
        return NULL;
    }
    return store;
}

static void due(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 3, .due = NOW + 5 * MINUTE}, NOW);
    WHY(id, NOW, "job 1 is due at 2026-01-01T00:05:00.000Z, in 5 min");
    FACT("state", "scheduled");
    FACT("reason", "due");
    FACT("when", "2026-01-01T00:05:00.000Z");
}

static void retry(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(settle(c, c->store, job,
                  (struct outcome){.kind = OUTCOME_FAILURE,
                                   .message = paper,
                                   .decided = true,
                                   .retries = 2,
                                   .due = NOW + MINUTE},
                  NOW) == SETTLED);
    WHY(id, NOW,
        "job 1 is due again at 2026-01-01T00:01:00.000Z, in 1 min, after it failed: no paper");
    FACT("reason", "retry");
}

static void due_and_nobody(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 3, .due = NOW + MINUTE}, NOW);
    EXPECT(store_leave(c->store, &c->error));
    WHY(id, NOW,
        "job 1 is due at 2026-01-01T00:01:00.000Z, in 1 min; as things are, no executor runs");
    FACT("then", "no_executor");
}

static void next(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    WHY(id, NOW, "job 1 is the next for node/1");
    FACT("state", "ready");
    FACT("when", "2026-01-01T00:00:00.000Z");
    EXPECT(number("ahead") == 0);
}

static void ahead(struct contract *c) {
    for (int i = 0; i < 12; i++)
        EXPECT(create(c, c->store, (struct job){.retries = 3, .priority = 5}, NOW));
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    job_free(acquire_one(c, c->store, NOW));
    WHY(id, NOW, "job 13 is ready, and 11 jobs stand before it for node/1, which holds 1 job");
    FACT("reason", "ahead");
    EXPECT(number("ahead") == 11 && json_is_false(json_object_get(facts, "more")));
}

static void far_ahead(struct contract *c) {
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    int64_t ten_thousand = 0, last = 0;
    for (int i = 0; i < 10002; i++) {
        EXPECT((last = create(c, c->store, (struct job){.retries = 3}, NOW)));
        if (i == 10000)
            ten_thousand = last;
    }
    EXPECT(store_commit(c->store, &c->error));
    WHY(ten_thousand, NOW, "job 10001 is ready, and 10000 jobs stand before it for node/1");
    WHY(last, NOW, "job 10002 is ready, and more than 10000 jobs stand before it for node/1");
    EXPECT(json_is_true(json_object_get(facts, "more")));
}

static void aged(struct contract *c) {
    struct acquire command = everything;
    struct store_executor self;
    command.aging = 1000;
    struct store *other = only(c, "old", &command, &self);
    EXPECT(other);
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW - 9000));
    int64_t id = create(c, c->store, (struct job){.retries = 3, .priority = 5}, NOW);
    WHY(id, NOW, "job 2 is ready, and 1 job stands before it for old/2");
    store_close(other);
}

static void locked(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job);
    if (store_kind(c->store) != STORE_MEMORY) {
        WHY(id, NOW,
            "job 1 is locked by node/1 until 2026-01-01T00:05:00.000Z and waits there for a free "
            "worker");
        FACT("reason", "queued");
        store_slot_set(c->store, 0, job->id, job->token, NOW + 7);
        WHY(id, NOW,
            "job 1 has been running on node/1 since 2026-01-01T00:00:00.007Z (locked until "
            "2026-01-01T00:05:00.000Z)");
        store_slot_clear(c->store, 0);
    } else
        WHY(id, NOW, "job 1 is running on node/1 (locked until 2026-01-01T00:05:00.000Z)");
    FACT("state", "locked");
    FACT("executor", "node/1");
    FACT("until", "2026-01-01T00:05:00.000Z");
    job_free(job);
}

static void extended(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(store_extend(c->store, id, job->token, NOW + 10 * MINUTE, &c->error));
    why(c, id, NOW);
    FACT("until", "2026-01-01T00:10:00.000Z");
    job_free(job);
}

static void expired(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    job_free(acquire_one(c, c->store, NOW));
    WHY(id, NOW + LEASE,
        "job 1 is locked by node/1, whose lock expired at 2026-01-01T00:05:00.000Z (the next "
        "executor that looks frees it)");
}

static void dead(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 1}, NOW);
    EXPECT(settle(c, c->store, acquire_one(c, c->store, NOW),
                  (struct outcome){.kind = OUTCOME_FAILURE, .message = paper},
                  NOW) == SETTLED_DEAD);
    WHY(id, NOW, "job 1 has no retries left (incident 1, failedJob): no paper");
    FACT("state", "dead");
    FACT("message", "no paper");
    EXPECT(number("incident") == 1);
}

static void suspended(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    EXPECT(give_set_suspended(c->store, IDS(id), true, NOW, &c->error));
    WHY(id, NOW, "job 1 is suspended by itself");
    EXPECT(strcmp(json_string_value(json_array_get(json_object_get(facts, "by"), 0)), "job") == 0);
    EXPECT(contract_operate(c, "{ss,ss,sb}", "verb", "suspend_definition", "definition", "work",
                            "include_jobs", 1));
    WHY(id, NOW, "job 1 is suspended by itself, by its definition \"work\"");
    EXPECT(json_array_size(json_object_get(facts, "by")) == 2);
}

static void lane(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){.retries = 3, .lane = "a"}, NOW));
    int64_t id = create(c, c->store, (struct job){.retries = 3, .lane = "a"}, NOW);
    struct job *job = acquire_one(c, c->store, NOW);
    WHY(id, NOW, "job 2 waits for its lane \"a\": job 1 holds it on node/1");
    FACT("state", "waiting");
    FACT("lane", "a");
    EXPECT(number("holder") == 1);
    EXPECT(give_cancel(c->store, IDS(job->id), NOW, &c->error));
    WHY(id, NOW,
        "job 2 waits for its lane \"a\": a run on node/1 whose job was taken away has not ended");
    job_free(job);
}

static void nobody(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    EXPECT(store_leave(c->store, &c->error));
    WHY(id, NOW, "job 1 is ready, but no executor runs");
    FACT("reason", "no_executor");
}

static void draining(struct contract *c) {
    size_t touched = 0;
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    EXPECT(give_drain(c->store, "node", true, &touched, NOW, &c->error) && touched == 1);
    WHY(id, NOW, "job 1 is ready, but node/1, which serves it, is draining");
    FACT("reason", "draining");
    EXPECT(store_draining(c->store) && acquire_count(c, c->store, NOW) == 0);
    EXPECT(give_drain(c->store, "1", false, &touched, NOW, &c->error));
    EXPECT(!store_draining(c->store) && acquire_count(c, c->store, NOW) == 1);
    EXPECT(!give_drain(c->store, "nobody", true, &touched, NOW, &c->error));
    EXPECT_ERROR("no executor \"nobody\" runs (known: node/1)");
}

static void overdue(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    WHY(id, NOW + LEASE,
        "job 1 is ready, but node/1, which serves it, has not been heard of since "
        "2026-01-01T00:00:00.000Z");
}

static void range(struct contract *c) {
    struct acquire high = everything;
    struct store_executor self;
    high.priority_min = 10;
    high.priority_max = 49;
    struct store *other = only(c, "high", &high, &self);
    EXPECT(other);
    int64_t id = create(c, c->store, (struct job){.retries = 3, .priority = 5}, NOW);
    WHY(id, NOW,
        "job 1 is ready, but no live executor serves priority 5 (high/2 serves priority 10 to 49)");
    FACT("reason", "range");
    store_close(other);
}

/* Three are named; of four the answer says that there are more. */
static void many(struct contract *c) {
    struct acquire high = everything;
    struct store *others[4];
    high.priority_min = 10;
    int64_t id = create(c, c->store, (struct job){.retries = 3, .priority = 5}, NOW);
    for (int i = 0; i < 4; i++) {
        struct store_executor self;
        EXPECT((others[i] = only(c, "high", &high, &self)));
        why(c, id, NOW);
        EXPECT(i == 3 || (strstr(fact("text"), self.name) && !strstr(fact("text"), "…")));
    }
    WHY(id, NOW,
        "job 1 is ready, but no live executor serves priority 5 (high/2 serves priority 10 and "
        "above, high/3 serves priority 10 and above, high/4 serves priority 10 and above, …)");
    for (int i = 0; i < 4; i++)
        store_close(others[i]);
}

static void category(struct contract *c) {
    struct acquire mail = everything;
    struct store_executor self;
    json_t *names = json_pack("[ss]", "fax", "phone");
    mail.categories = names;
    struct store *other = only(c, "clerk", &mail, &self);
    EXPECT(other);
    int64_t id = create(c, c->store, (struct job){.retries = 3, .category = "mail"}, NOW);
    int64_t none = create(c, c->store, (struct job){.retries = 3}, NOW);
    WHY(id, NOW,
        "job 1 is ready, but no live executor serves category \"mail\" (clerk/2 serves \"fax\", "
        "\"phone\")");
    FACT("reason", "category");
    WHY(none, NOW,
        "job 2 is ready, but no live executor serves jobs without a category (clerk/2 serves "
        "\"fax\", \"phone\")");
    store_close(other);
    json_decref(names);
}

static void deployment(struct contract *c) {
    struct definitions none = {0};
    struct store_deployment folder = {.name = "folder", .hash = "h1", .definitions = &none};
    struct acquire aware = everything;
    struct store_executor self;
    struct job_spec spec = {.job = {.handler = "work", .due = TIME_NONE, .retries = 3}};
    int64_t foreign = 0;
    aware.deployment_aware = true;
    EXPECT(store_deploy(c->store, &folder, "elsewhere", NOW, &foreign, &c->error));
    EXPECT(store_create(c->store, &spec, foreign, NOW, &c->error));
    struct store *other = only(c, "aware", &aware, &self);
    EXPECT(other);
    WHY(spec.job.id, NOW,
        "job 1 is ready, but no live executor serves deployment 1 (aware/2 is not registered for "
        "it)");
    FACT("reason", "deployment");
    store_close(other);
}

static void undated(struct contract *c) {
    struct acquire dated = everything;
    struct store_executor self;
    dated.ensure_due_date = true;
    struct store *other = only(c, "strict", &dated, &self);
    EXPECT(other);
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    WHY(id, NOW,
        "job 1 has no due date, and strict/2 takes none without (setting ensure_due_date)");
    FACT("setting", "ensure_due_date");
    store_close(other);
}

static void ended(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    int64_t gone = create(c, c->store, (struct job){.retries = 3}, NOW);
    EXPECT(settle(c, c->store, acquire_one(c, c->store, NOW),
                  (struct outcome){.kind = OUTCOME_SUCCESS}, NOW + 5) == SETTLED);
    WHY(id, NOW + 9, "job 1 has ended successfully at 2026-01-01T00:00:00.005Z (see its log)");
    FACT("state", "ended");
    bool more = true;
    EXPECT(store_file_ended(c->store, 100, &more, &c->error) && !more);
    WHY(id, NOW + 9, "job 1 has ended successfully at 2026-01-01T00:00:00.005Z (see its log)");
    EXPECT(give_delete(c->store, IDS(gone), NOW, &c->error));
    WHY(gone, NOW, "job 2 was deleted at 2026-01-01T00:00:00.000Z (see its log)");
}

static void unknown(struct contract *c) {
    why(c, 7, NOW);
    EXPECT(c->error.code == ERROR_NOT_FOUND);
    EXPECT_ERROR("no job 7");
}

/* Another executor takes both jobs and runs them. */
static struct store *run_two(struct contract *c, struct store_executor *self) {
    struct job *list = NULL;
    int count = 0;
    bool more = false;
    struct store *other = contract_join(c, "other", NOW, self);
    if (!other || !store_acquire(other, &everything, NOW, &list, &count, &more, &c->error) ||
        count != 2)
        return NULL;
    store_slot_set(other, 0, list->id, list->token, NOW);
    store_slot_set(other, 1, list->next->id, list->next->token, NOW);
    job_free_list(list);
    return other;
}

static void listed(struct contract *c) {
    struct store_executor self;
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    struct store *other = run_two(c, &self);
    EXPECT(other);
    json_t *rows = store_ask(c->store, ASK_EXECUTORS, NULL, NOW, &c->error);
    EXPECT(json_array_size(rows) == 2);
    EXPECT(json_integer_value(json_object_get(json_array_get(rows, 1), "running")) == 2);
    EXPECT(json_integer_value(json_object_get(json_array_get(rows, 1), "workers")) == 4);
    json_decref(rows);
    store_close(other);
    json_t *all = json_pack("{sb}", "all", 1);
    rows = store_ask(c->store, ASK_EXECUTORS, all, NOW, &c->error);
    json_decref(all);
    EXPECT(json_array_size(rows) == 2);
    EXPECT(strcmp(json_string_value(json_object_get(json_array_get(rows, 1), "state")), "gone") ==
           0);
    json_decref(rows);
}

/* Both jobs were running when the process died: from now on they run one at a time. */
static void quarantine(struct contract *c) {
    struct store_executor self;
    struct store_reaped reaped;
    int status = 0;
    int64_t first = create(c, c->store, (struct job){.retries = 3}, NOW);
    int64_t second = create(c, c->store, (struct job){.retries = 3}, NOW);
    pid_t child = fork();
    if (child == 0)
        _exit(run_two(c, &self) ? 0 : 1);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    WHY(first, NOW,
        "job 1 is locked by other/2, which has died (the next executor that looks frees it)");
    EXPECT(store_reap(c->store, NOW, &reaped, &c->error) && reaped.crashed == 2);
    job_free(acquire_one(c, c->store, NOW));
    WHY(second, NOW,
        "job 2 waits for job 1: a process died while each of them ran, and such jobs run one at a "
        "time");
    FACT("reason", "crash_quarantine");
}

static const struct check checks[] = {
    {"a job in the future says when it is due", due},
    {"a job that waits for its retry says after what", retry},
    {"a job in the future says that nobody would take it", due_and_nobody},
    {"the first job says that it is the next", next},
    {"a job says how many stand before it", ahead},
    {"a job says how many stand before it, exactly to 10 000", far_ahead},
    {"what stands before a job is told in its executor's own command", aged},
    {"an extended lock lasts until its own end", extended},
    {"a lock that has expired says so", expired},
    {"a dead job says which incident and what failed", dead},
    {"a suspended job says what suspended it", suspended},
    {"a job whose lane is held says by which job", lane},
    {"a job that no executor could take, for there is none, says so", nobody},
    {"a draining executor takes nothing and is named", draining},
    {"an executor that is overdue is named", overdue},
    {"a priority that nobody serves is named, and what is served", range},
    {"of many that serve other priorities three are named", many},
    {"a category that nobody serves is named, and what is served", category},
    {"a deployment that nobody serves is named", deployment},
    {"a job without a due date says who wants one", undated},
    {"a job that has ended says how", ended},
    {"a job that never was is not found", unknown},
};

static const struct check file_checks[] = {
    {"a locked job says by whom, until when, and since when it runs", locked},
    {"an executor is listed with what it runs, and once it is gone", listed},
    {"a job that has crashed its process waits while another such job runs", quarantine},
};

int main(void) {
    int failed = contract_run(checks, sizeof checks / sizeof *checks, false);
    failed |= contract_run_of_file(file_checks, sizeof file_checks / sizeof *file_checks, false);
    json_decref(facts);
    return failed;
}
