/* bell_contract.c - a commit rings for the executors that serve what it has made ready, and once.
 */
#include "../../contract.h"

enum { STREAMS = 40 }; /* more than are told apart */

/* An executor that takes jobs of these priorities. */
static struct store *listens(struct contract *c, int64_t min, int64_t max) {
    static struct acquire serves;
    struct store_executor self = {.name = "other", .workers = 1, .serves = &serves};
    struct store *store = store_open(c->url, STORE_CREATE, &c->settings, &c->error);
    serves = everything;
    serves.priority_min = min;
    serves.priority_max = max;
    if (!store || !store_join(store, &self, NOW, LEASE, &c->error))
        return NULL;
    store_has_changes(store);
    return store;
}

static bool make(struct contract *c, int64_t priority) {
    return create(c, c->store, (struct job){.priority = priority}, NOW) != 0;
}

static void once(struct contract *c) {
    struct store *other = listens(c, INT64_MIN, INT64_MAX);
    EXPECT(other && make(c, 0) && store_has_changes(other) && !store_has_changes(other));
    EXPECT(acquire_count(c, c->store, NOW) == 1 && !store_has_changes(other));
    EXPECT(make(c, 0) && store_has_changes(other));
    store_close(other);
}

static void of_its_range(struct contract *c) {
    struct store *other = listens(c, 3, 5);
    EXPECT(other && make(c, 2) && make(c, 6) && !store_has_changes(other));
    EXPECT(make(c, 3) && store_has_changes(other) && make(c, 5) && store_has_changes(other));
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(make(c, 7) && make(c, 4) && make(c, 8) && store_commit(c->store, &c->error));
    EXPECT(store_has_changes(other));
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(make(c, 2) && make(c, 4) && make(c, 1) && store_commit(c->store, &c->error));
    EXPECT(store_has_changes(other));
    store_close(other);
}

static void undone(struct contract *c) {
    struct store *other = listens(c, INT64_MIN, INT64_MAX);
    EXPECT(make(c, 0) && acquire_count(c, c->store, NOW) == 1 && store_has_changes(other));
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error) && make(c, 0));
    store_rollback(c->store);
    EXPECT(!store_has_changes(other));
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error) && store_commit(c->store, &c->error));
    EXPECT(!store_has_changes(other));
    store_close(other);
}

/* The last alone is in its range. */
static void many_streams(struct contract *c) {
    struct store *other = listens(c, 3, 5);
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    for (int i = 0; i < STREAMS; i++) {
        char name[16];
        snprintf(name, sizeof name, "h%d", i);
        struct job job = {.handler = name, .priority = i + 1 < STREAMS ? 9 : 4};
        EXPECT(create(c, c->store, job, NOW));
    }
    EXPECT(store_commit(c->store, &c->error) && store_has_changes(other));
    store_close(other);
}

static const struct check checks[] = {
    {"a bell rings for the commit that has made something ready, and for no later one", once},
    {"it rings for jobs in the executor's range of priorities", of_its_range},
    {"what is rolled back does not ring", undone},
    {"of more streams than are told apart it rings for all", many_streams},
};

int main(void) {
    return contract_run_of_file(checks, sizeof checks / sizeof *checks, false);
}
