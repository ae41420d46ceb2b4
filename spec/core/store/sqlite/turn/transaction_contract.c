/* transaction_contract.c - what a transaction on a file begins with: counters are read only if
 * another connection has committed since. */
#include "../../contract.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/transaction.h"
#include "store/sqlite/db/connection.h"
#include "store/sqlite/turn/gate.h"

static struct store *other;

static bool begin(struct contract *c) {
    other = store_open(c->url, STORE_CREATE, &c->settings, &c->error);
    return other && create(c, c->store, (struct job){0}, NOW);
}

/* How often the counters were read since the last call. */
static int64_t reads(struct store *store) {
    static const char sql[] = "SELECT key, value FROM meta WHERE key<'waiting/'";
    int64_t sum = 0;
    for (sqlite3_stmt *one = NULL; (one = sqlite3_next_stmt(store->db.handle, one));)
        if (strcmp(sqlite3_sql(one), sql) == 0)
            sum += sqlite3_stmt_status(one, SQLITE_STMTSTATUS_RUN, 1);
    return sum;
}

static void own(struct contract *c) {
    EXPECT(begin(c));
    int64_t last = create(c, c->store, (struct job){0}, NOW);
    reads(c->store);
    for (int i = 1; i <= 20; i++)
        EXPECT(create(c, c->store, (struct job){0}, NOW) == last + i);
    EXPECT(reads(c->store) == 0);
    store_close(other);
}

static void of_others(struct contract *c) {
    EXPECT(begin(c));
    int64_t last = create(c, c->store, (struct job){0}, NOW);
    reads(c->store);
    for (int i = 1; i <= 20; i += 2) {
        EXPECT(create(c, other, (struct job){0}, NOW) == last + i);
        EXPECT(create(c, c->store, (struct job){0}, NOW) == last + i + 1);
    }
    EXPECT(reads(c->store) == 10);
    store_close(other);
}

/* What was seen by a question in between counts as read by nobody. */
static void seen_meanwhile(struct contract *c) {
    EXPECT(begin(c));
    int64_t last = create(c, c->store, (struct job){0}, NOW);
    EXPECT(create(c, other, (struct job){0}, NOW) == last + 1);
    EXPECT(contract_number(c, "SELECT count(*) FROM job") > 0);
    reads(c->store);
    EXPECT(create(c, c->store, (struct job){0}, NOW) == last + 2 && reads(c->store) == 1);
    store_close(other);
}

static void undone(struct contract *c) {
    EXPECT(begin(c));
    int64_t last = create(c, c->store, (struct job){0}, NOW);
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(create(c, c->store, (struct job){0}, NOW) == last + 1);
    store_rollback(c->store);
    reads(c->store);
    EXPECT(create(c, c->store, (struct job){0}, NOW) == last + 1 && reads(c->store) == 1);
    store_close(other);
}

static void newer(struct contract *c) {
    EXPECT(begin(c) && create(c, c->store, (struct job){0}, NOW));
    EXPECT(db_execute(&other->db, "PRAGMA user_version=1000", &c->error));
    EXPECT(!create(c, c->store, (struct job){0}, NOW));
    EXPECT(strstr(c->error.text, "schema 1000 is newer"));
    bool own = false;
    EXPECT(!store_look(c->store, &own, &c->error));
    c->error = (struct error){0};
    EXPECT(db_execute(&other->db, "PRAGMA user_version=8", &c->error));
    EXPECT(store_look(c->store, &own, &c->error));
    store_look_end(c->store, own);
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    store_close(other);
}

/* Whether the right to empty the log stays with it behind a checkpoint. */
static enum answer keeps_log(struct contract *c, int64_t id, bool listens) {
    struct gate gate = {0};
    other->self.id = id;
    other->self.listens = listens;
    if (!gate_open(&gate, sqlite_of(other)->path, &c->error) ||
        !store_tend(other, CHORE_LOG, 0, NULL, &c->error))
        return FAILED;
    bool kept = !gate_free(&gate, GATE_CHECKPOINTER);
    gate_close(&gate);
    return kept ? YES : NO;
}

static void empties(struct contract *c) {
    EXPECT(begin(c));
    gate_drop(&sqlite_of(c->store)->gate, GATE_CHECKPOINTER); /* it has it since it joined */
    EXPECT(keeps_log(c, 0, false) == NO);
    EXPECT(keeps_log(c, 7, true) == NO);
    EXPECT(keeps_log(c, 7, false) == YES);
    other->self.id = 0;
    store_close(other);
}

static int hurry;

static int hurried(void) {
    return hurry;
}

/* Who is told to end waits no longer than it has time for, and who is told twice no more than a
 * second; but for a tenth of one each waits. */
static void waits(struct contract *c) {
    const time_ms begun = 1000000;
    static const struct {
        int told;
        time_ms has, waits; /* ms; -1: it has not been told how much */
    } cases[] = {
        {0, -1, 30000}, {0, 500, 30000},   {1, -1, 1000}, {1, 500, 500},   {1, 50, 100},
        {1, 100, 100},  {1, 60000, 30000}, {1, 101, 101}, {1, 2000, 2000}, {2, -1, 1000},
        {2, 500, 500},  {2, 50, 100},      {2, 999, 999}, {2, 2000, 1000},
    };
    store_set_impatient(c->store, hurried);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hurry = cases[i].told;
        store_budget(c->store, cases[i].has < 0 ? 0 : begun + cases[i].has);
        EXPECT(transaction_patience(c->store, begun) - begun == cases[i].waits);
    }
    EXPECT(!c->store->db.hurried);
    struct store *reader = store_open(c->url, STORE_READ, &c->settings, &c->error);
    EXPECT(reader);
    store_set_impatient(reader, hurried);
    EXPECT(reader->db.hurried == hurried); /* its questions end, too */
    store_close(reader);
    hurry = 0;
}

/* Another program has the file, and nothing of the gate. */
static void gives_up(struct contract *c) {
    struct gate gate = {0};
    EXPECT(begin(c) && gate_open(&gate, sqlite_of(c->store)->path, &c->error));
    EXPECT(db_execute(&other->db, "BEGIN IMMEDIATE", &c->error));
    store_set_impatient(c->store, hurried);
    store_budget(c->store, 1);
    hurry = 2;
    EXPECT(!store_begin(c->store, STORE_COMMAND, &c->error) && c->error.code == ERROR_BUSY);
    EXPECT(gate_free(&gate, GATE_WRITER) && !gate_stand_back(&gate));
    c->error = (struct error){0};
    EXPECT(db_execute(&other->db, "ROLLBACK", &c->error));
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    hurry = 0;
    gate_close(&gate);
    store_close(other);
}

static const struct check checks[] = {
    {"a store that alone writes reads no counter again", own},
    {"what another store has committed is read, and no id is given twice", of_others},
    {"a question that sees another's commit hides it from no transaction", seen_meanwhile},
    {"a transaction that was undone leaves no counter that counts", undone},
    {"a schema that has become newer meanwhile is seen", newer},
    {"a writer that gives up leaves the gate to the others", gives_up},
    {"a writer waits as long as it has time for", waits},
    {"an executor alone keeps the right to empty the log", empties},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
