/* damage_contract.c - files that are no store, of another version, or no longer whole. */
#include "../contract.h"
#include "store/rules/ground/kinds.h"
#include <malloc.h>
#include <sqlite3.h>
#include <sys/stat.h>

static char path[128];

static bool file_write(const char *text, size_t size) {
    FILE *file = fopen(path, "wb");
    bool done = file && fwrite(text, 1, size, file) == size;
    return file && fclose(file) == 0 && done;
}

static bool database(const char *sql) {
    sqlite3 *handle = NULL;
    bool done = sqlite3_open(path, &handle) == SQLITE_OK &&
                sqlite3_exec(handle, sql, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_close(handle);
    return done;
}

/* Opens a second store beside the one under test; the code, ERROR_NONE if it opens. */
static enum error_code opens(struct contract *c, enum store_mode mode) {
    char url[160];
    snprintf(url, sizeof url, "sqlite:%s", path);
    c->error = (struct error){ERROR_NONE, ""};
    struct store *store = store_open(url, mode, &c->settings, &c->error);
    store_close(store);
    return store ? ERROR_NONE : c->error.code;
}

static bool says(struct contract *c, const char *format) {
    char text[512], *at = strstr(strcpy(text, format), "PATH");
    char expected[1024];
    if (!at)
        return strcmp(c->error.text, format) == 0;
    *at = 0;
    snprintf(expected, sizeof expected, "%s%s%s", text, path, at + 4);
    return strcmp(c->error.text, expected) == 0;
}

static void name_file(struct contract *c, const char *name) {
    snprintf(path, sizeof path, "%s/%s", c->directory, name);
}

static void missing(struct contract *c) {
    name_file(c, "none.db");
    EXPECT(opens(c, STORE_WRITE) == ERROR_NOT_FOUND && opens(c, STORE_READ) == ERROR_NOT_FOUND);
    EXPECT(says(c, "store \"PATH\": no such file (create it with \"moonshift run\" or "
                   "\"moonshift enqueue\")"));
    EXPECT(access(path, F_OK) != 0);
    EXPECT(opens(c, STORE_CREATE) == ERROR_NONE && opens(c, STORE_WRITE) == ERROR_NONE);
}

static void missing_directory(struct contract *c) {
    name_file(c, "no/such.db");
    EXPECT(opens(c, STORE_CREATE) == ERROR_NOT_FOUND);
    EXPECT(strstr(c->error.text, "/no/\": No such file or directory"));
}

static void directory(struct contract *c) {
    snprintf(path, sizeof path, "%s", c->directory);
    EXPECT(opens(c, STORE_CREATE) == ERROR_IO);
    EXPECT(says(c, "store \"PATH\": cannot open it: Is a directory"));
}

static void empty(struct contract *c) {
    name_file(c, "empty.db");
    EXPECT(file_write("", 0) && opens(c, STORE_WRITE) == ERROR_NOT_FOUND);
    EXPECT(says(c, "store \"PATH\": empty (create it with \"moonshift run\" or \"moonshift "
                   "enqueue\")"));
    EXPECT(opens(c, STORE_CREATE) == ERROR_NONE);
}

static void text(struct contract *c) {
    static const char words[] = "this is a letter, not a database, and it is long enough to be "
                                "taken for one if nobody looked at its first sixteen bytes";
    struct stat is;
    name_file(c, "letter.db");
    EXPECT(file_write(words, sizeof words));
    EXPECT(opens(c, STORE_CREATE) == ERROR_DAMAGED && opens(c, STORE_READ) == ERROR_DAMAGED);
    EXPECT(says(c, "store \"PATH\": not a moonshift store (file is not a database)"));
    EXPECT(stat(path, &is) == 0 && is.st_size == sizeof words);
}

static void foreign(struct contract *c) {
    name_file(c, "foreign.db");
    EXPECT(database("CREATE TABLE users(id)"));
    EXPECT(opens(c, STORE_CREATE) == ERROR_CONFIG && opens(c, STORE_READ) == ERROR_CONFIG);
    EXPECT(says(c, "store \"PATH\": not a moonshift store (it holds the table \"users\" of another "
                   "program)"));
    EXPECT(database("DROP TABLE users; PRAGMA user_version=9"));
    EXPECT(opens(c, STORE_CREATE) == ERROR_CONFIG);
    EXPECT(database("PRAGMA user_version=0; PRAGMA application_id=7"));
    EXPECT(opens(c, STORE_CREATE) == ERROR_CONFIG);
    EXPECT(says(c, "store \"PATH\": not a moonshift store (it has no table, and the application_id"
                   " or user_version of another program)"));
}

static void newer(struct contract *c) {
    name_file(c, "newer.db");
    EXPECT(opens(c, STORE_CREATE) == ERROR_NONE && database("PRAGMA user_version=9"));
    EXPECT(opens(c, STORE_CREATE) == ERROR_CONFIG && opens(c, STORE_READ) == ERROR_CONFIG);
    EXPECT(says(c, "store \"PATH\": schema 9 is newer than this program's 8 (upgrade moonshift)"));
}

/* A store whose log is in the database file, with some jobs; its size. */
static long whole(struct contract *c, const char *name) {
    char url[160];
    struct stat is;
    name_file(c, name);
    snprintf(url, sizeof url, "sqlite:%s", path);
    struct store *store = store_open(url, STORE_CREATE, &c->settings, &c->error);
    if (!store || !store_begin(store, STORE_COMMAND, &c->error))
        return -1;
    for (int i = 0; i < 2000; i++)
        create(c, store, (struct job){.priority = i % 7}, NOW);
    bool done = store_commit(store, &c->error);
    store_close(store);
    done = done && database("PRAGMA wal_checkpoint(TRUNCATE)");
    return done && stat(path, &is) == 0 ? (long)is.st_size : -1;
}

static void truncated(struct contract *c) {
    long size = whole(c, "short.db");
    EXPECT(size > 100000);
    EXPECT(truncate(path, size / 2) == 0);
    EXPECT(opens(c, STORE_WRITE) == ERROR_DAMAGED && opens(c, STORE_READ) == ERROR_DAMAGED);
    EXPECT(says(c, "store \"PATH\": damaged: database disk image is malformed (restore a backup of "
                   "it)"));
    EXPECT(truncate(path, 50) == 0 && opens(c, STORE_WRITE) == ERROR_DAMAGED);
}

/* Whatever a random page of garbage does, it ends in an error or in a finding, never in a crash. */
static void garbage(struct contract *c) {
    char url[160], noise[4096];
    long size = whole(c, "noise.db");
    EXPECT(size > 100000);
    snprintf(url, sizeof url, "sqlite:%s", path);
    for (unsigned seed = 1; seed <= 25; seed++) {
        struct job *jobs = NULL;
        struct store_executor self = {.name = "n"};
        int count = 0;
        bool more = false;
        srand(seed);
        EXPECT(whole(c, "noise.db") >= size);
        FILE *file = fopen(path, "r+b");
        for (size_t i = 0; i < sizeof noise; i++)
            noise[i] = (char)rand();
        EXPECT(file && fseek(file, 4096 * (long)(rand() % (int)(size / 4096)), SEEK_SET) == 0);
        EXPECT(fwrite(noise, 1, sizeof noise, file) == sizeof noise && fclose(file) == 0);
        struct store *store = store_open(url, STORE_WRITE, &c->settings, &c->error);
        if (store) {
            json_t *found = store_verify(store, NULL, &c->error);
            bool seen = !found || json_array_size(found);
            json_decref(found);
            if (store_join(store, &self, NOW, LEASE, &c->error))
                store_acquire(store, &everything, NOW, &jobs, &count, &more, &c->error);
            job_free_list(jobs);
            json_decref(store_stats(store, NOW, &c->error));
            json_decref(store_jobs(store, NULL, NULL, NOW, &c->error));
            store_close(store);
            EXPECT(seen);
        }
        unlink(path);
    }
}

static void misplaced(struct contract *c) {
    char url[160];
    EXPECT(whole(c, "odd.db") > 0);
    EXPECT(database("DELETE FROM ready WHERE id=5; INSERT INTO timer VALUES(9,6,1,-1,NULL);"
                    "DELETE FROM job WHERE id=7"));
    snprintf(url, sizeof url, "sqlite:%s", path);
    struct store *store = store_open(url, STORE_READ, &c->settings, &c->error);
    json_t *found = store_verify(store, NULL, &c->error);
    store_close(store);
    EXPECT(json_array_size(found) == 4);
    EXPECT(strcmp(json_string_value(json_array_get(found, 0)), "job 6 is in more than one place") ==
           0);
    EXPECT(strcmp(json_string_value(json_array_get(found, 1)),
                  "job 5 is in no place, or not where its row says") == 0);
    EXPECT(strcmp(json_string_value(json_array_get(found, 2)),
                  "job 7 waits or runs but has no row") == 0);
    EXPECT(strcmp(json_string_value(json_array_get(found, 3)),
                  "definition work does not count right where its jobs wait") == 0);
    json_decref(found);
}

/* Jobs are read along with the one before them. Fresh memory is no list of jobs. */
static void strange(struct contract *c) {
    char url[160];
    struct store_executor self = {.name = "n"};
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    EXPECT(whole(c, "strange.db") > 0 && database("UPDATE job SET stream=99 WHERE id=21"));
    snprintf(url, sizeof url, "sqlite:%s", path);
    mallopt(M_PERTURB, 0x55);
    struct store *store = store_open(url, STORE_WRITE, &c->settings, &c->error);
    bool taken = store && store_join(store, &self, NOW, LEASE, &c->error) &&
                 store_acquire(store, &everything, NOW, &jobs, &count, &more, &c->error);
    store_close(store);
    mallopt(M_PERTURB, 0);
    EXPECT(!taken && c->error.code == ERROR_DAMAGED);
    EXPECT(says(c, "store \"PATH\": damaged: job 21 has no definition"));
}

static void schemes(struct contract *c) {
    EXPECT(!store_open("mysql:x", STORE_CREATE, &c->settings, &c->error));
    EXPECT(c->error.code == ERROR_CONFIG);
    EXPECT_ERROR("store \"mysql:x\": unknown scheme (expected sqlite: or postgres://)");
    EXPECT(!store_open("sqlite:", STORE_CREATE, &c->settings, &c->error));
    EXPECT_ERROR("store \"sqlite:\": no path (expected sqlite:PATH)");
}

static void unwritable(struct contract *c) {
    name_file(c, "kept.db");
    EXPECT(opens(c, STORE_CREATE) == ERROR_NONE);
    EXPECT(chmod(path, 0444) == 0);
    if (geteuid() == 0) /* root may write everything */
        return;
    EXPECT(opens(c, STORE_WRITE) == ERROR_IO && opens(c, STORE_READ) == ERROR_NONE);
}

static const struct check checks[] = {
    {"a missing store is named, and made only where asked", missing},
    {"a missing directory is named", missing_directory},
    {"a directory is no store", directory},
    {"an empty file counts as new", empty},
    {"a file of text is refused and left as it is", text},
    {"a database of another program is refused", foreign},
    {"a newer schema is refused", newer},
    {"a truncated store is refused", truncated},
    {"a page of garbage is found and never crashes", garbage},
    {"verification names each job that is not in one place", misplaced},
    {"a job without a definition ends an acquisition with its name", strange},
    {"a URL of another kind is refused", schemes},
    {"a store that cannot be written is only read", unwritable},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
