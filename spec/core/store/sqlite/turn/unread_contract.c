/* unread_contract.c - jobs that are locked first and read behind the commit. */
#include "../../contract.h"
#include "base/log.h"
#include "run/turn.h"
#include "store/intake.h"
#include "store/rules/place/places.h"
#include "store/sqlite/turn/gate.h"
#include "store/sqlite/turn/turn.h"

enum { JOBS = 12 };

static struct store *other; /* of another process, as it were */

/* So many like `job`, written as one list. */
static bool create_list(struct contract *c, struct job job, int count) {
    struct job_spec list[JOBS];
    for (int i = 0; i < count; i++) {
        list[i] = completed((struct job_spec){.job = job});
        list[i].next = i + 1 < count ? &list[i + 1] : NULL;
    }
    return store_create(c->store, list, 0, NOW, &c->error);
}

/* All that is ready, locked; some of it unread. */
static struct job *acquire_unread(struct contract *c, int *unread) {
    struct acquire acquire = everything;
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    acquire.unread = true;
    *unread = 0;
    if (!store_acquire(c->store, &acquire, NOW, &jobs, &count, &more, &c->error))
        return NULL;
    for (const struct job *job = jobs; job; job = job->next)
        *unread += job->unread;
    return jobs;
}

static int unread_count(struct contract *c) {
    int unread = 0;
    job_free_list(acquire_unread(c, &unread));
    return unread;
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The first one of a stream is read to find where the others begin. */
static void read_behind(struct contract *c) {
    struct job *jobs[JOBS];
    int unread = 0;
    EXPECT(create_list(c, (struct job){.payload = "[1]", .payload_size = 3, .tenant = "t"}, JOBS));
    struct job *list = acquire_unread(c, &unread);
    EXPECT(unread == JOBS - 1 && !list->unread);
    struct job *job = list->next;
    for (int i = 0; i < unread; i++, job = job->next)
        jobs[i] = job;
    EXPECT(store_read_taken(c->store, jobs, (size_t)unread, &c->error));
    for (int i = 0; i < unread; i++) {
        EXPECT(!jobs[i]->unread && jobs[i]->id == list->id + 1 + i);
        EXPECT(jobs[i]->token == list->token + 1 + i && jobs[i]->owner == list->owner);
        EXPECT(same_text(jobs[i]->payload, "[1]") && same_text(jobs[i]->handler, "work"));
        EXPECT(same_text(jobs[i]->tenant, "t") && jobs[i]->state == JOB_LOCKED);
        EXPECT(same_text(jobs[i]->lock_owner, list->lock_owner));
        job_free(jobs[i]);
    }
    job_free(list);
}

static void only_if_asked(struct contract *c) {
    EXPECT(create_list(c, (struct job){0}, JOBS));
    struct job *jobs = NULL;
    int count = 0, unread = 0;
    bool more = false;
    EXPECT(store_acquire(c->store, &everything, NOW, &jobs, &count, &more, &c->error));
    for (const struct job *job = jobs; job; job = job->next)
        unread += job->unread;
    job_free_list(jobs);
    EXPECT(count == JOBS && unread == 0);
}

/* What decides whether they may be taken, or how much memory they need, is in their rows. */
static void others_are_read(struct contract *c) {
    static char large[PLAIN_PAYLOAD + 1];
    memset(large, '1', sizeof large);
    EXPECT(create_list(c, (struct job){.due = NOW - 1, .type = JOB_TIMER}, JOBS));
    EXPECT(unread_count(c) == 0);
    EXPECT(create_list(c, (struct job){.lane = "l"}, JOBS));
    EXPECT(unread_count(c) == 0);
    EXPECT(create_list(c, (struct job){.batch = 1}, JOBS));
    EXPECT(unread_count(c) == 0);
    EXPECT(create_list(c, (struct job){.payload = large, .payload_size = sizeof large}, JOBS));
    EXPECT(unread_count(c) == 0);
    EXPECT(create_list(c, (struct job){.payload = large, .payload_size = PLAIN_PAYLOAD}, JOBS));
    EXPECT(unread_count(c) == JOBS - 1);
}

/* After a failure something may be in the row. */
static void not_a_second_time(struct contract *c) {
    struct job *next;
    EXPECT(create_list(c, (struct job){.retries = 3}, JOBS));
    EXPECT(store_begin(c->store, STORE_TURN, &c->error));
    int unread = 0;
    for (struct job *job = acquire_unread(c, &unread); job; job = next) {
        next = job->next;
        EXPECT(settle(c, c->store, job, (struct outcome){.kind = OUTCOME_RETURNED}, NOW) ==
               SETTLED);
    }
    EXPECT(store_commit(c->store, &c->error) && unread == JOBS - 1);
    EXPECT(unread_count(c) == 0);
}

static void released_ones(struct contract *c) {
    struct store_intake intake;
    struct job_spec list[JOBS];
    bool more = true;
    other = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(other && store_intake_begin(other, &intake, JOBS, NOW, &c->error));
    for (int i = 0; i < JOBS; i++) {
        list[i] = completed((struct job_spec){.job = {.due = i % 4 ? TIME_NONE : NOW - 5}});
        list[i].next = i + 1 < JOBS ? &list[i + 1] : NULL;
    }
    EXPECT(store_intake_add(other, &intake, list, NOW, &c->error));
    EXPECT(store_begin(other, STORE_COMMAND, &c->error) &&
           store_intake_release(other, &intake, &more, NOW, &c->error) &&
           store_commit(other, &c->error));
    while (more)
        EXPECT(store_intake_step(other, &intake, &more, NOW, &c->error));
    store_intake_leave(other, &intake);
    store_close(other);
    int64_t plain = 0;
    EXPECT(db_value(&c->store->db, &c->error, &plain, "SELECT count(*) FROM ready WHERE plain=1",
                    "") == YES);
    EXPECT(plain == JOBS - JOBS / 4);
}

/* Creates a job while another writer says that it waits. */
static bool create_beside(struct contract *c) {
    struct gate gate;
    if (!gate_open(&gate, sqlite_of(c->store)->path, &c->error))
        return false;
    gate_queue(&gate);
    bool done =
        create_list(c, (struct job){.payload = "[2]", .payload_size = 3, .retries = 3}, JOBS);
    gate_close(&gate);
    return done;
}

static void contended(struct contract *c) {
    EXPECT(create_list(c, (struct job){.retries = 3}, JOBS) && !store_contended(c->store));
    EXPECT(create_beside(c) && store_contended(c->store));
}

/* ---- a turn ---- */

/* Done as the turn begins to read: behind its commit. */
static void (*meanwhile)(struct contract *c);
static struct contract *contract;

static int on_statement(unsigned event, void *arg, void *statement, void *sql) {
    (void)event, (void)arg, (void)statement;
    if (meanwhile && strcmp(sql, "BEGIN") == 0)
        meanwhile(contract);
    return 0;
}

static struct turns *turns;
static struct turn turn;
static struct clock *turn_clock;

/* An executor in place of the contract's own membership, which has to wait for another writer. */
static bool begin_turns(struct contract *c) {
    struct store_executor self;
    turn_clock = clock_virtual_new(NOW);
    contract = c;
    other = contract_join(c, "another", NOW, &self);
    if (!other || !store_leave(c->store, &c->error))
        return false;
    turns = turns_new(c->store, &c->settings, turn_clock, 2, &c->error);
    bool done = turns && create_beside(c) && store_contended(c->store);
    sqlite3_trace_v2(c->store->db.handle, SQLITE_TRACE_STMT, on_statement, NULL);
    return done;
}

static bool take_turn(struct contract *c) {
    work_items_free(turn.items);
    turn = (struct turn){.room = 100, .acquiring = true};
    return turns_take(turns, &turn, &c->error);
}

static void end_turns(struct contract *c) {
    sqlite3_trace_v2(c->store->db.handle, 0, NULL, NULL);
    work_items_free(turn.items);
    turn.items = NULL;
    turns_free(turns);
    store_close(other);
    clock_release(turn_clock);
}

/* Items whose jobs are whole. */
static int whole(void) {
    int count = 0;
    for (const struct work_item *item = turn.items; item; item = item->next)
        count += !item->jobs->unread && same_text(item->jobs->payload, "[2]");
    return count;
}

static void turn_reads(struct contract *c) {
    EXPECT(begin_turns(c) && take_turn(c));
    EXPECT(turn.acquired == JOBS && whole() == JOBS && !turn.again);
    end_turns(c);
}

static int looks;

static void count_look(struct contract *c) {
    (void)c;
    looks++;
}

static void few_are_read_along(struct contract *c) {
    EXPECT(begin_turns(c));
    meanwhile = count_look;
    for (int i = 0; i < 10; i++) {
        looks = 0;
        EXPECT(take_turn(c) && whole() == JOBS);
        EXPECT(create_beside(c));
    }
    meanwhile = NULL;
    EXPECT(looks == 0);
    end_turns(c);
}

static void delete_one(struct contract *c) {
    struct error error = {0};
    meanwhile = NULL;
    give_ids(other, verb("cancel"), IDS(5), NOW, &error);
    c->error = error;
}

static void one_is_deleted(struct contract *c) {
    EXPECT(begin_turns(c));
    meanwhile = delete_one;
    EXPECT(take_turn(c) && !meanwhile && c->error.code == ERROR_NONE);
    EXPECT(whole() == JOBS - 1 && turn.again);
    int64_t locked = 0;
    EXPECT(take_turn(c) && turn.settled == 1 && turn.acquired == 0 && !turn.again);
    EXPECT(db_value(&c->store->db, &c->error, &locked, "SELECT count(*) FROM locked", "") == YES);
    EXPECT(locked == JOBS - 1);
    end_turns(c);
}

/* Once: the transaction can be ended. */
static int interrupt(void *arg) {
    struct contract *c = arg;
    sqlite3_progress_handler(c->store->db.handle, 0, NULL, NULL);
    return 1;
}

static void stop_reading(struct contract *c) {
    meanwhile = NULL;
    sqlite3_progress_handler(c->store->db.handle, 1, interrupt, c);
}

static void reading_fails(struct contract *c) {
    EXPECT(begin_turns(c));
    meanwhile = stop_reading;
    log_configure(LOG_LOGFMT, LOG_ERROR);
    bool done = take_turn(c);
    log_configure(LOG_LOGFMT, LOG_INFO);
    EXPECT(done && whole() == 1 && turn.again);
    EXPECT(take_turn(c) && turn.settled == JOBS - 1 && turn.acquired == JOBS - 1);
    EXPECT(whole() == JOBS - 1 && turn.items->jobs->attempt == 1);
    end_turns(c);
}

static const struct check checks[] = {
    {"plain jobs are locked, and read behind the commit", read_behind},
    {"every job is read where the caller does not do it", only_if_asked},
    {"the rows of other jobs are read before they are locked", others_are_read},
    {"a job that comes back is read before it is locked", not_a_second_time},
    {"jobs that are released are as plain as others", released_ones},
    {"a store knows that others want to write", contended},
    {"a turn beside other writers hands out whole jobs", turn_reads},
    {"turns that take few jobs read them along", few_are_read_along},
    {"a job that is deleted behind the commit is not handed out", one_is_deleted},
    {"jobs that cannot be read are given back and run all the same", reading_fails},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
