/* gate_contract.c - who may write beside whom. Run with spec/postgres/contracts. */
#include "../contract.h"
#include "store/postgres/db/connection.h"
#include "store/postgres/turn/transaction.h"

enum { SOON = 200 }; /* ms that a writer waits for others here */

static int told = 1;

static int hurried(void) {
    return told;
}

static struct store *another(struct contract *c) {
    struct store *other = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    if (other) {
        store_set_impatient(other, hurried);
        store_budget(other, clock_monotonic() + SOON);
    }
    return other;
}

/* A creation that has written, and is not committed. */
static bool begin_creation(struct contract *c) {
    struct job_spec spec = completed((struct job_spec){0});
    return postgres_draw_ids(c->store, 1, &c->error) &&
           store_begin(c->store, STORE_CREATION, &c->error) &&
           store_create(c->store, &spec, 0, NOW, &c->error);
}

static void creations(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW) == 1); /* now its definition is known */
    EXPECT(begin_creation(c));
    struct store *other = another(c);
    EXPECT(other);
    int64_t first = create(c, other, (struct job){0}, NOW);
    int64_t second = create(c, other, (struct job){0}, NOW);
    store_close(other);
    EXPECT(first > 0 && second > first);
    EXPECT(store_commit(c->store, &c->error));
    EXPECT(acquire_count(c, c->store, NOW) == 4);
}

static void turns(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW) == 1);
    EXPECT(begin_creation(c));
    struct store *other = another(c);
    EXPECT(other);
    bool begun = store_begin(other, STORE_TURN, &c->error);
    store_close(other);
    EXPECT(!begun && c->error.code == ERROR_BUSY);
    EXPECT(store_commit(c->store, &c->error));
    EXPECT(acquire_count(c, c->store, NOW) == 2);
}

static time_ms called_at;

static int called(void) {
    return clock_monotonic() >= called_at;
}

/* Half a minute is how long it waits for a writer while nobody calls. */
static void stops(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW) == 1);
    EXPECT(begin_creation(c));
    struct store *other = another(c);
    EXPECT(other);
    time_ms begun = clock_monotonic();
    called_at = begun + SOON;
    store_set_impatient(other, called);
    bool fine = !store_begin(other, STORE_TURN, &c->error) && c->error.code == ERROR_BUSY;
    store_close(other);
    EXPECT(fine && clock_monotonic() - begun < 20000);
    EXPECT(store_commit(c->store, &c->error));
}

/* The second one hears of the first. */
static void keys(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW) == 1);
    struct store *other = another(c);
    EXPECT(other);
    struct job_spec keyed = {.job = {.unique_key = "one"}, .on_conflict = ON_CONFLICT_REFUSE};
    int64_t first = create_spec(c, c->store, keyed, NOW);
    int64_t second = create_spec(c, other, keyed, NOW);
    store_close(other);
    EXPECT(first > 1 && second <= 0 && c->error.code == ERROR_CONFLICT);
    EXPECT(acquire_count(c, c->store, NOW) == 2);
}

/* What is drawn on a connection that is lost belongs to nobody. */
static void drawn(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW) == 1);
    EXPECT(postgres_draw_ids(c->store, 10, &c->error));
    int64_t next = postgres_of(c->store)->drawn.next;
    EXPECT(next > 1 && create(c, c->store, (struct job){0}, NOW) == next);
    EXPECT(postgres_reconnect(c->store, &c->error));
    EXPECT(create(c, c->store, (struct job){0}, NOW) >= next + 10);
}

/* Writers wait in a queue: who would give up after a second would begin at its end again. */
static void budget(struct contract *c) {
    const time_ms begun = clock_monotonic();
    EXPECT(transaction_patience(c->store, begun) == begun + 30000);
    store_set_impatient(c->store, hurried);
    EXPECT(transaction_patience(c->store, begun) == begun + 1000);
    store_budget(c->store, begun + 5000);
    EXPECT(transaction_patience(c->store, begun) == begun + 5000);
    EXPECT(transaction_patience(c->store, begun + 4990) == begun + 5090);
    store_budget(c->store, begun + 60000);
    EXPECT(transaction_patience(c->store, begun) == begun + 30000);
    told = 2;
    EXPECT(transaction_patience(c->store, begun) == begun + 1000);
    told = 1;
}

static const struct check checks[] = {
    {"creations run beside each other", creations},
    {"a turn waits for a creation", turns},
    {"who is called to stop while it waits for a creation waits no longer", stops},
    {"who is told to stop waits as long as it has time", budget},
    {"of two creations with one key one is told of the other", keys},
    {"ids that were drawn before a loss are not given", drawn},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
