/* transaction.c - one write transaction at a time, through the gate; checkpoints between them. */
#include "base/crash_point.h"
#include "store/sqlite/batch.h"
#include "store/sqlite/sign.h"
#include "store/sqlite/sweep.h"
#include "store/sqlite/tell.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BEGIN_WAIT 30000            /* ms until a writer gives up */
#define HURRIED_WAIT 1000           /* the same where somebody waits for its end */
#define HURRIED_LEAST 100           /* … and has no more time than that */
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

/* SQLITE_BUSY: try again. The writer's byte is held only while the transaction may be open, so
 * that a checkpoint finds its gap between two busy writers. */
static int begin_try(struct store *store) {
    if (!gate_take(&store->gate, GATE_WRITER, false))
        return SQLITE_BUSY;
    sqlite3_stmt *begin = db_query(&store->db, NULL, begin_sql, "");
    store->db.impatient = true;
    int code = sqlite3_step(begin);
    store->db.impatient = false;
    sqlite3_reset(begin);
    if (code == SQLITE_DONE)
        return SQLITE_OK;
    gate_drop(&store->gate, GATE_WRITER);
    return (code & 0xff) == SQLITE_BUSY ? SQLITE_BUSY : code;
}

void store_hurry(struct store *store, bool (*hurried)(void)) {
    store->hurried = hurried;
    if (store->mode == STORE_READ) /* what is asked on the way to a change is part of it */
        store->db.hurried = hurried;
}

void store_budget(struct store *store, time_ms until) {
    store->until = until;
}

/* Monotonic: when an attempt is given up that has begun then. */
static time_ms begin_end(const struct store *store, time_ms begun) {
    if (!store->hurried || !store->hurried())
        return begun + BEGIN_WAIT;
    if (store->until == 0 || store->until > begun + HURRIED_WAIT)
        return begun + HURRIED_WAIT;
    return store->until > begun + HURRIED_LEAST ? store->until : begun + HURRIED_LEAST;
}

static bool begin_late(struct store *store, time_ms begun, struct error *error) {
    double seconds = (double)((clock_monotonic() - begun + 50) / 100) / 10;
    return error_set(error, ERROR_BUSY,
                     "store \"%s\": busy: another process has been writing for %g s",
                     store->db.name, seconds);
}

bool store_begin(struct store *store, struct error *error) {
    if (store->mode == STORE_READ)
        return error_set(error, ERROR_CONFLICT, "store \"%s\": opened for reading only",
                         store->db.name);
    if (store->writing)
        return error_set(error, ERROR_FAILED, "store \"%s\": a transaction is open already",
                         store->db.name);
    if (store->broken)
        return error_set(error, ERROR_IO,
                         "store \"%s\": closed for writing after an input/output error",
                         store->db.name);
    if (!intact_before(store, error) || !ends_ready(store, error))
        return false;
    gate_stand_back(&store->gate);
    time_ms begun = clock_monotonic();
    int code = 0;
    while ((code = begin_try(store)) == SQLITE_BUSY &&
           clock_monotonic() < begin_end(store, begun)) {
        gate_take(&store->gate, GATE_WAITING, false);
        gate_pause();
    }
    if (code != SQLITE_OK) {
        gate_drop(&store->gate, GATE_WAITING);
        return code == SQLITE_BUSY ? begin_late(store, begun, error) : db_fail(&store->db, error);
    }
    store->writing = true;
    store->incidents = store->lines = -1;
    CRASH_POINT("transaction_begun");
    if (intact_begun(store, error) && meta_read(store, error))
        return true;
    store_rollback(store);
    return false;
}

static void transaction_over(struct store *store) {
    store->writing = false;
    store->prelock = (struct prelock){0};
    gate_drop(&store->gate, GATE_WRITER);
    gate_drop(&store->gate, GATE_WAITING);
}

static void transaction_unlink(struct store *store) {
    for (size_t i = 0; store->path && i < store->gone_count; i++) {
        bell_remove(store->path, store->gone[i]);
        CRASH_POINT("dead_bell_removed");
        slots_remove(store->path, store->gone[i]);
    }
    store->gone_count = 0;
}

bool store_commit(struct store *store, struct error *error) {
    if (!store->writing)
        return error_set(error, ERROR_FAILED, "store \"%s\": no transaction is open",
                         store->db.name);
    struct error reason = {ERROR_NONE, ""};
    if (!tell_flush(store, &reason) || !batch_settle(store, &reason) ||
        !feed_flush(&store->feed, &store->db, true, &reason) ||
        !feed_settled(&store->endings, &store->db, &reason) || !meta_write(store, &reason) ||
        !CRASH_POINT("commit_before") || !db_run(&store->db, &reason, commit_sql, "")) {
        /* After a failed sync nobody knows what the disk has: to sync again would prove nothing. */
        store->broken = reason.code == ERROR_IO;
        store_rollback(store);
        return error_set(error, reason.code, "%s", reason.text);
    }
    CRASH_POINT("commit_after");
    store->stirred =
        store->stirred || (!store->prelock.offer && (store->wake.everybody || store->wake.count));
    sweep_committed(store);
    sign_committed(store);
    transaction_over(store);
    wake_ring(store);
    CRASH_POINT("bell_rung");
    transaction_unlink(store);
    return true;
}

void store_rollback(struct store *store) {
    if (!store->writing)
        return;
    /* SQLite has rolled back by itself after some errors. */
    if (!sqlite3_get_autocommit(store->db.handle))
        db_run(&store->db, NULL, rollback_sql, "");
    if (store->meta.catalog != store->stored.catalog)
        store->catalog.version = 0;
    store->peers.version = 0;
    store->self.lease_until = INT64_MIN; /* renewed again before anything is locked */
    store->wake = (struct wake){0};
    store->gone_count = 0;
    store->tally.batch = 0;
    tell_clear(store);
    store->ring.anchored = false;
    store->endings.count = 0;
    store->feed.count = 0;
    sweep_rolled_back(store);
    store->signs.ending = 0;
    transaction_over(store);
}

bool unit_begin(struct store *store, bool *own, struct error *error) {
    *own = !store->writing;
    return !*own || store_begin(store, error);
}

bool unit_end(struct store *store, bool own, bool done, struct error *error) {
    if (!own)
        return done;
    if (done)
        return store_commit(store, error);
    store_rollback(store);
    return false;
}

bool look_begin(struct store *store, bool *own, struct error *error) {
    *own = !store->writing && sqlite3_get_autocommit(store->db.handle);
    if (!*own)
        return true;
    if (!ends_ready(store, error) || !db_run(&store->db, error, "BEGIN", ""))
        return false;
    db_question_begin(&store->db);
    if (meta_read(store, error))
        return true;
    look_end(store, true);
    return false;
}

void look_end(struct store *store, bool own) {
    if (!own)
        return;
    db_question_end(&store->db);
    db_run(&store->db, NULL, commit_sql, "");
}

bool meta_read(struct store *store, struct error *error) {
    struct meta *meta = &store->meta;
    const struct {
        const char *key;
        int64_t *value;
    } fields[] = {{"next_id", &meta->next_id},
                  {"next_token", &meta->next_token},
                  {"catalog", &meta->catalog},
                  {"executors", &meta->executors},
                  {"fair_by", &meta->fair},
                  {"turn", &meta->turn},
                  {"sweep_from", &meta->sweep_from},
                  {"sweep_to", &meta->sweep_to},
                  {"cuts", &meta->cuts}};
    meta->fair = meta->turn = meta->sweep_from = meta->sweep_to = meta->cuts = 0;
    if (!migrate_current(store, error))
        return false;
    sqlite3_stmt *rows = db_query(&store->db, error, "SELECT key, value FROM meta", "");
    int step = rows ? 1 : -1;
    while (rows && (step = db_step(&store->db, rows, error)) > 0)
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
            if (strcmp(db_column_text(rows, 0), fields[i].key) == 0)
                *fields[i].value = sqlite3_column_int64(rows, 1);
    store->stored = *meta;
    return step == 0 && catalog_refresh(&store->catalog, &store->db, meta->catalog, error) &&
           peers_refresh(store, meta->executors, error);
}

static bool meta_put(struct store *store, const char *key, int64_t value, int64_t stored,
                     struct error *error) {
    return value == stored ||
           db_run(&store->db, error, "UPDATE meta SET value=?2 WHERE key=?1", "ti", key, value);
}

bool meta_write(struct store *store, struct error *error) {
    const struct meta *meta = &store->meta, *stored = &store->stored;
    return meta_put(store, "next_id", meta->next_id, stored->next_id, error) &&
           meta_put(store, "next_token", meta->next_token, stored->next_token, error) &&
           meta_put(store, "catalog", meta->catalog, stored->catalog, error) &&
           meta_put(store, "executors", meta->executors, stored->executors, error) &&
           (meta->cuts == stored->cuts ||
            db_run(&store->db, error, "INSERT OR REPLACE INTO meta(key, value) VALUES('cuts', ?1)",
                   "i", meta->cuts));
}

int64_t store_cuts(struct store *store, bool ask) {
    int64_t cuts = store->meta.cuts;
    struct error ignored;
    if (ask && !store->writing)
        db_value(&store->db, &ignored, &cuts, "SELECT value FROM meta WHERE key='cuts'", "");
    return cuts;
}

int64_t meta_id(struct store *store) {
    return store->meta.next_id++;
}

int64_t meta_token(struct store *store) {
    return store->meta.next_token++;
}

void store_rest(struct store *store) {
    if (!store->writing)
        db_shrink(&store->db);
}

/* Bytes of the log's file; it only shrinks when a checkpoint cuts it. Not asked for at every
 * commit: a file whose times have been looked at has new ones to sync after the next write. */
static int64_t checkpoint_log_size(const struct store *store) {
    char name[PATH_MAX];
    struct stat log;
    snprintf(name, sizeof name, "%s-wal", store->path);
    return stat(name, &log) == 0 ? (int64_t)log.st_size : 0;
}

static bool checkpoint_run(struct store *store, bool cut, struct error *error) {
    int mode = cut ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_FULL;
    if (!store_intact(store, error))
        return false;
    CRASH_POINT("checkpoint_begun");
    store->db.impatient = true;
    int code = sqlite3_wal_checkpoint_v2(store->db.handle, NULL, mode, NULL, NULL);
    CRASH_POINT("checkpoint_ended");
    store->db.impatient = false;
    /* Busy: a reader holds an old state; the rest is moved next time. */
    if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) {
        struct error reason;
        db_fail(&store->db, &reason);
        store->broken = reason.code == ERROR_IO;
        return error_set(error, reason.code, "%s", reason.text);
    }
    store->db.log_pages = 0;
    return true;
}

bool store_checkpoint(struct store *store, int pages, struct error *error) {
    if (!store->path || store->writing || store->broken || store->mode == STORE_READ)
        return true;
    if (pages > 0 && store->db.log_pages <= pages)
        return true;
    if (!store->self.checkpointer && !gate_take(&store->gate, GATE_CHECKPOINTER, true))
        return true;
    if (store->self.id)
        store->self.checkpointer = true;
    bool done = true;
    if (gate_take(&store->gate, GATE_WRITER, true))
        done = checkpoint_run(store, pages <= 0 || checkpoint_log_size(store) > LOG_KEPT, error);
    gate_drop(&store->gate, GATE_WRITER);
    if (!store->self.checkpointer)
        gate_drop(&store->gate, GATE_CHECKPOINTER);
    return done;
}
