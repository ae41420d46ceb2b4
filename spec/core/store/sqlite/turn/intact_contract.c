/* intact_contract.c - the files of a store that is open are moved, removed or cut short by others:
 * nothing is written any more; whatever a checkpoint or VACUUM does to them is no such thing. */
#include "../../contract.h"
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { ROUNDS = 400 };

static const char *file(const struct contract *c, const char *suffix) {
    static char name[128];
    snprintf(name, sizeof name, "%s/x.db%s", c->directory, suffix);
    return name;
}

static bool execute(const struct contract *c, const char *sql) {
    sqlite3 *handle = NULL;
    bool done = sqlite3_open(file(c, ""), &handle) == SQLITE_OK &&
                sqlite3_busy_timeout(handle, 30000) == SQLITE_OK &&
                sqlite3_exec(handle, sql, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_close(handle);
    return done;
}

/* What is there is left behind, so that the store is not verified. */
static void leave(struct contract *c) {
    store_close(c->store);
    c->store = NULL;
}

static bool refuses(struct contract *c, const char *expected) {
    bool begun = store_begin(c->store, STORE_COMMAND, &c->error);
    return !begun && c->error.code == ERROR_IO && strstr(c->error.text, expected) &&
           !store_begin(c->store, STORE_COMMAND, &c->error);
}

static void log_cut(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW) && truncate(file(c, "-wal"), 0) == 0);
    EXPECT(refuses(c, "x.db-wal\" was cut short while in use"));
    leave(c);
}

static void log_cut_a_little(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW) && truncate(file(c, "-wal"), 5000) == 0);
    EXPECT(!store_tend(c->store, CHORE_FILES, 0, NULL, &c->error));
    EXPECT(strstr(c->error.text, "x.db-wal\" was cut short while in use"));
    EXPECT(!store_begin(c->store, STORE_COMMAND, &c->error));
    leave(c);
}

/* Somebody's frames stand behind a hole. */
static void log_filled(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    EXPECT(truncate(file(c, "-wal"), 0) == 0 && truncate(file(c, "-wal"), 1 << 22) == 0);
    EXPECT(refuses(c, "x.db-wal\" was cut short while in use"));
    leave(c);
}

static void removed(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW) && unlink(file(c, "-gate")) == 0);
    usleep(30000); /* the names are looked at every 20 ms */
    EXPECT(refuses(c, "x.db-gate\" was moved, removed or replaced while in use"));
    leave(c);
}

static int64_t size_of(const struct contract *c, const char *suffix) {
    struct stat is;
    return stat(file(c, suffix), &is) == 0 ? (int64_t)is.st_size : -1;
}

/* By as little as can be. */
static void log_cut_by_a_byte(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){0}, NOW));
    EXPECT(truncate(file(c, "-wal"), size_of(c, "-wal") - 1) == 0);
    EXPECT(refuses(c, "x.db-wal\" was cut short while in use"));
    leave(c);
}

static bool moves(const char *name, const char *away) {
    return rename(name, away) == 0;
}

static bool links(const char *name, const char *away) {
    return rename(name, away) == 0 && symlink(away, name) == 0;
}

static bool copies(const char *name, const char *away) {
    char command[400];
    snprintf(command, sizeof command, "mv %s %s && cp %s %s", name, away, away, name);
    return system(command) == 0;
}

/* Each file in each way; put back in its place, it is trusted no more. */
static void each_file(struct contract *c) {
    static const char *const suffixes[] = {"", "-wal", "-shm", "-gate"};
    bool (*const harms[])(const char *name, const char *away) = {moves, links, copies};
    for (int i = 0; i < 12; i++) {
        const char *suffix = suffixes[i % 4];
        char name[128], away[140], expected[120];
        snprintf(name, sizeof name, "%s", file(c, suffix));
        snprintf(away, sizeof away, "%s.away", name);
        snprintf(expected, sizeof expected, "x.db%s\" was moved, removed or replaced while in use",
                 suffix);
        EXPECT(create(c, c->store, (struct job){0}, NOW) && harms[i / 4](name, away));
        usleep(30000); /* the names are looked at every 20 ms */
        EXPECT(refuses(c, expected));
        EXPECT(rename(away, name) == 0);
        usleep(30000);
        EXPECT(!store_begin(c->store, STORE_COMMAND, &c->error));
        leave(c);
        folder_empty(c->directory);
        c->store = store_open(c->url, STORE_CREATE, &c->settings, &c->error);
        EXPECT(c->store);
    }
}

/* It has become longer since the store was opened, and is still longer than it was then. */
static void database_cut(struct contract *c) {
    const int64_t before = size_of(c, "");
    EXPECT(execute(c, "CREATE TABLE filler AS SELECT randomblob(1000000) AS data;"
                      "PRAGMA wal_checkpoint(TRUNCATE)"));
    EXPECT(create(c, c->store, (struct job){0}, NOW) &&
           store_tend(c->store, CHORE_FILES, 0, NULL, &c->error));
    EXPECT(truncate(file(c, ""), before + 100000) == 0);
    usleep(30000);
    EXPECT(refuses(c, "x.db\" was cut short while in use"));
    leave(c);
}

/* A client that has joined nothing looks as well. */
static void client(struct contract *c) {
    struct store *store = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    EXPECT(store && create(c, store, (struct job){0}, NOW));
    bool cut = truncate(file(c, "-wal"), 100) == 0,
         begun = store_begin(store, STORE_COMMAND, &c->error);
    store_close(store);
    EXPECT(cut && !begun && c->error.code == ERROR_IO);
    leave(c);
}

static void checkpoints(struct contract *c) {
    bool fine = true;
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; fine; i++)
            fine = execute(c, "PRAGMA wal_checkpoint(TRUNCATE)");
        _exit(1);
    }
    for (int i = 0; fine && i < ROUNDS; i++)
        fine = create(c, c->store, (struct job){0}, NOW) &&
               store_tend(c->store, CHORE_FILES, 0, NULL, &c->error);
    EXPECT(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    EXPECT(fine);
}

static void vacuum(struct contract *c) {
    struct stat before, after;
    EXPECT(execute(c, "CREATE TABLE filler AS SELECT randomblob(1000000) AS data;"
                      "PRAGMA wal_checkpoint(TRUNCATE)"));
    EXPECT(create(c, c->store, (struct job){0}, NOW) &&
           store_tend(c->store, CHORE_FILES, 0, NULL, &c->error));
    EXPECT(stat(file(c, ""), &before) == 0);
    EXPECT(execute(c, "DROP TABLE filler; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)"));
    EXPECT(stat(file(c, ""), &after) == 0 && after.st_size < before.st_size);
    EXPECT(store_tend(c->store, CHORE_FILES, 0, NULL, &c->error) &&
           create(c, c->store, (struct job){0}, NOW));
}

static const struct check checks[] = {
    {"a log that was emptied is noticed before anything is written behind it", log_cut},
    {"a log that has lost its end is noticed by who has nothing to write", log_cut_a_little},
    {"a log with a hole is noticed although it is long enough", log_filled},
    {"a log that has lost its last byte is noticed", log_cut_by_a_byte},
    {"each file that is moved, linked or copied is noticed, and trusted no more", each_file},
    {"a database that was cut short is noticed, however much it has grown", database_cut},
    {"a file that was removed is noticed by who writes", removed},
    {"a client that is no executor notices it as well", client},
    {"a log that others empty by checkpoints all the time is whole", checkpoints},
    {"a database that became shorter by VACUUM is whole", vacuum},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
