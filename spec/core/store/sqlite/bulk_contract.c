/* bulk_contract.c - a list of jobs becomes the same rows as its jobs one by one. */
#include "../contract.h"
#include "store/sqlite/db/connection.h"

enum { MANY = 10000 };

static const char *const names[] = {"a", "bb", "ccc", "dddd"};
static const char *const keys[] = {"k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8"};

static unsigned chance(unsigned *seed, unsigned of) {
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 16) % of;
}

/* Nothing in most places, a name in the others. */
static const char *some(unsigned *seed) {
    return chance(seed, 4) ? NULL : names[chance(seed, 4)];
}

static struct job job_make(unsigned *seed) {
    struct job job = {.handler = names[chance(seed, 2)], .due = TIME_NONE};
    if (chance(seed, 3) == 0)
        return job; /* as short as can be */
    job.due = chance(seed, 3) ? TIME_NONE : NOW - 500 + (time_ms)chance(seed, 1000);
    job.type = job.due == TIME_NONE ? JOB_MESSAGE : JOB_TIMER;
    job.term = job.due == TIME_NONE ? NULL : "PT1S";
    job.priority = (int64_t)chance(seed, 5) - 2;
    job.retries = (int32_t)chance(seed, 4);
    job.suspended = chance(seed, 8) == 0;
    job.lane = some(seed);
    job.exclusive = job.lane && chance(seed, 4);
    job.instance = some(seed);
    job.root = some(seed);
    job.activity = some(seed);
    job.tenant = some(seed);
    job.payload = some(seed);
    job.payload_size = job.payload ? strlen(job.payload) : 0;
    job.unique_key = chance(seed, 10) ? NULL : keys[chance(seed, 8)];
    if (job.unique_key)
        job.tenant = "one"; /* a job of another tenant would be refused */
    return job;
}

/* Writes them as one list, or each for itself. */
static bool write_all(struct contract *c, struct store *store, unsigned seed, int count,
                      bool listed) {
    struct job_spec *specs = calloc((size_t)count, sizeof *specs);
    bool fine = specs != NULL;
    for (int i = 0; fine && i < count; i++) {
        specs[i].job = job_make(&seed);
        specs[i].next = listed && i + 1 < count ? &specs[i + 1] : NULL;
        fine = listed || store_create(store, &specs[i], 0, NOW, &c->error);
    }
    fine = fine && (!listed || store_create(store, specs, 0, NOW, &c->error));
    free(specs);
    return fine;
}

/* Every row of a table, as text that is the caller's; NULL: error. */
static char *rows(struct contract *c, struct store *store, const char *sql) {
    sqlite3_stmt *statement = NULL;
    char *text = NULL;
    if (sqlite3_prepare_v2(store->db.handle, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        text = strdup((const char *)sqlite3_column_text(statement, 0));
    else
        db_fail(&store->db, &c->error);
    sqlite3_finalize(statement);
    return text;
}

static bool same_rows(struct contract *c, struct store *one, struct store *other) {
    static const char *const tables[] = {
        "SELECT group_concat(json_array(id, rev, stream, priority, due, created, place, retries,"
        " attempt, crashes, suspended, lane, lane_key, instance, root, activity, tenant, batch,"
        " repeat, unique_key, CAST(payload AS TEXT), message, term), char(10)) FROM job",
        "SELECT group_concat(json_array(stream, rank, place, id, lane), char(10)) FROM ready",
        "SELECT group_concat(json_array(due, id, stream, rank, lane), char(10)) FROM timer",
        "SELECT group_concat(json_array(definition, key, job, until, tenant), char(10)) FROM "
        "unique_key"};
    bool same = true;
    for (size_t i = 0; same && i < sizeof tables / sizeof *tables; i++) {
        char *left = rows(c, one, tables[i]), *right = rows(c, other, tables[i]);
        same = left && right && strcmp(left, right) == 0 && strchr(left, '\n');
        free(left);
        free(right);
    }
    return same;
}

static void alike(struct contract *c) {
    struct store *other = store_open("sqlite::memory:", STORE_CREATE, &c->settings, &c->error);
    EXPECT(other);
    bool fine = true;
    for (unsigned seed = 1; fine && seed <= 100; seed++) {
        int count = 1 + (int)(seed * 7 % 60);
        fine = write_all(c, c->store, seed, count, true) && write_all(c, other, seed, count, false);
    }
    fine = fine && write_all(c, c->store, 7, MANY, true) && write_all(c, other, 7, MANY, false);
    fine = fine && same_rows(c, c->store, other);
    store_close(other);
    EXPECT(fine);
}

static int64_t count_of(struct contract *c) {
    int64_t count = -1;
    db_value(&c->store->db, &c->error, &count, "SELECT count(*) FROM job", "");
    return count;
}

static void whole(struct contract *c) {
    struct job_spec plain = completed((struct job_spec){.job.handler = "a"}), last = plain;
    last.job.unique_key = "k";
    last.on_conflict = ON_CONFLICT_REFUSE;
    EXPECT(store_create(c->store, &last, 0, NOW, &c->error) && last.job.id == 1);
    struct job_spec list[3] = {plain, plain, last};
    list[0].next = &list[1];
    list[1].next = &list[2];
    list[2].job.id = 0;
    EXPECT(!store_create(c->store, list, 0, NOW, &c->error));
    EXPECT_ERROR("unique \"k\" of \"a\" is held by job 1");
    EXPECT(count_of(c) == 1 && acquire_count(c, c->store, NOW) == 1);
    list[1].next = NULL;
    list[0].job.id = list[1].job.id = 0;
    EXPECT(store_create(c->store, list, 0, NOW, &c->error) && count_of(c) == 3);
    EXPECT(acquire_count(c, c->store, NOW) == 2);
}

static const struct check checks[] = {
    {"a list of jobs becomes the same rows as its jobs one by one", alike},
    {"a list of which one job is refused leaves nothing behind", whole},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
