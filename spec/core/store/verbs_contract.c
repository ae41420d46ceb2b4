/* verbs_contract.c - what operators change, also while the job runs. */
#include "contract.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"

static const struct outcome failure = {.kind = OUTCOME_FAILURE, .decided = true, .retries = 2};

static void suspended_run(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(store_holds(c->store, id, job->token, &c->error) == YES);
    EXPECT(give_set_suspended(c->store, IDS(id), true, NOW, &c->error));
    EXPECT(store_holds(c->store, id, job->token, &c->error) == NO);
    FIELD(id, "state", NOW, "suspended");
    struct outcome good = {.kind = OUTCOME_SUCCESS};
    EXPECT(settle(c, c->store, job, good, NOW) == SETTLED_STALE);
    FIELD(id, "attempt", NOW, "1");
    EXPECT(acquire_count(c, c->store, NOW) == 0);
    EXPECT(give_set_suspended(c->store, IDS(id), false, NOW, &c->error));
    EXPECT(acquire_count(c, c->store, NOW) == 1);
}

/* Of these claims those at the places `lost` (a bit each) have lost their lock. */
static bool only_lost(struct contract *c, struct store_claim *claims, size_t count, unsigned lost) {
    bool same = store_ask_lost(c->store, claims, count, &c->error);
    for (size_t i = 0; i < count; i++)
        same = same && claims[i].lost == ((lost >> i & 1) != 0);
    return same;
}

static void asked_at_once(struct contract *c) {
    struct store_claim claims[5] = {0};
    for (int i = 0; i < 3; i++)
        create(c, c->store, (struct job){0}, NOW);
    for (int i = 0; i < 3; i++) {
        struct job *job = acquire_one(c, c->store, NOW);
        claims[i] = (struct store_claim){job->id, job->token, false};
        job_free(job);
    }
    claims[3] = (struct store_claim){claims[2].job, claims[2].token + 1, false};
    claims[4] = (struct store_claim){claims[2].job + 1, claims[2].token + 2, false};
    EXPECT(only_lost(c, claims, 0, 0) && only_lost(c, claims, 3, 0) && only_lost(c, claims, 5, 24));
    EXPECT(give_set_suspended(c->store, IDS(claims[1].job), true, NOW, &c->error));
    EXPECT(only_lost(c, claims, 3, 2) && only_lost(c, claims, 5, 26));
    EXPECT(give_set_suspended(c->store, IDS(claims[2].job), true, NOW, &c->error));
    EXPECT(only_lost(c, claims, 3, 6) && only_lost(c, claims + 1, 1, 1));
}

/* More than are looked up with one statement, and the lock of every seventh is lost. */
static void asked_by_the_thousand(struct contract *c) {
    enum { MANY = 2100 };
    struct store_claim claims[MANY];
    for (int i = 0; i < MANY; i++) {
        create(c, c->store, (struct job){0}, NOW);
        struct job *job = acquire_one(c, c->store, NOW);
        claims[i] = (struct store_claim){job->id, job->token + (i % 7 == 0), false};
        job_free(job);
    }
    EXPECT(store_ask_lost(c->store, claims, MANY, &c->error));
    for (int i = 0; i < MANY; i++)
        EXPECT(claims[i].lost == (i % 7 == 0));
}

static void suspended_delay(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.due = NOW + 1000}, NOW);
    EXPECT(give_set_suspended(c->store, IDS(id), true, NOW, &c->error));
    EXPECT(give_set_suspended(c->store, IDS(id), false, NOW, &c->error));
    FIELD(id, "state", NOW, "scheduled");
    FIELD(id, "due", NOW, "2026-01-01T00:00:01.000Z");
}

static void taken_over(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.lane = "a"}, NOW);
    struct job *first = acquire_one(c, c->store, NOW), *second = NULL;
    EXPECT(store_take(c->store, id, false, NOW, &second, &c->error));
    EXPECT(second->token > first->token);
    EXPECT(settle(c, c->store, first, failure, NOW) == SETTLED_STALE);
    EXPECT(create(c, c->store, (struct job){.lane = "a"}, NOW));
    EXPECT(acquire_count(c, c->store, NOW) == 0);
    struct outcome good = {.kind = OUTCOME_SUCCESS};
    EXPECT(settle(c, c->store, second, good, NOW) == SETTLED);
    EXPECT(acquire_count(c, c->store, NOW) == 1);
}

static void taken_beside(struct contract *c) {
    int64_t runs = create(c, c->store, (struct job){.lane = "a"}, NOW);
    int64_t waits = create(c, c->store, (struct job){.lane = "a"}, NOW);
    struct job *first = acquire_one(c, c->store, NOW), *second = NULL;
    EXPECT(first && first->id == runs);
    EXPECT(!store_take(c->store, waits, false, NOW, &second, &c->error));
    EXPECT(c->error.code == ERROR_CONFLICT);
    EXPECT_ERROR("job 2: job 1 of its lane is running");
    EXPECT(store_take(c->store, waits, true, NOW, &second, &c->error));
    job_free(first);
    job_free(second);
}

static void taken_unknown(struct contract *c) {
    struct job *job = NULL;
    EXPECT(!store_take(c->store, 7, false, NOW, &job, &c->error));
    EXPECT(c->error.code == ERROR_NOT_FOUND);
    EXPECT_ERROR("no job 7");
}

static void edits_stay(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.retries = 3}, NOW);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(give_set_retries(c->store, IDS(id), 9, true, NOW + 5000, NOW, &c->error));
    EXPECT(give_set_priority(c->store, IDS(id), 33, NOW, &c->error));
    FIELD(id, "state", NOW, "locked");
    struct outcome end = failure;
    end.due = NOW + 77;
    EXPECT(settle(c, c->store, job, end, NOW) == SETTLED);
    FIELD(id, "retries", NOW, "9");
    FIELD(id, "priority", NOW, "33");
    FIELD(id, "due", NOW, "2026-01-01T00:00:05.000Z");
    FIELD(id, "attempt", NOW, "2");
}

static void dead_while_running(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(give_set_retries(c->store, IDS(id), 0, false, TIME_NONE, NOW, &c->error));
    EXPECT(settle(c, c->store, job, failure, NOW) == SETTLED_DEAD);
    FIELD(id, "state", NOW, "dead");
}

static void redrives(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    EXPECT(give_set_retries(c->store, IDS(id), 0, false, TIME_NONE, NOW, &c->error));
    FIELD(id, "state", NOW, "dead");
    json_t *incidents = query_list(c->store, &incident_table, NULL, NULL, &c->error);
    EXPECT(json_array_size(incidents) == 1);
    json_decref(incidents);
    EXPECT(give_set_retries(c->store, IDS(id), 2, false, TIME_NONE, NOW, &c->error));
    FIELD(id, "state", NOW, "ready");
    incidents = query_list(c->store, &incident_table, NULL, NULL, &c->error);
    json_t *one = json_array_get(incidents, 0);
    EXPECT(strcmp(json_string_value(json_object_get(one, "how")), "resolved") == 0);
    json_decref(incidents);
    EXPECT(acquire_count(c, c->store, NOW) == 1);
}

static void retries_configured(struct contract *c) {
    char name[] = "work";
    struct definition work = {.name = name, .retries = 5, .properties = json_object()};
    struct definitions known = {.count = 1, .list = &work};
    struct store_deployment deployment = {.name = "shop", .hash = "1", .definitions = &known};
    int64_t deployed = 0, id = create(c, c->store, (struct job){0}, NOW);
    EXPECT(give_set_retries(c->store, IDS(id), 0, false, TIME_NONE, NOW, &c->error));
    EXPECT(give_retry(c->store, IDS(id), false, TIME_NONE, NOW, &c->error));
    FIELD(id, "retries", NOW, "3");
    EXPECT(store_deploy(c->store, &deployment, NULL, NOW, &deployed, &c->error));
    json_decref(work.properties);
    EXPECT(give_retry(c->store, IDS(id), true, NOW + 1, NOW, &c->error));
    FIELD(id, "retries", NOW, "5");
    FIELD(id, "due", NOW, "2026-01-01T00:00:00.001Z");
}

static void negative(struct contract *c) {
    EXPECT(!give_set_retries(c->store, IDS(1), -1, false, TIME_NONE, NOW, &c->error));
    EXPECT(c->error.code == ERROR_INVALID);
    EXPECT_ERROR("set_retries: retries -1: expected a whole number from 0");
}

static void priority_moves(struct contract *c) {
    int64_t first = create(c, c->store, (struct job){0}, NOW);
    int64_t second = create(c, c->store, (struct job){0}, NOW);
    int64_t later = create(c, c->store, (struct job){.due = NOW + 1}, NOW);
    int count = 0;
    EXPECT(give_set_priority(c->store, IDS(later, second), 5, NOW, &c->error));
    EXPECT(store_promote(c->store, NOW + 1, 9, &count, &c->error));
    const int64_t order[] = {second, later, first};
    for (int i = 0; i < 3; i++) {
        struct job *job = acquire_one(c, c->store, NOW + 1);
        EXPECT(job && job->id == order[i]);
        job_free(job);
    }
}

static void due_moves(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    EXPECT(give_set_due(c->store, IDS(id), NOW + 10, false, NOW, &c->error));
    FIELD(id, "state", NOW, "scheduled");
    EXPECT(acquire_count(c, c->store, NOW) == 0);
    EXPECT(give_set_due(c->store, IDS(id), TIME_NONE, false, NOW, &c->error));
    FIELD(id, "due", NOW, "");
    EXPECT(acquire_count(c, c->store, NOW) == 1);
}

static void deletes(struct contract *c) {
    char text[128];
    int64_t locked = create(c, c->store, (struct job){0}, NOW);
    EXPECT(acquire_count(c, c->store, NOW) == 1);
    int64_t waits = create(c, c->store, (struct job){.due = NOW + 5}, NOW);
    EXPECT(!give_delete(c->store, IDS(waits, locked), NOW, &c->error));
    EXPECT(c->error.code == ERROR_CONFLICT);
    snprintf(text, sizeof text, "job 1 is locked by \"node/%lld\" (cancel it instead)",
             (long long)c->self.id);
    EXPECT_ERROR(text);
    EXPECT(matches(c, "{}") == 2);
    EXPECT(give_delete(c->store, IDS(waits), NOW, &c->error));
    EXPECT(matches(c, "{}") == 1);
    json_t *log = store_log(c->store, NULL, NULL, &c->error);
    EXPECT(json_array_size(log) == 3);
    json_decref(log);
}

static void deletes_incident(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    EXPECT(give_set_retries(c->store, IDS(id), 0, false, TIME_NONE, NOW, &c->error));
    EXPECT(give_delete(c->store, IDS(id), NOW, &c->error));
    json_t *incidents = query_list(c->store, &incident_table, NULL, NULL, &c->error);
    json_t *one = json_array_get(incidents, 0);
    EXPECT(strcmp(json_string_value(json_object_get(one, "how")), "deleted") == 0);
    json_decref(incidents);
}

static void cancels(struct contract *c) {
    int64_t runs = create(c, c->store, (struct job){.lane = "a"}, NOW);
    int64_t waits = create(c, c->store, (struct job){.lane = "a"}, NOW);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(give_cancel(c->store, IDS(runs), NOW, &c->error));
    EXPECT(matches(c, "{}") == 1);
    EXPECT(acquire_count(c, c->store, NOW) == 0); /* its run has not ended */
    EXPECT(settle(c, c->store, job, failure, NOW) == SETTLED_STALE);
    EXPECT(acquire_count(c, c->store, NOW) == 1);
    FIELD(waits, "state", NOW, "locked");
}

static void all_or_nothing(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    EXPECT(!give_set_priority(c->store, IDS(id, 99), 5, NOW, &c->error));
    EXPECT(c->error.code == ERROR_NOT_FOUND);
    EXPECT_ERROR("no job 99");
    FIELD(id, "priority", NOW, "0");
}

static void logs_operations(struct contract *c) {
    int64_t a = create(c, c->store, (struct job){0}, NOW);
    int64_t b = create(c, c->store, (struct job){0}, NOW);
    EXPECT(give_set_priority(c->store, IDS(a), 8, NOW, &c->error));
    EXPECT(give_set_suspended(c->store, IDS(a, b), true, NOW, &c->error));
    json_t *list = query_list(c->store, &operation_table, NULL, NULL, &c->error);
    json_t *one = json_array_get(list, 0), *two = json_array_get(list, 1);
    EXPECT(json_array_size(list) == 2);
    EXPECT(strcmp(json_string_value(json_object_get(one, "verb")), "set_priority") == 0);
    EXPECT(strcmp(json_string_value(json_object_get(one, "entity")), "job 1") == 0);
    EXPECT(strcmp(json_string_value(json_object_get(one, "old")), "0") == 0);
    EXPECT(strcmp(json_string_value(json_object_get(one, "new")), "8") == 0);
    EXPECT(json_integer_value(json_object_get(two, "count")) == 2);
    json_decref(list);
}

static void extends(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(store_extend(c->store, id, job->token, NOW + 2 * LEASE, &c->error));
    FIELD(id, "lock_expiration", NOW, "2026-01-01T00:10:00.000Z");
    EXPECT(!store_extend(c->store, id, job->token + 1, NOW, &c->error));
    EXPECT(c->error.code == ERROR_CONFLICT);
    EXPECT_ERROR("job 1: its lock is lost");
    job_free(job);
}

static void annotates(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    EXPECT(give_set_retries(c->store, IDS(id), 0, false, TIME_NONE, NOW, &c->error));
    EXPECT(contract_operate(c, "{ss,si,ss}", "verb", "annotate", "incident", 1, "note", "seen"));
    EXPECT(!contract_operate(c, "{ss,si,ss}", "verb", "annotate", "incident", 9, "note", "seen"));
    EXPECT_ERROR("no incident 9");
    json_t *incidents = query_list(c->store, &incident_table, NULL, NULL, &c->error);
    json_t *one = json_array_get(incidents, 0);
    EXPECT(strcmp(json_string_value(json_object_get(one, "note")), "seen") == 0);
    json_decref(incidents);
}

/* A visible head that is moved away must not strand those parked behind it. */
static void heads_move(struct contract *c) {
    int64_t ids[4];
    struct outcome good = {.kind = OUTCOME_SUCCESS};
    for (int i = 0; i < 4; i++)
        ids[i] = create(c, c->store, (struct job){.lane = "a"}, NOW);
    c->settings.lane_run = 1;
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(acquire_count(c, c->store, NOW) == 0); /* parks the other three */
    FIELD(ids[1], "state", NOW, "waiting");
    EXPECT(settle(c, c->store, job, good, NOW) == SETTLED);
    EXPECT(give_delete(c->store, IDS(ids[1]), NOW, &c->error));
    EXPECT(give_set_due(c->store, IDS(ids[2]), NOW + 1000, false, NOW, &c->error));
    EXPECT(acquire_count(c, c->store, NOW) == 1);
    FIELD(ids[3], "state", NOW, "locked");
    c->settings.lane_run = 16;
}

static const struct check checks[] = {
    {"a suspended run cannot commit, and the job waits until activated", suspended_run},
    {"lost locks are found with one question", asked_at_once},
    {"so they are among thousands", asked_by_the_thousand},
    {"activating keeps what was pending", suspended_delay},
    {"a run by hand takes the lock over, its lane with it", taken_over},
    {"a run by hand is refused beside its lane unless forced", taken_beside},
    {"a run by hand of an unknown job is refused", taken_unknown},
    {"a failure keeps what an operator set during the run", edits_stay},
    {"retries set to 0 during the run end the job", dead_while_running},
    {"retries above 0 bring a dead job back and resolve its incident", redrives},
    {"a retry without number sets the configured count", retries_configured},
    {"negative retries are refused", negative},
    {"a priority moves ready and scheduled jobs", priority_moves},
    {"a due date moves a job, and may be taken away", due_moves},
    {"delete is refused while locked and then changes nothing", deletes},
    {"an incident goes with its job but stays in history", deletes_incident},
    {"cancel takes a running job away, its lane stays until the run ends", cancels},
    {"an unknown id changes nothing", all_or_nothing},
    {"each call writes one operation", logs_operations},
    {"a lock is extended while it is held", extends},
    {"an incident is annotated", annotates},
    {"taking a lane's visible job away shows the next", heads_move},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
