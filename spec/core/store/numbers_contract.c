/* numbers_contract.c - numbers by which something is known again: none comes round twice, and none
 * of a transaction that was rolled back is believed. */
#include "contract.h"
#include "store/intake.h"

/* ---- locks ---- */

/* The token of a run that gives its job back. */
static int64_t token_of_run(struct contract *c, struct store *store) {
    struct job *job = acquire_one(c, store, NOW);
    int64_t token = job ? job->token : 0;
    struct outcome end = {.kind = OUTCOME_RETURNED};
    return job && settle(c, store, job, end, NOW) == SETTLED ? token : 0;
}

static void tokens(struct contract *c) {
    struct store_executor self;
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    int64_t first = token_of_run(c, c->store), second = token_of_run(c, c->store);
    struct store *other = contract_join(c, "other", NOW, &self);
    int64_t third = other ? token_of_run(c, other) : 0;
    store_close(other);
    EXPECT(0 < first && first < second && second < third);
    other = contract_join(c, "other", NOW, &self);
    int64_t fourth = other ? token_of_run(c, other) : 0;
    store_close(other);
    EXPECT(third < fourth && fourth < token_of_run(c, c->store));
}

/* ---- executors, intakes ---- */

static void executors(struct contract *c) {
    struct store_executor self;
    int64_t last = c->self.id;
    for (int i = 0; i < 3; i++, last = self.id) {
        struct store *other = contract_join(c, "other", NOW, &self);
        EXPECT(other);
        store_close(other);
        EXPECT(self.id > last);
    }
}

static void intakes(struct contract *c) {
    int64_t last = 0;
    for (int i = 0; i < 3; i++) {
        struct store_intake intake = {0};
        bool more = true;
        EXPECT(store_intake_begin(c->store, &intake, 10, NOW, &c->error) && intake.id > last);
        while (more)
            EXPECT(store_intake_step(c->store, &intake, &more, NOW, &c->error));
        last = intake.id;
        store_intake_leave(c->store, &intake);
    }
}

/* ---- versions of what is kept in memory ---- */

/* Both have a version of the same number, of which only the second is there. */
static void catalog(struct contract *c) {
    struct store *other = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(other && store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(create(c, c->store, (struct job){.handler = "one"}, NOW));
    int64_t version = c->store->meta.catalog;
    store_rollback(c->store);
    int64_t two = create(c, other, (struct job){.handler = "two"}, NOW);
    EXPECT(two && other->meta.catalog == version);
    int64_t one = create(c, c->store, (struct job){.handler = "one"}, NOW);
    store_close(other);
    EXPECT(one);
    FIELD(one, "handler", NOW, "one");
    FIELD(two, "handler", NOW, "two");
}

static void peers(struct contract *c) {
    struct store_executor self;
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    int64_t version = ++c->store->meta.executors;
    EXPECT(peers_refresh(c->store, &c->error) && c->store->peers.count == 0);
    store_rollback(c->store);
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other && other->meta.executors == version &&
           store_begin(c->store, STORE_COMMAND, &c->error));
    size_t count = c->store->peers.count;
    store_rollback(c->store);
    store_close(other);
    EXPECT(count == 1);
}

/* A run whose lock was taken away is only looked for when this number is another one. */
static void cuts(struct contract *c) {
    struct store *other = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    int64_t id = create(c, c->store, (struct job){0}, NOW);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(other && id && job);
    job_free(job);
    int64_t before = store_cuts(c->store, true);
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error) &&
           give_cancel(c->store, IDS(id), NOW, &c->error));
    store_rollback(c->store);
    EXPECT(store_cuts(c->store, false) == before);
    EXPECT(give_cancel(other, IDS(id), NOW, &c->error));
    store_close(other);
    EXPECT(store_cuts(c->store, true) == before + 1);
}

static const struct check checks[] = {
    {"a lock's token is never given to another run", tokens},
    {"an executor's id is never given to another one", executors},
    {"an intake's id is never given to another one", intakes},
    {"a catalog that was rolled back is not taken for the next one", catalog},
    {"executors that were rolled back are not taken for the next ones", peers},
    {"a lock that was taken in vain hides none that is taken", cuts},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
