/* migrate.c - is the schema a store, and of which version? Makes one where there is none. */
#include "base/text.h"
#include "store/postgres/connection.h"
#include "store/postgres/schema.h"
#include <stdlib.h>

#define SCHEMA_VERSION 6 /* the same tables as those of the engine on a file have it */

bool postgres_version_fits(struct store *store, int64_t version, struct error *error) {
    struct postgres *postgres = postgres_of(store);
    postgres->outdated = version > SCHEMA_VERSION;
    if (version == SCHEMA_VERSION || (postgres->outdated && postgres->parting))
        return true;
    return error_set(error, ERROR_CONFIG,
                     "store \"%s\": schema %lld is %s than this program's %d (%s)", store->db.name,
                     (long long)version, postgres->outdated ? "newer" : "older", SCHEMA_VERSION,
                     postgres->outdated ? "upgrade moonshift" : "it was never released");
}

static bool refuse_foreign(struct store *store, const char *table, struct error *error) {
    return error_set(error, ERROR_CONFIG,
                     "store \"%s\": not a moonshift store (its schema holds \"%s\" of another "
                     "program)",
                     store->db.name, table);
}

/* Tables of the schema: NO: it is empty, or is not there. */
static enum answer find_tables(struct store *store, bool *ours, struct error *error) {
    struct row *row =
        db_query(&store->db, error,
                 "SELECT c.relname, (SELECT count(*) FROM pg_catalog.pg_class o"
                 " WHERE o.relnamespace=n.oid AND o.relname='schema_version')"
                 " FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c"
                 " ON c.relnamespace=n.oid WHERE n.nspname=?1 AND c.relkind IN ('r', 'p', 'v')"
                 " ORDER BY c.relname LIMIT 1",
                 "t", postgres_of(store)->address.schema);
    enum answer step = db_step(&store->db, row, error);
    *ours = step == YES && row_int(row, 1) > 0;
    if (step == YES && !*ours) {
        refuse_foreign(store, row_text(row, 0), error);
        step = FAILED;
    }
    if (row)
        row_done(row);
    return step;
}

/* YES: there is a store of this version. */
static enum answer look_version(struct store *store, struct error *error) {
    bool ours = false;
    int64_t version = 0;
    enum answer found = find_tables(store, &ours, error);
    if (found != YES)
        return found;
    if (!postgres_rights(store, error))
        return FAILED;
    found = db_value(&store->db, error, &version, "SELECT version FROM schema_version", "");
    if (found == FAILED || !postgres_version_fits(store, version, error))
        return FAILED;
    return YES;
}

/* Who may not make a schema may be given one. */
static enum answer schema_is_there(struct store *store, struct error *error) {
    int64_t any = 0;
    return db_value(&store->db, error, &any,
                    "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname=?1", "t",
                    postgres_of(store)->address.schema);
}

static bool make_tables(struct store *store, struct error *error) {
    struct postgres *postgres = postgres_of(store);
    struct text script = {0};
    char *tables = postgres_schema();
    enum answer there = schema_is_there(store, error);
    if (there == NO)
        text_add(&script, "CREATE SCHEMA %s;\n", postgres->address.schema);
    if (tables)
        text_append(&script, tables, strlen(tables));
    text_add(&script,
             "CREATE TABLE turn(session bigint PRIMARY KEY, n bigint NOT NULL, at bigint NOT NULL)"
             " WITH (fillfactor=20);\n"
             "CREATE TABLE schema_version(version bigint NOT NULL, oldest bigint NOT NULL);\n"
             "INSERT INTO schema_version VALUES (%d, %d);\n",
             SCHEMA_VERSION, SCHEMA_VERSION);
    bool done = there != FAILED && ((tables && !script.failed) || error_no_memory(error)) &&
                db_execute(&store->db, script.data, error);
    free(tables);
    text_clear(&script);
    return done;
}

/* Another process may make the same store at this moment: it is looked for again under a lock. */
static bool make(struct store *store, struct error *error) {
    struct postgres *postgres = postgres_of(store);
    session_enter(&postgres->session);
    enum answer found = FAILED;
    if (db_run(&store->db, error, "BEGIN", "") &&
        db_run(&store->db, error, "SELECT pg_advisory_xact_lock(?1::int, ?2::int)", "nn",
               postgres->class, (int)LOCK_SCHEMA))
        found = look_version(store, error);
    bool done = found == YES || (found == NO && make_tables(store, error));
    done = done && db_run(&store->db, error, "COMMIT", "") &&
           session_land(&postgres->session, NULL, error);
    session_land(&postgres->session, NULL, NULL);
    session_leave(&postgres->session);
    if (!done && !postgres->session.lost)
        db_run(&store->db, NULL, "ROLLBACK", "");
    return done;
}

bool postgres_migrate(struct store *store, struct error *error) {
    enum answer found = look_version(store, error);
    store->schema = (struct store_schema){.was = found == YES ? SCHEMA_VERSION : 0,
                                          .version = SCHEMA_VERSION,
                                          .oldest = SCHEMA_VERSION};
    if (found != NO)
        return found == YES;
    if (store->mode == STORE_CREATE)
        return make(store, error);
    return error_set(error, ERROR_NOT_FOUND,
                     "store \"%s\": empty (create it with \"moonshift run\" or \"moonshift "
                     "enqueue\")",
                     store->db.name);
}
