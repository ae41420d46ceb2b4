/* timeline_contract.c - a server that took over and may lack the last commits. Run with
 * spec/postgres/contracts. spec/faults/failover_spec.lua has a real one. */
#include "../../contract.h"
#include "store/postgres/db/connection.h"

#define GAP 1000000

/* As if another server had written last. */
static bool promote(struct contract *c) {
    return db_execute(&c->store->db, "UPDATE meta SET value=value-1 WHERE key='timeline'",
                      &c->error);
}

/* Ends the connection of a store that is behind by so many transactions. */
static bool fall_back(struct contract *c, struct store *store, int transactions) {
    struct store *other = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    int64_t ended = 0;
    if (!other)
        return false;
    postgres_of(store)->turn += transactions;
    db_value(&other->db, &c->error, &ended, "SELECT pg_terminate_backend(?1::int, 60000)", "n",
             PQbackendPID(postgres_of(store)->session.link));
    store_close(other);
    return ended;
}

static int64_t meta(struct contract *c, const char *key) {
    int64_t value = -1;
    db_value(&c->store->db, &c->error, &value, "SELECT value FROM meta WHERE key=?1", "t", key);
    return value;
}

static int64_t operations(struct contract *c, const char *verb) {
    int64_t count = -1;
    db_value(&c->store->db, &c->error, &count,
             "SELECT coalesce(sum(count), 0) FROM operation"
             " WHERE verb=?1",
             "t", verb);
    return count;
}

/* An executor that joins and leaves; its number. */
static int64_t guest(struct contract *c, const char *name) {
    struct store_executor self;
    struct store *store = contract_join(c, name, NOW, &self);
    store_close(store);
    return store ? self.id : 0;
}

static void numbers(struct contract *c) {
    int64_t first = create(c, c->store, (struct job){0}, NOW);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(first > 0 && job);
    int64_t token = job->token, executor = guest(c, "before");
    EXPECT(settle(c, c->store, job, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) == SETTLED);
    EXPECT(promote(c));
    EXPECT(create(c, c->store, (struct job){0}, NOW) >= first + GAP);
    job = acquire_one(c, c->store, NOW);
    EXPECT(job && job->token >= token + GAP);
    EXPECT(settle(c, c->store, job, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) == SETTLED);
    EXPECT(contract_number(c, "SELECT max(seq)-min(seq) FROM ended") >= GAP);
    EXPECT(guest(c, "behind") >= executor + GAP);
    EXPECT(contract_number(c, "SELECT count(*) FROM executor WHERE name='before'") == 1);
    EXPECT(operations(c, "failover") == 1);
    EXPECT(operations(c, "lose_commits") == 0);
}

/* Which goes on in several transactions, and adds to one entry. */
static void command(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW) > 0);
    EXPECT(db_execute(&c->store->db,
                      "INSERT INTO operation(id, verb, entity, count) VALUES(1, 'a', '1 jobs', 1)",
                      &c->error));
    EXPECT(promote(c));
    c->store->journal.entry = 1;
    bool begun = store_begin(c->store, STORE_COMMAND, &c->error);
    bool keeps = c->store->journal.entry == 1;
    store_rollback(c->store);
    c->store->journal.entry = 0;
    EXPECT(begun && keeps);
    EXPECT(operations(c, "failover") == 1 && operations(c, "a") == 1);
}

/* Only the first one moves them on, and a store that is new has none before. */
static void once(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW) > 0);
    EXPECT(meta(c, "next_id") < GAP && operations(c, "failover") == 0);
    EXPECT(promote(c));
    struct store *other = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(other);
    int64_t first = create(c, other, (struct job){0}, NOW);
    store_close(other);
    int64_t second = create(c, c->store, (struct job){0}, NOW);
    EXPECT(first > GAP && second > first);
    EXPECT(second < 2 * GAP && operations(c, "failover") == 1);
}

/* They are below what the server that took over knows of. */
static void drawn(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW) > 0);
    EXPECT(postgres_draw_ids(c->store, 10, &c->error));
    int64_t last = postgres_of(c->store)->drawn.end;
    EXPECT(promote(c));
    EXPECT(create(c, c->store, (struct job){0}, NOW) >= last + GAP - 10);
    postgres_of(c->store)->drawn = (struct drawn){0};
    EXPECT(promote(c));
    EXPECT(postgres_draw_ids(c->store, 10, &c->error));
    EXPECT(postgres_of(c->store)->drawn.end == 0);
}

/* More than the gap was handed out by the server before. */
static void far(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW) > 0);
    postgres_of(c->store)->timeline.id = 5 * GAP;
    postgres_of(c->store)->timeline.token = 7 * GAP;
    EXPECT(promote(c));
    EXPECT(create(c, c->store, (struct job){0}, NOW) >= 6 * GAP);
    EXPECT(meta(c, "next_token") >= 8 * GAP);
}

/* What it holds in memory, and in the store, is not the same any more. */
static void executors(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){.lane = "one"}, NOW) > 0);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job);
    EXPECT(fall_back(c, c->store, 3));
    EXPECT(!store_begin(c->store, STORE_TURN, &c->error));
    EXPECT(c->error.code == ERROR_BUSY);
    EXPECT(strstr(c->error.text, "the store went back: the server lacks the last 3 transactions"));
    EXPECT(operations(c, "lose_commits") == 3);
    EXPECT(contract_number(c, "SELECT count(*) FROM locked") == 0);
    EXPECT(settle(c, c->store, job, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) ==
           SETTLED_STALE);
    EXPECT(acquire_count(c, c->store, NOW) == 1);
}

static void unregistered(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW) > 0);
    EXPECT(db_execute(&c->store->db, "DELETE FROM executor", &c->error));
    EXPECT(fall_back(c, c->store, 1));
    EXPECT(!store_begin(c->store, STORE_TURN, &c->error));
    EXPECT(c->error.code == ERROR_IO);
    EXPECT(strstr(c->error.text, "transactions of this process, and with them its registration"));
}

/* It is told once, by what it does next. */
static void programs(struct contract *c) {
    struct store *other = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(other);
    int64_t first = create(c, other, (struct job){0}, NOW);
    bool back = fall_back(c, other, 1);
    int64_t second = create(c, other, (struct job){0}, NOW);
    bool told = c->error.code == ERROR_IO && strstr(c->error.text, "the store went back");
    int64_t third = create(c, other, (struct job){0}, NOW);
    store_close(other);
    EXPECT(first > 0 && back);
    EXPECT(second == 0 && told);
    EXPECT(third > first && operations(c, "lose_commits") == 1);
}

static void nothing_lost(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW) > 0);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job && promote(c));
    EXPECT(fall_back(c, c->store, 0));
    EXPECT(settle(c, c->store, job, (struct outcome){.kind = OUTCOME_SUCCESS}, NOW) == SETTLED);
    EXPECT(operations(c, "failover") == 1 && operations(c, "lose_commits") == 0);
}

/* The server answers after the executor has given up. */
static void late(struct contract *c) {
    int64_t id = create(c, c->store, (struct job){.lane = "one"}, NOW);
    struct job *job = acquire_one(c, c->store, NOW); /* it is not told of this */
    EXPECT(id > 0 && job);
    EXPECT(fall_back(c, c->store, -1));
    EXPECT(!store_begin(c->store, STORE_TURN, &c->error));
    EXPECT(c->error.code == ERROR_BUSY);
    EXPECT(strstr(c->error.text, "a commit has taken place that was given up"));
    EXPECT(operations(c, "lose_commits") == 0);
    job_free(job);
    EXPECT(acquire_count(c, c->store, NOW) == 1);
}

/* The number of its last transaction is kept for a week. */
static void rested(struct contract *c) {
    struct store *other = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(other);
    int64_t first = create(c, other, (struct job){0}, NOW);
    postgres_of(other)->timeline.committed -= 8 * INT64_C(86400000);
    bool cleaned = db_execute(&c->store->db, "DELETE FROM turn", &c->error);
    bool cut = fall_back(c, other, 0);
    int64_t second = create(c, other, (struct job){0}, NOW);
    store_close(other);
    postgres_of(c->store)->turn = 0;
    EXPECT(first > 0 && cleaned && cut && second > first);
}

static const struct check checks[] = {
    {"ids, tokens, ends and executors are numbered far behind those of the server before", numbers},
    {"a command that a failover meets keeps its own entry in the log of operations", command},
    {"numbers are moved on once, and not in a new store", once},
    {"ids that were drawn from the server before are not used", drawn},
    {"numbers are moved on from the highest one that is known", far},
    {"an executor that the server has lost commits of gives back all it holds, and goes on",
     executors},
    {"an executor that the server does not know any more ends", unregistered},
    {"a program that the server has lost commits of is told so once", programs},
    {"an executor of which no commit is lost keeps its locks", nothing_lost},
    {"an executor that had given up a commit gives back what was locked in it", late},
    {"a program that connects again after a week has lost nothing", rested},
};

int main(void) {
    if (getenv("CONTRACT_STORE"))
        return contract_run(checks, sizeof checks / sizeof *checks, false);
    printf("  pending no server: run it with spec/postgres/contracts\n0 passed, 0 failed\n");
    return 0;
}
