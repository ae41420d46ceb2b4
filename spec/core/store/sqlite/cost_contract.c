/* cost_contract.c - what a turn costs, in steps of the database's machine, not in time: rows that
 * are not acquirable cost nothing, however many there are (rules §2, §4). */
#include "../contract.h"
#include "store/intake.h"
#include "store/rules/ground/kinds.h"
#include "store/sqlite/db/connection.h"

#define MANY 20000
#define PAGE 64

/* Of all statements since the last call. */
static int64_t status(struct store *store, int what) {
    int64_t sum = 0;
    for (sqlite3_stmt *one = NULL; (one = sqlite3_next_stmt(store->db.handle, one));)
        sum += sqlite3_stmt_status(one, what, 1);
    return sum;
}

static int64_t steps(struct store *store) {
    return status(store, SQLITE_STMTSTATUS_VM_STEP);
}

static int64_t statements(struct store *store) {
    return status(store, SQLITE_STMTSTATUS_RUN);
}

static bool make(struct contract *c, int count, struct job job) {
    bool done = store_begin(c->store, STORE_COMMAND, &c->error);
    for (int i = 0; done && i < count; i++)
        done = create(c, c->store, job, NOW) != 0;
    return store_commit(c->store, &c->error) && done;
}

/* Jobs of a thousand lanes, or of none. */
static bool make_lanes(struct contract *c, int count, bool lanes) {
    bool done = store_begin(c->store, STORE_COMMAND, &c->error);
    char lane[24];
    for (int i = 0; done && i < count; i++) {
        snprintf(lane, sizeof lane, "lane-%d", i % 1000);
        done = create(c, c->store, (struct job){.lane = lanes ? lane : NULL}, NOW) != 0;
    }
    return store_commit(c->store, &c->error) && done;
}

static bool settle_all(struct contract *c, struct job *list) {
    bool fine = true;
    while (list) {
        struct job *next = list->next;
        fine = settle(c, c->store, list, (struct outcome){0}, NOW) == SETTLED && fine;
        list = next;
    }
    return fine;
}

/* One turn: a page is acquired and settled in one transaction. Its steps; -1: it went wrong. */
static int64_t turn(struct contract *c, int expected) {
    struct acquire command = everything;
    struct job *list = NULL;
    int count = 0;
    bool more = false;
    command.want = PAGE;
    steps(c->store);
    bool done = store_begin(c->store, STORE_COMMAND, &c->error) &&
                store_acquire(c->store, &command, NOW, &list, &count, &more, &c->error) &&
                settle_all(c, list) && store_commit(c->store, &c->error);
    return done && count == expected ? steps(c->store) : -1;
}

/* The turn costs what it cost before there was so much else, give or take a tenth. */
#define SAME(before, after)                                                                        \
    EXPECT((before) > 0 && (after) > 0 && (after) <= (before) + (before) / 10)

static void future_timers(struct contract *c) {
    EXPECT(make_lanes(c, 3 * PAGE, false));
    int64_t before = turn(c, PAGE);
    EXPECT(make(c, MANY, (struct job){.due = NOW + 1000, .priority = 100}));
    int64_t after = turn(c, PAGE);
    SAME(before, after);
}

static void suspended_jobs(struct contract *c) {
    EXPECT(make_lanes(c, 3 * PAGE, false));
    int64_t before = turn(c, PAGE);
    EXPECT(make(c, MANY, (struct job){.suspended = true, .priority = 100}));
    int64_t after = turn(c, PAGE);
    SAME(before, after);
}

static void locked_by_others(struct contract *c) {
    struct store_executor self;
    struct store *other = contract_join(c, "other", NOW, &self);
    struct acquire all = everything;
    struct job *list = NULL;
    int count = 0;
    bool more = false;
    EXPECT(make(c, MANY, (struct job){.priority = 100}));
    all.want = MANY;
    EXPECT(store_acquire(other, &all, NOW, &list, &count, &more, &c->error) && count == MANY);
    job_free_list(list);
    EXPECT(make_lanes(c, 3 * PAGE, true));
    int64_t after = turn(c, PAGE);
    store_close(other); /* gives them back */
    EXPECT(make(c, 0, (struct job){0}));
    EXPECT(db_execute(&c->store->db,
                      "DELETE FROM ready WHERE rank=~100; UPDATE meta SET value=(SELECT count(*)"
                      " FROM ready r WHERE key='waiting/ready/'||r.stream) WHERE key LIKE"
                      " 'waiting/ready/%'",
                      &c->error));
    EXPECT(db_execute(&c->store->db, "DELETE FROM job WHERE priority=100", &c->error));
    int64_t before = turn(c, PAGE);
    SAME(before, after);
}

static void foreign_streams(struct contract *c) {
    EXPECT(make_lanes(c, 3 * PAGE, false));
    int64_t before = turn(c, PAGE);
    json_t *names = json_pack("[{ss}]", "name", "work");
    struct definitions work = {0};
    EXPECT(definitions_read(&work, names));
    json_decref(names);
    EXPECT(make(c, MANY, (struct job){.handler = "foreign", .priority = 100}));
    struct acquire command = everything;
    command.handlers = &work;
    command.want = PAGE;
    struct job *list = NULL;
    int count = 0;
    bool more = false;
    steps(c->store);
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error) &&
           store_acquire(c->store, &command, NOW, &list, &count, &more, &c->error));
    EXPECT(count == PAGE && settle_all(c, list) && store_commit(c->store, &c->error));
    int64_t after = steps(c->store);
    definitions_clear(&work);
    SAME(before, after);
}

/* A lane that runs with so many behind it; they are put aside by and by. False: it went wrong. */
static bool make_busy(struct contract *c, struct job **runs) {
    struct acquire command = everything;
    struct job *list = NULL;
    int count = 0;
    bool more = true;
    if (!make(c, MANY, (struct job){.lane = "busy", .priority = 9}) ||
        !(*runs = acquire_one(c, c->store, NOW)))
        return false;
    command.want = PAGE;
    for (int i = 0; more && i < MANY / 500; i++) {
        if (!store_acquire(c->store, &command, NOW, &list, &count, &more, &c->error))
            return false;
        job_free_list(list);
    }
    return true;
}

/* The steps of an acquisition of so many, which finds as many and keeps them; -1: it went wrong. */
static int64_t taking(struct contract *c, int want, int run, int found) {
    struct acquire command = everything;
    struct job *list = NULL;
    int count = 0;
    bool more = false;
    command.want = want;
    command.lane_run = run;
    steps(c->store);
    bool done = store_acquire(c->store, &command, NOW, &list, &count, &more, &c->error);
    int64_t sum = steps(c->store);
    job_free_list(list);
    return done && count == found ? sum : -1;
}

/* No row more is read for it where many are. */
#define SAME_ROWS(before, after) EXPECT((before) > 0 && (after) > 0 && (after) < (before) + 20)

static void a_small_page(struct contract *c) {
    EXPECT(make(c, 10, (struct job){0}) && taking(c, 5, 1, 5) > 0);
    EXPECT(make(c, 5, (struct job){0}));
    int64_t before = taking(c, 5, 1, 5);
    EXPECT(make(c, MANY, (struct job){0}));
    int64_t after = taking(c, 5, 1, 5);
    SAME_ROWS(before, after);
}

/* So many wait behind one that is ready. */
static bool make_parked(struct contract *c, const char *lane, int count) {
    struct job *first = NULL;
    return create(c, c->store, (struct job){.lane = lane}, NOW) &&
           (first = acquire_one(c, c->store, NOW)) &&
           make(c, count + 1, (struct job){.lane = lane}) && !acquire_count(c, c->store, NOW) &&
           settle(c, c->store, first, (struct outcome){0}, NOW) == SETTLED &&
           contract_number(c, "SELECT count(*) FROM ready") == 1;
}

static void the_run_of_a_lane(struct contract *c) {
    EXPECT(make_parked(c, "warm", 3) && taking(c, PAGE, 4, 4) > 0);
    EXPECT(make_parked(c, "few", 4));
    int64_t before = taking(c, PAGE, 4, 4);
    EXPECT(make_parked(c, "many", 400));
    int64_t after = taking(c, PAGE, 4, 4);
    SAME_ROWS(before, after);
}

static void a_busy_lane(struct contract *c) {
    struct job *runs = NULL;
    EXPECT(make_lanes(c, 4 * PAGE, true));
    int64_t before = turn(c, PAGE);
    EXPECT(make_busy(c, &runs));
    EXPECT(make_lanes(c, 4 * PAGE, true));
    int64_t after = turn(c, PAGE);
    job_free(runs);
    EXPECT(before > 0 && after > 0 && after <= 2 * before);
}

static void a_release(struct contract *c) {
    struct job *runs = NULL, *alone = NULL;
    EXPECT(create(c, c->store, (struct job){.lane = "idle"}, NOW));
    EXPECT((alone = acquire_one(c, c->store, NOW)));
    EXPECT(create(c, c->store, (struct job){.lane = "idle"}, NOW));
    EXPECT(turn(c, 0) >= 0);
    EXPECT(settle(c, c->store, alone, (struct outcome){0}, NOW) == SETTLED);
    int64_t before = steps(c->store);
    EXPECT(make_busy(c, &runs));
    steps(c->store);
    EXPECT(settle(c, c->store, runs, (struct outcome){0}, NOW) == SETTLED);
    int64_t after = steps(c->store);
    EXPECT(before > 0 && after <= 2 * before);
}

static void backlog(struct contract *c) {
    struct job *runs = NULL, *list = NULL;
    int count = 0, turns = 0;
    bool more = true;
    EXPECT(create(c, c->store, (struct job){.lane = "busy", .priority = 9}, NOW));
    EXPECT((runs = acquire_one(c, c->store, NOW)));
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error));
    for (int i = 0; i < 1200; i++)
        EXPECT(create(c, c->store, (struct job){.lane = "busy", .priority = 9}, NOW));
    EXPECT(store_commit(c->store, &c->error));
    int64_t other = create(c, c->store, (struct job){0}, NOW);
    for (; more && !list; turns++)
        EXPECT(store_acquire(c->store, &everything, NOW, &list, &count, &more, &c->error));
    EXPECT(turns == 3 && count == 1 && list->id == other);
    job_free_list(list);
    job_free(runs);
}

/* A page is acquired, and settled as an executor does it. The statements of that; -1: it went
 * wrong. */
static int64_t plain_turn(struct contract *c) {
    struct outcome *outcomes = NULL, **end = &outcomes;
    struct acquire command = everything;
    struct capacity capacity = {.acquire = &command};
    struct job *list = NULL, *next;
    enum settled settled = SETTLED;
    int count = 0;
    bool more = false;
    command.want = PAGE;
    bool done = store_acquire(c->store, &command, NOW, &list, &count, &more, &c->error);
    for (; list; list = next, end = &(*end)->next) {
        next = list->next;
        list->next = NULL;
        *end = outcome_new(list, OUTCOME_SUCCESS);
        (*end)->started = (*end)->ended = NOW;
    }
    statements(c->store);
    done = done && count == PAGE && store_begin(c->store, STORE_COMMAND, &c->error);
    store_set_capacity(c->store, &capacity);
    done = done && store_settle_bulk(c->store, outcomes, &c->error);
    for (struct outcome *one = outcomes; done && one; one = one->next)
        done = store_settle(c->store, one, NOW, &settled, &c->error) && settled == SETTLED;
    done = done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
    int64_t sum = statements(c->store);
    outcome_free_list(outcomes);
    return done ? sum : -1;
}

static bool limit_backlog(struct contract *c, const char *handler) {
    json_t *text = json_pack("[{ss si} {ss}]", "name", handler, "backlog", 1000, "name", "third");
    struct definitions definitions = {0};
    int64_t id = 0;
    bool done = definitions_read(&definitions, text) &&
                store_deploy(c->store,
                             &(struct store_deployment){
                                 .name = handler, .hash = "h", .definitions = &definitions},
                             NULL, NOW, &id, &c->error);
    definitions_clear(&definitions);
    json_decref(text);
    return done;
}

static void backlog_of_others(struct contract *c) {
    store_purge_behind(c->store);
    EXPECT(make(c, 4 * PAGE, (struct job){.retries = 3}));
    EXPECT(plain_turn(c) > 0); /* says that rows are left behind */
    int64_t before = plain_turn(c);
    EXPECT(limit_backlog(c, "other") && make(c, 1, (struct job){.retries = 3}));
    int64_t after = plain_turn(c);
    SAME(before, after);
    EXPECT(limit_backlog(c, "work") && make(c, 1, (struct job){.retries = 3}));
    EXPECT(plain_turn(c) > PAGE && before < PAGE / 4);
}

static int cached(struct store *store) {
    int used = 0, most = 0;
    sqlite3_db_status(store->db.handle, SQLITE_DBSTATUS_CACHE_USED, &used, &most, 0);
    return used;
}

static void a_rest(struct contract *c) {
    EXPECT(make(c, MANY, (struct job){0}));
    EXPECT(cached(c->store) > 1 << 20);
    store_tend(c->store, CHORE_CACHE, 0, NULL, NULL);
    EXPECT(cached(c->store) < 1 << 17);
    EXPECT(turn(c, PAGE) > 0);
}

static bool ask_stats(struct contract *c, const char *oldest) {
    json_t *stats = store_stats(c->store, NOW + 1000, &c->error);
    const char *text = json_string_value(json_object_get(stats, "oldest_ready"));
    bool fine = stats && strcmp(text ? text : "", oldest) == 0;
    json_decref(stats);
    return fine;
}

static void statistics(struct contract *c) {
    EXPECT(make(c, MANY, (struct job){.due = NOW + 5000}));
    EXPECT(make(c, MANY, (struct job){.priority = 1}));
    EXPECT(ask_stats(c, "2026-01-01T00:00:00.000Z")); /* the pages are in memory now */
    int64_t used = sqlite3_memory_used();
    sqlite3_memory_highwater(1);
    EXPECT(ask_stats(c, "2026-01-01T00:00:00.000Z"));
    EXPECT(sqlite3_memory_highwater(0) - used < 100000);
}

static void the_oldest(struct contract *c) {
    EXPECT(ask_stats(c, ""));
    EXPECT(create(c, c->store, (struct job){.priority = 9}, NOW + 20));
    EXPECT(create(c, c->store, (struct job){.priority = 1, .handler = "other"}, NOW + 10));
    EXPECT(create(c, c->store, (struct job){.priority = 1}, NOW + 15));
    EXPECT(ask_stats(c, "2026-01-01T00:00:00.010Z"));
}

/* Pages of the database that were looked at since the last call. */
static int64_t pages(struct store *store) {
    int sum = 0;
    for (int what = SQLITE_DBSTATUS_CACHE_HIT; what <= SQLITE_DBSTATUS_CACHE_MISS; what++) {
        int count = 0, most = 0;
        sqlite3_db_status(store->db.handle, what, &count, &most, 1);
        sum += count;
    }
    return sum;
}

/* A million entries would take long: these are many pages. */
static bool make_history(struct contract *c) {
    if (!store_begin(c->store, STORE_COMMAND, &c->error) ||
        !create(c, c->store, (struct job){0}, NOW))
        return false;
    bool fine =
        db_execute(&c->store->db,
                   "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20000)"
                   " INSERT INTO ended(job, stream, outcome, executor, started, at, retries,"
                   " attempt, created, priority) SELECT i+100, 1, 1, 1, i, i+1, 3, 1, i, 0"
                   " FROM n",
                   &c->error) &&
        db_execute(&c->store->db, "INSERT INTO ended_by_job SELECT job, seq FROM ended",
                   &c->error) &&
        db_execute(&c->store->db, "INSERT INTO meta VALUES('filed', 20000)", &c->error);
    return fine && store_commit(c->store, &c->error);
}

/* The dearest page of a walk that is not among the first ten; 0: it went wrong. */
static int64_t walk(struct contract *c, bool descending, int64_t *tenth) {
    json_t *question =
        json_pack("{ss,sb,si}", "sort", "at", "descending", descending, "limit", PAGE);
    int64_t dearest = 0, count = 0, turns = 0;
    size_t size = PAGE;
    while (size == PAGE) {
        pages(c->store);
        json_t *page = store_ask(c->store, ASK_WALK, question, NOW, &c->error);
        int64_t cost = pages(c->store);
        size = json_array_size(json_object_get(page, "rows"));
        json_object_set(question, "key", json_object_get(page, "key"));
        json_decref(page);
        count += (int64_t)size;
        if (++turns == 10)
            *tenth = cost;
        dearest = turns > 10 && cost > dearest ? cost : dearest;
    }
    json_decref(question);
    return count == 2 * 20000 + 1 ? dearest : 0;
}

static void a_walk(struct contract *c) {
    int64_t tenth = 0;
    EXPECT(make_history(c));
    int64_t dearest = walk(c, false, &tenth);
    EXPECT(tenth > 0 && dearest > 0 && dearest <= 2 * tenth);
    dearest = walk(c, true, &tenth);
    EXPECT(tenth > 0 && dearest > 0 && dearest <= 2 * tenth);
}

/* How many times the release of fifty jobs sorts them; -1: it went wrong. */
static int64_t sorts(struct contract *c, int priorities) {
    struct store_intake intake;
    struct job_spec list[50];
    bool more = false;
    for (int i = 0; i < 50; i++) {
        list[i] = completed((struct job_spec){.job = {.priority = i % priorities}});
        list[i].next = i < 49 ? &list[i + 1] : NULL;
    }
    bool done = store_intake_begin(c->store, &intake, 50, NOW, &c->error) &&
                store_intake_add(c->store, &intake, list, NOW, &c->error);
    status(c->store, SQLITE_STMTSTATUS_SORT);
    done = done && store_begin(c->store, STORE_COMMAND, &c->error) &&
           store_intake_release(c->store, &intake, &more, NOW, &c->error) &&
           store_commit(c->store, &c->error);
    store_intake_leave(c->store, &intake);
    return done ? status(c->store, SQLITE_STMTSTATUS_SORT) : -1;
}

/* Of them fewer columns are read, and none that is empty. */
static void bare_jobs(struct contract *c) {
    EXPECT(make(c, 3 * PAGE, (struct job){.retries = 2}));
    turn(c, PAGE);
    int64_t bare = turn(c, PAGE);
    EXPECT(turn(c, PAGE) > 0);
    EXPECT(make(c, 3 * PAGE, (struct job){.retries = 2, .activity = "a"}));
    turn(c, PAGE);
    int64_t whole = turn(c, PAGE);
    EXPECT(bare > 0 && bare + 20 * PAGE < whole);
}

/* Pages that a creation alone in its transaction writes into the log, and its statements;
 * INT64_MAX: it went wrong. */
static int64_t creation(struct contract *c, struct job job, int64_t *ran) {
    int count = 0, most = 0;
    sqlite3_db_status(c->store->db.handle, SQLITE_DBSTATUS_CACHE_WRITE, &count, &most, 1);
    statements(c->store);
    bool done = create(c, c->store, job, NOW) != 0;
    *ran = statements(c->store);
    sqlite3_db_status(c->store->db.handle, SQLITE_DBSTATUS_CACHE_WRITE, &count, &most, 1);
    return done ? count : INT64_MAX;
}

/* The row, its place, and `meta`, where the next id and how many wait stand side by side. */
static void a_creation(struct contract *c) {
    int64_t ran = 0, pages = INT64_MAX, of_timer = INT64_MAX;
    EXPECT(make(c, 3, (struct job){0}) && make(c, 3, (struct job){.due = NOW + 1000}));
    for (int i = 0; i < 10; i++) { /* now and then a page is full */
        int64_t wrote = creation(c, (struct job){0}, &ran);
        pages = wrote < pages ? wrote : pages;
        EXPECT(ran == 6);
        wrote = creation(c, (struct job){.due = NOW + 1000}, &ran);
        of_timer = wrote < of_timer ? wrote : of_timer;
        EXPECT(ran == 6);
    }
    EXPECT(pages == 3 && of_timer == 3);
}

static void a_file(struct contract *c) {
    int64_t few = sorts(c, 10), many = sorts(c, 50);
    EXPECT(few >= 0 && many == few + 1);
    EXPECT(acquire_count(c, c->store, NOW) == 100);
}

static const struct check checks[] = {
    {"a long backlog of a busy lane is put aside 500 at a time", backlog},
    {"future timers cost a turn nothing", future_timers},
    {"suspended jobs cost a turn nothing", suspended_jobs},
    {"what others have locked costs a turn nothing", locked_by_others},
    {"jobs that nobody here serves cost a turn nothing", foreign_streams},
    {"a small page reads no more of many than of few", a_small_page},
    {"the run of a lane reads no more of many than of few", the_run_of_a_lane},
    {"a busy lane costs the others less than as much again", a_busy_lane},
    {"the release of a lane costs the same however many wait", a_release},
    {"the backlog limit of a definition costs the runs of others nothing", backlog_of_others},
    {"statistics sort no table, however long", statistics},
    {"the oldest ready job is found in front of its level", the_oldest},
    {"a page of a walk through the log costs the same however deep it is", a_walk},
    {"jobs with no more than a payload cost less than others", bare_jobs},
    {"jobs of a file are sorted only if their priorities are many", a_file},
    {"a job that is created alone writes three pages", a_creation},
    {"at rest next to no page is kept in memory", a_rest},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
