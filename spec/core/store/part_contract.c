/* part_contract.c - a part of a transaction that is undone leaves nothing behind, in the database
 * and in memory, and what the transaction did before it stays. */
#include "contract.h"
#include "store/rules/ground/state.h"
#include "store/rules/ground/transaction.h"

struct part {
    struct contract *c;
    const char *handler;
    struct job *job;
};

static bool undone(struct contract *c, bool (*call)(struct store *, void *, struct error *),
                   struct part *part) {
    const struct meta before = c->store->meta;
    bool back = false;
    struct error ignored = {0};
    part->c = c;
    return !txn_try(c->store, call, part, &back, &ignored) && back &&
           memcmp(&before, &c->store->meta, sizeof before) == 0;
}

static bool creates(struct store *store, void *arg, struct error *error) {
    const struct part *part = arg;
    struct job_spec spec = completed((struct job_spec){.job.handler = part->handler});
    (void)(store_create(store, &spec, 0, NOW, error) &&
           error_set(error, ERROR_CONFLICT, "not wanted"));
    return false;
}

/* Streams and definitions that it made are made again, and another process reads them. */
static void new_handlers(struct contract *c) {
    struct store_executor self;
    struct part one = {.handler = "one"};
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(create(c, c->store, (struct job){.handler = "old"}, NOW));
    EXPECT(acquire_count(c, other, NOW) == 1);
    EXPECT(store_begin(c->store, STORE_TURN, &c->error));
    EXPECT(create(c, c->store, (struct job){.handler = "before"}, NOW));
    EXPECT(undone(c, creates, &one));
    EXPECT(create(c, c->store, (struct job){.handler = "one"}, NOW));
    EXPECT(create(c, c->store, (struct job){.handler = "before"}, NOW));
    EXPECT(store_commit(c->store, &c->error));
    EXPECT(matches(c, "{\"handler\":\"one\"}") == 1 && matches(c, "{\"handler\":\"before\"}") == 2);
    EXPECT(create(c, other, (struct job){.handler = "one"}, NOW));
    EXPECT(acquire_count(c, other, NOW) == 4);
    store_close(other);
}

static bool settles(struct store *store, void *arg, struct error *error) {
    struct part *part = arg;
    (void)store;
    (void)(settle(part->c, part->c->store, job_copy(part->job), (struct outcome){0}, NOW) ==
               SETTLED &&
           error_set(error, ERROR_CONFLICT, "not wanted"));
    return false;
}

/* As at the end of a run: its row is removed with the transaction. */
static void ends_of_runs(struct contract *c) {
    struct part part = {0};
    EXPECT(create(c, c->store, (struct job){.lane = "a"}, NOW) &&
           create(c, c->store, (struct job){.lane = "a"}, NOW) &&
           create(c, c->store, (struct job){.lane = "b"}, NOW) &&
           create(c, c->store, (struct job){.lane = "b"}, NOW));
    struct job *first = acquire_one(c, c->store, NOW);
    EXPECT((part.job = acquire_one(c, c->store, NOW)));
    EXPECT(store_begin(c->store, STORE_TURN, &c->error));
    EXPECT(settle(c, c->store, first, (struct outcome){0}, NOW) == SETTLED);
    EXPECT(undone(c, settles, &part) && store_commit(c->store, &c->error));
    EXPECT(matches(c, "{}") == 3 && matches(c, "{\"locked\":true}") == 1);
    EXPECT(acquire_count(c, c->store, NOW) == 1);
    EXPECT(settle(c, c->store, part.job, (struct outcome){0}, NOW) == SETTLED);
    EXPECT(matches(c, "{}") == 2 && acquire_count(c, c->store, NOW) == 1);
}

static const struct check checks[] = {
    {"handlers that it made known are made known again", new_handlers},
    {"runs that it ended go on, and those that ended before it stay ended", ends_of_runs},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
