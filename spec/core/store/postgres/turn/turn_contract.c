/* turn_contract.c - connections that are lost: before a commit, during one, behind one. Run with
 * spec/postgres/contracts. */
#include "../../contract.h"
#include "store/outbox.h"
#include "store/postgres/beside/presence.h"
#include "store/postgres/db/connection.h"
#include "store/postgres/turn/transaction.h"
#include <sys/socket.h>

/* Another store on the same schema, which ends the connection of the first one and waits for it. */
static bool cut(struct contract *c) {
    struct store *other = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    int64_t ended = 0;
    if (!other)
        return false;
    db_value(&other->db, &c->error, &ended, "SELECT pg_terminate_backend(?1::int, 60000)", "n",
             PQbackendPID(postgres_of(c->store)->session.link));
    store_close(other);
    return ended;
}

static int64_t jobs(struct contract *c) {
    int64_t count = -1;
    return store_jobs_count(c->store, NULL, NOW, &count, &c->error) ? count : -1;
}

static bool begin_one(struct contract *c) {
    struct job_spec spec = completed((struct job_spec){0});
    return store_begin(c->store, STORE_TURN, &c->error) &&
           store_create(c->store, &spec, 0, NOW, &c->error);
}

static void before(struct contract *c) {
    EXPECT(cut(c));
    EXPECT(jobs(c) == 0);
    EXPECT(cut(c));
    EXPECT(create(c, c->store, (struct job){0}, NOW) > 0);
    EXPECT(jobs(c) == 1);
}

static void during(struct contract *c) {
    EXPECT(begin_one(c));
    EXPECT(cut(c));
    EXPECT(!store_commit(c->store, &c->error));
    EXPECT(c->error.code == ERROR_BUSY);
    EXPECT(jobs(c) == 0);
    EXPECT(create(c, c->store, (struct job){0}, NOW) > 0);
    EXPECT(jobs(c) == 1);
}

/* The server gets the commit, and nobody hears its answer. A server that notices before the commit
 * that nobody does gives the transaction up: then it is tried again. */
static void behind(struct contract *c) {
    bool took = false;
    for (int tries = 0; !took && tries < 20; tries++) {
        EXPECT(begin_one(c));
        shutdown(session_socket(&postgres_of(c->store)->session), SHUT_RD);
        took = store_commit(c->store, &c->error);
        EXPECT(jobs(c) == took);
    }
    EXPECT(took);
    EXPECT(create(c, c->store, (struct job){0}, NOW) > 0);
    EXPECT(jobs(c) == 2);
}

/* The rows of others are judged by the server's clock alone. */
static void others(struct contract *c) {
    struct store_executor self = {0};
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other && create(c, c->store, (struct job){0}, NOW) > 0);
    EXPECT(db_execute(&c->store->db,
                      "INSERT INTO turn(session, n, at) VALUES(-1, 1, " SERVER_NOW "-604700000),"
                      " (-2, 1, " SERVER_NOW "-604900000)",
                      &c->error));
    EXPECT(contract_number(c, "SELECT count(*) FROM turn WHERE abs(at-" SERVER_NOW ")<60000") == 2);
    store_close(other);
    EXPECT(contract_number(c, "SELECT count(*) FROM turn WHERE session=-2") == 0);
    EXPECT(contract_number(c, "SELECT count(*) FROM turn") == 2);
}

/* It is said of the commit, and of the earlier ones by the next transaction. */
static void went_back(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW) > 0);
    EXPECT(begin_one(c));
    postgres_of(c->store)->turn += 5; /* as if the server had lost so many */
    EXPECT(cut(c));
    EXPECT(!store_commit(c->store, &c->error));
    EXPECT(c->error.code == ERROR_BUSY);
    EXPECT(!store_begin(c->store, STORE_TURN, &c->error));
    EXPECT(strstr(c->error.text, "the store went back: the server lacks the last 5 transactions"));
    EXPECT(create(c, c->store, (struct job){0}, NOW) > 0);
}

static int hurried(void) {
    return true;
}

/* The word of the URL for the server's place. */
static char **host_of(struct contract *c) {
    PQconninfoOption *one = postgres_of(c->store)->address.options;
    while (strcmp(one->keyword, "host") != 0)
        one++;
    return &one->val;
}

/* What became of the commit is found out later. */
static void unknown(struct contract *c) {
    static char nowhere[] = "/nowhere";
    char **host = host_of(c), *server = *host;
    EXPECT(begin_one(c));
    EXPECT(cut(c));
    store_set_impatient(c->store, hurried);
    store_budget(c->store, clock_monotonic() + 200);
    *host = nowhere;
    bool done = store_commit(c->store, &c->error);
    *host = server;
    store_set_impatient(c->store, NULL);
    EXPECT(!done && c->error.code == ERROR_UNAVAILABLE);
    EXPECT(strstr(c->error.text, "cannot be asked whether it took place"));
    EXPECT(create(c, c->store, (struct job){0}, NOW) > 0);
    EXPECT(jobs(c) == 1);
}

/* An executor holds its lock again, so that nobody takes it for dead, and is rung. */
static void again(struct contract *c) {
    struct store_executor self;
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other);
    EXPECT(cut(c));
    bool ready = create(c, c->store, (struct job){0}, NOW) > 0;
    bool alive = !postgres_has_died(other, c->self.id);
    store_bell_empty(c->store);
    bool created = create(c, other, (struct job){0}, NOW) > 0;
    int64_t notified = 0; /* a round trip later it has come */
    db_value(&c->store->db, &c->error, &notified, "SELECT 1", "");
    bool rang = store_has_changes(c->store);
    store_close(other);
    EXPECT(ready && alive && created);
    EXPECT(rang);
}

static bool notify(struct contract *c, struct store *other) {
    char sql[64];
    snprintf(sql, sizeof sql, "NOTIFY moonshift_%u", (unsigned)postgres_of(c->store)->class);
    return db_execute(&other->db, sql, &c->error);
}

/* Reads what the server sends, until rows of the outbox are heard of. *rings: for a turn, too. A
 * bell that nothing is heard of rings for one. */
static bool hears_outbox(struct contract *c, bool *rings) {
    int64_t one = 0;
    *rings = false;
    for (int i = 0; i < 10000 && !store_outbox_waits(c->store); i++) {
        if (db_value(&c->store->db, &c->error, &one, "SELECT 1", "") != YES)
            return false;
        *rings = store_bell_empty(c->store);
    }
    return store_outbox_waits(c->store);
}

/* Reads what others have told as they joined. */
static bool hears_all(struct contract *c) {
    int64_t one = 0;
    bool done = true;
    for (int i = 0; done && i < 100; i++) {
        done = db_value(&c->store->db, &c->error, &one, "SELECT 1", "") == YES;
        store_bell_empty(c->store);
    }
    return done;
}

/* The loop leaves rows of the outbox to another thread; anything else is a turn. */
static void outbox(struct contract *c) {
    struct store_executor self;
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other);
    bool rings = false, quiet = hears_all(c) && !store_outbox_waits(c->store);
    bool told = notify(c, other) && hears_outbox(c, &rings);
    bool looked = postgres_look(c->store, &c->error);
    postgres_look_end(c->store); /* whose answer is not waited for: what comes is behind it */
    bool behind = notify(c, other) && store_bell_empty(c->store);
    store_close(other);
    EXPECT(quiet && told && !rings);
    EXPECT(looked && behind);
}

/* A server that starts again has no session at first. Slots are not seen from another machine. */
static void away(struct contract *c) {
    struct store_executor self;
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other);
    EXPECT(db_execute(&other->db, "UPDATE program SET slots=NULL", &c->error));
    bool there = !postgres_has_died(other, c->self.id);
    struct watched *watched = postgres_of(other)->watched;
    EXPECT(cut(c));
    watched->looked = 0; /* a second later */
    bool spared = !postgres_has_died(other, c->self.id) && watched->since;
    watched->since -= 10000;
    bool early = postgres_has_died(other, c->self.id); /* this executor has just connected */
    postgres_of(other)->session.since -= 10000;
    bool died = postgres_has_died(other, c->self.id);
    store_close(other);
    EXPECT(there && spared && !early);
    EXPECT(died);
}

static int64_t state_after_reaping(struct contract *c, const struct store_executor *executor) {
    struct store_reaped reaped;
    int64_t state = -1;
    bool done = store_reap(c->store, NOW + 86400000, &reaped, &c->error);
    job_free_list(reaped.worker_died);
    return done && db_value(&c->store->db, &c->error, &state,
                            "SELECT state FROM executor WHERE id=?1", "i", executor->id) == YES
               ? state
               : -1;
}

/* Nobody could renew a lease while the server was away. */
static void rested(struct contract *c) {
    struct store_executor self;
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other);
    EXPECT(db_execute(&other->db, "UPDATE executor SET lease_boot=NULL", &c->error));
    EXPECT(cut(c));
    EXPECT(jobs(c) == 0); /* connects again */
    int64_t spared = state_after_reaping(c, &self);
    postgres_of(c->store)->session.since -= DEAD_AFTER;
    int64_t overdue = state_after_reaping(c, &self);
    store_close(other);
    EXPECT(spared == EXECUTOR_LIVE);
    EXPECT(overdue == EXECUTOR_OVERDUE);
}

static const struct check checks[] = {
    {"a store that is closed leaves the numbers of the others, but for old ones", others},
    {"a connection that was lost between transactions is made anew", before},
    {"a transaction that was lost before its commit did not take place", during},
    {"a commit whose answer was lost took place", behind},
    {"a server that has lost commits is told from one that has them", went_back},
    {"an executor goes on after a commit of which nothing can be found out", unknown},
    {"an executor that connects again holds its lock and hears its bell", again},
    {"rows of the outbox alone ring for no turn, unless an answer stands before them", outbox},
    {"leases rest for ten seconds after a server was away", rested},
    {"an executor without its session is taken for dead after ten seconds", away},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
