/* upgrade_contract.c - a store comes to the next version of its schema while a program of the
 * version before works with it. Run with spec/postgres/contracts. */
#include "../../contract.h"
#include "store/postgres/db/connection.h"
#include "store/postgres/life/upgrade.h"
#include <pthread.h>

static const struct upgrade next[] = {
    {.version = 9,
     .widen = "ALTER TABLE job ADD COLUMN extra bigint NOT NULL DEFAULT 0;"
              "CREATE TABLE more(id bigint PRIMARY KEY)",
     .index = "CREATE INDEX CONCURRENTLY IF NOT EXISTS job_extra ON job(extra)",
     .narrow = "ALTER TABLE progress RENAME TO progress_of"},
    {.version = 10, .widen = "ALTER TABLE more ADD COLUMN text text"},
    {0},
};

/* What is opened in between is of a newer program. */
static struct store *open_newer(struct contract *c, enum store_mode mode) {
    const struct upgrade *own = postgres_upgrades;
    postgres_upgrades = next;
    struct store *store = store_open(c->url, mode, &c->settings, &c->error);
    postgres_upgrades = own;
    return store;
}

static bool migrated(struct contract *c, struct store_schema *schema) {
    struct store *store = open_newer(c, STORE_MIGRATE);
    if (store)
        *schema = store->schema;
    store_close(store);
    return store != NULL;
}

static bool works(struct contract *c) {
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    bool done = create(c, c->store, (struct job){0}, NOW) > 0 &&
                store_begin(c->store, STORE_TURN, &c->error) &&
                store_acquire(c->store, &everything, NOW, &jobs, &count, &more, &c->error) &&
                store_commit(c->store, &c->error);
    job_free_list(jobs);
    return done && count >= 1;
}

static void refused(struct contract *c) {
    EXPECT(!open_newer(c, STORE_WRITE) && c->error.code == ERROR_CONFIG);
    EXPECT(strstr(c->error.text, "schema 8 is older than this program's 10 (\"moonshift store "
                                 "migrate\" brings it up to date)"));
    EXPECT(!open_newer(c, STORE_CREATE) && !open_newer(c, STORE_READ));
}

static void rolling(struct contract *c) {
    struct store_schema schema = {0};
    EXPECT(works(c));
    EXPECT(migrated(c, &schema));
    EXPECT(schema.was == 8 && schema.version == 10 && schema.oldest == 8);
    EXPECT(schema.waits == 9 && strcmp(schema.for_whom, "node") == 0);
    EXPECT(contract_number(c, "SELECT count(*) FROM pg_indexes WHERE indexname='job_extra'"
                              " AND schemaname=current_schema()") == 1);
    EXPECT(works(c)); /* the older one goes on */
    struct store *newer = open_newer(c, STORE_WRITE);
    EXPECT(newer);
    bool created = create(c, newer, (struct job){0}, NOW) > 0;
    store_close(newer);
    EXPECT(created && works(c));
}

/* An index whose building was broken off is built again. */
static void index_again(struct contract *c) {
    struct store_schema schema = {0};
    EXPECT(migrated(c, &schema));
    EXPECT(db_execute(&c->store->db,
                      "UPDATE pg_index SET indisvalid=false WHERE indexrelid='job_extra'::regclass",
                      &c->error));
    EXPECT(migrated(c, &schema));
    EXPECT(contract_number(c, "SELECT count(*) FROM pg_index WHERE indisvalid"
                              " AND indexrelid='job_extra'::regclass") == 1);
}

/* Reads the columns that it knows, through statements that it has prepared before. */
static void narrowed(struct contract *c) {
    struct store_schema schema = {0};
    EXPECT(migrated(c, &schema) && schema.waits == 9);
    struct store *idle = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(idle);
    EXPECT(store_leave(c->store, &c->error));
    bool done = migrated(c, &schema) && !schema.waits && schema.oldest == 9;
    bool begins = store_begin(idle, STORE_TURN, &c->error);
    bool told = !begins && c->error.code == ERROR_CONFIG &&
                strstr(c->error.text, "schema 10 is newer than this program's 8");
    store_close(idle);
    EXPECT(done && told);
    EXPECT(!store_open(c->url, STORE_WRITE, &c->settings, &c->error));
    EXPECT(migrated(c, &schema) && schema.was == 10 && !schema.waits); /* nothing is left to do */
    db_execute(&c->store->db,
               "ALTER TABLE progress_of RENAME TO progress;"
               "UPDATE schema_version SET version=8, oldest=8",
               NULL);
}

/* Locks are given back although the schema is one of later programs. */
static void parting(struct contract *c) {
    EXPECT(works(c));
    EXPECT(db_execute(&c->store->db, "UPDATE schema_version SET version=9, oldest=9", &c->error));
    EXPECT(!store_begin(c->store, STORE_TURN, &c->error) && c->error.code == ERROR_CONFIG);
    EXPECT(store_leave(c->store, &c->error));
    EXPECT(contract_number(c, "SELECT count(*) FROM locked") == 0);
    EXPECT(db_execute(&c->store->db, "UPDATE schema_version SET version=8, oldest=8", &c->error));
}

/* ---- somebody in the way ---- */

/* How many wait for a lock of this store. */
static int64_t waiting(struct contract *c) {
    int64_t count = -1;
    db_value(&c->store->db, NULL, &count,
             "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype='advisory'"
             " AND classid::bigint=?1",
             "i", (int64_t)(uint32_t)postgres_of(c->store)->class);
    return count;
}

static struct store *writer;

/* Ends its transaction once the one that waits for it has given up for the first time. */
static void *write_long(void *arg) {
    struct contract *c = arg;
    while (waiting(c) == 0)
        continue;
    while (waiting(c) > 0)
        continue;
    store_rollback(writer);
    return NULL;
}

static void in_the_way(struct contract *c) {
    struct store_schema schema = {0};
    pthread_t thread;
    writer = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(writer && store_begin(writer, STORE_COMMAND, &c->error));
    EXPECT(pthread_create(&thread, NULL, write_long, c) == 0);
    bool done = migrated(c, &schema);
    pthread_join(thread, NULL);
    store_close(writer);
    EXPECT(done && schema.version == 10);
}

/* What history was found by until it was filed behind. */
#define INDEXES                                                                                    \
    "SELECT count(*) FROM pg_indexes WHERE schemaname=current_schema()"                            \
    " AND indexname IN ('ended_job', 'ended_instance', 'trail_instance')"

static void history_filed_first(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW) > 0);
    EXPECT(db_execute(&c->store->db,
                      "CREATE INDEX ended_job ON ended(job, seq);"
                      "CREATE INDEX ended_instance ON ended(instance, seq)"
                      " WHERE instance IS NOT NULL;"
                      "CREATE INDEX trail_instance ON trail(instance, seq);"
                      "INSERT INTO ended(job, stream, outcome, at)"
                      " SELECT 1000+i, 1, 1, 1 FROM generate_series(1, 20001) i",
                      &c->error));
    struct store *store = store_open(c->url, STORE_MIGRATE, &c->settings, &c->error);
    store_close(store);
    EXPECT(store);
    EXPECT(contract_number(c, "SELECT count(*) FROM ended_by_job") == 20001);
    EXPECT(contract_number(c, INDEXES) == 0);
}

static const struct check checks[] = {
    {"an earlier version is refused to all but a migration", refused},
    {"a program of the version before works with a store that is wider than it knows", rolling},
    {"an index that was not built to its end is built again", index_again},
    {"what that program needs goes once no executor has it, and then it is refused", narrowed},
    {"an executor that is refused gives its locks back", parting},
    {"a step that meets a lock for two seconds is tried again", in_the_way},
    {"history is filed before the indexes go by which it was found", history_filed_first},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
