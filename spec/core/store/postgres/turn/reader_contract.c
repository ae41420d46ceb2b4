/* reader_contract.c - a second connection reads the page of a long turn, and nothing depends on it.
 * Run with spec/postgres/contracts. */
#include "../../contract.h"
#include "store/postgres/db/spelling.h"
#include "store/postgres/turn/reader.h"
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

enum { PAGE = 200 }; /* more than makes a turn a long one */

static struct reader *reader_of_store(struct contract *c) {
    return &postgres_of(c->store)->reader;
}

/* How many pages it has read so far. */
static int64_t pages(struct contract *c) {
    return reader_of_store(c)->session.waits;
}

static bool make(struct contract *c, int count) {
    bool fine = store_begin(c->store, STORE_COMMAND, &c->error);
    for (int i = 0; fine && i < count; i++)
        fine = create(c, c->store, (struct job){.retries = 3, .priority = i % 10}, NOW) != 0;
    return fine && store_commit(c->store, &c->error);
}

/* However slow the machine is between two turns and in them. */
static void stay_long(struct contract *c) {
    struct reader *reader = reader_of_store(c);
    reader->patience = reader->patience ? reader->patience : 3600000;
    if (reader->wanted)
        reader->wanted = clock_monotonic() + 3600000;
}

/* A turn: these runs end, the first as `first` says, and the next jobs are taken. What comes
 * between the two is called with the store. The jobs are freed. NULL: error, or there are none. */
static struct job *turn(struct contract *c, struct job *jobs, struct outcome first,
                        void (*between)(struct contract *c)) {
    stay_long(c);
    static struct outcome outcomes[PAGE];
    struct acquire all = everything;
    enum settled settled = SETTLED;
    struct job *taken = NULL;
    int count = 0, n = 0;
    bool more = false;
    for (const struct job *job = jobs; job && n < PAGE; job = job->next, n++) {
        outcomes[n] = n == 0 ? first : (struct outcome){.due = TIME_NONE};
        outcomes[n].job = (struct job *)job;
        outcomes[n].started = outcomes[n].ended = NOW;
        outcomes[n].lane_ends = true;
        outcomes[n].lane_token = job->token;
        outcomes[n].next = job->next ? &outcomes[n + 1] : NULL;
    }
    bool done = store_begin(c->store, STORE_TURN, &c->error) &&
                (!n || store_settle_bulk(c->store, outcomes, &c->error));
    for (int i = 0; done && i < n; i++)
        done = store_settle(c->store, &outcomes[i], NOW, &settled, &c->error) && settled == SETTLED;
    done = done && store_settle_end(c->store, &c->error);
    if (between)
        between(c);
    all.want = PAGE;
    done = done && store_acquire(c->store, &all, NOW, &taken, &count, &more, &c->error) &&
           store_commit(c->store, &c->error);
    job_free_list(jobs);
    if (done)
        return taken;
    store_rollback(c->store);
    job_free_list(taken);
    return NULL;
}

static const struct outcome success = {.due = TIME_NONE};
static const struct outcome failure = {.kind = OUTCOME_FAILURE, .due = TIME_NONE, .retries = 2};

static int count_of(const struct job *jobs) {
    int count = 0;
    for (; jobs; jobs = jobs->next)
        count++;
    return count;
}

/* The turn of which the third one is read beside: one takes, the next one is found to be long. */
static struct job *two_turns(struct contract *c) {
    struct job *jobs = turn(c, NULL, success, NULL);
    return jobs ? turn(c, jobs, success, NULL) : NULL;
}

static void reads(struct contract *c) {
    EXPECT(make(c, 4 * PAGE));
    struct job *jobs = two_turns(c);
    EXPECT(jobs && pages(c) == 0);
    jobs = turn(c, jobs, success, NULL);
    EXPECT(pages(c) == 1 && count_of(jobs) == PAGE);
    EXPECT(jobs->priority == 4 && jobs->retries == 3);
    EXPECT(contract_number(c, "SELECT count(*) FROM ended") == 2 * PAGE);
    jobs = turn(c, jobs, success, NULL);
    EXPECT(pages(c) == 2 && count_of(jobs) == PAGE);
    jobs = turn(c, jobs, success, NULL);
    EXPECT(!jobs && contract_number(c, "SELECT count(*) FROM ended") == 4 * PAGE);
    EXPECT(contract_number(c, "SELECT count(*) FROM ready") == 0);
}

/* It is the best, so it is the first of the page that is read in the same turn. */
static void own_writes(struct contract *c) {
    EXPECT(make(c, 4 * PAGE));
    struct job *jobs = two_turns(c);
    EXPECT(jobs);
    const int64_t id = jobs->id, priority = jobs->priority;
    jobs = turn(c, jobs, failure, NULL);
    EXPECT(count_of(jobs) == PAGE && jobs->id == id && jobs->priority == priority);
    EXPECT(pages(c) == 0);
    job_free_list(jobs);
}

static void others(struct contract *c) {
    struct store_executor self;
    struct store *other = contract_join(c, "other", NOW, &self);
    EXPECT(other && make(c, 4 * PAGE));
    struct job *jobs = two_turns(c);
    int64_t best = create(c, other, (struct job){.retries = 3, .priority = 50}, NOW);
    store_close(other);
    EXPECT(jobs && best);
    jobs = turn(c, jobs, success, NULL);
    EXPECT(pages(c) == 1 && count_of(jobs) == PAGE && jobs->id == best);
    job_free_list(jobs);
}

/* The process of the server that serves it ends. */
static void kill_reader(struct contract *c) {
    char sql[80];
    snprintf(sql, sizeof sql, "SELECT pg_terminate_backend(%d, 5000)",
             PQbackendPID(reader_of_store(c)->session.link));
    contract_number(c, sql);
}

static void lost(struct contract *c) {
    EXPECT(make(c, 5 * PAGE));
    struct job *jobs = two_turns(c);
    EXPECT(jobs && (jobs = turn(c, jobs, success, NULL)) && pages(c) == 1);
    jobs = turn(c, jobs, success, kill_reader);
    EXPECT(count_of(jobs) == PAGE && !reader_of_store(c)->db.driver);
    EXPECT(contract_number(c, "SELECT count(*) FROM ended") == 3 * PAGE);
    jobs = turn(c, jobs, success, NULL);
    EXPECT(count_of(jobs) == PAGE && pages(c) == 0);
    job_free_list(jobs);
}

static pid_t stopped;

/* The process of the server that serves it lives, and does nothing. */
static void stop_reader(struct contract *c) {
    stopped = PQbackendPID(reader_of_store(c)->session.link);
    if (kill(stopped, SIGSTOP) != 0)
        stopped = 0; /* it is another user's */
}

static void silent(struct contract *c) {
    EXPECT(make(c, 5 * PAGE));
    struct job *jobs = two_turns(c);
    EXPECT(jobs && (jobs = turn(c, jobs, success, NULL)) && pages(c) == 1);
    reader_of_store(c)->patience = READER_PATIENCE;
    const time_ms begun = clock_monotonic();
    jobs = turn(c, jobs, success, stop_reader);
    const time_ms took = clock_monotonic() - begun;
    if (stopped)
        kill(stopped, SIGCONT);
    EXPECT(count_of(jobs) == PAGE);
    EXPECT(!stopped || (took >= 2000 && took < 30000 && !reader_of_store(c)->db.driver));
    EXPECT(contract_number(c, "SELECT count(*) FROM ended") == 3 * PAGE);
    job_free_list(jobs);
}

static struct store *other;
static bool moved;

/* What VACUUM FULL needs. */
static void move_rows(struct contract *c) {
    struct error refused = {ERROR_NONE, ""};
    (void)c;
    moved = db_execute(&other->db, "SELECT 1; LOCK TABLE ready IN ACCESS EXCLUSIVE MODE NOWAIT",
                       &refused);
}

static void places_stay(struct contract *c) {
    struct store_executor self;
    other = contract_join(c, "other", NOW, &self);
    EXPECT(other && make(c, 4 * PAGE));
    struct job *jobs = two_turns(c);
    EXPECT(jobs);
    jobs = turn(c, jobs, success, move_rows);
    store_close(other);
    EXPECT(pages(c) == 1 && count_of(jobs) == PAGE && !moved);
    job_free_list(jobs);
}

/* As if it were connected to a server that has never heard of the transaction. */
static void forge(struct contract *c) {
    struct reader *reader = reader_of_store(c);
    snprintf(reader->snapshot, sizeof reader->snapshot, "0000FFFF-0000FFFF-1");
}

static void another_server(struct contract *c) {
    EXPECT(make(c, 4 * PAGE));
    struct job *jobs = two_turns(c);
    EXPECT(jobs);
    jobs = turn(c, jobs, success, forge);
    EXPECT(count_of(jobs) == PAGE && !reader_of_store(c)->db.driver);
    job_free_list(jobs);
}

/* Accepts one client, and answers nothing else for a minute. */
static void keep_waiting(int listener) {
    static const char words[] = "R\0\0\0\x08\0\0\0\0S\0\0\0\x18server_version\0"
                                "16.0\0Z\0\0\0\x05I";
    char asked[1000];
    alarm(60);
    int one = accept(listener, NULL, NULL);
    if (read(one, asked, sizeof asked) > 0 && write(one, words, sizeof words - 1) > 0)
        while (read(one, asked, sizeof asked) > 0)
            continue;
    _exit(0);
}

/* Such a pool stands in the folder. */
static pid_t begin_pool(const char *folder) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(name.sun_path, sizeof name.sun_path, "%s/.s.PGSQL.5432", folder);
    unlink(name.sun_path);
    bool fine =
        bind(listener, (struct sockaddr *)&name, sizeof name) == 0 && listen(listener, 10) == 0;
    pid_t child = fine ? fork() : -1;
    if (child == 0)
        keep_waiting(listener);
    close(listener);
    return child;
}

/* Has no server left for the second connection. */
static void full_pool(struct contract *c) {
    struct postgres *postgres = postgres_of(c->store);
    const struct address address = postgres->address;
    char url[128];
    snprintf(url, sizeof url, "postgres://me@/d?host=%s&connect_timeout=5", c->directory);
    EXPECT(make(c, 4 * PAGE));
    struct job *jobs = two_turns(c);
    const pid_t pool = begin_pool(c->directory);
    EXPECT(jobs && pool > 0 && address_read(&postgres->address, url, &c->error));
    memcpy(postgres->address.schema, address.schema, sizeof address.schema);
    reader_of_store(c)->patience = READER_PATIENCE;
    const time_ms begun = clock_monotonic();
    jobs = turn(c, jobs, success, NULL);
    const time_ms took = clock_monotonic() - begun;
    address_clear(&postgres->address);
    postgres->address = address;
    kill(pool, SIGKILL);
    waitpid(pool, NULL, 0);
    EXPECT(count_of(jobs) == PAGE && !reader_of_store(c)->db.driver);
    EXPECT(took >= 1000 && took < 30000);
    job_free_list(jobs);
}

/* A primary that was cut off and one that was promoted may know snapshots of the same name. */
static void promote(struct contract *c) {
    postgres_of(c->store)->timeline.server++;
}

static void former_primary(struct contract *c) {
    EXPECT(make(c, 4 * PAGE));
    struct job *jobs = two_turns(c);
    EXPECT(jobs);
    jobs = turn(c, jobs, success, promote);
    EXPECT(count_of(jobs) == PAGE && !reader_of_store(c)->db.driver);
    job_free_list(jobs);
}

static void short_turns(struct contract *c) {
    struct job *jobs = NULL;
    for (int i = 0; i < 4; i++) {
        EXPECT(make(c, PAGE / 2));
        jobs = turn(c, jobs, success, NULL);
        EXPECT(count_of(jobs) == PAGE / 2);
    }
    EXPECT(!reader_of_store(c)->db.driver);
    job_free_list(jobs);
}

static void texts(struct contract *c) {
    EXPECT(spelling_minds("INSERT INTO ready(stream) VALUES(?1)"));
    EXPECT(spelling_minds("WITH g AS (DELETE FROM ready WHERE ctid=ANY(?)) SELECT 1"));
    EXPECT(spelling_minds("UPDATE job SET rev=rev+1 WHERE id=?1"));
    EXPECT(spelling_minds("INSERT INTO ended(job) VALUES(1); INSERT INTO lane(id) VALUES(2)"));
    EXPECT(spelling_minds("DELETE FROM parked WHERE ctid=ANY(?)"));
    EXPECT(!spelling_minds("SELECT id FROM ready"));
    EXPECT(!spelling_minds("DELETE FROM job WHERE id=ANY(?)"));
    EXPECT(!spelling_minds("INSERT INTO job_log(id) VALUES(1)"));
    EXPECT(!spelling_minds("INSERT INTO ended(job, stream) SELECT unnest(?), unnest(?)"));
}

static const struct check checks[] = {
    {"the page of a long turn is read on a second connection", reads},
    {"what a turn makes ready is in its page", own_writes},
    {"what others have created before is in it", others},
    {"a second connection that is lost costs no job", lost},
    {"one that is silent is waited for two seconds", silent},
    {"nobody moves the rows of a page before they are taken", places_stay},
    {"a server that does not know the transaction is not asked", another_server},
    {"a pool that has no server left is not waited for", full_pool},
    {"a server on another timeline is not believed", former_primary},
    {"short turns need no second connection", short_turns},
    {"which statements change what a page shows", texts},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
