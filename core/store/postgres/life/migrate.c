/* migrate.c - is the schema a store, and of which version? Makes one where there is none. */
#include "base/text.h"
#include "store/postgres/db/connection.h"
#include "store/postgres/life/schema.h"
#include "store/postgres/life/upgrade.h"
#include "store/postgres/turn/server_clock.h"
#include "store/postgres/turn/transaction.h"
#include <stdlib.h>

bool postgres_schema_read(struct store *store, struct error *error) {
    const time_ms begun = clock_monotonic();
    time_ms now = 0;
    enum answer step =
        db_read(&store->db, error, "SELECT version, oldest, " SERVER_NOW " FROM schema_version",
                "iii<", &store->schema.version, &store->schema.oldest, &now);
    if (step == YES)
        postgres_note_clock(store, begun, now);
    return step == NO ? postgres_version_missing(store, error) : step == YES;
}

static bool refuse_foreign(struct store *store, const char *table, struct error *error) {
    return error_set(error, ERROR_CONFIG,
                     "store \"%s\": not a moonshift store (its schema holds \"%s\" of another "
                     "program)",
                     store->db.name, table);
}

/* NO: the schema is empty, or is not there. A table of another program is found by a walk through
 * all tables of the database, as no index knows their schemas. */
static enum answer find_foreign(struct store *store, struct error *error) {
    struct row *row =
        db_query(&store->db, error,
                 "SELECT c.relname FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_class c"
                 " ON c.relnamespace=n.oid WHERE n.nspname=?1 AND c.relkind IN ('r', 'p', 'v')"
                 " ORDER BY c.relname LIMIT 1",
                 "t", postgres_of(store)->address.schema);
    enum answer step = db_step(&store->db, row, error);
    if (step == YES) {
        refuse_foreign(store, row_text(row, 0), error);
        row_done(row);
        step = FAILED;
    }
    return step;
}

/* Tables of a store, if the one of its version is ours. An owner has every right to what it has
 * made. */
static enum answer find_tables(struct store *store, bool *own, struct error *error) {
    int64_t owner = 0;
    enum answer found =
        db_value(&store->db, error, &owner,
                 "SELECT pg_has_role(c.relowner, 'USAGE')::int::bigint FROM pg_catalog.pg_class c"
                 " JOIN pg_catalog.pg_namespace n ON n.oid=c.relnamespace"
                 " JOIN pg_catalog.pg_attribute a ON a.attrelid=c.oid AND a.attname='oldest'"
                 " WHERE n.nspname=?1 AND c.relname='schema_version'",
                 "t", postgres_of(store)->address.schema);
    *own = owner != 0;
    return found == NO ? find_foreign(store, error) : found;
}

/* YES: there is a store of a version that this program works with. */
static enum answer look_version(struct store *store, struct error *error) {
    bool own = false;
    enum answer found = find_tables(store, &own, error);
    if (found != YES)
        return found;
    if (!postgres_trusts(store, error))
        return FAILED;
    if (!own && !postgres_rights(store, error))
        return FAILED;
    if (!postgres_schema_read(store, error) || !postgres_version_fits(store, error))
        return FAILED;
    store->schema.was = store->schema.version;
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
        text_add(&script, "CREATE SCHEMA \"%s\";\n", postgres->address.schema);
    if (tables)
        text_append(&script, tables, strlen(tables));
    text_add(&script,
             "CREATE TABLE turn(session bigint PRIMARY KEY, n bigint NOT NULL, at bigint NOT NULL)"
             " WITH (fillfactor=20);\n"
             "CREATE TABLE program(executor bigint PRIMARY KEY, version bigint NOT NULL,"
             " locks bigint NOT NULL, slots text);\n"
             "CREATE TABLE schema_version(version bigint NOT NULL, oldest bigint NOT NULL);\n"
             "INSERT INTO schema_version VALUES (%lld, %lld);\n",
             (long long)postgres->program, (long long)postgres->program);
    bool done = there != FAILED && (there == NO || postgres_trusts(store, error)) &&
                ((tables && !script.failed) || error_no_memory(error)) &&
                db_execute(&store->db, script.data, error);
    free(tables);
    text_clear(&script);
    return done;
}

/* Says what the server has refused, and who could do it. */
static bool refuse_making(struct store *store, struct error *error) {
    char why[sizeof error->text];
    const char *at = strstr(error->text, "\": ");
    if (strcmp(postgres_of(store)->session.state, "42501") != 0 || !at)
        return false;
    snprintf(why, sizeof why, "%s", at + strlen("\": "));
    return error_set(error, ERROR_CONFIG,
                     "store \"%s\": it is not there, and this role cannot make it (expected"
                     " \"moonshift store create\" as the owner of its tables): %s",
                     store->db.name, why);
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
    return done || (error->code == ERROR_CONFIG && refuse_making(store, error));
}

bool postgres_migrate(struct store *store, struct error *error) {
    postgres_of(store)->program = upgrade_newest();
    enum answer found = look_version(store, error);
    if (found == YES && store->mode == STORE_MIGRATE)
        return upgrade_run(store, error);
    if (found != NO)
        return found == YES;
    if (store->mode == STORE_CREATE)
        return make(store, error) && postgres_schema_read(store, error);
    return error_set(error, ERROR_NOT_FOUND,
                     "store \"%s\": empty (create it with \"moonshift store create\")",
                     store->db.name);
}
