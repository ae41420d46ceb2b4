/* mark_contract.c - pages that go on behind the last job that was taken, until the bell rings. Run
 * with spec/postgres/contracts. */
#include "../contract.h"
#include "store/postgres/db/connection.h"
#include "store/rules/place/mark.h"
#include <poll.h>

static bool take(struct contract *c, int expected) {
    struct acquire acquire = everything;
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    acquire.idle = 4;
    bool done = store_acquire(c->store, &acquire, NOW, &jobs, &count, &more, &c->error);
    job_free_list(jobs);
    return done && count == expected;
}

static bool rings(struct contract *c) {
    struct pollfd bell = {.fd = store_bell(c->store), .events = POLLIN};
    return poll(&bell, 1, 10000) == 1;
}

/* A job is taken while pages are slow, then another process creates a better one. */
static bool take_then_better(struct contract *c, struct store *other) {
    bool done = other && create(c, c->store, (struct job){.retries = 3}, NOW);
    store_bell_empty(c->store);
    c->store->marks.placed = c->store->placed;
    c->store->marks.until = clock_monotonic() + 3600000;
    return done && take(c, 1) && create(c, other, (struct job){.retries = 3, .priority = 9}, NOW);
}

static void emptied(struct contract *c) {
    struct store_executor self;
    struct store *other = contract_join(c, "other", NOW, &self);
    bool fine = take_then_better(c, other) && take(c, 0) && rings(c);
    store_bell_empty(c->store);
    fine = fine && take(c, 1);
    store_close(other);
    EXPECT(fine);
}

static void asked(struct contract *c) {
    struct store_executor self;
    struct store *other = contract_join(c, "other", NOW, &self);
    bool fine = take_then_better(c, other) && rings(c) && store_has_changes(c->store) && take(c, 1);
    store_close(other);
    EXPECT(fine);
}

static const struct check checks[] = {
    {"a better job is seen once the bell has been emptied", emptied},
    {"a better job is seen once the store has been asked for changes", asked},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
