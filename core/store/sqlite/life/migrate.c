/* migrate.c - is the file a store, and of which version? Makes one where there is none. */
#include "base/crash_point.h"
#include "base/embedded.h"
#include "base/log.h"
#include "store/sqlite/beside/location.h"
#include "store/sqlite/turn/gate.h"
#include "store/sqlite/turn/turn.h"
#include <stdio.h>

#define UPGRADE "core/store/sqlite/upgrade_%d.sql"
#define JOURNAL_TRIES 25000       /* 5 s */
#define AGAIN_TRIES 1000          /* 0.2 s */
#define APPLICATION_ID 0x4d6f6f6e /* "Moon" */

/* The schema that this program makes: the number of its newest upgrade. */
static int migrate_newest(void) {
    char name[64];
    int version = 1;
    do
        snprintf(name, sizeof name, UPGRADE, ++version);
    while (embedded_find(name));
    return version - 1;
}

static enum answer migrate_question(struct store *store, const char *sql, int64_t *value,
                                    struct error *error) {
    struct row *row = db_prepare(&store->db, sql, NULL, 0, error);
    enum answer step = db_step(&store->db, row, error);
    if (step == YES)
        *value = row_int(row, 0);
    db_forget(&store->db, row);
    return step;
}

/* The text of a store has all of it but what the two pragmas say. */
static bool is_dumped(struct store *store) {
    int64_t ours = 0;
    return migrate_question(store,
                            "SELECT count(*)=5 FROM sqlite_schema WHERE type='table' AND name IN"
                            " ('meta', 'stream', 'definition', 'job', 'deployment')",
                            &ours, NULL) == YES &&
           ours;
}

static bool migrate_foreign(struct store *store, struct error *error) {
    if (is_dumped(store))
        return error_set(error, ERROR_CONFIG,
                         "store \"%s\": a copy without its application_id and user_version, as"
                         " .dump of sqlite3 makes (expected one by \"moonshift backup\" or VACUUM"
                         " INTO; or say both: PRAGMA application_id=%d; PRAGMA user_version=%d; of"
                         " a store of this version)",
                         store->db.name, APPLICATION_ID, sqlite_of(store)->schema);
    struct row *tables = db_query(&store->db, error,
                                  "SELECT name FROM sqlite_schema WHERE type='table'"
                                  " ORDER BY rowid LIMIT 1",
                                  "");
    enum answer step = db_step(&store->db, tables, error);
    if (step == FAILED)
        return false;
    if (step == NO)
        return error_set(error, ERROR_CONFIG,
                         "store \"%s\": not a moonshift store (it has no table, and the"
                         " application_id or user_version of another program)",
                         store->db.name);
    error_set(error, ERROR_CONFIG,
              "store \"%s\": not a moonshift store (it holds the table \"%s\" of another program)",
              store->db.name, row_text(tables, 0));
    row_done(tables);
    return false;
}

/* *version: of the schema; 0: nothing is there yet. */
static bool migrate_version(struct store *store, int64_t *version, struct error *error) {
    int64_t application = 0, tables = 0;
    if (migrate_question(store, "PRAGMA user_version", version, error) == FAILED ||
        migrate_question(store, "PRAGMA application_id", &application, error) == FAILED ||
        migrate_question(store, "SELECT count(*) FROM sqlite_schema", &tables, error) == FAILED)
        return false;
    if (application != APPLICATION_ID && (tables || *version || application))
        return migrate_foreign(store, error);
    return *version <= sqlite_of(store)->schema || schema_newer(store, *version, error);
}

static bool migrate_run(struct store *store, const char *file, struct error *error) {
    const struct embedded *script = embedded_find(file);
    return script ? db_execute(&store->db, script->text, error)
                  : error_set(error, ERROR_FAILED, "%s is missing from this build", file);
}

/* From nothing, or step by step from an earlier version, in the open transaction. */
static bool migrate_steps(struct store *store, int64_t version, struct error *error) {
    char text[128];
    bool done = version > 0 || (migrate_run(store, "core/store/sqlite/schema.sql", error) &&
                                CRASH_POINT("schema_made"));
    for (int64_t step = version + 1; done && version > 0 && step <= sqlite_of(store)->schema;
         step++) {
        snprintf(text, sizeof text, UPGRADE, (int)step);
        done = migrate_run(store, text, error) && CRASH_POINT("schema_upgraded");
    }
    snprintf(text, sizeof text, "PRAGMA application_id=%d; PRAGMA user_version=%d", APPLICATION_ID,
             sqlite_of(store)->schema);
    bool moved = false;
    return done && location_note(store, &moved, error) && db_execute(&store->db, text, error);
}

/* The gate alone: store_begin reads tables that do not exist yet. */
static bool migrate_locked(struct store *store, struct error *error) {
    int64_t version = 0;
    if (!db_execute(&store->db, "BEGIN IMMEDIATE", error))
        return false;
    if (migrate_version(store, &version, error) &&
        (version == sqlite_of(store)->schema || migrate_steps(store, version, error)) &&
        CRASH_POINT("schema_versioned") && db_execute(&store->db, "COMMIT", error))
        return CRASH_POINT("schema_committed");
    if (!sqlite3_get_autocommit(store->db.handle))
        db_execute(&store->db, "ROLLBACK", NULL);
    return false;
}

/* Another process that creates the same store makes this refuse at once, without a wait. */
static bool migrate_journal(struct store *store, int tries, struct error *error) {
    for (int i = 0; i < tries; i++, sqlite_pause())
        if (db_execute(&store->db, "PRAGMA journal_mode=WAL", error))
            return true;
        else if (sqlite3_errcode(store->db.handle) != SQLITE_BUSY)
            return false;
    return false;
}

static bool has_log(struct store *store) {
    int64_t log = 0;
    return migrate_question(store, "SELECT journal_mode='wal' FROM pragma_journal_mode", &log,
                            NULL) == YES &&
           log;
}

/* A copy that another tool made has a journal instead of the write-ahead log. Any reader holds up
 * all writing there. */
static void migrate_log_again(struct store *store) {
    struct error cause = {0};
    if (!sqlite_of(store)->path || store->mode == STORE_READ || has_log(store))
        return;
    sqlite_of(store)->connection.impatient = true;
    bool done = migrate_journal(store, AGAIN_TRIES, &cause);
    sqlite_of(store)->connection.impatient = false;
    if (has_log(store))
        log_event(LOG_INFO, "write-ahead log made again", "store:s", store->db.name);
    else
        log_event(LOG_WARN, "no write-ahead log: readers hold up writing",
                  "store:s reason:s expected:s", store->db.name,
                  done ? "its disk has no shared memory" : cause.text,
                  "nobody reads it while it is opened, and a disk of this machine");
}

/* Only here, where the file is known to be ours or nobody's, does a gate appear beside it. */
static bool migrate_gate(struct store *store, struct error *error) {
    if (!sqlite_of(store)->path || store->mode == STORE_READ)
        return true;
    return gate_open(&sqlite_of(store)->gate, sqlite_of(store)->path, error) &&
           (gate_take(&sqlite_of(store)->gate, GATE_OPEN, false) ||
            error_set(error, ERROR_IO, "store \"%s\": cannot lock \"%s-gate\"", store->db.name,
                      sqlite_of(store)->path));
}

static bool migrate_up(struct store *store, struct error *error) {
    if (sqlite_of(store)->path && !migrate_journal(store, JOURNAL_TRIES, error))
        return false;
    CRASH_POINT("journal_set");
    while (!gate_take(&sqlite_of(store)->gate, GATE_WRITER, false))
        sqlite_pause();
    bool done = migrate_locked(store, error);
    gate_drop(&sqlite_of(store)->gate, GATE_WRITER);
    if (done)
        store_tend(store, CHORE_LOG, 0, NULL, NULL); /* by another name the log is not to be seen */
    return done;
}

bool migrate(struct store *store, struct error *error) {
    int64_t version = 0;
    sqlite_of(store)->schema = migrate_newest();
    if (!migrate_version(store, &version, error))
        return false;
    const int64_t newest = sqlite_of(store)->schema;
    store->schema = (struct store_schema){.was = version, .version = newest, .oldest = newest};
    if (version == newest) {
        migrate_log_again(store);
        return migrate_gate(store, error);
    }
    if (store->mode == STORE_CREATE || (version > 0 && store->mode == STORE_WRITE))
        return migrate_gate(store, error) && migrate_up(store, error);
    if (version > 0)
        return error_set(error, ERROR_CONFIG,
                         "store \"%s\": schema %lld is older than this program's %d (any command "
                         "that writes brings it up to date)",
                         store->db.name, (long long)version, sqlite_of(store)->schema);
    return error_set(error, ERROR_NOT_FOUND,
                     "store \"%s\": empty (create it with \"moonshift run\" or \"moonshift "
                     "enqueue\")",
                     store->db.name);
}
