/* history_contract.c - history is filed behind, and what is asked of one job or instance reads what
 * is filed of it and the few rows that are not. Run with spec/postgres/contracts. */
#include "../contract.h"
#include "base/json.h"
#include "store/rules/ground/kinds.h"

enum { ENDS = 20000, TAIL = 100, READ_MOST = 1000, CLEAN_MOST = 6000 };

static bool run(struct contract *c, const char *sql) {
    return db_execute(&c->store->db, sql, &c->error);
}

/* So many more of each: ends, every tenth of an instance, and steps of instances. */
static bool add(struct contract *c, int count) {
    char sql[600];
    snprintf(sql, sizeof sql,
             "INSERT INTO ended(job, stream, outcome, at, attempt, created, instance)"
             " SELECT b.n+i, 1, 1, %lld, 1, %lld, CASE WHEN i%%10=0 THEN 'order-'||b.n+i END"
             " FROM generate_series(1, %d) i, (SELECT count(*) AS n FROM ended) b;"
             "INSERT INTO trail(instance, at, events) SELECT b.n+i, %lld, '[]'"
             " FROM generate_series(1, %d) i, (SELECT count(*) AS n FROM trail) b",
             (long long)NOW, (long long)NOW, count, (long long)NOW, count);
    return run(c, sql);
}

static bool tidy(struct contract *c) {
    bool more = true;
    while (more)
        if (!store_tend(c->store, CHORE_TIDY, ENDS / 4, &more, &c->error))
            return false;
    return true;
}

/* Ends that are filed, some that are not, and statistics of both. */
static bool fill(struct contract *c) {
    return create(c, c->store, (struct job){0}, NOW) && add(c, ENDS) && tidy(c) && add(c, TAIL) &&
           run(c, "ANALYZE");
}

/* What no step of an instance is known to belong to. */
static void empty(struct contract *c) {
    run(c, "TRUNCATE trail, trail_of");
}

/* Rows of all tables that this session has read until now. */
static int64_t rows_read(struct contract *c) {
    run(c, "SELECT pg_stat_force_next_flush()");
    return contract_number(c, "SELECT (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes"
                              " WHERE schemaname=current_schema())"
                              " + (SELECT sum(seq_tup_read) FROM pg_stat_user_tables"
                              " WHERE schemaname=current_schema()"
                              " AND relname IN ('ended', 'trail', 'ended_by_job', 'trail_of'))");
}

/* Takes the question over. How many rows, or members, the answer has; -1: error, or too many rows
 * were read. */
static int asked_of(struct contract *c, enum ask_kind kind, json_t *question) {
    int64_t before = rows_read(c);
    json_t *answer = store_ask(c->store, kind, question, NOW, &c->error);
    const bool answered = answer && before >= 0;
    int64_t read = rows_read(c) - before;
    size_t count = json_object_size(answer) + json_array_size(answer);
    json_decref(question);
    json_decref(answer);
    return answered && read <= READ_MOST ? (int)count : -1;
}

/* The same of a list. */
static int entries(struct contract *c, enum ask_kind kind, json_t *filters) {
    return asked_of(c, kind, json_pack("{so si}", "filters", filters, "limit", 10));
}

static void asked(struct contract *c) {
    EXPECT(fill(c));
    for (int job = ENDS / 2; job <= ENDS + TAIL; job += ENDS / 2 + TAIL) {
        char instance[32];
        snprintf(instance, sizeof instance, "order-%d", job);
        EXPECT(entries(c, ASK_LOG, json_pack("{si}", "job", job)) == 2);
        EXPECT(entries(c, ASK_LOG, json_pack("{ss}", "instance", instance)) == 2);
        EXPECT(entries(c, ASK_TRAIL, json_pack("{si}", "instance", job)) == 1);
        EXPECT(asked_of(c, ASK_WHY, json_pack("{si}", "id", job)) > 1);
    }
    EXPECT(entries(c, ASK_LOG, json_object()) == 10);
    empty(c);
}

static void filed(struct contract *c) {
    EXPECT(fill(c));
    EXPECT(contract_number(c, "SELECT count(*) FROM ended_by_job") == ENDS);
    EXPECT(contract_number(c, "SELECT count(*) FROM trail_of") == ENDS);
    EXPECT(tidy(c));
    EXPECT(contract_number(c, "SELECT count(*) FROM ended_by_job") == ENDS + TAIL);
    EXPECT(contract_number(c, "SELECT count(*) FROM ended_by_instance") == (ENDS + TAIL) / 10);
    EXPECT(contract_number(c, "SELECT count(*) FROM trail_of") == ENDS + TAIL);
    empty(c);
}

/* Numbers of which a store has no rows any more cost no steps. */
static void gap(struct contract *c) {
    bool more = true;
    int steps = 0;
    EXPECT(fill(c) && tidy(c));
    EXPECT(run(c, "SELECT setval(pg_get_serial_sequence('ended', 'seq'), 20000000),"
                  " setval(pg_get_serial_sequence('trail', 'seq'), 30000000)") &&
           add(c, TAIL));
    for (; more && steps < TAIL; steps++)
        if (!store_tend(c->store, CHORE_TIDY, ENDS / 4, &more, &c->error))
            break;
    EXPECT(!more && steps == 1);
    EXPECT(contract_number(c, "SELECT count(*) FROM ended_by_job") == ENDS + 2 * TAIL);
    EXPECT(contract_number(c, "SELECT count(*) FROM trail_of") == ENDS + 2 * TAIL);
    empty(c);
}

/* Instances of the tail, which all go at once. */
static void cleaned(struct contract *c) {
    struct command_run command = {0};
    EXPECT(fill(c));
    EXPECT(run(c,
               "INSERT INTO past(id, version, started, ended, how, removal)"
               " SELECT instance, 1, 1, 1, 'completed', 1 FROM trail ORDER BY seq DESC LIMIT 50"));
    json_t *clean = json_pack("{ss s{sb si}}", "verb", "clean_history", "plan", "on_demand", 1,
                              "batch_size", 1000);
    int64_t before = rows_read(c);
    bool done = store_command(c->store, clean, &command, NOW, &c->error);
    int64_t read = rows_read(c) - before;
    json_decref(clean);
    EXPECT(done && contract_number(c, "SELECT count(*) FROM past") == 0);
    EXPECT(contract_number(c, "SELECT count(*) FROM trail") == ENDS + TAIL - 50);
    EXPECT(read < CLEAN_MOST);
    empty(c);
}

static const struct check checks[] = {
    {"what has ended is filed by job and instance when there is time", filed},
    {"what follows numbers without rows is filed at once", gap},
    {"instances that go do not each walk through the steps that are not filed", cleaned},
    {"what is asked of a job or an instance reads few rows beside its own", asked},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
