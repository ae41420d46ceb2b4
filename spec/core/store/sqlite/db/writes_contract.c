/* writes_contract.c - what is counted of the writes of a process. */
#include "../../contract.h"

static struct store_writes since(struct store_writes before) {
    struct store_writes now = store_writes();
    return (struct store_writes){.syncs = now.syncs - before.syncs,
                                 .commits = now.commits - before.commits,
                                 .writes = now.writes - before.writes,
                                 .log = now.log - before.log};
}

static void one_commit(struct contract *c) {
    struct store_writes before = store_writes();
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    struct store_writes made = since(before);
    EXPECT(made.commits == 1);
    EXPECT(made.syncs >= 1 && made.log > 4096);
}

static void many_in_one(struct contract *c) {
    struct store_writes before = store_writes();
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    for (int i = 0; i < 100; i++)
        EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    EXPECT(since(before).commits == 0);
    EXPECT(store_commit(c->store, &c->error));
    EXPECT(since(before).commits == 1);
}

static void gathered(struct contract *c) {
    const int64_t piece = 64 * 1024;
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    for (int i = 0; i < 5000; i++)
        EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    struct store_writes before = store_writes();
    EXPECT(store_commit(c->store, &c->error));
    struct store_writes made = since(before);
    EXPECT(made.log > 5 * piece);
    EXPECT(made.writes <= made.log / piece + 2);
    before = store_writes();
    EXPECT(store_tend(c->store, CHORE_LOG, 0, NULL, &c->error));
    EXPECT(since(before).writes <= made.log / piece + 2);
}

static int64_t count_elsewhere(struct contract *c) {
    struct store *other = store_open(c->url, STORE_READ, &c->settings, &c->error);
    int64_t count = -1, sound = 0;
    if (other && (db_value(&other->db, &c->error, &sound,
                           "SELECT count(*) FROM pragma_integrity_check"
                           " WHERE integrity_check='ok'",
                           "") != YES ||
                  !sound || !store_jobs_count(other, NULL, NOW, &count, &c->error)))
        count = -1;
    store_close(other);
    return count;
}

static bool create_many(struct contract *c, int count) {
    bool done = store_begin(c->store, STORE_COMMAND, &c->error);
    for (int i = 0; done && i < count; i++)
        done = create(c, c->store, (struct job){.retries = 3}, NOW);
    return done && store_commit(c->store, &c->error);
}

/* What was moved is read from the database from then on. */
static void moved_in_part(struct contract *c) {
    EXPECT(create_many(c, 3000));
    struct store *reader = store_open(c->url, STORE_READ, &c->settings, &c->error);
    EXPECT(reader && db_execute(&reader->db, "BEGIN; SELECT count(*) FROM job", &c->error));
    EXPECT(create_many(c, 3000));
    struct store_writes before = store_writes();
    EXPECT(store_tend(c->store, CHORE_LOG, 0, NULL, &c->error));
    EXPECT(since(before).writes > 0);
    EXPECT(count_elsewhere(c) == 6000);
    store_close(reader);
    EXPECT(store_tend(c->store, CHORE_LOG, 0, NULL, &c->error));
    EXPECT(count_elsewhere(c) == 6000);
}

static void nothing_written(struct contract *c) {
    struct store_writes before = store_writes();
    int64_t count = -1;
    EXPECT(store_jobs_count(c->store, NULL, NOW, &count, &c->error) && count == 0);
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(store_commit(c->store, &c->error));
    struct store_writes made = since(before);
    EXPECT(made.commits == 0 && made.syncs == 0 && made.log == 0);
}

static void taken_back(struct contract *c) {
    struct store_writes before = store_writes();
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    store_rollback(c->store);
    EXPECT(since(before).commits == 0);
}

static void checkpoint(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    struct store_writes before = store_writes();
    EXPECT(store_tend(c->store, CHORE_LOG, 0, NULL, &c->error));
    struct store_writes made = since(before);
    EXPECT(made.commits == 0 && made.syncs >= 1);
}

static void other_connection(struct contract *c) {
    struct store *other = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(other);
    struct store_writes before = store_writes();
    EXPECT(create(c, other, (struct job){.retries = 3}, NOW));
    struct store_writes made = since(before);
    store_close(other);
    EXPECT(made.commits == 1);
}

static void slower(struct contract *c) {
    EXPECT(store_writes_start(20, &c->error));
    int64_t from = clock_monotonic_us();
    struct store_writes before = store_writes();
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW));
    EXPECT(clock_monotonic_us() - from >= since(before).syncs * 20000);
    EXPECT(store_writes_start(0, &c->error));
}

static const struct check checks[] = {
    {"a transaction is one commit, a sync, and its pages in the log", one_commit},
    {"however much it writes it is one commit", many_in_one},
    {"a commit and a checkpoint of many pages are written in long pieces", gathered},
    {"a checkpoint that a reader keeps from a part of the log moves the rest", moved_in_part},
    {"a question and an empty transaction write nothing", nothing_written},
    {"what is taken back is no commit", taken_back},
    {"a checkpoint syncs and commits nothing", checkpoint},
    {"each sync takes as much longer as was asked for", slower},
    {"every connection of the process counts", other_connection},
};

int main(void) {
    struct error error = {0};
    return store_writes_start(0, &error)
               ? contract_run(checks, sizeof checks / sizeof *checks, false)
               : 1;
}
