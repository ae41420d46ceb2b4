/* purge_contract.c - rows that jobs leave behind as they succeed: nobody ever sees one, and they
 * all go, on random histories against a model, and through kills. */
#include "../../contract.h"
#include "store/rules/ground/kinds.h"
#include "store/sqlite/db/connection.h"
#include "store/sqlite/turn/purge.h"

#define BLOCK 1024

static int64_t number(struct contract *c, const char *sql) {
    int64_t value = -1;
    return db_value(&c->store->db, &c->error, &value, sql, "") == YES ? value : -1;
}

static int64_t rows(struct contract *c) {
    return number(c, "SELECT count(*) FROM job");
}

static int64_t seen(struct contract *c) {
    return matches(c, "{}");
}

static int64_t debts(struct contract *c) {
    return number(c, "SELECT (SELECT count(*) FROM executor WHERE debt<>0)"
                     " + (SELECT count(*) FROM meta WHERE key LIKE 'sweep%')");
}

static bool idle(struct contract *c) {
    bool more = true, done = true;
    while (done && more)
        done = store_tend(c->store, CHORE_TIDY, 1000, &more, &c->error);
    return done;
}

/* Nobody cuts the power here. */
static bool hurry(struct contract *c) {
    return db_execute(&c->store->db, "PRAGMA synchronous=OFF", &c->error);
}

static bool rejoin(struct contract *c) {
    struct store_reaped reaped = {0};
    c->store = contract_join(c, "node", NOW, &c->self);
    bool done = c->store && hurry(c) && store_reap(c->store, NOW, &reaped, &c->error);
    job_free_list(reaped.worker_died);
    if (done)
        store_purge_behind(c->store);
    return done;
}

/* The process dies: the store is closed without leaving it. */
static bool die(struct contract *c) {
    store_rollback(c->store);
    c->store->self = (struct self){0};
    store_close(c->store);
    return rejoin(c);
}

static bool create_many(struct contract *c, int count, int64_t priority) {
    bool done = store_begin(c->store, STORE_COMMAND, &c->error);
    for (int i = 0; done && i < count; i++)
        done = create(c, c->store, (struct job){.priority = priority}, NOW) > 0;
    return done && store_commit(c->store, &c->error);
}

/* So many of the best jobs run and succeed, in one transaction. */
static bool succeed(struct contract *c, int count) {
    struct acquire acquire = everything;
    struct job *list = NULL, *next;
    int got = 0;
    bool more = false;
    acquire.want = count;
    bool done = store_begin(c->store, STORE_COMMAND, &c->error) &&
                store_acquire(c->store, &acquire, NOW, &list, &got, &more, &c->error) &&
                got == count;
    for (; list; list = next) {
        next = list->next;
        list->next = NULL;
        done = done && settle(c, c->store, list, (struct outcome){0}, NOW) == SETTLED;
    }
    return done && store_commit(c->store, &c->error);
}

/* ---- one after the other ---- */

static void unseen(struct contract *c) {
    store_purge_behind(c->store);
    EXPECT(create_many(c, 3, 0) && succeed(c, 2));
    EXPECT(rows(c) == 3 && seen(c) == 1);
    FIELD(1, "state", NOW, "");
    EXPECT(!give_set_priority(c->store, IDS(1), 5, NOW, &c->error));
    EXPECT_ERROR("job 1 has ended (see moonshift log --job 1)");
    json_t *why = store_why(c->store, 2, NOW, &c->error);
    EXPECT(strcmp(json_string_value(json_object_get(why, "state")), "ended") == 0);
    json_decref(why);
    EXPECT(store_progress(c->store, 1, 0.5, "late", NOW, &c->error));
    EXPECT(number(c, "SELECT count(*) FROM progress") == 0);
    EXPECT(idle(c) && rows(c) == 1 && debts(c) == 0);
}

static void ranges(struct contract *c) {
    store_purge_behind(c->store);
    EXPECT(create_many(c, 5000, 0) && succeed(c, 2500));
    EXPECT(store_settle_end(c->store, &c->error));
    EXPECT(rows(c) == 5000 - BLOCK && seen(c) == 2500);
    EXPECT(number(c, "SELECT count(*) FROM job WHERE id BETWEEN 1024 AND 2047") == 0);
    EXPECT(succeed(c, 2500) && store_settle_end(c->store, &c->error));
    EXPECT(rows(c) == 1023 + 5000 - 4 * BLOCK + 1 && seen(c) == 0);
    EXPECT(idle(c) && rows(c) == 0 && debts(c) == 0);
}

static void rolled_back(struct contract *c) {
    store_purge_behind(c->store);
    EXPECT(create_many(c, 2, 0));
    struct job *job = acquire_one(c, c->store, NOW), *other = acquire_one(c, c->store, NOW);
    struct job *copy = job_copy(job);
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(settle(c, c->store, copy, (struct outcome){0}, NOW) == SETTLED);
    store_rollback(c->store);
    EXPECT(idle(c) && rows(c) == 2 && debts(c) == 0);
    EXPECT(settle(c, c->store, other, (struct outcome){0}, NOW) == SETTLED && debts(c) == 1);
    EXPECT(idle(c) && rows(c) == 1 && debts(c) == 0);
    FIELD(job->id, "state", NOW, "locked");
    EXPECT(settle(c, c->store, job, (struct outcome){0}, NOW) == SETTLED);
    EXPECT(seen(c) == 0 && rows(c) == 1 && debts(c) == 1);
}

/* What it creates is refused: nothing of it is written, its neighbour's end is. */
static void undone(struct contract *c) {
    enum settled settled;
    store_purge_behind(c->store);
    EXPECT(create_many(c, 2, 0));
    create(c, c->store, (struct job){.unique_key = "k", .due = NOW + 1}, NOW);
    struct job *first = acquire_one(c, c->store, NOW), *second = acquire_one(c, c->store, NOW);
    struct job_spec refused =
        completed((struct job_spec){.job.unique_key = "k", .on_conflict = ON_CONFLICT_REFUSE});
    struct outcome outcome = {.job = first,
                              .created = &refused,
                              .due = TIME_NONE,
                              .lane_token = first->token,
                              .lane_ends = true};
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(!store_settle(c->store, &outcome, NOW, &settled, &c->error) && outcome.undone);
    EXPECT(settle(c, c->store, second, (struct outcome){0}, NOW) == SETTLED);
    EXPECT(store_commit(c->store, &c->error));
    EXPECT(rows(c) == 3 && seen(c) == 2);
    EXPECT(idle(c) && rows(c) == 2 && debts(c) == 0);
    FIELD(first->id, "state", NOW, "locked");
    job_free(first);
}

/* By hand, and edited while it runs: such rows go at once. */
static void at_once(struct contract *c) {
    struct job *job = NULL;
    store_purge_behind(c->store);
    int64_t suspended = create(c, c->store, (struct job){.suspended = true}, NOW);
    EXPECT(store_take(c->store, suspended, false, NOW, &job, &c->error));
    EXPECT(settle(c, c->store, job, (struct outcome){0}, NOW) == SETTLED);
    EXPECT(rows(c) == 0);
    int64_t dead = create(c, c->store, (struct job){0}, NOW);
    EXPECT(give_dead_letter(c->store, IDS(dead), NOW, &c->error));
    EXPECT(store_take(c->store, dead, false, NOW, &job, &c->error));
    EXPECT(settle(c, c->store, job, (struct outcome){0}, NOW) == SETTLED);
    EXPECT(rows(c) == 0);
    int64_t edited = create(c, c->store, (struct job){0}, NOW);
    job = acquire_one(c, c->store, NOW);
    EXPECT(give_set_retries(c->store, IDS(edited), 0, false, 0, NOW, &c->error));
    EXPECT(settle(c, c->store, job, (struct outcome){0}, NOW) == SETTLED);
    EXPECT(rows(c) == 0 && debts(c) == 0);
    EXPECT(number(c, "SELECT count(*) FROM incident WHERE ended IS NULL") == 0);
}

/* Its run is over for the store, its row is not: it stays. */
static void suspended(struct contract *c) {
    store_purge_behind(c->store);
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(give_set_suspended(c->store, IDS(id), true, NOW, &c->error));
    EXPECT(settle(c, c->store, job, (struct outcome){0}, NOW) == SETTLED_STALE);
    EXPECT(idle(c) && rows(c) == 1);
    FIELD(id, "state", NOW, "suspended");
}

/* ---- the end of an executor ---- */

static void leaves(struct contract *c) {
    store_purge_behind(c->store);
    EXPECT(create_many(c, 3000, 0) && succeed(c, 2990) && debts(c) == 1);
    EXPECT(store_leave(c->store, &c->error));
    EXPECT(rows(c) == 10 && seen(c) == 10 && debts(c) == 0);
}

/* Memory was out as the ends of runs were noted: what was not is searched for once there is time,
 * whatever is committed or given up before. */
static void lost(struct contract *c) {
    struct purge *purge = &sqlite_of(c->store)->purge;
    store_purge_behind(c->store);
    EXPECT(create_many(c, 300, 0) && succeed(c, 200));
    purge_clear(purge);
    *purge = (struct purge){.on = true, .mark = true, .marked = true, .lost = true};
    EXPECT(succeed(c, 50) && store_settle_end(c->store, &c->error));
    EXPECT(store_begin(c->store, STORE_TURN, &c->error));
    EXPECT(store_tend(c->store, CHORE_PURGE, 0, NULL, &c->error));
    store_rollback(c->store);
    EXPECT(rows(c) == 300 && seen(c) == 50 && debts(c) == 1);
    EXPECT(idle(c) && rows(c) == 50 && debts(c) == 0 && !purge->lost);
    EXPECT(succeed(c, 50) && idle(c) && rows(c) == 0 && debts(c) == 0);
}

static void dies(struct contract *c) {
    bool more = true;
    store_purge_behind(c->store);
    EXPECT(create_many(c, 5000, 0) && succeed(c, 4000) && create_many(c, 500, 9));
    EXPECT(die(c));
    EXPECT(rows(c) == 5500 && seen(c) == 1500 && debts(c) == 2);
    EXPECT(store_tend(c->store, CHORE_TIDY, 1000, &more, &c->error) && more);
    EXPECT(rows(c) == 4500 && seen(c) == 1500);
    int64_t from = number(c, "SELECT value FROM meta WHERE key='sweep_from'");
    store_close(c->store); /* with a clean end the search goes on, too */
    EXPECT(rejoin(c) && rows(c) == 1500 && from == 1000 && debts(c) == 0);
    EXPECT(succeed(c, 1500) && idle(c) && rows(c) == 0 && debts(c) == 0);
}

/* The search looks at one slice after the other while turns go on. */
static void dies_busy(struct contract *c) {
    store_purge_behind(c->store);
    EXPECT(create_many(c, 400, 0) && succeed(c, 300) && die(c) && create_many(c, 3, 9));
    for (int i = 0; i < 64; i++)
        EXPECT(store_settle_end(c->store, &c->error));
    EXPECT(rows(c) == 103 && debts(c) == 0);
}

/* Two live ones, one dies: the search takes what the other knows of as well. */
static void together(struct contract *c) {
    struct store_executor self;
    struct store *own = c->store, *other = contract_join(c, "other", NOW, &self);
    store_purge_behind(own);
    store_purge_behind(other);
    EXPECT(create_many(c, 40, 0) && succeed(c, 10));
    c->store = other;
    EXPECT(succeed(c, 10) && debts(c) == 2 && rows(c) == 40 && seen(c) == 20);
    EXPECT(die(c) && idle(c));
    EXPECT(rows(c) == 20 && debts(c) == 1);
    other = c->store;
    c->store = own;
    EXPECT(succeed(c, 5) && idle(c) && rows(c) == 15 && debts(c) == 0);
    store_close(other);
}

/* ---- bounds ---- */

/* A tombstone in each of many blocks, none of which ever fills. */
static void scattered(struct contract *c) {
    const int count = (1 << 14) + 500;
    store_purge_behind(c->store);
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    for (int i = 0; i < count; i++)
        EXPECT(create(c, c->store, (struct job){0}, NOW) &&
               store_reserve_ids(c->store, BLOCK - 1, &c->error));
    EXPECT(store_commit(c->store, &c->error));
    for (int i = 0; i < count; i += 484)
        EXPECT(succeed(c, i + 484 < count ? 484 : count - i) &&
               store_settle_end(c->store, &c->error));
    EXPECT(rows(c) == 1 << 14 && seen(c) == 0);
    EXPECT(number(c, "SELECT min(id) FROM job") == 1 + INT64_C(500) * BLOCK);
    EXPECT(store_leave(c->store, &c->error) && rows(c) == 0);
}

/* ---- the check of the store ---- */

static void reported(struct contract *c) {
    store_purge_behind(c->store);
    EXPECT(create_many(c, 1, 0) && succeed(c, 1));
    json_t *found = store_verify(c->store, NULL, &c->error);
    EXPECT(json_array_size(found) == 0);
    json_decref(found);
    EXPECT(db_execute(&c->store->db, "UPDATE executor SET debt=0", &c->error));
    found = store_verify(c->store, NULL, &c->error);
    EXPECT(json_array_size(found) == 1 &&
           strcmp(json_string_value(json_array_get(found, 0)),
                  "job 1 is in no place, or not where its row says") == 0);
    json_decref(found);
    EXPECT(idle(c) && rows(c) == 0);
}

/* ---- random histories ---- */

#define JOBS 2000
#define KEYS 5

struct known {
    int64_t id, batch;
    int retries, key;                     /* key 0: none */
    bool there, suspended, dead, foreign; /* foreign: its run has lost the lock */
    struct job *run;
};

static struct known known[JOBS];
static int count, there;

static struct known *any(void) {
    return count ? &known[rand() % count] : NULL;
}

static void gone(struct known *job) {
    there--;
    job->there = false;
}

static struct known *holder(int key) {
    for (int i = 0; key && i < count; i++)
        if (known[i].there && known[i].key == key && !known[i].dead)
            return &known[i];
    return NULL;
}

static bool op_create(struct contract *c) {
    static const char *const keys[] = {NULL, "k1", "k2", "k3", "k4", "k5"};
    struct known *job = &known[count];
    *job = (struct known){.key = rand() % 3 ? 0 : 1 + rand() % KEYS, .batch = rand() % 4};
    job->suspended = rand() % 10 == 0;
    struct known *held = holder(job->key);
    struct job like = {.priority = rand() % 10,
                       .suspended = job->suspended,
                       .retries = 2,
                       .batch = job->batch,
                       .unique_key = keys[job->key],
                       .lane = rand() % 5 ? NULL : "lane",
                       .instance = "i",
                       .due = rand() % 10 ? 0 : NOW + 1};
    job->id = create(c, c->store, like, NOW);
    if (held)
        return job->id == 0 && c->error.code == ERROR_NONE;
    job->there = true;
    job->retries = 2;
    count++;
    there++;
    return job->id > 0;
}

static struct known *find(int64_t id) {
    for (int i = 0; i < count; i++)
        if (known[i].id == id)
            return &known[i];
    return NULL;
}

static bool op_acquire(struct contract *c) {
    struct acquire acquire = everything;
    struct job *list = NULL, *next;
    int got = 0;
    bool more = false, right = true;
    acquire.want = 1 + rand() % 20;
    if (!store_acquire(c->store, &acquire, NOW, &list, &got, &more, &c->error))
        return false;
    for (; list; list = next) {
        struct known *job = find(list->id);
        next = list->next;
        list->next = NULL;
        right = right && job && job->there && !job->suspended && !job->dead;
        right = right && (!job->run || job->foreign);
        if (!job)
            continue;
        job_free(job->run); /* of a run before it was suspended */
        job->foreign = false;
        job->run = list;
    }
    return right;
}

static bool op_settle(struct contract *c) {
    struct known *job = any();
    if (!job || !job->run)
        return true;
    int how = rand() % 8;
    static const enum outcome_kind kinds[] = {OUTCOME_FAILURE, OUTCOME_SNOOZE};
    struct outcome end = {.kind = how < 2 ? kinds[how] : OUTCOME_SUCCESS,
                          .due = NOW,
                          .retries = job->run->retries - 1,
                          .decided = true};
    bool same = job->run->retries == job->retries;
    struct job *run = job->run;
    job->run = NULL;
    int settled = settle(c, c->store, run, end, NOW);
    if (job->foreign) {
        job->foreign = false;
        return settled == SETTLED_STALE;
    }
    if (end.kind == OUTCOME_SUCCESS)
        gone(job);
    else if (end.kind == OUTCOME_FAILURE && same)
        job->dead = --job->retries == 0;
    return settled == (job->there && job->dead ? SETTLED_DEAD : SETTLED);
}

static bool op_suspend(struct contract *c) {
    struct known *job = any();
    bool suspends = rand() % 2;
    if (!job)
        return true;
    bool done = give_set_suspended(c->store, IDS(job->id), suspends, NOW, &c->error);
    if (!job->there)
        return !done;
    job->foreign = job->foreign || (suspends && !job->suspended && job->run);
    job->suspended = suspends;
    return done;
}

static bool op_retries(struct contract *c) {
    struct known *job = any();
    int retries = rand() % 3;
    if (!job || (job->dead && job->key && retries && holder(job->key)))
        return true;
    bool done = give_set_retries(c->store, IDS(job->id), retries, false, 0, NOW, &c->error);
    if (!job->there)
        return !done;
    job->retries = retries;
    job->dead = retries == 0;
    return done;
}

static bool op_delete(struct contract *c) {
    struct known *job = any();
    if (!job || rand() % 4)
        return true;
    bool done = give_cancel(c->store, IDS(job->id), NOW, &c->error);
    if (!job->there)
        return !done;
    job->foreign = job->run != NULL;
    gone(job);
    return done;
}

static void forget_runs(void) {
    for (int i = 0; i < count; i++) {
        job_free(known[i].run);
        known[i].run = NULL;
        known[i].foreign = false;
    }
}

static bool op_end(struct contract *c) {
    forget_runs();
    if (rand() % 2)
        return die(c);
    store_close(c->store);
    return rejoin(c);
}

static bool op_tidy(struct contract *c) {
    bool more;
    return rand() % 2 ? store_settle_end(c->store, &c->error)
                      : store_tend(c->store, CHORE_TIDY, 1000, &more, &c->error);
}

static bool op(struct contract *c) {
    c->error = (struct error){ERROR_NONE, ""};
    int what = rand() % 1000;
    if (what < 3)
        return op_end(c);
    if (what < 30)
        return op_tidy(c);
    if (what < 380)
        return op_create(c);
    if (what < 480)
        return op_acquire(c);
    if (what < 900)
        return op_settle(c);
    if (what < 930)
        return op_suspend(c);
    return what < 980 ? op_retries(c) : op_delete(c);
}

static int64_t log_count(struct contract *c, const char *outcome) {
    json_t *filters = json_pack("{s:s}", "outcome", outcome);
    json_t *log = store_log(c->store, filters, NULL, &c->error);
    int64_t found = log ? (int64_t)json_array_size(log) : -1;
    json_decref(log);
    json_decref(filters);
    return found;
}

static int wanted(bool dead, bool suspended, int64_t batch) {
    int found = 0;
    for (int i = 0; i < count; i++)
        found += known[i].there && (!dead || known[i].dead) && (!suspended || known[i].suspended) &&
                 (!batch || known[i].batch == batch);
    return found;
}

static void compare(struct contract *c) {
    struct known *job = any();
    EXPECT(seen(c) == there);
    EXPECT(matches(c, "{\"instance\":\"i\"}") == there);
    EXPECT(matches(c, "{\"batch\":2}") == wanted(false, false, 2));
    EXPECT(matches(c, "{\"no_retries_left\":true}") == wanted(true, false, 0));
    EXPECT(matches(c, "{\"suspended\":true}") == wanted(false, true, 0));
    EXPECT(log_count(c, "created") == count);
    json_t *one = job ? store_job(c->store, job->id, NOW, &c->error) : NULL;
    json_t *why = job ? store_why(c->store, job->id, NOW, &c->error) : NULL;
    EXPECT(!job || (one != NULL) == job->there);
    EXPECT(!job ||
           (strcmp(json_string_value(json_object_get(why, "state")), "ended") != 0) == job->there);
    json_decref(one);
    json_decref(why);
    json_t *found = store_verify(c->store, NULL, &c->error);
    if (json_array_size(found))
        error_set(&c->error, ERROR_DAMAGED, "%s", json_string_value(json_array_get(found, 0)));
    EXPECT(json_array_size(found) == 0);
    json_decref(found);
}

static void history(struct contract *c) {
    count = there = 0;
    store_purge_behind(c->store);
    EXPECT(hurry(c));
    for (int i = 0; i < 4000 && count < JOBS; i++) {
        EXPECT(op(c));
        if (i % 100 == 0)
            compare(c);
        if (c->failure)
            return;
    }
    forget_runs();
    EXPECT(die(c) && idle(c));
    EXPECT(rows(c) == there && seen(c) == there && debts(c) == 0);
}

static void histories(struct contract *c) {
    for (unsigned seed = 1; seed <= 4 && !c->failure; seed++) {
        srand(seed);
        if (seed > 1) {
            store_close(c->store);
            folder_empty(c->directory);
            c->store = contract_join(c, "node", NOW, &c->self);
        }
        history(c);
        if (c->failure)
            printf("# seed %u\n", seed);
    }
}

static const struct check checks[] = {
    {"a row that is left behind is seen by nobody", unseen},
    {"blocks of ids go as a whole once all of them have ended", ranges},
    {"what is rolled back leaves nothing behind", rolled_back},
    {"a refused outcome leaves nothing behind, its neighbours do", undone},
    {"rows that would be dead or suspended go at once", at_once},
    {"a job that is suspended while it runs keeps its row", suspended},
    {"an executor that leaves sweeps the rest", leaves},
    {"what was lost sight of is searched for", lost},
    {"what a dead one has left behind is searched for, step by step", dies},
    {"the search goes on between turns", dies_busy},
    {"a search and a live executor's own sweep do not meet", together},
    {"scattered rows are bounded, the oldest go first", scattered},
    {"the check of the store reports rows that nobody sweeps", reported},
    {"random histories show the living alone, and leave the living alone", histories},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
