#include "database.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ID_BLOCK = 100000, LOCK_TIME = 300000, PRIORITIES = 10, RETRIES = 3 };

void die(const char *what, const char *why) {
    fprintf(stderr, "yardstick: %s: %s\n", what, why);
    exit(1);
}

static struct {
    sqlite3 *handle;
    sqlite3_stmt *begin, *commit, *insert, *reserve, *find, *lock, *delete;
    int64_t next_id, reserved, due;
    uint32_t random;
} db = {.next_id = 1, .reserved = 1, .due = 1700000000000, .random = 12345};

static void execute(const char *sql) {
    if (sqlite3_exec(db.handle, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(sql, sqlite3_errmsg(db.handle));
}

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(db.handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL))
        die(sql, sqlite3_errmsg(db.handle));
    return statement;
}

static void run(sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_DONE)
        die(sqlite3_sql(statement), sqlite3_errmsg(db.handle));
    sqlite3_reset(statement);
}

static void files_remove(const char *path) {
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char name[4096];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

void database_open(const char *path) {
    files_remove(path);
    if (sqlite3_open_v2(path, &db.handle,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL))
        die(path, sqlite3_errmsg(db.handle));
    execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-262144;"
            "PRAGMA wal_autocheckpoint=4000");
    execute("CREATE TABLE job(id INTEGER PRIMARY KEY, handler TEXT NOT NULL, payload BLOB,"
            " priority INT NOT NULL, due INT NOT NULL, retries INT NOT NULL, owner TEXT,"
            " expires INT, created INT NOT NULL);"
            "CREATE INDEX job_ready ON job(priority DESC, due) WHERE owner IS NULL;"
            "CREATE TABLE ids(next INT NOT NULL); INSERT INTO ids VALUES(1)");
    db.begin = prepare("BEGIN IMMEDIATE");
    db.commit = prepare("COMMIT");
    db.insert = prepare("INSERT INTO job(id, handler, payload, priority, due, retries, created)"
                        " VALUES(?1, 'noop', ?2, ?3, ?4, ?5, ?4)");
    db.reserve = prepare("UPDATE ids SET next=?1");
    db.find = prepare("SELECT id, priority, due, retries, payload FROM job"
                      " WHERE owner IS NULL AND due<=?1 ORDER BY priority DESC, due LIMIT ?2");
    db.lock = prepare("UPDATE job SET owner='node-1', expires=?1 WHERE id=?2");
    db.delete = prepare("DELETE FROM job WHERE id=?1");
}

/* Ids are never used again, so they come in blocks that the file knows of. */
static int64_t next_id(void) {
    if (db.next_id == db.reserved) {
        sqlite3_bind_int64(db.reserve, 1, db.reserved += ID_BLOCK);
        run(db.reserve);
    }
    return db.next_id++;
}

void database_begin(void) {
    run(db.begin);
}

void database_commit(void) {
    run(db.commit);
}

void database_insert(const char *payload, int size) {
    db.random = db.random * 1103515245u + 12345u;
    sqlite3_bind_int64(db.insert, 1, next_id());
    sqlite3_bind_blob(db.insert, 2, payload, size, SQLITE_STATIC);
    sqlite3_bind_int(db.insert, 3, (int)((db.random >> 16) % PRIORITIES));
    sqlite3_bind_int64(db.insert, 4, ++db.due);
    sqlite3_bind_int(db.insert, 5, RETRIES);
    run(db.insert);
}

void database_delete(int64_t id) {
    sqlite3_bind_int64(db.delete, 1, id);
    run(db.delete);
}

static void job_read(struct job *job) {
    *job = (struct job){.id = sqlite3_column_int64(db.find, 0),
                        .priority = sqlite3_column_int(db.find, 1),
                        .due = sqlite3_column_int64(db.find, 2),
                        .retries = sqlite3_column_int(db.find, 3),
                        .size = sqlite3_column_bytes(db.find, 4)};
    job->payload = malloc((size_t)job->size + 1);
    memcpy(job->payload, sqlite3_column_blob(db.find, 4), (size_t)job->size);
}

/* First all are read, then each is locked by its id. */
int database_acquire(struct job *jobs, int room) {
    int count = 0;
    sqlite3_bind_int64(db.find, 1, db.due);
    sqlite3_bind_int(db.find, 2, room);
    while (sqlite3_step(db.find) == SQLITE_ROW)
        job_read(&jobs[count++]);
    if (sqlite3_reset(db.find) != SQLITE_OK)
        die("find", sqlite3_errmsg(db.handle));
    for (int i = 0; i < count; i++) {
        sqlite3_bind_int64(db.lock, 1, db.due + LOCK_TIME);
        sqlite3_bind_int64(db.lock, 2, jobs[i].id);
        run(db.lock);
    }
    return count;
}

int64_t database_count(void) {
    sqlite3_stmt *statement = prepare("SELECT count(*) FROM job");
    if (sqlite3_step(statement) != SQLITE_ROW)
        die("count", sqlite3_errmsg(db.handle));
    int64_t count = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return count;
}

void database_close(const char *path) {
    sqlite3_stmt *const statements[] = {db.begin, db.commit, db.insert, db.reserve,
                                        db.find,  db.lock,   db.delete};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        sqlite3_finalize(statements[i]);
    sqlite3_close(db.handle);
    files_remove(path);
}
