/* upgrade_contract.c - a store that an earlier version has left is brought up to date, whole. */
#include "../contract.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"
#include <sqlite3.h>

static char path[128];

static bool execute(const char *sql) {
    sqlite3 *handle = NULL;
    bool done = sqlite3_open(path, &handle) == SQLITE_OK &&
                sqlite3_exec(handle, sql, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_close(handle);
    return done;
}

static char *file_text(const char *name) {
    FILE *file = fopen(name, "rb");
    char *text = calloc(1, 1 << 16);
    if (file && text)
        text[fread(text, 1, (1 << 16) - 1, file)] = 0;
    if (file)
        fclose(file);
    return text;
}

/* The store of the version as its program wrote it, beside the one under test. */
static bool golden(struct contract *c, int version, char *url, size_t size) {
    char name[64];
    snprintf(path, sizeof path, "%s/golden.db", c->directory);
    snprintf(url, size, "sqlite:%s", path);
    snprintf(name, sizeof name, "spec/core/store/sqlite/golden/v%d.sql", version);
    char *sql = file_text(name);
    bool done = sql && sql[0] && execute(sql);
    free(sql);
    return done;
}

static bool has_state(struct store *store, int64_t id, const char *state) {
    struct error error = {0};
    json_t *job = store_job(store, id, NOW, &error);
    bool has = job && strcmp(json_string_value(json_object_get(job, "state")), state) == 0;
    json_decref(job);
    return has;
}

static void version_1(struct contract *c) {
    char url[160];
    EXPECT(golden(c, 1, url, sizeof url));
    EXPECT(!store_open(url, STORE_READ, &c->settings, &c->error));
    EXPECT(c->error.code == ERROR_CONFIG && strstr(c->error.text, "schema 1 is older"));
    struct store *store = store_open(url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(store);
    json_t *found = store_verify(store, NULL, &c->error);
    json_t *log = store_log(store, NULL, NULL, &c->error);
    bool same = has_state(store, 2, "dead") && has_state(store, 3, "ready") &&
                has_state(store, 5, "scheduled") && has_state(store, 6, "suspended");
    int64_t next = create(c, store, (struct job){.handler = "fine"}, NOW);
    store_close(store);
    size_t entries = json_array_size(log), problems = json_array_size(found);
    json_decref(found);
    json_decref(log);
    EXPECT(problems == 0 && entries > 0 && same && next == 7);
    EXPECT((store = store_open(url, STORE_READ, &c->settings, &c->error)));
    store_close(store);
}

static void version_2(struct contract *c) {
    char url[160];
    EXPECT(golden(c, 2, url, sizeof url));
    EXPECT(!store_open(url, STORE_READ, &c->settings, &c->error));
    EXPECT(c->error.code == ERROR_CONFIG && strstr(c->error.text, "schema 2 is older"));
    struct store *store = store_open(url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(store);
    json_t *found = store_verify(store, NULL, &c->error);
    json_t *jobs = store_jobs(store, NULL, NULL, NOW, &c->error);
    bool same = has_state(store, 1, "scheduled") && has_state(store, 3, "dead") &&
                has_state(store, 5, "locked") && has_state(store, 6, "locked") &&
                has_state(store, 9, "scheduled") && has_state(store, 10, "suspended");
    int64_t next = create(c, store, (struct job){.handler = "fine"}, NOW);
    store_close(store);
    size_t count = json_array_size(jobs), problems = json_array_size(found);
    json_decref(found);
    json_decref(jobs);
    EXPECT(problems == 0 && count == 8 && same && next == 11);
}

static void version_3(struct contract *c) {
    char url[160];
    EXPECT(golden(c, 3, url, sizeof url));
    EXPECT(!store_open(url, STORE_READ, &c->settings, &c->error));
    EXPECT(c->error.code == ERROR_CONFIG && strstr(c->error.text, "schema 3 is older"));
    struct store *store = store_open(url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(store);
    json_t *found = store_verify(store, NULL, &c->error);
    json_t *jobs = store_jobs(store, NULL, NULL, NOW, &c->error);
    bool same = has_state(store, 1, "scheduled") && has_state(store, 3, "dead") &&
                has_state(store, 5, "locked") && has_state(store, 6, "locked") &&
                has_state(store, 9, "suspended") && has_state(store, 10, "suspended") &&
                has_state(store, 11, "suspended") && has_state(store, 12, "scheduled");
    int64_t next = create(c, store, (struct job){.handler = "fine"}, NOW);
    store_close(store);
    size_t count = json_array_size(jobs), problems = json_array_size(found);
    json_decref(found);
    json_decref(jobs);
    EXPECT(problems == 0 && count == 10 && same && next > 12);
}

/* The first of the rows has these texts under the keys. */
static bool has_texts(json_t *rows, const char *const pairs[][2], size_t count) {
    const json_t *row = json_array_get(rows, 0);
    bool has = json_array_size(rows) == 1;
    for (size_t i = 0; has && i < count; i++) {
        const char *text = json_string_value(json_object_get(row, pairs[i][0]));
        has = text && strcmp(text, pairs[i][1]) == 0;
    }
    json_decref(rows);
    return has;
}

static int64_t conflicts(struct store *store, int64_t id) {
    struct error error = {0};
    json_t *job = store_job(store, id, NOW, &error);
    int64_t count = json_integer_value(json_object_get(job, "conflicts"));
    json_decref(job);
    return count;
}

/* True if the newest entry of the job's log has the lines (JSON). */
static bool has_lines(struct store *store, int64_t id, const char *wanted) {
    struct error error = {0};
    struct store_page one = {.limit = 1};
    json_t *job = json_pack("{sI ss}", "job", (json_int_t)id, "message", "on purpose");
    json_t *log = store_log(store, job, &one, &error);
    char *text = json_dumps(json_object_get(json_array_get(log, 0), "lines"), JSON_COMPACT);
    bool same = text && strcmp(text, wanted) == 0;
    free(text);
    json_decref(log);
    json_decref(job);
    return same;
}

static void version_4(struct contract *c) {
    static const char *const belongs[][2] = {
        {"instance", "order-9"}, {"tenant", "acme"}, {"activity", "ship"}};
    char url[160];
    EXPECT(golden(c, 4, url, sizeof url));
    EXPECT(execute("INSERT INTO line SELECT job, n, 1, at, 'a \"line\"' FROM attempt WHERE job=3;"
                   "INSERT INTO line SELECT job, n, 2, at, '[]' FROM attempt WHERE job=3"));
    EXPECT(!store_open(url, STORE_READ, &c->settings, &c->error));
    EXPECT(c->error.code == ERROR_CONFIG && strstr(c->error.text, "schema 4 is older"));
    struct store *store = store_open(url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(store);
    json_t *found = store_verify(store, NULL, &c->error);
    json_t *jobs = store_jobs(store, NULL, NULL, NOW, &c->error);
    json_t *last = json_pack("{sI ss}", "job", (json_int_t)3, "message", "on purpose");
    struct store_page one = {.limit = 1};
    bool same = has_state(store, 1, "scheduled") && has_state(store, 3, "dead") &&
                has_state(store, 5, "locked") && has_state(store, 9, "suspended") &&
                conflicts(store, 1) == 0 && conflicts(store, 7) == 2 && conflicts(store, 12) == 4 &&
                has_texts(query_list(store, &incident_table, NULL, NULL, &c->error), belongs, 3) &&
                has_texts(store_log(store, last, &one, &c->error), belongs, 3) &&
                has_lines(store, 3, "[\"a \\\"line\\\"\",\"[]\"]");
    int64_t next = create(c, store, (struct job){.handler = "fine"}, NOW);
    store_close(store);
    size_t count = json_array_size(jobs), problems = json_array_size(found);
    json_decref(found);
    json_decref(jobs);
    json_decref(last);
    EXPECT(problems == 0 && count == 10 && same && next > 18);
}

/* A lane that runs and those that wait in it are one, though their number has changed: jobs of it
 * that are created now stand behind them. */
static void version_5(struct contract *c) {
    char url[160];
    EXPECT(golden(c, 5, url, sizeof url));
    EXPECT(!store_open(url, STORE_READ, &c->settings, &c->error));
    EXPECT(c->error.code == ERROR_CONFIG && strstr(c->error.text, "schema 5 is older"));
    struct store *store = store_open(url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(store);
    json_t *found = store_verify(store, NULL, &c->error);
    json_t *jobs = store_jobs(store, NULL, NULL, NOW, &c->error);
    bool same = has_state(store, 3, "dead") && has_state(store, 4, "locked") &&
                has_state(store, 9, "scheduled") && has_state(store, 11, "suspended") &&
                has_state(store, 12, "waiting") && has_state(store, 14, "ready");
    int64_t next = create(c, store, (struct job){.handler = "fine", .lane = "order-10"}, NOW);
    same = same && has_state(store, next, "waiting");
    store_close(store);
    size_t count = json_array_size(jobs), problems = json_array_size(found);
    json_decref(found);
    json_decref(jobs);
    EXPECT(problems == 0 && count == 15 && same && next > 16);
    EXPECT(execute("CREATE TEMP TABLE t(n CHECK(n=0)); INSERT INTO t SELECT count(*) FROM job"
                   " WHERE lane>=(1<<62) UNION ALL SELECT count(*)-1 FROM (SELECT lane FROM job"
                   " WHERE lane_key='order-10' GROUP BY lane)"));
}

/* Instances stand where they stood, and the jobs of the dead executor's lane wait for their lock.
 */
static void version_6(struct contract *c) {
    char url[160];
    EXPECT(golden(c, 6, url, sizeof url));
    EXPECT(!store_open(url, STORE_READ, &c->settings, &c->error));
    EXPECT(c->error.code == ERROR_CONFIG && strstr(c->error.text, "schema 6 is older"));
    struct store *store = store_open(url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(store);
    json_t *found = store_verify(store, NULL, &c->error);
    json_t *jobs = store_jobs(store, NULL, NULL, NOW, &c->error);
    bool same = has_state(store, 131, "dead") && has_state(store, 132, "scheduled") &&
                has_state(store, 136, "locked") && has_state(store, 138, "locked");
    store_close(store);
    size_t count = json_array_size(jobs), problems = json_array_size(found);
    json_decref(found);
    json_decref(jobs);
    EXPECT(problems == 0 && count == 6 && same);
    EXPECT(
        execute("CREATE TEMP TABLE t(n CHECK(n=2)); INSERT INTO t SELECT count(*) FROM instance"));
}

/* Runs of schedules that are there know their schedule. */
static void version_7(struct contract *c) {
    char url[160];
    EXPECT(golden(c, 7, url, sizeof url));
    EXPECT(execute("INSERT INTO unique_key(definition, key, job, until)"
                   " VALUES(1, 'ended', 4, 9999999999999), (1, 'none', 5, 9999999999999);"
                   "UPDATE ended SET tenant='north' WHERE job=4"));
    struct store *store = store_open(url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(store);
    json_t *found = store_verify(store, NULL, &c->error);
    store_close(store);
    size_t problems = json_array_size(found);
    json_decref(found);
    EXPECT(problems == 0);
    EXPECT(execute("CREATE TEMP TABLE t(n CHECK(n='backup 1 6, report 2'));"
                   "INSERT INTO t SELECT group_concat(named, ', ') FROM (SELECT schedule||' '||"
                   "group_concat(id, ' ') AS named FROM (SELECT * FROM job WHERE schedule IS NOT"
                   " NULL ORDER BY schedule, id) GROUP BY schedule)"));
    EXPECT(execute("CREATE TEMP TABLE t(n CHECK(n='ended north, none -'));"
                   "INSERT INTO t SELECT group_concat(key||' '||coalesce(tenant, '-'), ', ')"
                   " FROM (SELECT * FROM unique_key ORDER BY key)"));
}

/* How many of three jobs with a rate may start then, beside what has been started. */
static int started(struct contract *c, struct store *store, time_ms now) {
    struct acquire acquire = everything;
    struct job *jobs = NULL;
    int count = 0, paced = 0;
    bool more = false;
    acquire.idle = 9;
    for (int i = 0; i < 3; i++)
        create(c, store, (struct job){.handler = "paced", .priority = 9}, now);
    bool done = store_acquire(store, &acquire, now, &jobs, &count, &more, &c->error);
    for (const struct job *job = jobs; job; job = job->next)
        paced += strcmp(job->handler, "paced") == 0;
    job_free_list(jobs);
    return done ? paced : -1;
}

static void rates_5(struct contract *c) {
    enum { HOUR = 3600000 };
    struct store_executor self = {.name = "later", .workers = 1};
    char url[160];
    EXPECT(golden(c, 5, url, sizeof url));
    EXPECT(execute("INSERT INTO definition(id, name, properties) VALUES(99, 'paced',"
                   " '{\"name\":\"paced\",\"rate\":\"4/PT1H\"}');"
                   "INSERT INTO rate VALUES(99, -9223372036854775807-1, -4611686018427387905),"
                   "(99, 1767225600000, 3), (99, 1767225600000, 4), (99, 1767225600012, 7)"));
    struct store *store = store_open(url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(store);
    bool joined = store_join(store, &self, NOW, LEASE, &c->error);
    int now = started(c, store, NOW + 1000), then = started(c, store, NOW + HOUR);
    store_close(store);
    EXPECT(joined && now == 1 && then == 2);
}

/* The names of the reasons, joined by commas. */
static bool has_reasons(struct store *store, int64_t id, const char *wanted) {
    struct error error = {0};
    size_t i;
    json_t *reason, *job = store_job(store, id, NOW, &error);
    char text[SUSPENSION_TEXT] = "";
    json_array_foreach(json_object_get(job, "suspended_by"), i, reason)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? "," : "",
                 json_string_value(reason));
    json_decref(job);
    return strcmp(text, wanted) == 0;
}

/* What was only suspended until then is held by what is suspended at the upgrade, else by itself.
 */
static void reasons(struct contract *c) {
    char url[160];
    EXPECT(golden(c, 3, url, sizeof url));
    EXPECT(execute("UPDATE definition SET suspended=1 WHERE id=(SELECT definition FROM stream WHERE"
                   " id=(SELECT stream FROM job WHERE id=11));"
                   "UPDATE schedule SET paused=1; DELETE FROM timer WHERE id IN (1, 7, 8);"
                   "UPDATE job SET suspended=1 WHERE id IN (1, 7, 8);"
                   "UPDATE job SET stream=(SELECT id FROM stream WHERE definition<>(SELECT"
                   " definition FROM stream WHERE id=2) LIMIT 1) WHERE id IN (1, 7, 8, 9);"
                   "INSERT INTO batch(id, type, state, jobs_per_seed, invocations, upto, created)"
                   " VALUES(9, 'suspend', 2, 1, 1, 1, 1); UPDATE job SET batch=9 WHERE id=7"));
    struct store *store = store_open(url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(store);
    bool same = has_reasons(store, 1, "schedule") && has_reasons(store, 7, "batch") &&
                has_reasons(store, 8, "job") && has_reasons(store, 9, "instance") &&
                has_reasons(store, 10, "definition,instance") &&
                has_reasons(store, 11, "definition") && has_reasons(store, 12, "");
    store_close(store);
    EXPECT(same);
}

/* What an upgraded store is made of is what a new one is made of. */
static void same_tables(struct contract *c, int version) {
    char url[160], sql[512];
    EXPECT(golden(c, version, url, sizeof url));
    struct store *store = store_open(url, STORE_CREATE, &c->settings, &c->error);
    EXPECT(store);
    store_close(store);
    snprintf(sql, sizeof sql,
             "ATTACH '%s/x.db' AS new; CREATE TEMP TABLE t(n UNIQUE CHECK(n=0));"
             "INSERT INTO t SELECT count(*) FROM (SELECT m.name, c.name AS column FROM"
             " new.sqlite_schema m, pragma_table_info(m.name, 'new') c EXCEPT SELECT m.name,"
             " c.name FROM main.sqlite_schema m, pragma_table_info(m.name, 'main') c);",
             c->directory);
    EXPECT(execute(sql));
}

static void same_tables_1(struct contract *c) {
    same_tables(c, 1);
}

static void same_tables_2(struct contract *c) {
    same_tables(c, 2);
}

static void same_tables_3(struct contract *c) {
    same_tables(c, 3);
}

static void same_tables_4(struct contract *c) {
    same_tables(c, 4);
}

static void same_tables_5(struct contract *c) {
    same_tables(c, 5);
}

static void same_tables_6(struct contract *c) {
    same_tables(c, 6);
}

static void same_tables_7(struct contract *c) {
    same_tables(c, 7);
}

/* Locks are given back although the schema is one of a later program. */
static void parting(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW) == 1 && acquire_count(c, c->store, NOW) == 1);
    EXPECT(db_execute(&c->store->db, "PRAGMA user_version=9", &c->error));
    EXPECT(!store_begin(c->store, STORE_TURN, &c->error) && c->error.code == ERROR_CONFIG);
    EXPECT(store_leave(c->store, &c->error));
    EXPECT(db_execute(&c->store->db, "PRAGMA user_version=8", &c->error));
    EXPECT(matches(c, "{\"locked\":true}") == 0 && matches(c, "{}") == 1);
}

static const struct check checks[] = {
    {"a store of version 1 is upgraded by whoever writes", version_1},
    {"a store of version 2 is upgraded by whoever writes", version_2},
    {"a store of version 3 is upgraded by whoever writes", version_3},
    {"a store of version 4 is upgraded, and its failures know to what they belonged", version_4},
    {"a store of version 5 is upgraded, and its lanes stay lanes", version_5},
    {"a store of version 6 is upgraded, and its instances stand where they stood", version_6},
    {"a store of version 7 is upgraded, and runs of schedules know their schedule", version_7},
    {"the starts of a rate are counted on after the upgrade", rates_5},
    {"what was suspended is held by what is suspended at the upgrade", reasons},
    {"a program leaves its locks free in a store that a later one has upgraded", parting},
    {"a store upgraded from version 1 has every table and column of a new one", same_tables_1},
    {"a store upgraded from version 2 has every table and column of a new one", same_tables_2},
    {"a store upgraded from version 3 has every table and column of a new one", same_tables_3},
    {"a store upgraded from version 4 has every table and column of a new one", same_tables_4},
    {"a store upgraded from version 5 has every table and column of a new one", same_tables_5},
    {"a store upgraded from version 6 has every table and column of a new one", same_tables_6},
    {"a store upgraded from version 7 has every table and column of a new one", same_tables_7},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
