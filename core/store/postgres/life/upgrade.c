#include "store/postgres/life/upgrade.h"
#include "base/text.h"
#include "store/postgres/db/connection.h"
#include "store/postgres/life/schema.h"
#include "store/postgres/turn/transaction.h"
#include <stdio.h>

#define TRIES 15                                   /* of a step that meets a lock, */
#define LOCK_WAIT "SET LOCAL lock_timeout TO 2000" /* for which it holds others up so long */

/* 7: a kept message knows the job that brings it, the step of a unit that failed is kept, and what
 * a command holds is free again at an instant. A view has the columns that its table had when it
 * was made. */
static const char widen_7[] =
    "ALTER TABLE kept_message ADD COLUMN IF NOT EXISTS job bigint;\n"
    "CREATE INDEX IF NOT EXISTS kept_message_job ON kept_message(job) WHERE job IS NOT NULL;\n"
    "ALTER TABLE job ADD COLUMN IF NOT EXISTS failed_activity text COLLATE \"C\";\n"
    "ALTER TABLE lane ADD COLUMN IF NOT EXISTS until bigint;\n"
    "CREATE OR REPLACE VIEW live AS SELECT * FROM job j WHERE NOT EXISTS(SELECT 1 FROM intake)"
    " OR NOT EXISTS(SELECT 1 FROM intake i WHERE j.id>i.reached AND j.id<=i.last);\n";
static const char index_7[] = "CREATE INDEX CONCURRENTLY IF NOT EXISTS incident_root"
                              " ON incident(root_cause) WHERE root_cause IS NOT NULL";

/* 8: what is written about a run of a schedule has the schedule's name. */
static const char widen_8[] =
    "ALTER TABLE job ADD COLUMN IF NOT EXISTS schedule text COLLATE \"C\";\n"
    "ALTER TABLE ended ADD COLUMN IF NOT EXISTS schedule text COLLATE \"C\";\n"
    "ALTER TABLE attempt ADD COLUMN IF NOT EXISTS schedule text COLLATE \"C\";\n"
    "ALTER TABLE snooze ADD COLUMN IF NOT EXISTS schedule text COLLATE \"C\";\n"
    "ALTER TABLE incident ADD COLUMN IF NOT EXISTS schedule text COLLATE \"C\","
    " ADD COLUMN IF NOT EXISTS count bigint NOT NULL DEFAULT 1,"
    " ADD COLUMN IF NOT EXISTS seen bigint;\n"
    "ALTER TABLE definition ADD COLUMN IF NOT EXISTS override_limit bigint,"
    " ADD COLUMN IF NOT EXISTS override_rate text COLLATE \"C\";\n"
    "UPDATE job SET schedule=c.schedule FROM cycle c"
    " WHERE c.job=job.id AND c.schedule IS NOT NULL;\n"
    "UPDATE job SET schedule=o.schedule FROM occurrence o WHERE o.job=job.id;\n"
    "CREATE OR REPLACE VIEW live AS SELECT * FROM job j WHERE NOT EXISTS(SELECT 1 FROM intake)"
    " OR NOT EXISTS(SELECT 1 FROM intake i WHERE j.id>i.reached AND j.id<=i.last);\n";

#define INDEX_OF_SCHEDULE(table, behind)                                                           \
    "CREATE INDEX CONCURRENTLY IF NOT EXISTS " table "_schedule ON " table "(schedule, " behind    \
    ") WHERE schedule IS NOT NULL"

/* One step builds one index. */
static const struct upgrade released[] = {
    {.version = 7, .widen = widen_7, .index = index_7},
    {.version = 8, .widen = widen_8, .index = INDEX_OF_SCHEDULE("job", "id")},
    {.version = 8, .index = INDEX_OF_SCHEDULE("ended", "seq")},
    {.version = 8, .index = INDEX_OF_SCHEDULE("attempt", "at")},
    {.version = 8,
     .index = "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS incident_schedule"
              " ON incident(schedule, type) WHERE ended IS NULL AND schedule IS NOT NULL"},
    {0}};
const struct upgrade *postgres_upgrades = released;

int64_t upgrade_newest(void) {
    int64_t newest = SCHEMA_FIRST;
    for (const struct upgrade *one = postgres_upgrades; one->version; one++)
        newest = one->version;
    return newest;
}

/* ---- a step ---- */

static bool begin(struct store *store, struct error *error) {
    return db_run(&store->db, error, "BEGIN", "") && db_run(&store->db, error, LOCK_WAIT, "") &&
           postgres_gate(store, false, error);
}

static bool upgrade_note(struct store *store, struct error *error) {
    return db_run(&store->db, error, "UPDATE schema_version SET version=?1, oldest=?2", "ii",
                  store->schema.version, store->schema.oldest) &&
           db_run(&store->db, error, "COMMIT", "") &&
           session_land(&postgres_of(store)->session, NULL, error);
}

/* In a transaction of its own, behind the gate: nobody else writes. */
static bool try_step(struct store *store, const char *statements, struct error *error) {
    struct session *session = &postgres_of(store)->session;
    session_enter(session);
    bool done = begin(store, error) && db_execute(&store->db, statements, error) &&
                upgrade_note(store, error);
    session_land(session, NULL, NULL);
    session_leave(session);
    if (!done && !session->lost)
        db_run(&store->db, NULL, "ROLLBACK", "");
    return done;
}

/* A long question may stand in the way of a change; others must not wait behind that change. */
static bool run_step(struct store *store, const char *statements, int64_t version, int64_t oldest,
                     struct error *error) {
    struct error reason = {0};
    const struct store_schema before = store->schema;
    store->schema.version = version;
    store->schema.oldest = oldest;
    for (int i = 0; i < TRIES; i++) {
        if (try_step(store, statements, &reason))
            return true;
        if (reason.code != ERROR_BUSY || postgres_of(store)->session.lost)
            break;
    }
    store->schema = before;
    return error_set(error, reason.code, "store \"%s\": schema %lld: %s", store->db.name,
                     (long long)version, reason.text);
}

/* ---- what is wide ---- */

static bool widen(struct store *store, struct error *error) {
    for (const struct upgrade *one = postgres_upgrades; one->version; one++)
        if (one->version > store->schema.version &&
            !run_step(store, one->widen ? one->widen : "", one->version, store->schema.oldest,
                      error))
            return false;
    return true;
}

/* One that was broken off is there and of no use. */
static bool drop_broken(struct store *store, struct error *error) {
    struct text drop = {0};
    struct row *row = db_query(
        &store->db, error,
        "SELECT string_agg('DROP INDEX '||quote_ident(n.nspname)||'.'||quote_ident(c.relname), ';')"
        " FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid=i.indexrelid"
        " JOIN pg_catalog.pg_namespace n ON n.oid=c.relnamespace"
        " WHERE n.nspname=?1 AND NOT i.indisvalid",
        "t", postgres_of(store)->address.schema);
    enum answer step = db_step(&store->db, row, error);
    if (step == YES && row_text(row, 0))
        text_add(&drop, "%s", row_text(row, 0));
    if (step == YES)
        row_done(row);
    bool done = step != FAILED && (!drop.data || db_execute(&store->db, drop.data, error));
    text_clear(&drop);
    return done;
}

/* Those that are there cost nothing. */
static bool build_indexes(struct store *store, struct error *error) {
    bool done =
        drop_broken(store, error) && db_execute(&store->db, "SET statement_timeout TO 0", error);
    for (const struct upgrade *one = postgres_upgrades; done && one->version; one++)
        done = !one->index || db_execute(&store->db, one->index, error);
    return done;
}

/* ---- what is narrow ---- */

/* Names executors of an older program whose lease is not over, or whose session is there. NO: there
 * is none. */
static enum answer older_programs(struct store *store, int version, struct error *error) {
    struct row *row = db_query(
        &store->db, error,
        "SELECT string_agg(e.name, ', ' ORDER BY e.name) FROM executor e"
        " LEFT JOIN program p ON p.executor=e.id WHERE e.state<>0"
        " AND coalesce(p.version, 0)<?1"
        " AND (e.lease>" SERVER_NOW " OR EXISTS(SELECT 1 FROM pg_locks WHERE locktype='advisory'"
        " AND classid::bigint=?2 AND objid::bigint=?3+e.id"
        " AND objsubid=2))",
        "nin", version, (int64_t)(uint32_t)postgres_of(store)->class, (int)LOCK_EXECUTORS);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return FAILED;
    const char *names = row_text(row, 0);
    snprintf(store->schema.for_whom, sizeof store->schema.for_whom, "%s", names ? names : "");
    enum answer any = names ? YES : NO;
    row_done(row);
    return any;
}

static bool narrow(struct store *store, struct error *error) {
    for (const struct upgrade *one = postgres_upgrades; one->version; one++) {
        if (!one->narrow || one->version <= store->schema.oldest)
            continue;
        enum answer older = older_programs(store, one->version, error);
        if (older == YES)
            store->schema.waits = one->version;
        if (older != NO)
            return older == YES;
        if (!run_step(store, one->narrow, store->schema.version, one->version, error))
            return false;
    }
    return true;
}

/* ---- all of it ---- */

static bool lock(struct store *store, struct error *error) {
    int64_t taken = 0;
    if (postgres_of(store)->address.pooled)
        return error_set(error, ERROR_CONFIG,
                         "store \"%s\": cannot be migrated through a pool (expected the URL of the"
                         " server itself)",
                         store->db.name);
    if (db_value(&store->db, error, &taken, "SELECT pg_try_advisory_lock(?1::int, ?2::int)", "nn",
                 (int)postgres_of(store)->class, (int)LOCK_SCHEMA) != YES)
        return false;
    return taken || error_set(error, ERROR_BUSY, "store \"%s\": is migrated by another process now",
                              store->db.name);
}

static bool run_all(struct store *store, struct error *error) {
    if (!postgres_schema_read(store, error) || !widen(store, error))
        return false;
    return build_indexes(store, error) && narrow(store, error);
}

bool upgrade_run(struct store *store, struct error *error) {
    int64_t dropped = 0;
    if (!lock(store, error))
        return false;
    bool done = run_all(store, error);
    db_value(&store->db, NULL, &dropped, "SELECT pg_advisory_unlock(?1::int, ?2::int)", "nn",
             (int)postgres_of(store)->class, (int)LOCK_SCHEMA);
    return done;
}
