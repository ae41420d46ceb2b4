/* address_contract.c - addresses of servers: what is read of a URL, and what becomes of one that
 * cannot be reached or cannot hold a store. Run with spec/postgres/contracts. */
#include "server.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

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
/* As a pool in transaction mode would have it. */
static const struct check checks[] = {
    {"an address has a name without its password", addresses},
    {"values of an address are read before it is connected to", address_values},
    {"a password that parts the URL is refused, and not shown", parted_passwords},
    {"a server that is not there is refused with a reason", nobody},
    {"a server that cannot hold a store, or wants a password, is refused", unsuited},
    {"a server that says nothing is asked once", silent},
    {"how long to wait for a server is said by the environment as well", environment},
    {"settings of the role that end waits or sessions do not hold", own_settings},
    {"the server behind a host that hangs up is found", hung_up},
};

int main(void) {
    return run_checks(checks, sizeof checks / sizeof *checks);
}
