/* held_contract.c - a reader that holds an old state keeps the write-ahead log from being emptied:
 * statistics say how long it is, who holds it, and since when. */
#include "contract.h"
#include "store/rules/ground/kinds.h"
#include <sqlite3.h>

enum { ROWS = 900, PAYLOAD = 20000 }; /* more than 3000 pages of the log */

/* Another connection in a transaction that has read. */
static sqlite3 *hold(const struct contract *c) {
    char name[128];
    sqlite3 *handle = NULL;
    snprintf(name, sizeof name, "%s/x.db", c->directory);
    if (sqlite3_open(name, &handle) == SQLITE_OK &&
        sqlite3_exec(handle, "BEGIN; SELECT count(*) FROM job", NULL, NULL, NULL) == SQLITE_OK)
        return handle;
    sqlite3_close(handle);
    return NULL;
}

static bool fill(struct contract *c) {
    char *text = malloc(PAYLOAD + 3);
    memset(text, 'x', PAYLOAD + 2);
    text[0] = text[PAYLOAD + 1] = '"';
    text[PAYLOAD + 2] = '\0';
    bool done = store_begin(c->store, STORE_COMMAND, &c->error);
    for (int i = 0; done && i < ROWS; i++)
        done = create(c, c->store, (struct job){.payload = text, .payload_size = PAYLOAD + 2}, NOW);
    free(text);
    return done && store_commit(c->store, &c->error);
}

static json_t *log_of(struct contract *c) {
    json_t *stats = store_stats(c->store, NOW, &c->error);
    json_t *log = json_incref(json_object_get(stats, "log"));

    json_decref(stats);
    return log;
}

static bool checkpoint(struct contract *c) {
    return store_tend(c->store, CHORE_LOG, 0, NULL, &c->error);
}

static void free_log(struct contract *c) {
    EXPECT(fill(c));
    json_t *log = log_of(c);
    bool fine = json_integer_value(json_object_get(log, "bytes")) > ROWS * PAYLOAD &&
                !json_object_get(log, "held_bytes");
    json_decref(log);
    EXPECT(fine);
    EXPECT(checkpoint(c));
    log = log_of(c);
    fine = json_integer_value(json_object_get(log, "bytes")) == 0;
    json_decref(log);
    EXPECT(fine);
}

/* The system may not list its locks; and each process in this one has its number. */
static bool is_known(const json_t *log) {
    FILE *locks = fopen("/proc/locks", "r");
    json_int_t process = json_integer_value(json_object_get(log, "process"));
    if (locks)
        fclose(locks);
    return !locks || !process || process == getpid();
}

static void held_log(struct contract *c) {
    sqlite3 *reader = hold(c);
    EXPECT(reader && fill(c));
    json_t *log = log_of(c);
    bool held = json_integer_value(json_object_get(log, "held_bytes")) > ROWS * PAYLOAD;
    bool young = json_is_null(json_object_get(log, "held_age"));
    bool known = is_known(log);
    json_decref(log);
    EXPECT(held && young && known);
    EXPECT(checkpoint(c));
    log = log_of(c);
    double age = json_real_value(json_object_get(log, "held_age"));
    held = json_is_real(json_object_get(log, "held_age")) && age >= 0;
    json_decref(log);
    EXPECT(held);
    usleep(20000);
    EXPECT(checkpoint(c));
    log = log_of(c);
    held = json_real_value(json_object_get(log, "held_age")) > age;
    json_decref(log);
    sqlite3_close(reader);
    EXPECT(held);
}

static void let_go(struct contract *c) {
    sqlite3 *reader = hold(c);
    EXPECT(reader && fill(c) && checkpoint(c));
    sqlite3_close(reader);
    json_t *log = log_of(c);
    bool held = json_object_get(log, "held_bytes");
    json_decref(log);
    EXPECT(!held);
    EXPECT(checkpoint(c));
    reader = hold(c);
    EXPECT(reader && fill(c));
    log = log_of(c);
    bool fresh = json_is_null(json_object_get(log, "held_age"));
    json_decref(log);
    sqlite3_close(reader);
    EXPECT(fresh);
}

static void young_reader(struct contract *c) {
    EXPECT(fill(c));
    sqlite3 *reader = hold(c);
    EXPECT(reader && create(c, c->store, (struct job){0}, NOW));
    json_t *log = log_of(c);
    bool held = json_object_get(log, "held_bytes");
    json_decref(log);
    sqlite3_close(reader);
    EXPECT(!held);
}

static const struct check checks[] = {
    {"a log that nobody holds has a length alone, and a checkpoint empties it", free_log},
    {"a reader that holds it is found, and since when its checkpoints do not end", held_log},
    {"a reader that keeps little of it holds nothing", young_reader},
    {"once the reader is gone nobody holds it, and the next reader has an age of its own", let_go},
};

int main(void) {
    return contract_run_of_file(checks, sizeof checks / sizeof *checks, false);
}
