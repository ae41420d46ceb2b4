/* lock_page_contract.c - the locks of a page of jobs are one row, and yet each is a lock. Run with
 * spec/postgres/contracts. */
#include "../../contract.h"
#include "store/postgres/db/connection.h"

enum { PAGE = 100, PAGES_REST = 16 };

/* Creates so many jobs, in one of so many lanes each; 0: in none. */
static bool make(struct contract *c, int count, int lanes) {
    bool fine = store_begin(c->store, STORE_COMMAND, &c->error);
    for (int i = 0; fine && i < count; i++) {
        char lane[16];
        snprintf(lane, sizeof lane, "lane %d", lanes ? i % lanes : 0);
        struct job job = {.retries = 3, .lane = lanes ? lane : NULL};
        fine = create(c, c->store, job, NOW) != 0;
    }
    return fine && store_commit(c->store, &c->error);
}

/* NULL: there are not as many, or an error. */
static struct job *take_page(struct contract *c) {
    struct acquire all = everything;
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    all.want = PAGE;
    if (store_acquire(c->store, &all, NOW, &jobs, &count, &more, &c->error) && count == PAGE)
        return jobs;
    job_free_list(jobs);
    return NULL;
}

static struct job *take(struct contract *c) {
    return make(c, PAGE, 0) ? take_page(c) : NULL;
}

#define ROWS(of) contract_number(c, "SELECT count(*) FROM " of)

/* Settles so many of the list in one transaction, the first ones. How many had lost their lock; -1:
 * error. */
static int end_runs(struct contract *c, struct job *jobs, int count) {
    static struct outcome outcomes[PAGE];
    enum settled settled = SETTLED;
    int stale = 0;
    for (int i = 0; i < count; i++, jobs = jobs->next)
        outcomes[i] = (struct outcome){.job = jobs,
                                       .started = NOW,
                                       .ended = NOW,
                                       .due = TIME_NONE,
                                       .lane_ends = true,
                                       .lane_token = jobs->token,
                                       .next = i + 1 < count ? &outcomes[i + 1] : NULL};
    bool done = store_begin(c->store, STORE_TURN, &c->error) &&
                store_settle_bulk(c->store, outcomes, &c->error);
    for (int i = 0; done && i < count; i++) {
        done = store_settle(c->store, &outcomes[i], NOW, &settled, &c->error);
        stale += settled == SETTLED_STALE;
    }
    done = done && store_settle_end(c->store, &c->error);
    return done ? stale : -1;
}

static int end_all(struct contract *c, struct job *jobs, int count) {
    int stale = end_runs(c, jobs, count);
    return store_commit(c->store, &c->error) ? stale : -1;
}

static struct job *nth(struct job *jobs, int n) {
    while (n-- > 0)
        jobs = jobs->next;
    return jobs;
}

/* The locks of this page have no lanes of the page before. */
static void lanes_then_none(struct contract *c) {
    EXPECT(make(c, PAGE, PAGE) && make(c, PAGE, 0));
    struct job *lanes = take_page(c);
    EXPECT(lanes && ROWS("lock_page") == 1 && ROWS("locks WHERE lane IS NOT NULL") == PAGE);
    struct job *plain = take_page(c);
    EXPECT(plain && ROWS("lock_page") == 2 && ROWS("locks WHERE lane IS NULL") == PAGE);
    EXPECT(end_all(c, plain, PAGE) == 0 && ROWS("locks") == PAGE);
    EXPECT(end_all(c, lanes, PAGE) == 0 && ROWS("locks") == 0 && ROWS("lane") == 0);
    job_free_list(lanes);
    job_free_list(plain);
}

static void one_row(struct contract *c) {
    struct job *jobs = take(c);
    EXPECT(jobs);
    EXPECT(ROWS("lock_page") == 1 && ROWS("locked") == 0 && ROWS("locks") == PAGE);
    EXPECT(matches(c, "{\"state\":\"locked\"}") == PAGE);
    EXPECT(end_all(c, jobs, 60) == 0);
    EXPECT(ROWS("lock_page") == 1 && ROWS("locks") == PAGE - 60);
    EXPECT(end_all(c, nth(jobs, 60), PAGE - 60) == 0);
    EXPECT(ROWS("lock_page") == 0 && ROWS("locks") == 0 && matches(c, "{}") == 0);
    EXPECT(ROWS("ended") == PAGE);
    job_free_list(jobs);
}

/* A turn that is given up has ended nothing. */
static void given_up(struct contract *c) {
    struct job *jobs = take(c);
    EXPECT(jobs);
    EXPECT(end_runs(c, jobs, PAGE) == 0);
    store_rollback(c->store);
    EXPECT(ROWS("locks") == PAGE);
    EXPECT(end_all(c, jobs, PAGE) == 0);
    EXPECT(ROWS("lock_page") == 0 && ROWS("ended") == PAGE);
    job_free_list(jobs);
}

static void commands(struct contract *c) {
    struct store_executor self = {0};
    struct store *other = contract_join(c, "other", NOW, &self);
    struct job *jobs = take(c);
    EXPECT(other && jobs);
    EXPECT(give_cancel(other, IDS(nth(jobs, 7)->id), NOW, &c->error));
    EXPECT(ROWS("lock_page") == 0 && ROWS("locked") == PAGE - 1);
    EXPECT(give_set_priority(other, IDS(nth(jobs, 9)->id), 5, NOW, &c->error));
    store_close(other);
    EXPECT(end_all(c, jobs, PAGE) == 1);
    EXPECT(ROWS("locks") == 0 && matches(c, "{}") == 0);
    job_free_list(jobs);
}

/* It moves to a row of its own; the others stay. */
static void extension(struct contract *c) {
    struct job *jobs = take(c);
    EXPECT(jobs);
    const struct job *one = nth(jobs, 50);
    EXPECT(store_extend(c->store, one->id, one->token, NOW + 1000, &c->error));
    EXPECT(!store_extend(c->store, one->id, one->token + 1, NOW + 1000, &c->error));
    EXPECT(ROWS("lock_page") == 1 && ROWS("locked") == 1 && ROWS("locks") == PAGE);
    EXPECT(store_holds(c->store, nth(jobs, 3)->id, nth(jobs, 3)->token, &c->error) == YES);
    EXPECT(store_holds(c->store, nth(jobs, 3)->id, one->token, &c->error) == NO);
    EXPECT(end_all(c, jobs, PAGE) == 0);
    EXPECT(ROWS("locks") == 0 && ROWS("lock_page") == 0);
    job_free_list(jobs);
}

/* Its lease is over: another one frees them, and what it says later counts no more. */
static void overdue(struct contract *c) {
    struct store_executor self = {0};
    struct store_reaped reaped = {0};
    struct job *jobs = take(c);
    EXPECT(jobs);
    EXPECT(end_all(c, jobs, 10) == 0);
    struct store *other = contract_join(c, "other", NOW + LEASE + 1, &self);
    EXPECT(other && store_reap(other, NOW + LEASE + 1, &reaped, &c->error));
    EXPECT(reaped.freed == PAGE - 10);
    EXPECT(ROWS("locks") == 0 && ROWS("lock_page") == 0 && ROWS("ready") == PAGE - 10);
    store_close(other);
    EXPECT(end_all(c, nth(jobs, 10), PAGE - 10) == PAGE - 10);
    EXPECT(ROWS("ready") == PAGE - 10);
    job_free_list(jobs);
}

/* One run of each page goes on. The locks of the oldest pages get rows of their own. */
static void stragglers(struct contract *c) {
    struct job *jobs[2 * LOCK_PAGES];
    EXPECT(make(c, 2 * LOCK_PAGES * PAGE, 0)); /* a command gives all locks rows of their own */
    for (int i = 0; i < 2 * LOCK_PAGES; i++) {
        jobs[i] = take_page(c);
        EXPECT(jobs[i] && end_all(c, jobs[i], PAGE - 1) == 0);
        const int spread = i < LOCK_PAGES ? 0 : i + 1 - LOCK_PAGES;
        EXPECT(ROWS("lock_page") == i + 1 - spread && ROWS("locked") == spread);
        EXPECT(ROWS("lock_page p WHERE p.token<(SELECT max(token) FROM locked)") == 0);
    }
    for (int i = 0; i < 2 * LOCK_PAGES; i++) {
        EXPECT(end_all(c, nth(jobs[i], PAGE - 1), 1) == 0);
        job_free_list(jobs[i]);
    }
    EXPECT(ROWS("locks") == 0 && ROWS("lock_page") == 0);
}

/* A turn that writes more of them than there is room for, and is given up once. */
static void many_pages(struct contract *c) {
    enum { MANY = 2 * LOCK_PAGES_ROOM, SMALL = 64 };
    struct acquire all = everything;
    all.want = SMALL;
    EXPECT(make(c, MANY * SMALL, 0));
    for (int round = 0; round < 2; round++) {
        EXPECT(store_begin(c->store, STORE_TURN, &c->error));
        for (int i = 0; i < MANY; i++) {
            struct job *jobs = NULL;
            int count = 0;
            bool more = false;
            EXPECT(store_acquire(c->store, &all, NOW, &jobs, &count, &more, &c->error));
            job_free_list(jobs);
            EXPECT(count == SMALL);
        }
        if (round == 0)
            store_rollback(c->store);
    }
    EXPECT(store_commit(c->store, &c->error));
    EXPECT(ROWS("locks") == MANY * SMALL && ROWS("lock_page") <= LOCK_PAGES);
    EXPECT(matches(c, "{\"state\":\"locked\"}") == MANY * SMALL);
}

/* Each says something, so each is settled by itself. */
static void by_themselves(struct contract *c) {
    static char said[] = "careful";
    struct job *jobs = take(c), *job = jobs, *next = NULL;
    EXPECT(jobs);
    struct outcome end = {.warning = said};
    for (int i = 0; i < PAGE; i++, job = next) {
        next = job->next;
        EXPECT(settle(c, c->store, job, end, NOW) == SETTLED);
    }
    EXPECT(ROWS("locks") == 0 && ROWS("ended") == PAGE);
    EXPECT(make(c, (PAGES_REST + 1) * PAGE, 0));
    for (int i = 0; i <= PAGES_REST; i++) {
        jobs = take_page(c);
        EXPECT(jobs &&
               ROWS("lock_page") == (i == PAGES_REST)); /* a page was of no use for a while */
        EXPECT(end_all(c, jobs, PAGE) == 0);
        job_free_list(jobs);
    }
}

/* The locks of a program elsewhere end by a date, which a page has not. */
static void remote(struct contract *c) {
    EXPECT(make(c, PAGE, 0));
    c->store->self.remote = true;
    struct job *jobs = take_page(c);
    c->store->self.remote = false;
    EXPECT(jobs && ROWS("lock_page") == 0 && ROWS("locked") == PAGE);
    job_free_list(jobs);
}

/* Each lane has one item of ten. */
static void lanes(struct contract *c) {
    struct job *jobs = make(c, PAGE, 10) ? take_page(c) : NULL, *taken = NULL;
    EXPECT(jobs && ROWS("lock_page") == 1 && ROWS("locks WHERE lane IS NOT NULL") == PAGE);
    const struct job *one = nth(jobs, 50);
    EXPECT(store_extend(c->store, one->id, one->token, NOW + 1000, &c->error));
    EXPECT(ROWS("locked l JOIN job j ON j.id=l.id AND j.lane=l.lane") == 1);
    int64_t waits = create(c, c->store, (struct job){.retries = 3, .lane = "lane 3"}, NOW);
    EXPECT(waits && !store_take(c->store, waits, false, NOW, &taken, &c->error));
    EXPECT(strstr(c->error.text, "of its lane is running"));
    c->error = (struct error){0};
    EXPECT(end_all(c, jobs, PAGE) == 0);
    EXPECT(ROWS("locks") == 0 && ROWS("lock_page") == 0);
    job_free_list(jobs);
}

/* Ends these runs and takes as many others, as a turn of an executor does. How often it waits for
 * the server; -1: error. */
static int64_t turn_waits(struct contract *c, struct job *jobs) {
    const struct session *session = &postgres_of(c->store)->session;
    struct acquire all = everything;
    struct job *taken = NULL;
    int64_t before = session->waits;
    int count = 0, promoted = 0;
    bool more = false;
    time_ms at = 0;
    all.want = PAGE;
    bool done =
        end_runs(c, jobs, PAGE) == 0 && store_promote(c->store, NOW, PAGE, &promoted, &c->error);
    done = done && store_acquire(c->store, &all, NOW, &taken, &count, &more, &c->error);
    done = done && store_next(c->store, NOW, &at, &c->error) && store_commit(c->store, &c->error);
    job_free_list(taken);
    return done && count == PAGE && more ? session->waits - before : -1;
}

/* To begin, for the locks that end, for the page, and to commit. */
static void waits(struct contract *c) {
    EXPECT(make(c, 4 * PAGE, 0));
    struct job *jobs[] = {take_page(c), take_page(c)};
    EXPECT(jobs[0] && jobs[1]);
    EXPECT(turn_waits(c, jobs[0]) > 0); /* the counters of a first turn are asked for as well */
    EXPECT(make(c, PAGE, 0));
    EXPECT(turn_waits(c, jobs[1]) == 4);
    job_free_list(jobs[0]);
    job_free_list(jobs[1]);
}

/* Two jobs of a page that this makes dangerous: one of them begins, and the other one waits. Who
 * asks whether one runs looks for its own row. */
static void one_dangerous(struct contract *c, int lanes, const char *sql, const char *row) {
    struct acquire all = everything;
    struct job *jobs = NULL, *more_jobs = NULL;
    int count = 0, more_count = 0;
    bool more = false;
    all.want = all.idle = 2 * PAGE;
    EXPECT(make(c, PAGE, lanes) && db_execute(&c->store->db, sql, &c->error));
    bool took = store_acquire(c->store, &all, NOW, &jobs, &count, &more, &c->error) &&
                store_acquire(c->store, &all, NOW, &more_jobs, &more_count, &more, &c->error);
    EXPECT(took);
    EXPECT(count == PAGE - 1 && more_count == 0);
    EXPECT(contract_number(c, row) == 1);
    job_free_list(jobs);
    job_free_list(more_jobs);
}

/* Of a vanished machine. */
static void suspects(struct contract *c) {
    one_dangerous(c, 0,
                  "INSERT INTO suspect(job) SELECT id FROM job ORDER BY id LIMIT 2 OFFSET 80;"
                  "UPDATE meta SET value=value+1 WHERE key='executors'",
                  "SELECT count(*) FROM suspect s JOIN locked l ON l.id=s.job AND l.token=s.token");
    EXPECT(ROWS("lock_page") == 1);
}

#define CRASHED                                                                                    \
    "UPDATE job SET crashes=1 WHERE id IN (SELECT id FROM job ORDER BY id LIMIT 2 OFFSET 5);"      \
    "UPDATE ready SET plain=NULL WHERE id IN (SELECT id FROM job WHERE crashes=1)"
#define CRASHED_LOCKS "SELECT count(*) FROM locked l JOIN job j ON j.id=l.id WHERE j.crashes=1"

static void crashed(struct contract *c) {
    one_dangerous(c, 0, CRASHED, CRASHED_LOCKS);
}

static void crashed_in_lanes(struct contract *c) {
    one_dangerous(c, PAGE, CRASHED, CRASHED_LOCKS);
}

static const struct check checks[] = {
    {"a page without lanes behind one with lanes has none", lanes_then_none},
    {"the locks of a page are one row, settled in parts", one_row},
    {"a turn that is given up has ended none of them", given_up},
    {"a command takes the lock of one of them away, and the others are settled", commands},
    {"one of them is extended by itself", extension},
    {"those of an executor that is overdue are freed", overdue},
    {"an executor with long runs has few pages", stragglers},
    {"… also if a turn takes many", many_pages},
    {"a turn of plain jobs waits for the server four times", waits},
    {"runs that are settled by themselves end their locks", by_themselves},
    {"those of workers elsewhere have rows of their own", remote},
    {"it says of which lanes they are", lanes},
    {"a suspect has a lock of its own among those of a page", suspects},
    {"… and so has a job that was running in a crash", crashed},
    {"… also one of a lane", crashed_in_lanes},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
