/* transaction.c - one write transaction at a time, through the gate; checkpoints between them. */
#include "base/crash_point.h"
#include "store/sqlite/db/connection.h"
#include "store/sqlite/turn/gate.h"
#include "store/sqlite/turn/log_sync.h"
#include "store/sqlite/turn/turn.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define LOG_KEPT (16 * 1024 * 1024) /* bytes: a longer write-ahead log is cut by a checkpoint */

static const char begin_sql[] = "BEGIN IMMEDIATE", commit_sql[] = "COMMIT",
                  rollback_sql[] = "ROLLBACK";

/* What begins and ends a transaction is prepared before there is one: ending it must not fail for
 * want of memory. */
static bool ends_ready(struct store *store, struct error *error) {
    return db_query(&store->db, error, begin_sql, "") &&
           db_query(&store->db, error, commit_sql, "") &&
           db_query(&store->db, error, rollback_sql, "");
}

bool schema_newer(const struct store *store, int64_t version, struct error *error) {
    return error_set(error, ERROR_CONFIG,
                     "store \"%s\": schema %lld is newer than this program's %d (upgrade "
                     "moonshift)",
                     store->db.name, (long long)version, sqlite_of(store)->schema);
}

bool schema_current(struct store *store, struct error *error) {
    int64_t version = 0;
    if (db_value(&store->db, error, &version, "PRAGMA user_version", "") == FAILED)
        return false;
    sqlite_of(store)->outdated = version > sqlite_of(store)->schema;
    return !sqlite_of(store)->outdated || sqlite_of(store)->parting ||
           schema_newer(store, version, error);
}

/* SQLITE_BUSY: try again. The writer's byte is held only while the transaction may be open, so
 * that a checkpoint finds its gap between two busy writers. */
static int begin_try(struct store *store) {
    if (!gate_take(&sqlite_of(store)->gate, GATE_WRITER, false))
        return SQLITE_BUSY;
    struct row *begin = db_query(&store->db, NULL, begin_sql, "");
    sqlite_of(store)->connection.impatient = true;
    int code = sqlite3_step(begin->statement);
    sqlite_of(store)->connection.impatient = false;
    row_done(begin);
    if (code == SQLITE_DONE)
        return SQLITE_OK;
    gate_drop(&sqlite_of(store)->gate, GATE_WRITER);
    return (code & 0xff) == SQLITE_BUSY ? SQLITE_BUSY : code;
}

/* Moves with each commit to the database, with those of this connection too. */
static unsigned version_now(const struct store *store) {
    unsigned version = 0;
    sqlite3_file_control(store->db.handle, "main", SQLITE_FCNTL_DATA_VERSION, &version);
    return version;
}

/* The counters in memory are those of the present state. */
static bool counters_note(struct store *store) {
    sqlite_of(store)->version = version_now(store);
    sqlite_of(store)->counted = true;
    return true;
}

/* In a transaction: where nothing was committed since they were noted, they are not read again. */
static bool counters_read(struct store *store, struct error *error) {
    if (sqlite_of(store)->counted && sqlite_of(store)->version == version_now(store))
        return meta_begun(store, error);
    sqlite_of(store)->counted = false;
    return schema_current(store, error) && meta_read(store, error) && counters_note(store);
}

bool sqlite_begin(struct store *store, enum store_purpose purpose, struct error *error) {
    if (!transaction_may_begin(store, error))
        return false;
    if (sqlite_of(store)->broken)
        return error_set(error, ERROR_IO,
                         "store \"%s\": closed for writing after an input/output error",
                         store->db.name);
    if (!intact_before(store, error) || !ends_ready(store, error))
        return false;
    bool waited = gate_stand_back(&sqlite_of(store)->gate);
    time_ms begun = clock_monotonic();
    struct gate *gate = &sqlite_of(store)->gate;
    uint32_t turn = gate_turn(gate);
    int code = 0;
    while ((code = begin_try(store)) == SQLITE_BUSY &&
           clock_monotonic() < transaction_patience(store, begun)) {
        waited = true;
        gate_queue(gate);
        gate_wait(gate, turn);
        turn = gate_turn(gate);
    }
    if (waited)
        transaction_waited(store);
    if (code != SQLITE_OK) {
        gate_unqueue(gate);
        return code == SQLITE_BUSY ? transaction_late(store, begun, error)
                                   : db_fail(&store->db, error);
    }
    store->writing = true;
    sqlite_of(store)->unhurried = purpose == STORE_HOLD; /* else there is one writer at a time */
    CRASH_POINT("transaction_begun");
    if (intact_begun(store, error) && counters_read(store, error))
        return true;
    store_rollback(store);
    return false;
}

static void gates_drop(struct store *store) {
    gate_drop(&sqlite_of(store)->gate, GATE_WRITER);
    gate_unqueue(&sqlite_of(store)->gate);
    gate_ended(&sqlite_of(store)->gate);
}

static bool commit_write(struct store *store, struct error *error) {
    struct gather *writes = &sqlite_of(store)->writes;
    log_sync_mark(store);
    gather_writes(writes, store->db.handle, SQLITE_FCNTL_JOURNAL_POINTER);
    bool done = db_run(&store->db, error, commit_sql, "");
    gather_end(writes);
    if (done)
        log_sync_marked(store);
    return done;
}

bool sqlite_commit(struct store *store, struct error *error) {
    if (!store->writing)
        return error_set(error, ERROR_FAILED, "store \"%s\": no transaction is open",
                         store->db.name);
    struct error reason = {ERROR_NONE, ""};
    if (!transaction_before_commit(store, &reason) || !meta_write(store, &reason) ||
        !CRASH_POINT("commit_before") || !commit_write(store, &reason)) {
        /* After a failed sync nobody knows what the disk has: to sync again would prove nothing. */
        sqlite_of(store)->broken = reason.code == ERROR_IO;
        store_rollback(store);
        return error_set(error, reason.code, "%s", reason.text);
    }
    CRASH_POINT("commit_after");
    counters_note(store);
    gates_drop(store);
    transaction_committed(store);
    return sqlite_of(store)->unhurried || log_sync_seen(store, error);
}

void sqlite_rollback(struct store *store) {
    if (!store->writing)
        return;
    sqlite_of(store)->counted = false;
    /* SQLite has rolled back by itself after some errors. */
    if (!sqlite3_get_autocommit(store->db.handle))
        db_run(&store->db, NULL, rollback_sql, "");
    gates_drop(store);
    transaction_rolled_back(store);
    log_sync_seen(store, NULL); /* a refusal may rest on what was read */
}

/* What asks for the schema first begins the state that is seen. */
bool transaction_look(struct store *store, struct error *error) {
    return ends_ready(store, error) && db_run(&store->db, error, "BEGIN", "") &&
           ((schema_current(store, error) && counters_read(store, error)) ||
            (transaction_look_end(store), false));
}

void transaction_look_end(struct store *store) {
    db_run(&store->db, NULL, commit_sql, "");
}

void sqlite_trim_cache(struct store *store) {
    if (!store->writing)
        sqlite_shrink(&store->db);
}

/* Bytes of the log's file; it only shrinks when a checkpoint cuts it. Not asked for at every
 * commit: a file whose times have been looked at has new ones to sync after the next write. */
static int64_t checkpoint_log_size(const struct store *store) {
    char name[PATH_MAX];
    struct stat log;
    snprintf(name, sizeof name, "%s-wal", sqlite_of(store)->path);
    return stat(name, &log) == 0 ? (int64_t)log.st_size : 0;
}

/* Pages go from the log to the database; nobody writes to either meanwhile. */
static int checkpoint_move(struct store *store, int mode) {
    struct sqlite *sqlite = sqlite_of(store);
    sqlite->connection.impatient = true;
    gather_reads(&sqlite->reads, store->db.handle, SQLITE_FCNTL_JOURNAL_POINTER);
    gather_writes(&sqlite->writes, store->db.handle, SQLITE_FCNTL_FILE_POINTER);
    int code = sqlite3_wal_checkpoint_v2(store->db.handle, NULL, mode, NULL, NULL);
    gather_end(&sqlite->writes);
    gather_end(&sqlite->reads);
    sqlite->connection.impatient = false;
    return code;
}

static bool checkpoint_run(struct store *store, bool cut, struct error *error) {
    int mode = cut ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_FULL;
    if (!store_tend(store, CHORE_FILES, 0, NULL, error))
        return false;
    CRASH_POINT("checkpoint_begun");
    int code = checkpoint_move(store, mode);
    CRASH_POINT("checkpoint_ended");
    /* Busy: a reader holds an old state; the rest is moved next time. */
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) {
        struct error reason = {0};
        db_fail(&store->db, &reason);
        sqlite_of(store)->broken = reason.code == ERROR_IO;
        return error_set(error, reason.code, "%s", reason.text);
    }
    slots_note_held(&sqlite_of(store)->slots, code == SQLITE_OK ? 0 : clock_monotonic());
    sqlite_of(store)->connection.log_pages = 0;
    return true;
}

bool sqlite_checkpoint(struct store *store, int pages, struct error *error) {
    if (!sqlite_of(store)->path || store->writing || sqlite_of(store)->broken ||
        store->mode == STORE_READ)
        return true;
    if (!sqlite_of(store)->mending && !log_sync_sound(store, error))
        return false;
    if (pages > 0 && sqlite_of(store)->connection.log_pages <= pages)
        return true;
    if (!sqlite_of(store)->checkpointer &&
        !gate_take(&sqlite_of(store)->gate, GATE_CHECKPOINTER, true))
        return true;
    if (store->self.id && !store->self.listens)
        sqlite_of(store)->checkpointer = true;
    bool done = true;
    if (gate_take(&sqlite_of(store)->gate, GATE_WRITER, true))
        done = checkpoint_run(store, pages <= 0 || checkpoint_log_size(store) > LOG_KEPT, error);
    gate_drop(&sqlite_of(store)->gate, GATE_WRITER);
    gate_ended(&sqlite_of(store)->gate);
    if (!sqlite_of(store)->checkpointer)
        gate_drop(&sqlite_of(store)->gate, GATE_CHECKPOINTER);
    return done;
}
