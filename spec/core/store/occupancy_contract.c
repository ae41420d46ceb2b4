/* occupancy_contract.c - how many jobs wait where, beside the slow way to know it: every job is
 * looked at. Two executors work on random histories; after each step the counts of both ways are
 * equal for every state, and the counters are those of the tables. */
#include "base/json.h"
#include "contract.h"
#include "give.h"
#include "store/rules/ground/kinds.h"

enum { HELD = 64, STEPS = 60, FEW = 10000 };

static struct {
    struct store *stores[2];
    struct job *held[2][HELD];
    int count[2];
    int64_t last; /* id that was handed out last */
    time_ms now;
} life;

static const char *const states[] = {"ready",   "scheduled", "locked",
                                     "waiting", "suspended", "dead"};

static int64_t slowly(struct contract *c, const char *state) {
    int64_t count = -1;
    json_t *filters = json_pack("{ss}", "state", state);
    store_jobs_count(c->store, filters, life.now, &count, &c->error);
    json_decref(filters);
    return count;
}

/* False: they differ, and c->error says where. */
static bool alike(struct contract *c) {
    json_t *stats = store_stats(c->store, life.now, &c->error);
    bool same = stats != NULL;
    for (size_t i = 0; same && i < sizeof states / sizeof *states; i++) {
        int64_t fast = json_int(json_object_get(stats, "jobs"), states[i]);
        int64_t slow = slowly(c, states[i]);
        same = fast == slow || error_set(&c->error, ERROR_FAILED, "%s: %lld, in truth %lld",
                                         states[i], (long long)fast, (long long)slow);
    }
    json_decref(stats);
    contract_verify(c);
    return same && !c->failure;
}

static int64_t create_any(struct contract *c) {
    static const char *const lanes[] = {NULL, NULL, "a", "b"};
    const struct job job = {.handler = rand() % 3 ? "work" : "other",
                            .lane = lanes[rand() % 4],
                            .priority = rand() % 3,
                            .retries = 1 + rand() % 2,
                            .suspended = rand() % 8 == 0,
                            .due = rand() % 3 ? TIME_NONE : life.now + rand() % 3000};
    return life.last = create(c, life.stores[rand() % 2], job, life.now);
}

static bool take(struct contract *c, int by) {
    struct acquire acquire = everything;
    struct job *list = NULL;
    int count = 0;
    bool more = false;
    acquire.want = 1 + rand() % 8;
    if (life.count[by] > HELD - 32 ||
        !store_acquire(life.stores[by], &acquire, life.now, &list, &count, &more, &c->error))
        return life.count[by] > HELD - 32;
    while (list) {
        struct job *next = list->next;
        list->next = NULL;
        life.held[by][life.count[by]++] = list;
        list = next;
    }
    return true;
}

static bool end(struct contract *c, int by) {
    const struct outcome ends[] = {
        {.kind = OUTCOME_SUCCESS},
        {.kind = OUTCOME_SUCCESS},
        {.kind = OUTCOME_SNOOZE},
        {.kind = OUTCOME_FAILURE, .decided = true, .retries = 1, .message = (char *)"no"},
        {.kind = OUTCOME_FAILURE, .decided = true, .retries = 0, .message = (char *)"no"}};
    if (!life.count[by])
        return true;
    struct outcome outcome = ends[rand() % 5];
    outcome.due = rand() % 2 ? life.now + rand() % 2000 : TIME_NONE;
    return settle(c, life.stores[by], life.held[by][--life.count[by]], outcome, life.now) >= 0;
}

/* Some of the jobs are gone, or run. */
static void operate(void) {
    int64_t list[] = {1 + rand() % life.last, 1 + rand() % life.last, 1 + rand() % life.last};
    struct ids ids = {list, 3};
    struct error ignored = {0};
    struct store *store = life.stores[rand() % 2];
    time_ms due = life.now + rand() % 2000;
    switch (rand() % 7) {
    case 0:
        give_set_suspended(store, ids, rand() % 2, life.now, &ignored);
        break;
    case 1:
        give_set_due(store, ids, due, false, life.now, &ignored);
        break;
    case 2:
        give_set_priority(store, ids, rand() % 3, life.now, &ignored);
        break;
    case 3:
        give_delete(store, ids, life.now, &ignored);
        break;
    case 4:
        give_dead_letter(store, ids, life.now, &ignored);
        break;
    case 5:
        give_set_retries(store, ids, rand() % 3, false, 0, life.now, &ignored);
        break;
    default:
        give_retry(store, ids, false, 0, life.now, &ignored);
    }
}

/* What a transaction has counted goes with it. */
static bool undone(struct contract *c) {
    struct store *store = life.stores[0];
    struct job_spec spec = {.job = {.handler = "work", .retries = 1, .due = TIME_NONE}};
    if (!store_begin(store, STORE_COMMAND, &c->error))
        return false;
    bool done = store_create(store, &spec, 0, life.now, &c->error);
    store_rollback(store);
    return done;
}

static bool step(struct contract *c) {
    int dice = rand() % 12, count = 0;
    if (dice < 4)
        return create_any(c) > 0;
    if (dice < 6)
        return take(c, rand() % 2);
    if (dice < 9)
        return end(c, rand() % 2);
    if (dice == 9)
        return undone(c);
    if (dice == 10 && life.last)
        operate();
    life.now += rand() % 1000;
    return store_promote(life.stores[rand() % 2], life.now, 1 + rand() % 20, &count, &c->error);
}

static void give_all_back(void) {
    for (int by = 0; by < 2; by++)
        while (life.count[by])
            job_free(life.held[by][--life.count[by]]);
}

static bool history(struct contract *c, unsigned seed) {
    struct store_executor self;
    srand(seed);
    life.stores[0] = c->store;
    life.stores[1] = contract_join(c, "other", NOW, &self);
    bool fine = life.stores[1] != NULL;
    for (int i = 0; fine && i < STEPS; i++)
        fine = step(c) && alike(c);
    give_all_back();
    store_close(life.stores[1]); /* its jobs are free again */
    return fine && alike(c);
}

static void random_histories(struct contract *c) {
    int count = contract_count("HISTORIES", 25);
    life.now = NOW; /* the clock never goes back */
    life.last = 0;
    for (int i = 1; i <= count; i++)
        EXPECT(history(c, (unsigned)i));
}

/* The dead are counted as far as a person wants to know; what waits is counted to the end. */
static void bounded(struct contract *c) {
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    for (int i = 0; i < FEW + 10; i++)
        EXPECT(create(c, c->store, (struct job){.retries = 1, .due = TIME_NONE}, NOW));
    EXPECT(store_commit(c->store, &c->error));
    json_t *stats = store_stats(c->store, NOW, &c->error);
    EXPECT(json_int(json_object_get(stats, "jobs"), "ready") == FEW + 10);
    json_decref(stats);
    EXPECT(db_execute(&c->store->db, "UPDATE job SET suspended=1", &c->error));
    stats = store_stats(c->store, NOW, &c->error);
    EXPECT(json_int(json_object_get(stats, "jobs"), "suspended") == FEW);
    json_decref(stats);
    EXPECT(db_execute(&c->store->db, "UPDATE job SET suspended=0", &c->error));
}

static const struct check checks[] = {
    {"jobs are counted where they are, on random histories", random_histories},
    {"those that are suspended are counted to 10 000, those that are ready to the end", bounded},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
