/* fence_contract.c - outcomes that are settled as a list end as they would one by one. */
#include "../contract.h"
#include "store/sqlite/db/connection.h"

#define RUNS 60
#define MANY 4200 /* more than the bulk of ends has room for */

static struct outcome list[MANY];
static int runs;

static int64_t number(struct contract *c, const char *sql) {
    int64_t value = -1;
    return db_value(&c->store->db, &c->error, &value, sql, "") == YES ? value : -1;
}

/* All that is ready runs, and succeeds. */
static bool begin(struct contract *c, struct store *store, int want) {
    struct acquire acquire = everything;
    struct job *jobs = NULL, *next;
    int count = 0;
    bool more = false;
    acquire.want = want;
    if (!store_acquire(store, &acquire, NOW, &jobs, &count, &more, &c->error))
        return false;
    runs = 0;
    for (; jobs; jobs = next) {
        next = jobs->next;
        jobs->next = NULL;
        list[runs] = (struct outcome){.job = jobs,
                                      .lane_ends = true,
                                      .lane_token = jobs->token,
                                      .started = NOW,
                                      .ended = NOW,
                                      .due = TIME_NONE};
        if (runs)
            list[runs - 1].next = &list[runs];
        runs++;
    }
    return count == runs;
}

static bool create_many(struct contract *c, int count) {
    bool done = store_begin(c->store, STORE_COMMAND, &c->error);
    for (int i = 0; done && i < count; i++)
        done = create(c, c->store, (struct job){.priority = i % 3}, NOW) > 0;
    return done && store_commit(c->store, &c->error);
}

/* In the open transaction; the verdicts as letters: settled, dead, stale. */
static const char *settle_list(struct contract *c, struct store *store) {
    static char verdicts[MANY + 1];
    enum settled settled = SETTLED;
    if (!store_settle_bulk(store, list, &c->error))
        return "";
    for (int i = 0; i < runs; i++) {
        if (!store_settle(store, &list[i], NOW, &settled, &c->error))
            return "";
        verdicts[i] = "sdx"[settled];
    }
    verdicts[runs] = 0;
    return verdicts;
}

static void forget(void) {
    for (int i = 0; i < runs; i++)
        job_free(list[i].job);
    runs = 0;
}

static bool all(const char *verdicts, int count) {
    return strspn(verdicts, "s") == (size_t)count && !verdicts[count];
}

static void together(struct contract *c) {
    EXPECT(create_many(c, RUNS) && begin(c, c->store, RUNS) && runs == RUNS);
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(all(settle_list(c, c->store), RUNS) && list[RUNS - 1].way == WAY_OTHERS);
    EXPECT(store_commit(c->store, &c->error));
    EXPECT(number(c, "SELECT count(*) FROM locked") == 0);
    EXPECT(number(c, "SELECT count(DISTINCT job) FROM ended") == RUNS && matches(c, "{}") == 0);
    EXPECT(number(c, "SELECT job FROM ended ORDER BY seq LIMIT 1") == list[0].job->id);
    forget();
}

static void many(struct contract *c) {
    EXPECT(create_many(c, MANY) && begin(c, c->store, MANY) && runs == MANY);
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(all(settle_list(c, c->store), MANY) && list[MANY - 1].way == WAY_OTHERS);
    EXPECT(store_commit(c->store, &c->error));
    EXPECT(number(c, "SELECT count(*) FROM locked") == 0 && matches(c, "{}") == 0);
    EXPECT(number(c, "SELECT count(DISTINCT job) FROM ended") == MANY);
    forget();
}

static void again(struct contract *c) {
    EXPECT(create_many(c, RUNS) && begin(c, c->store, RUNS));
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error) && all(settle_list(c, c->store), RUNS));
    store_rollback(c->store);
    EXPECT(number(c, "SELECT count(*) FROM locked") == RUNS);
    EXPECT(number(c, "SELECT count(*) FROM ended") == 0);
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error) && all(settle_list(c, c->store), RUNS));
    EXPECT(store_commit(c->store, &c->error));
    EXPECT(number(c, "SELECT count(*) FROM ended") == RUNS && matches(c, "{}") == 0);
    forget();
}

/* One has lost its lock, one is dead by now, one has failed, one was refused its key. */
static void some(struct contract *c) {
    store_purge_behind(c->store);
    EXPECT(create_many(c, RUNS) && begin(c, c->store, RUNS));
    EXPECT(give_set_suspended(c->store, IDS(list[7].job->id), true, NOW, &c->error));
    EXPECT(give_set_retries(c->store, IDS(list[20].job->id), 0, false, 0, NOW, &c->error));
    list[40].kind = OUTCOME_FAILURE;
    list[40].permanent = true;
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    const char *verdicts = settle_list(c, c->store);
    EXPECT(verdicts[7] == 'x' && verdicts[20] == 's' && verdicts[40] == 'd');
    EXPECT(list[0].way != WAY_OTHERS && list[59].way != WAY_OTHERS);
    EXPECT(store_commit(c->store, &c->error));
    EXPECT(matches(c, "{}") == 2 && matches(c, "{\"suspended\":true}") == 1);
    EXPECT(number(c, "SELECT count(*) FROM job WHERE retries=0") == 1);
    EXPECT(number(c, "SELECT count(*) FROM ended") == RUNS - 2);
    forget();
}

/* Of one alone an operator has taken the retries while it ran: its row does not stay. */
static void edited(struct contract *c) {
    store_purge_behind(c->store);
    EXPECT(create_many(c, RUNS) && begin(c, c->store, RUNS));
    EXPECT(give_set_retries(c->store, IDS(list[20].job->id), 0, false, 0, NOW, &c->error));
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error) && all(settle_list(c, c->store), RUNS));
    EXPECT(store_commit(c->store, &c->error) && matches(c, "{}") == 0);
    EXPECT(number(c, "SELECT count(*) FROM job WHERE retries=0") == 0);
    EXPECT(number(c, "SELECT count(*) FROM ended") == RUNS);
    forget();
}

/* A verb of one run takes the lock of a later one. */
static void effects(struct contract *c) {
    EXPECT(create_many(c, RUNS) && begin(c, c->store, RUNS));
    list[3].effects =
        json_pack("[{s:s, s:[I]}]", "verb", "cancel", "ids", (json_int_t)list[9].job->id);
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    const char *verdicts = settle_list(c, c->store);
    EXPECT(verdicts[3] == 's' && verdicts[9] == 'x' && list[0].way != WAY_OTHERS);
    EXPECT(store_commit(c->store, &c->error) && matches(c, "{}") == 0);
    EXPECT(number(c, "SELECT count(*) FROM ended WHERE outcome=3") == 1);
    EXPECT(number(c, "SELECT count(*) FROM ended WHERE outcome=1") == RUNS - 1);
    json_decref(list[3].effects);
    forget();
}

/* The newest end is removed while those of a list are kept back: they are numbered behind it. */
static void behind(struct contract *c) {
    EXPECT(create_many(c, RUNS) && begin(c, c->store, 2));
    EXPECT(store_begin(c->store, STORE_TURN, &c->error) && all(settle_list(c, c->store), 2));
    EXPECT(store_commit(c->store, &c->error));
    int64_t newest = list[1].job->id, last = number(c, "SELECT max(seq) FROM ended");
    forget();
    EXPECT(begin(c, c->store, RUNS - 2) && store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(all(settle_list(c, c->store), RUNS - 2) && list[0].way == WAY_OTHERS);
    EXPECT(contract_operate(c, "{ss,sI}", "verb", "delete_history", "ids", (json_int_t)newest));
    EXPECT(store_commit(c->store, &c->error));
    EXPECT(number(c, "SELECT count(*) FROM ended") == RUNS - 1);
    EXPECT(number(c, "SELECT min(seq) FROM ended WHERE seq>=2") == last + 1);
    EXPECT(number(c, "SELECT max(seq) FROM ended") == last + RUNS - 2);
    forget();
}

/* The locks of two executors lie side by side. */
static void side_by_side(struct contract *c) {
    struct store_executor self;
    struct outcome own[RUNS / 2];
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(create_many(c, RUNS) && begin(c, c->store, RUNS / 2) && runs == RUNS / 2);
    memcpy(own, list, sizeof own);
    EXPECT(begin(c, other, RUNS / 2) && runs == RUNS / 2);
    EXPECT(store_begin(other, STORE_COMMAND, &c->error) && all(settle_list(c, other), runs));
    EXPECT(store_commit(other, &c->error) && list[0].way == WAY_OTHERS);
    forget();
    EXPECT(number(c, "SELECT count(*) FROM locked") == RUNS / 2);
    memcpy(list, own, sizeof own);
    runs = RUNS / 2;
    for (int i = 1; i < runs; i++)
        list[i - 1].next = &list[i];
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error) && all(settle_list(c, c->store), runs));
    EXPECT(store_commit(c->store, &c->error) && matches(c, "{}") == 0);
    forget();
    store_close(other);
}

/* A run of another executor's job, told late: nothing is fenced for it. */
static void foreign(struct contract *c) {
    EXPECT(create_many(c, RUNS) && begin(c, c->store, RUNS));
    for (int i = 0; i < runs; i++)
        list[i].job->owner++;
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(strspn(settle_list(c, c->store), "x") == RUNS);
    EXPECT(store_commit(c->store, &c->error));
    EXPECT(number(c, "SELECT count(*) FROM locked") == RUNS);
    forget();
}

static bool end_all(struct contract *c) {
    bool done = store_begin(c->store, STORE_COMMAND, &c->error) &&
                all(settle_list(c, c->store), RUNS) && store_commit(c->store, &c->error);
    forget();
    return done;
}

/* The columns of one entry are those of the others that are written with it. */
static void entries(struct contract *c) {
    static char result[] = "7";
    EXPECT(create_many(c, RUNS) && begin(c, c->store, RUNS) && end_all(c));
    EXPECT(number(c, "SELECT count(*) FROM ended WHERE coalesce(result, due, tenant) IS NULL"
                     " AND priority BETWEEN 0 AND 2 AND created IS NOT NULL") == RUNS);
    EXPECT(create_many(c, RUNS) && begin(c, c->store, RUNS));
    list[10].result = result;
    list[20].job->due = NOW - 1;
    EXPECT(end_all(c));
    EXPECT(number(c, "SELECT count(*) FROM ended WHERE result='7'") == 1);
    EXPECT(number(c, "SELECT count(due) FROM ended") == 1);
    EXPECT(create_many(c, RUNS) && begin(c, c->store, RUNS));
    list[10].result = result;
    list[30].job->tenant = "t";
    EXPECT(end_all(c));
    EXPECT(number(c, "SELECT count(*) FROM ended WHERE tenant='t' AND result IS NULL") == 1);
    EXPECT(number(c, "SELECT count(*) FROM ended WHERE result='7'") == 2);
}

static const struct check checks[] = {
    {"plain successes end together, in order", together},
    {"thousands end together", many},
    {"what was rolled back is settled again, whole", again},
    {"what is not plain ends by itself among them", some},
    {"what an operator has changed ends by itself", edited},
    {"a verb of one run counts for the ends behind it", effects},
    {"are numbered behind an end that is removed meanwhile", behind},
    {"the locks of others stay", side_by_side},
    {"another owner's locks stay", foreign},
    {"each entry says what it has to say, whatever the others say", entries},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
