/* mailbox_contract.c - many processes create one job at a time, and one of them writes for all:
 * what is answered is there, exactly once, whoever dies. */
#include "mailbox_crowd.h"
#include "store/sqlite/db/log_index.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void together(struct contract *c) {
    struct crowd *crowd = crowd_new();
    pid_t children[CROWD];
    bool fine = crowd != NULL;
    EXPECT(fine);
    for (int i = 0; i < CROWD; i++)
        children[i] = client(c, crowd, i, 0);
    for (int i = 0; i < CROWD; i++)
        fine = ended_well(children[i]) && fine;
    EXPECT(fine && look(c, crowd));
    for (int i = 0; i < CROWD; i++)
        EXPECT(crowd->calls[i][CALLS - 1].answered);
    EXPECT(all_right(c, crowd));
    munmap(crowd, sizeof *crowd);
}

static void die(struct contract *c, int64_t longer) {
    struct crowd *crowd = crowd_new();
    pid_t children[LIVES];
    int killed = 0;
    bool fine = crowd != NULL;
    EXPECT(fine);
    srand((unsigned)getpid());
    for (int life = 0; life < LIVES; life++) {
        children[life] = client(c, crowd, life, longer);
        if (life < CROWD)
            continue;
        usleep((useconds_t)(rand() % 8000));
        kill(children[life - CROWD + rand() % CROWD], SIGKILL);
    }
    for (int i = 0; i < LIVES; i++) {
        int status = 1;
        waitpid(children[i], &status, 0);
        killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        fine = (status == 0 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)) && fine;
    }
    EXPECT(fine && killed > 0 && look(c, crowd));
    EXPECT(all_right(c, crowd));
    munmap(crowd, sizeof *crowd);
}

static void dying(struct contract *c) {
    die(c, 0);
}

/* Most of them die in a sync, with the lead handed on. */
static void dying_in_sync(struct contract *c) {
    die(c, 2);
}

/* ---- when it is answered ---- */

struct moment {
    const struct store *store;
    int commits, answers; /* how often it was answered by then */
};

/* The transaction is about to be committed. */
static int before_commit(void *arg) {
    struct moment *moment = arg;
    moment->commits++;
    moment->answers += mailbox_answered(&sqlite_of(moment->store)->mailbox);
    return 0;
}

static void not_before(struct contract *c) {
    struct store *store = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    struct moment moment = {.store = store};
    struct job_spec spec = {.job = {.handler = "work", .due = TIME_NONE, .retries = 3}};
    EXPECT(store);
    sqlite3_commit_hook(store->db.handle, before_commit, &moment);
    bool done = store_enqueue(store, &spec, NOW, &c->error);
    store_close(store);
    EXPECT(done && moment.commits == 1 && moment.answers == 0);
}

/* The sync of a round: what another process that asked with us sees meanwhile. */
static struct {
    struct sqlite3_io_methods methods;
    const struct sqlite3_io_methods *real;
    struct mailbox *other;
    const struct store *store;
    int syncs;
    bool written, leads, early; /* of the other; and an answer is there already */
} at_sync;

static int sync_seen(sqlite3_file *file, int flags) {
    struct mailbox *other = at_sync.other;
    at_sync.syncs++;
    at_sync.written = mailbox_written(other);
    at_sync.early = mailbox_answered(other) || mailbox_answered(&sqlite_of(at_sync.store)->mailbox);
    at_sync.leads = mailbox_lead(other);
    if (at_sync.leads)
        mailbox_leave(other);
    return at_sync.real->xSync(file, flags);
}

/* Another process has measured so many microseconds for a sync, and this one none. */
static sqlite3_file *sync_watch(struct store *store, struct mailbox *other, uint32_t took) {
    sqlite3_file *log = index_file(store, SQLITE_FCNTL_JOURNAL_POINTER);
    at_sync.real = log->pMethods;
    at_sync.methods = *log->pMethods;
    at_sync.methods.xSync = sync_seen;
    at_sync.other = other;
    at_sync.store = store;
    at_sync.syncs = 0;
    sqlite_of(store)->gate.page->sync_took = took;
    sqlite_of(store)->synced = false;
    log->pMethods = &at_sync.methods;
    return log;
}

/* Two processes ask, and one of them writes for both. */
static void sync_round(struct contract *c, uint32_t took) {
    struct mailbox other = {0};
    struct store *store = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    struct job_spec spec = {.job = {.handler = "work", .due = TIME_NONE, .retries = 3}},
                    theirs = spec;
    EXPECT(store && store_enqueue(store, &spec, NOW, &c->error)); /* its log is open now */
    EXPECT(mailbox_open(&other, store_file(c), NULL));
    EXPECT(mailbox_ask(&other, &theirs, &c->settings.write, NOW));
    sqlite3_file *log = sync_watch(store, &other, took);
    bool done = store_enqueue(store, &spec, NOW, &c->error);
    log->pMethods = at_sync.real;
    store_close(store);
    EXPECT(done && at_sync.syncs == 1 && !at_sync.early && mailbox_answered(&other));
    mailbox_close(&other);
    EXPECT(matches(c, "{}") == 3);
}

static void handed_on(struct contract *c) {
    sync_round(c, SLOW);
    EXPECT(at_sync.written && at_sync.leads);
}

static void not_known(struct contract *c) {
    sync_round(c, 0);
    EXPECT(at_sync.leads);
}

static void not_handed_on(struct contract *c) {
    sync_round(c, FAST);
    EXPECT(!at_sync.leads);
}

/* A sync fails: nobody is told that his job is there. */
static int sync_failing(sqlite3_file *file, int flags) {
    (void)file;
    (void)flags;
    return SQLITE_IOERR_FSYNC;
}

static void not_synced(struct contract *c) {
    struct mailbox other = {0};
    struct store *store = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    struct job_spec spec = {.job = {.handler = "work", .due = TIME_NONE, .retries = 3}},
                    theirs = spec;
    EXPECT(store && store_enqueue(store, &spec, NOW, &c->error));
    EXPECT(mailbox_open(&other, store_file(c), NULL));
    EXPECT(mailbox_ask(&other, &theirs, &c->settings.write, NOW));
    sqlite3_file *log = sync_watch(store, &other, SLOW);
    at_sync.methods.xSync = sync_failing;
    bool done = store_enqueue(store, &spec, NOW, &c->error);
    log->pMethods = at_sync.real;
    EXPECT(!done && c->error.code == ERROR_IO && !mailbox_answered(&other));
    EXPECT(mailbox_written(&other)); /* its process finds that the log is torn, too */
    store_close(store);
    mailbox_close(&other);
    store_close(c->store); /* none is open: the next one mends the log */
    c->store = NULL;
    c->error = (struct error){ERROR_NONE, ""};
}

/* What one process has written, and still syncs, the next one that leads leaves alone. */
static void written_once(struct contract *c) {
    struct mailbox other = {0}, writer = {0};
    struct mailbox_request request;
    struct store *store = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    struct job_spec spec = {.job = {.handler = "work", .due = TIME_NONE, .retries = 3}};
    EXPECT(store && mailbox_open(&other, store_file(c), NULL));
    EXPECT(mailbox_open(&writer, store_file(c), NULL));
    EXPECT(mailbox_ask(&other, &spec, &c->settings.write, NOW));
    EXPECT(mailbox_read(&writer, other.place, &request));
    mailbox_mark_written(&writer, other.place, request.word);
    EXPECT(store_enqueue(store, &spec, NOW, &c->error) && mailbox_written(&other));
    mailbox_mark(&writer, other.place, request.word);
    EXPECT(mailbox_answered(&other));
    store_close(store);
    mailbox_close(&other);
    mailbox_close(&writer);
    EXPECT(matches(c, "{}") == 1);
}

/* Who asks for a job gives up as soon as anything is written. */
static void give_up(void *arg, int action, const char *database, const char *table,
                    sqlite3_int64 row) {
    (void)action;
    (void)database;
    (void)table;
    (void)row;
    mailbox_withdraw(arg);
}

static void given_up(struct contract *c) {
    struct mailbox other = {0};
    struct store *store = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    struct job_spec spec = {.job = {.handler = "work", .due = TIME_NONE, .retries = 3}},
                    theirs = spec;
    EXPECT(store && mailbox_open(&other, store_file(c), NULL));
    EXPECT(mailbox_ask(&other, &theirs, &c->settings.write, NOW));
    sqlite3_update_hook(store->db.handle, give_up, &other);
    bool done = store_enqueue(store, &spec, NOW, &c->error);
    store_close(store);
    mailbox_close(&other);
    EXPECT(done && matches(c, "{}") == 1);
}

/* Each of two jobs has what its own creator's settings say, whoever writes both. */
static void as_asked(struct contract *c) {
    struct mailbox other = {0};
    struct store *store = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    struct job_spec spec = {.job = {.handler = "ours", .due = TIME_NONE}}, theirs = spec;
    struct write_rules rules = c->settings.write;
    theirs.job.handler = "theirs";
    rules.ensure_due_date = true;
    rules.retries = 8;
    EXPECT(store && mailbox_open(&other, store_file(c), NULL));
    EXPECT(mailbox_ask(&other, &theirs, &rules, NOW));
    bool done = store_enqueue(store, &spec, NOW, &c->error);
    store_close(store);
    EXPECT(done && mailbox_answered(&other));
    mailbox_close(&other);
    EXPECT(contract_number(c, "SELECT count(*) FROM job WHERE due IS NULL AND retries=3") == 1);
    EXPECT(contract_number(c, "SELECT count(*) FROM job WHERE due=created AND retries=8") == 1);
}

static bool execute(struct contract *c, const char *sql) {
    sqlite3 *db = NULL;
    bool done = sqlite3_open(store_file(c), &db) == SQLITE_OK &&
                sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_close(db);
    return done;
}

/* From here on a job of this instance cannot be written, by any connection. */
static bool poison(struct contract *c) {
    return execute(c, "CREATE TRIGGER poison BEFORE INSERT ON job WHEN NEW.instance='poison'"
                      " BEGIN SELECT RAISE(ABORT, 'poison'); END");
}

static void rolled_back(void *arg) {
    ++*(int *)arg;
}

/* The first in the list is of another process, and spoils the whole. */
static void spoilt(struct contract *c) {
    struct mailbox other = {0};
    struct store *store = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    struct job_spec spec = {.job = {.handler = "work", .due = TIME_NONE, .retries = 3}},
                    theirs = spec;
    theirs.job.instance = "poison";
    EXPECT(store && poison(c) && mailbox_open(&other, store_file(c), NULL));
    EXPECT(mailbox_ask(&other, &theirs, &c->settings.write, NOW));
    bool done = store_enqueue(store, &spec, NOW, &c->error);
    EXPECT(done && sqlite_of(store)->mailbox.place > other.place && !mailbox_answered(&other));
    store_close(store);
    mailbox_close(&other);
    EXPECT(matches(c, "{}") == 1 && execute(c, "DROP TRIGGER poison"));
}

static void spoilt_alone(struct contract *c) {
    int times = 0;
    struct store *store = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    struct job_spec spec = {
        .job = {.handler = "work", .due = TIME_NONE, .retries = 3, .instance = "poison"}};
    EXPECT(store && poison(c));
    sqlite3_rollback_hook(store->db.handle, rolled_back, &times);
    bool done = store_enqueue(store, &spec, NOW, &c->error);
    store_close(store);
    EXPECT(!done && times == 1 && matches(c, "{}") == 0);
    EXPECT(execute(c, "DROP TRIGGER poison"));
}

/* ---- numbers ---- */

/* Of the request that lies in a place; 0: none. */
static int64_t ticket_at(struct mailbox *mailbox, int place) {
    struct mailbox_request request;
    return mailbox_read(mailbox, place, &request) ? request.ticket : 0;
}

/* What one process has asked for under a number is never taken for the request of its successor. */
static void numbers(struct contract *c) {
    struct mailbox reader = {0}, one = {0}, next = {0};
    struct job_spec spec = {.job = {.handler = "work", .due = TIME_NONE, .retries = 3}};
    EXPECT(mailbox_open(&reader, store_file(c), NULL) && mailbox_open(&one, store_file(c), NULL));
    int place = one.place;
    EXPECT(mailbox_ask(&one, &spec, &c->settings.write, NOW));
    int64_t first = ticket_at(&reader, place);
    EXPECT(mailbox_ask(&one, &spec, &c->settings.write, NOW));
    int64_t second = ticket_at(&reader, place);
    mailbox_close(&one);
    EXPECT(mailbox_open(&next, store_file(c), NULL) && next.place == place);
    EXPECT(mailbox_ask(&next, &spec, &c->settings.write, NOW));
    int64_t third = ticket_at(&reader, place),
            gap = third > second ? third - second : second - third;
    mailbox_close(&next);
    mailbox_close(&reader);
    EXPECT(first > 0 && second == first + 1 && gap > 1000000);
}

/* A ticket has more bits than the word that tells its state: on both sides of where that begins
 * anew. */
static void numbers_wrap(struct contract *c) {
    struct mailbox reader = {0}, one = {0};
    struct mailbox_request old = {0}, new;
    struct job_spec spec = {.job = {.handler = "work", .due = TIME_NONE, .retries = 3}};
    EXPECT(mailbox_open(&reader, store_file(c), NULL) && mailbox_open(&one, store_file(c), NULL));
    one.ticket = ((int64_t)5 << 30) - 3;
    for (int i = 0; i < 5; i++, old = new) {
        EXPECT(mailbox_ask(&one, &spec, &c->settings.write, NOW));
        EXPECT(mailbox_read(&reader, one.place, &new));
        EXPECT(old.word != new.word &&new.ticket == one.ticket);
        mailbox_mark(&reader, one.place, old.word);
        EXPECT(!mailbox_answered(&one) && !mailbox_waits(&reader, one.place, old.word));
    }
    mailbox_mark(&reader, one.place, new.word);
    EXPECT(mailbox_answered(&one) && one.ticket > (int64_t)5 << 30);
    mailbox_close(&one);
    mailbox_close(&reader);
}

/* ---- whose turn it is ---- */

/* As another process sees it: 1 it asks, 2 it is called. */
static uint32_t state_of(struct mailbox *mailbox, int place) {
    struct mailbox_request request;
    return mailbox_read(mailbox, place, &request) ? request.word % 8 : 0;
}

/* Who leaves the lead calls the next one that asks; it looks by itself then, or calls another. */
static void called(struct contract *c) {
    struct mailbox first = {0}, second = {0}, third = {0};
    struct job_spec spec = {.job = {.handler = "work", .due = TIME_NONE, .retries = 3}};
    EXPECT(mailbox_open(&first, store_file(c), NULL) && mailbox_open(&second, store_file(c), NULL));
    EXPECT(mailbox_open(&third, store_file(c), NULL) && third.place == second.place + 1);
    EXPECT(mailbox_ask(&second, &spec, &c->settings.write, NOW));
    EXPECT(mailbox_ask(&third, &spec, &c->settings.write, NOW));
    for (int i = 0; i < 2; i++) {
        EXPECT(mailbox_lead(&first));
        mailbox_leave(&first);
        EXPECT(state_of(&first, second.place) == 2 && state_of(&first, third.place) == 1);
        EXPECT(mailbox_next(&first, 0) == second.place);
    }
    EXPECT(!mailbox_wait(&second, 1) && state_of(&first, second.place) == 1);
    mailbox_close(&second);
    EXPECT(mailbox_next(&first, 0) == third.place);
    mailbox_close(&third);
    EXPECT(mailbox_next(&first, 0) == MAILBOX_PLACES);
    mailbox_close(&first);
}

static void asks_and_dies(struct contract *c) {
    struct mailbox mailbox = {0};
    struct job_spec spec = {.job = {.handler = "work", .due = TIME_NONE, .retries = 3}};
    _exit(mailbox_open(&mailbox, store_file(c), NULL) &&
                  mailbox_ask(&mailbox, &spec, &c->settings.write, NOW)
              ? 0
              : 1);
}

static void of_the_dead(struct contract *c) {
    struct mailbox mailbox = {0};
    struct mailbox_request request;
    EXPECT(mailbox_open(&mailbox, store_file(c), NULL));
    pid_t child = fork();
    if (child == 0)
        asks_and_dies(c);
    EXPECT(ended_well(child));
    int place = mailbox_next(&mailbox, 0);
    EXPECT(place < MAILBOX_PLACES && !mailbox_read(&mailbox, place, &request));
    EXPECT(mailbox_next(&mailbox, 0) == MAILBOX_PLACES);
    mailbox_close(&mailbox);
}

/* A request is an orphan once it is written by a process that goes before it has synced. */
static void orphans(struct contract *c) {
    struct mailbox one = {0}, writer = {0};
    struct mailbox_request request;
    struct job_spec spec = {.job = {.handler = "work", .due = TIME_NONE, .retries = 3}};
    EXPECT(mailbox_open(&one, store_file(c), NULL) && mailbox_open(&writer, store_file(c), NULL));
    EXPECT(mailbox_ask(&one, &spec, &c->settings.write, NOW));
    EXPECT(mailbox_read(&writer, one.place, &request));
    mailbox_answer(&writer, one.place)->writer = writer.place;
    mailbox_close(&writer);
    EXPECT(!mailbox_orphaned(&one));
    EXPECT(mailbox_open(&writer, store_file(c), NULL));
    mailbox_mark_written(&writer, one.place, request.word);
    EXPECT(mailbox_written(&one) && !mailbox_orphaned(&one));
    mailbox_close(&writer);
    EXPECT(mailbox_orphaned(&one));
    mailbox_close(&one);
}

/* ---- the file ---- */

static bool enqueue_one(struct contract *c) {
    struct store *store = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    struct job_spec spec = {.job = {.handler = "work", .due = TIME_NONE, .retries = 3}};
    bool done = store && store_enqueue(store, &spec, NOW, &c->error) && spec.reply.id > 0 &&
                spec.reply.creation == CREATION_CREATED;
    store_close(store);
    return done;
}

static const char *mailbox_file(const struct contract *c) {
    static char path[160];
    snprintf(path, sizeof path, "%s-tray", store_file(c));
    return path;
}

static void garbage(struct contract *c) {
    static const off_t sizes[] = {0, 1, 100, 8192, 65 * 8192, 66 * 8192};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int file = open(mailbox_file(c), O_RDWR | O_CREAT | O_TRUNC, 0644);
        for (off_t at = 0; at < sizes[i]; at++) {
            char byte = (char)rand();
            EXPECT(pwrite(file, &byte, 1, at) == 1);
            at += at > 20000 ? 200 : 0;
        }
        EXPECT(ftruncate(file, sizes[i]) == 0);
        close(file);
        EXPECT(enqueue_one(c));
    }
}

/* Its maker died before it had a word. */
static void unfinished(struct contract *c) {
    struct mailbox mailbox = {0};
    int file = open(mailbox_file(c), O_RDWR | O_CREAT | O_TRUNC, 0644);
    EXPECT(ftruncate(file, 8192) == 0 && close(file) == 0);
    EXPECT(mailbox_open(&mailbox, store_file(c), NULL));
    mailbox_close(&mailbox);
}

static void none(struct contract *c) {
    EXPECT(mkdir(mailbox_file(c), 0755) == 0);
    bool done = enqueue_one(c);
    rmdir(mailbox_file(c));
    EXPECT(done);
}

static void no_room(struct contract *c) {
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit most = {400000, 400000}; /* bytes of a file */
        _exit(setrlimit(RLIMIT_FSIZE, &most) == 0 && enqueue_one(c) ? 0 : 1);
    }
    EXPECT(ended_well(child));
    EXPECT(enqueue_one(c));
}

static void full(struct contract *c) {
    struct mailbox trays[MAILBOX_PLACES + 1] = {0};
    bool fine = true;
    for (int i = 0; i < MAILBOX_PLACES; i++)
        fine = mailbox_open(&trays[i], store_file(c), NULL) && fine;
    bool one_more = mailbox_open(&trays[MAILBOX_PLACES], store_file(c), NULL),
         done = enqueue_one(c);
    for (int i = 0; i < MAILBOX_PLACES; i++)
        mailbox_close(&trays[i]);
    EXPECT(fine && !one_more && done);
}

static const struct check checks[] = {
    {"of 16 processes each gets its own answer, and what is answered is there once", together},
    {"whoever is killed has created one job or none, and the others theirs", dying},
    {"the same where most of them are killed in a sync", dying_in_sync},
    {"nobody is answered before the commit", not_before},
    {"the next one may lead while a round is synced, and nobody is answered before", handed_on},
    {"the same where no process knows what a sync takes", not_known},
    {"where syncs are fast a round is synced before the next one leads", not_handed_on},
    {"nobody is answered whose round could not be synced", not_synced},
    {"what is written and not synced yet is not written again", written_once},
    {"what is given up before the commit is not done", given_up},
    {"a job has what the settings of the one that asks for it say", as_asked},
    {"a request that cannot be written spoils no other one", spoilt},
    {"a request that cannot be written is tried once", spoilt_alone},
    {"a request has a number that its place has never seen", numbers},
    {"an answer to the request before reaches no request", numbers_wrap},
    {"who leaves the lead calls one that asks, and no two", called},
    {"what a process has asked for that is gone is not read again", of_the_dead},
    {"what its writer has not synced is known once that is gone", orphans},
    {"a tray of anything is made anew", garbage},
    {"a tray that was never finished is made anew", unfinished},
    {"where there can be no tray everybody writes alone", none},
    {"where the tray has no room everybody writes alone", no_room},
    {"who finds no place in the tray writes alone", full},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
