/* driver_contract.c - the driver over libpq, on a server: values, rows, flights, errors. It is run
 * with spec/postgres/contracts, which says in CONTRACT_STORE where the server is. */
#include "../../contract.h"
#include "store/postgres/db/array.h"
#include "store/postgres/db/driver.h"
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

struct server {
    struct address address;
    struct session session;
    struct db db;
};

static bool server_open(struct contract *c, struct server *server) {
    *server = (struct server){0};
    contract_url(c, false);
    return address_read(&server->address, c->url, &c->error) &&
           session_open(&server->session, &server->db, &server->address, &c->error) &&
           db_execute(&server->db, "CREATE TEMPORARY TABLE t(id bigint PRIMARY KEY, name text)",
                      &c->error);
}

static void server_close(struct server *server) {
    db_close(&server->db);
    address_clear(&server->address);
}

static int64_t count_rows(struct server *server) {
    int64_t count = -1;
    db_value(&server->db, NULL, &count, "SELECT count(*) FROM t", "");
    return count;
}

/* ---- values ---- */

static bool values_return(struct contract *c, struct db *db) {
    static const char bytes[] = "a\0b";
    size_t size = 0;
    struct row *row =
        db_query(db, &c->error, "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8", "inzTtbdt", INT64_MIN + 1,
                 -7, INT64_C(0), TIME_NONE, "ü", bytes, sizeof bytes - 1, 0.25, NULL);
    if (db_step(db, row, &c->error) != YES)
        return false;
    const char *blob = row_blob(row, 5, &size);
    bool same = row_int(row, 0) == INT64_MIN + 1 && row_int32(row, 1) == -7 && row_null(row, 2) &&
                row_time(row, 3) == TIME_NONE && strcmp(row_text(row, 4), "ü") == 0;
    same = same && size == 3 && memcmp(blob, bytes, 3) == 0 && row_real(row, 6) == 0.25 &&
           row_null(row, 7) && !row_text(row, 7);
    return same && db_step(db, row, &c->error) == NO;
}

static void values(struct contract *c) {
    struct server server;
    EXPECT(server_open(c, &server));
    bool first = values_return(c, &server.db), again = values_return(c, &server.db);
    server_close(&server);
    EXPECT(first);
    EXPECT(again);
}

/* ---- arrays ---- */

/* Binds one array to the second parameter. */
static bool bind_numbers(struct row *row, int count) {
    struct array numbers;
    array_begin(&numbers, ARRAY_INT8);
    for (int i = 0; i < count; i++)
        array_add_int(&numbers, i);
    array_end(&numbers);
    bool bound = row && statement_bind_array(row, 1, &numbers) && !numbers.data.data;
    array_clear(&numbers);
    return bound;
}

static const char counts[] = "SELECT ?1, cardinality(?2::bigint[])";

static void arrays(struct contract *c) {
    struct server server;
    int64_t kept = -1, none = -1;
    EXPECT(server_open(c, &server));
    struct row *row = db_query(&server.db, &c->error, counts, "i", INT64_C(1));
    bool fine = bind_numbers(row, 1000) && db_step(&server.db, row, &c->error) == YES;
    kept = fine ? row_int(row, 1) : -1;
    row_done(row);
    row = db_query(&server.db, &c->error, counts, "i", INT64_C(1));
    fine = fine && db_step(&server.db, row, &c->error) == YES;
    none = fine && row_null(row, 1);
    row_done(row);
    row = db_query(&server.db, &c->error, counts, "i", INT64_C(1));
    fine = fine && bind_numbers(row, 10) && bind_numbers(row, 20); /* and is not run */
    server_close(&server);
    EXPECT(fine && kept == 1000 && none == 1);
}

/* Sums of whole numbers are numerics to the server. */
static bool sums_are_whole(struct contract *c, struct db *db) {
    static const int64_t parts[] = {INT64_C(9000000000000000000), 100000000, 20000, 123456789, -5};
    bool fine = true;
    for (size_t i = 0; fine && i < sizeof parts / sizeof *parts; i++) {
        struct row *row = db_query(db, &c->error, "SELECT sum(n), sum(n)*0 FROM (VALUES(?1)) v(n)",
                                   "i", parts[i]);
        fine = db_step(db, row, &c->error) == YES && row_type(row, 0) == ROW_INTEGER &&
               row_int(row, 0) == parts[i] && row_int(row, 1) == 0;
        row_done(row);
    }
    return fine;
}

static void made_values(struct contract *c) {
    struct server server;
    EXPECT(server_open(c, &server));
    struct row *row = db_query(&server.db, &c->error,
                               "SELECT 1=1, 1=2, 1.5, avg(n), 42, 'a ? of ''?1''', 7::smallint,"
                               " 0.5::real FROM (VALUES(1),(2)) v(n)",
                               "");
    bool fine = db_step(&server.db, row, &c->error) == YES && row_int(row, 0) == 1 &&
                row_int(row, 1) == 0 && row_type(row, 2) == ROW_REAL && row_real(row, 3) == 1.5;
    fine = fine && strcmp(row_text(row, 4), "42") == 0 && row_int(row, 6) == 7 &&
           strcmp(row_text(row, 5), "a ? of '?1'") == 0 && strcmp(row_text(row, 7), "0.5") == 0;
    bool sums = fine && sums_are_whole(c, &server.db);
    server_close(&server);
    EXPECT(fine);
    EXPECT(sums);
}

static void numbered(struct contract *c) {
    struct server server;
    const json_t *one = json_integer(5), *two = json_string("x");
    const json_t *const given[] = {one, two};
    EXPECT(server_open(c, &server));
    struct row *row = db_query(&server.db, &c->error, "SELECT ?2, ?1+?1", "it", INT64_C(4), "b");
    bool fine = db_step(&server.db, row, &c->error) == YES && row_int(row, 1) == 8 &&
                strcmp(row_text(row, 0), "b") == 0;
    row = db_prepare(&server.db, "SELECT 1 WHERE 5=? AND 'x'=?", given, 2, &c->error);
    bool bare = db_step(&server.db, row, &c->error) == YES;
    db_forget(row);
    server_close(&server);
    json_decref((json_t *)(uintptr_t)one);
    json_decref((json_t *)(uintptr_t)two);
    EXPECT(fine);
    EXPECT(bare);
}

/* ---- flights ---- */

static bool put(struct server *server, int64_t id, struct error *error) {
    return db_run(&server->db, error, "INSERT INTO t(id) VALUES(?1)", "i", id);
}

static void queued(struct contract *c) {
    struct server server;
    EXPECT(server_open(c, &server));
    session_enter(&server.session);
    bool fine = db_run(&server.db, &c->error, "BEGIN", "");
    for (int64_t i = 0; fine && i < 1000; i++)
        fine = put(&server, i, &c->error);
    size_t waits = server.session.count;
    fine = fine && db_run(&server.db, &c->error, "UPDATE t SET name='x' WHERE id<10", "");
    int changed = db_changes(&server.db);
    fine = fine && db_run(&server.db, &c->error, "COMMIT", "") &&
           session_land(&server.session, NULL, &c->error);
    session_leave(&server.session);
    int64_t count = count_rows(&server);
    server_close(&server);
    EXPECT(fine);
    EXPECT(waits > 0);
    EXPECT(changed == 10);
    EXPECT(count == 1000);
}

/* The statement that is refused says nothing; what waits next tells, and so does all that follows.
 */
static void refused(struct contract *c) {
    struct server server;
    struct error other = {0};
    EXPECT(server_open(c, &server));
    session_enter(&server.session);
    bool sent = db_run(&server.db, &c->error, "BEGIN", "") && put(&server, 1, &c->error) &&
                put(&server, 1, &c->error) && put(&server, 2, &c->error);
    int changed = db_changes(&server.db);
    bool after = put(&server, 3, &other);
    session_leave(&server.session);
    bool back = db_run(&server.db, &c->error, "ROLLBACK", "");
    bool again = put(&server, 4, &c->error) && count_rows(&server) == 1;
    server_close(&server);
    EXPECT(sent);
    EXPECT(changed == 0);
    EXPECT(!after && strstr(other.text, "duplicate key"));
    EXPECT(back && again);
}

/* One part of a transaction fails, and the others stay. */
static void returned(struct contract *c) {
    struct server server;
    struct error other = {0};
    EXPECT(server_open(c, &server));
    struct db *db = &server.db;
    session_enter(&server.session);
    bool sent = db_run(db, &c->error, "BEGIN", "") && put(&server, 1, &c->error) &&
                db_run(db, &c->error, "SAVEPOINT part", "") && put(&server, 2, &c->error) &&
                put(&server, 1, &c->error);
    bool released = db_run(db, &other, "RELEASE part", "");
    bool back = db_run(db, &c->error, "ROLLBACK TO part", "") &&
                db_run(db, &c->error, "RELEASE part", "") && put(&server, 3, &c->error) &&
                db_run(db, &c->error, "COMMIT", "") &&
                session_land(&server.session, NULL, &c->error);
    session_leave(&server.session);
    int64_t count = count_rows(&server);
    server_close(&server);
    EXPECT(sent && !released && strstr(other.text, "duplicate key"));
    EXPECT(back && count == 2);
}

static void unknown_table(struct contract *c) {
    struct server server;
    struct error other = {0};
    static const char sql[] = "SELECT 1 FROM later";
    int64_t value = 0;
    EXPECT(server_open(c, &server));
    bool first = db_value(&server.db, &other, &value, sql, "") == FAILED;
    bool made = db_execute(&server.db,
                           "CREATE TEMPORARY TABLE later(); INSERT INTO later "
                           "DEFAULT VALUES",
                           &c->error);
    bool second = db_value(&server.db, &c->error, &value, sql, "") == YES && value == 1;
    server_close(&server);
    EXPECT(first && other.code == ERROR_CONFIG);
    EXPECT(made && second);
}

static void two_at_once(struct contract *c) {
    struct server server;
    int64_t sum = 0;
    EXPECT(server_open(c, &server));
    struct row *outer = db_query(&server.db, &c->error, "SELECT generate_series(1, 3)::bigint", "");
    while (db_step(&server.db, outer, &c->error) == YES) {
        int64_t inner = 0;
        db_value(&server.db, &c->error, &inner, "SELECT ?1*10", "i", row_int(outer, 0));
        sum += inner + row_int(outer, 0);
    }
    server_close(&server);
    EXPECT(sum == 66);
}

/* ---- ends ---- */

static void too_long(struct contract *c) {
    struct server server;
    struct error other = {0};
    EXPECT(server_open(c, &server));
    server.db.budget = 50;
    server.db.question = "naps";
    db_question_begin(&server.db);
    bool ended = !db_run(&server.db, &other, "SELECT pg_sleep(60)", "");
    db_question_end(&server.db);
    bool on = put(&server, 1, &c->error);
    server_close(&server);
    EXPECT(ended && strstr(other.text, "the question for naps took longer than 0.05 s"));
    EXPECT(on);
}

static _Atomic bool stop;

static int hurried(void) {
    return stop;
}

static void ended_at_once(struct contract *c) {
    struct server server;
    EXPECT(server_open(c, &server));
    server.db.budget = 60000;
    server.db.hurried = hurried;
    stop = true;
    db_question_begin(&server.db);
    bool ended = !db_run(&server.db, &c->error, "SELECT pg_sleep(60)", "");
    db_question_end(&server.db);
    server_close(&server);
    EXPECT(ended);
}

static void lost(struct contract *c) {
    struct server server, killer;
    struct error other = {0};
    int64_t process = 0, gone = 0;
    EXPECT(server_open(c, &server));
    db_value(&server.db, &c->error, &process, "SELECT pg_backend_pid()", "");
    EXPECT(server_open(c, &killer));
    db_value(&killer.db, &c->error, &gone, "SELECT pg_terminate_backend(?1::int, 60000)", "i",
             process);
    server_close(&killer);
    bool told = !put(&server, 1, &other);
    bool back = session_reopen(&server.session, &server.address, &c->error) &&
                db_execute(&server.db, "CREATE TEMPORARY TABLE t(id bigint)", &c->error) &&
                put(&server, 1, &c->error);
    server_close(&server);
    EXPECT(gone && told && other.code == ERROR_UNAVAILABLE);
    EXPECT(back);
}

/* Its number of rows is none that a caller could take for damage. */
static void lost_before_count(struct contract *c) {
    struct server server;
    struct error other = {0};
    int count = 0;
    EXPECT(server_open(c, &server));
    bool sent = db_execute(&server.db, "BEGIN", &c->error);
    server.session.queues = true;
    sent =
        sent && db_run(&server.db, &c->error, "SELECT pg_terminate_backend(pg_backend_pid())", "");
    bool counted = db_count(&server.db, &count, &other);
    server_close(&server);
    EXPECT(sent && !counted && other.code == ERROR_UNAVAILABLE);
}

/* Nothing may go on as if such a commit had not taken place. */
static void lost_in_commit(struct contract *c) {
    struct server server;
    struct error other = {0};
    EXPECT(server_open(c, &server));
    server.session.ending = true;
    bool told = !db_run(&server.db, &other, "SELECT pg_terminate_backend(pg_backend_pid())", "");
    server_close(&server);
    EXPECT(told && other.code == ERROR_IO);
}

/* ---- addresses ---- */

static bool reads_as(const char *url, const char *expected, struct error *error) {
    struct address address = {0};
    bool read = address_read(&address, url, error);
    const char *said = read ? address.name : error->text;
    bool same = strcmp(said, expected) == 0;
    if (!same)
        error_set(error, ERROR_FAILED, "%s", said);
    address_clear(&address);
    return same;
}

static void addresses(struct contract *c) {
    EXPECT(reads_as("postgres://me:secret@h:1/d?sslmode=disable&schema=jobs",
                    "postgres://me@h:1/d?schema=jobs", &c->error));
    EXPECT(reads_as("postgres://me@[::1]:5432,[::2]:5433/d",
                    "postgres://me@[::1]:5432,[::2]:5433/d?schema=moonshift", &c->error));
    EXPECT(reads_as("postgresql://me@/d?host=/run/pg",
                    "postgres://me@/d?host=/run/pg&schema=moonshift", &c->error));
    EXPECT(reads_as("postgres://h/d?schema=Jobs;",
                    "store: schema \"Jobs;\": expected at most 63 lower-case letters, digits and"
                    " _, and no pg_ in front",
                    &c->error));
    EXPECT(reads_as("postgres://h/d?scheme=jobs",
                    "store: unknown parameter \"scheme\" (did you mean \"schema\"?)", &c->error));
    EXPECT(reads_as("sqlite:jobs.db",
                    "store \"sqlite:jobs.db\": expected "
                    "postgres://user@host:port/database?schema=moonshift",
                    &c->error));
    EXPECT(reads_as("postgres://me:secret%zz@h/d",
                    "store \"postgres://me@h/d\": expected "
                    "postgres://user@host:port/database?schema=moonshift",
                    &c->error));
}

/* Values that libpq would refuse as it connects, as if the server were away. */
static void address_values(struct contract *c) {
    EXPECT(reads_as("postgres://a:5432,b:5433/d?sslmode=verify-ca&connect_timeout=3",
                    "postgres://a:5432,b:5433/d?schema=moonshift", &c->error));
    EXPECT(reads_as("postgres://h:99999/d",
                    "store: port \"99999\": expected a number from 1 to 65535, or one for each"
                    " host",
                    &c->error));
    EXPECT(reads_as("postgres://h/d?connect_timeout=soon",
                    "store: connect_timeout \"soon\": expected seconds", &c->error));
    EXPECT(reads_as("postgres://h/d?sslmode=verify",
                    "store: sslmode \"verify\": expected disable, allow, prefer, require,"
                    " verify-ca, verify-full",
                    &c->error));
}

/* A part of such a password would be taken for a host, and shown. */
static void parted_passwords(struct contract *c) {
    static const char *const urls[] = {"postgres://me:se@cret@h/d", "postgres://me:se/cret@h/d",
                                       "postgres://me:se?cret@h/d"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        EXPECT(reads_as(urls[i],
                        "store \"postgres://me@h/d\": a character of its password parts the URL"
                        " (expected %40 for @, %2F for / and %3F for ?)",
                        &c->error));
    EXPECT(reads_as("postgres://me:se%40cret@h/d?application_name=a@b",
                    "postgres://me@h/d?schema=moonshift", &c->error));
}

static void nobody(struct contract *c) {
    struct address address = {0};
    struct session session = {0};
    struct db db = {0};
    EXPECT(address_read(&address, "postgres://me:secret@/d?host=/nowhere", &c->error));
    bool opened = session_open(&session, &db, &address, &c->error);
    db_close(&db);
    address_clear(&address);
    EXPECT(!opened && c->error.code == ERROR_UNAVAILABLE && !strstr(c->error.text, "secret"));
}

/* Says this to each client, and hangs up: a server that is there at once, and what it is. */
struct greeting {
    const char *words;
    size_t size;
};

static void greet(int listener, const struct greeting *greeting) {
    char asked[1000];
    for (int one = 0; one >= 0; close(one)) {
        one = accept(listener, NULL, NULL);
        if (greeting->size && read(one, asked, sizeof asked) > 0 &&
            write(one, greeting->words, greeting->size) > 0)
            while (read(one, asked, sizeof asked) > 0)
                continue;
    }
    _exit(0);
}

/* A socket where libpq looks for a server. -1: none can be made. */
static int server_socket(const char *folder) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(name.sun_path, sizeof name.sun_path, "%s/.s.PGSQL.5432", folder);
    if (bind(listener, (struct sockaddr *)&name, sizeof name) == 0 && listen(listener, 10) == 0)
        return listener;
    close(listener);
    return -1;
}

static pid_t begin_greeting(const char *folder, const struct greeting *greeting) {
    int listener = server_socket(folder);
    pid_t child = listener >= 0 ? fork() : -1;
    if (child == 0)
        greet(listener, greeting);
    close(listener);
    return child;
}

static void end_greeting(pid_t child, const char *folder) {
    char path[128];
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    snprintf(path, sizeof path, "%s/.s.PGSQL.5432", folder);
    unlink(path);
}

static bool opens(struct contract *c, const char *url) {
    struct server server = {0};
    bool opened = address_read(&server.address, url, &c->error) &&
                  session_open(&server.session, &server.db, &server.address, &c->error);
    server_close(&server);
    return opened;
}

/* libpq alone stops at such a host. */
static void hung_up(struct contract *c) {
    struct server server;
    char url[400], wrong[sizeof url + 20];
    EXPECT(server_open(c, &server));
    snprintf(url, sizeof url, "postgres://owner@/postgres?host=%s,%s", c->directory,
             address_option(&server.address, "host"));
    snprintf(wrong, sizeof wrong, "%s&dbname=nowhere", url);
    server_close(&server);
    pid_t child = begin_greeting(c->directory, &(struct greeting){"", 0});
    EXPECT(child > 0);
    bool opened = opens(c, url), opened_wrong = opens(c, wrong);
    end_greeting(child, c->directory);
    EXPECT(opened);
    EXPECT(!opened_wrong && c->error.code == ERROR_CONFIG);
}

/* Messages of the protocol: the client is who it is, two parameters, ready. */
#define GREETING(words)                                                                            \
    &(struct greeting) {                                                                           \
        words, sizeof words - 1                                                                    \
    }
#define WELCOME "R\0\0\0\10\0\0\0\0"
#define READY "Z\0\0\0\5I"

static bool refuses(struct contract *c, const struct greeting *greeting, const char *why) {
    char url[200];
    snprintf(url, sizeof url, "postgres://owner@/postgres?host=%s", c->directory);
    pid_t child = begin_greeting(c->directory, greeting);
    bool opened = opens(c, url);
    end_greeting(child, c->directory);
    return child > 0 && !opened && c->error.code == ERROR_CONFIG && strstr(c->error.text, why);
}

static void unsuited(struct contract *c) {
    EXPECT(refuses(c, GREETING(WELCOME "S\0\0\0\30server_version\00013.4\0" READY),
                   ": PostgreSQL 13.4 (expected version 14 or later)"));
    EXPECT(refuses(c, GREETING(WELCOME "S\0\0\0\33server_encoding\0LATIN1\0" READY),
                   ": a database with encoding LATIN1 (expected UTF8)"));
    EXPECT(refuses(c, GREETING("R\0\0\0\10\0\0\0\3"),
                   "the server asks for a password (expected one in ~/.pgpass or PGPASSWORD)"));
}

/* Accepts whoever connects, says nothing, and counts. */
static pid_t begin_silence(int listener, int *count) {
    pid_t child = fork();
    if (child != 0)
        return child;
    while (accept(listener, NULL, NULL) >= 0)
        ++*count;
    _exit(0);
}

/* One attempt takes as long as it is told; nothing is asked twice. */
static void silent(struct contract *c) {
    char url[200];
    int *count =
        mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int listener = server_socket(c->directory);
    snprintf(url, sizeof url, "postgres://owner@/postgres?host=%s&connect_timeout=2", c->directory);
    pid_t child = begin_silence(listener, count);
    bool opened = opens(c, url);
    end_greeting(child, c->directory);
    close(listener);
    EXPECT(!opened && c->error.code == ERROR_UNAVAILABLE);
    EXPECT(*count == 1);
    munmap(count, sizeof *count);
}

/* libpq reads the environment, but not where it is given another value. */
static void environment(struct contract *c) {
    contract_url(c, false);
    setenv("PGCONNECT_TIMEOUT", "soon", 1);
    bool opened = opens(c, c->url);
    unsetenv("PGCONNECT_TIMEOUT");
    EXPECT(!opened && strstr(c->error.text, "connect_timeout"));
    EXPECT(opens(c, c->url));
}

/* A role may have settings of its own, which would end waits or sessions too early. */
static void own_settings(struct contract *c) {
    struct server server = {0};
    char url[400];
    int64_t same = 0;
    contract_url(c, false);
    snprintf(url, sizeof url,
             "%s&options=-c%%20lock_timeout%%3D1%%20-c%%20idle_session_timeout%%3D60000", c->url);
    bool fine = address_read(&server.address, url, &c->error) &&
                session_open(&server.session, &server.db, &server.address, &c->error) &&
                db_value(&server.db, &c->error, &same,
                         "SELECT current_setting('lock_timeout')='0'"
                         " AND current_setting('idle_session_timeout')='0'",
                         "") == YES;
    server_close(&server);
    EXPECT(fine && same);
}

/* What is beyond the server. */
static void too_much(struct contract *c) {
    static const char much[] = "SELECT repeat('x', 2000000000)";
    struct server server;
    struct error own = {0}, asked = {0};
    EXPECT(server_open(c, &server));
    bool fine = db_step(&server.db, db_query(&server.db, &own, much, ""), &own) == FAILED;
    struct row *row = db_prepare(&server.db, much, NULL, 0, &asked);
    fine = fine && db_step(&server.db, row, &asked) == FAILED;
    db_forget(row);
    server_close(&server);
    EXPECT(fine && own.code == ERROR_FAILED && strstr(own.text, "requested length too large"));
    EXPECT(!strstr(own.text, "filters"));
    EXPECT(asked.code == ERROR_INVALID && strstr(asked.text, "filters: too long a question"));
}

/* As a pool in transaction mode would have it. */
static void shared_session(struct contract *c) {
    struct server server;
    struct error other = {0};
    int64_t one = 0;
    EXPECT(server_open(c, &server));
    bool fine = db_value(&server.db, &c->error, &one, "SELECT 1", "") == YES &&
                db_execute(&server.db, "DEALLOCATE ALL", &c->error) &&
                db_value(&server.db, &other, &one, "SELECT 1", "") == FAILED;
    server_close(&server);
    EXPECT(fine && other.code == ERROR_CONFIG && strstr(other.text, SESSION_SHARED));
}

static const struct check checks[] = {
    {"values come back as they were given", values},
    {"an array goes with the statement that it was bound to", arrays},
    {"booleans, sums and small numbers are read as numbers", made_values},
    {"parameters go by their numbers, or in order", numbered},
    {"what only runs in a transaction is queued", queued},
    {"an error of a queued statement is that of the next wait", refused},
    {"a transaction goes back to a savepoint, and on from there", returned},
    {"a statement that was refused can be asked again", unknown_table},
    {"rows of one statement stay while another one runs", two_at_once},
    {"a question ends with its budget", too_long},
    {"a question ends at once when there is hurry", ended_at_once},
    {"a lost connection is told, and made anew", lost},
    {"a queued statement that is lost has no number of rows", lost_before_count},
    {"a connection that is lost during a commit is no matter to try again", lost_in_commit},
    {"an address has a name without its password", addresses},
    {"values of an address are read before it is connected to", address_values},
    {"a password that parts the URL is refused, and not shown", parted_passwords},
    {"a server that is not there is refused with a reason", nobody},
    {"a server that cannot hold a store, or wants a password, is refused", unsuited},
    {"a server that says nothing is asked once", silent},
    {"how long to wait for a server is said by the environment as well", environment},
    {"a limit of the server is the asker's matter in a question of filters alone", too_much},
    {"a session that others change is told", shared_session},
    {"settings of the role that end waits or sessions do not hold", own_settings},
    {"the server behind a host that hangs up is found", hung_up},
};

/* Each check opens what it needs. */
static bool check_one(struct contract *c, const struct check *check) {
    c->failure = NULL;
    c->error = (struct error){ERROR_NONE, ""};
    check->run(c);
    printf("%s - %s\n", c->failure ? "not ok" : "ok", check->sentence);
    if (c->failure)
        printf("# line %d: expected %s; last error: %s\n", c->line, c->failure, c->error.text);
    fflush(stdout);
    return !c->failure;
}

int main(void) {
    struct contract c = {.directory = "/tmp/moonshift-contract-XXXXXX"};
    int passed = 0, failed = 0;
    if (!getenv("CONTRACT_STORE")) {
        printf("  pending no server: run it with spec/postgres/contracts\n0 passed, 0 failed\n");
        return 0;
    }
    if (!mkdtemp(c.directory))
        return 1;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        *(check_one(&c, &checks[i]) ? &passed : &failed) += 1;
    folder_remove(c.directory);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
