/* rights.c - who may do what with the tables of a store: the statements that say so, and what a
 * role lacks. */
#include "store/postgres/life/rights.h"
#include "store/postgres/db/connection.h"
#include "store/postgres/life/schema.h"

/* ---- what is granted ---- */

/* A name as SQL reads it, in quotes: it may be a word of SQL's own, such as "order". */
static void add_name(struct text *text, const char *name) {
    text_append(text, "\"", 1);
    for (const char *at = name; *at; at++)
        text_append(text, *at == '"' ? "\"\"" : at, *at == '"' ? 2 : 1);
    text_append(text, "\"", 1);
}

/* Copies a line, with names in the place of letters behind %. */
static void add_line(struct text *text, const char *line, const struct address *address,
                     const struct store_roles *roles) {
    for (const char *at = line; *at; at++) {
        if (*at != '%') {
            text_append(text, at, 1);
            continue;
        }
        switch (*++at) {
        case 'd':
            add_name(text, address_option(address, "dbname"));
            break;
        case 's':
            add_name(text, address->schema);
            break;
        case 'l': /* between the quotes of a text */
            text_add(text, "%s", address->schema);
            break;
        case 'o':
            add_name(text, roles->owner);
            break;
        case 'w':
            add_name(text, roles->worker);
            break;
        case 'e':
            add_name(text, roles->enqueuer);
            break;
        case 'c':
            text_add(text, "moonshift_%u", (unsigned)address_class(address));
            break;
        case 'r':
            add_name(text, roles->reader);
            break;
        default:
            text_append(text, at, 1);
        }
    }
    text_append(text, "\n", 1);
}

/* What the owner makes later is granted as well. */
static const char *const grants[] = {
    "-- %o makes and migrates the tables, %w runs, creates and operates jobs, %r asks.",
    "CREATE SCHEMA IF NOT EXISTS %s AUTHORIZATION %o;",
    "GRANT CONNECT ON DATABASE %d TO %o, %w, %r;",
    "GRANT USAGE ON SCHEMA %s TO %w, %r;",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %s TO %w;",
    "GRANT SELECT, USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA %s TO %w;",
    "GRANT SELECT ON ALL TABLES IN SCHEMA %s TO %r;",
    "ALTER DEFAULT PRIVILEGES FOR ROLE %o IN SCHEMA %s"
    " GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO %w;",
    "ALTER DEFAULT PRIVILEGES FOR ROLE %o IN SCHEMA %s"
    " GRANT SELECT, USAGE, UPDATE ON SEQUENCES TO %w;",
    "ALTER DEFAULT PRIVILEGES FOR ROLE %o IN SCHEMA %s GRANT SELECT ON TABLES TO %r;",
    NULL,
};

/* A line break in a name would end the comment. */
static bool names_fit(const struct store_roles *roles, struct error *error) {
    const char *const names[] = {roles->owner, roles->worker, roles->reader, roles->enqueuer};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!*names[i] || !utf8_valid(names[i], strlen(names[i]), NULL) ||
            utf8_has_control(names[i]))
            return error_set(error, ERROR_INVALID,
                             "role \"%s\": expected a name without control characters", names[i]);
    return true;
}

bool rights_lines(const char *url, const struct store_roles *roles, const char *const *lines,
                  struct text *text, struct error *error) {
    struct address address = {0};
    bool fine = names_fit(roles, error) && address_read(&address, url, error);
    if (fine && !address_option(&address, "dbname"))
        fine = error_set(error, ERROR_CONFIG,
                         "store \"%s\": no database (expected postgres://user@host:port/database)",
                         address.name);
    for (size_t i = 0; fine && lines[i]; i++)
        add_line(text, lines[i], &address, roles);
    address_clear(&address);
    return fine && (!text->failed || error_no_memory(error));
}

bool postgres_grants(const char *url, const struct store_roles *roles, struct text *text,
                     struct error *error) {
    return rights_lines(url, roles, grants, text, error);
}

/* ---- what is lacking ---- */

/* Tables that lack the same are named together. A sequence of an identity column needs no right. */
static const char lacking[] =
    "WITH n AS (SELECT oid, nspname FROM pg_catalog.pg_namespace WHERE nspname=?1),"
    " c AS (SELECT c.oid, c.relname::text AS name,"
    " CASE WHEN c.relkind='v' THEN 'views' ELSE 'tables' END AS kind FROM n"
    " JOIN pg_catalog.pg_class c ON c.relnamespace=n.oid AND c.relkind IN ('r', 'p', 'v')),"
    " need AS (SELECT 1::bigint AS at, 'USAGE'::text AS what, 'schema'::text AS kind,"
    " nspname::text AS name FROM n WHERE NOT has_schema_privilege(oid, 'USAGE')"
    " UNION ALL SELECT p.at, p.word, c.kind, c.name FROM c,"
    " unnest(string_to_array(CASE WHEN c.kind='views' THEN 'SELECT' ELSE ?2 END, ' '))"
    " WITH ORDINALITY AS p(word, at) WHERE NOT has_table_privilege(c.oid, p.word)"
    " UNION ALL SELECT 1, 'USAGE', 'sequences', c.relname::text FROM n"
    " JOIN pg_catalog.pg_class c ON c.relnamespace=n.oid AND CASE WHEN c.relkind='S'"
    " THEN ?3<>0 AND NOT has_sequence_privilege(c.oid, 'USAGE') END"
    " AND NOT EXISTS(SELECT 1 FROM pg_catalog.pg_depend d WHERE d.objid=c.oid AND d.deptype='i')),"
    " each AS (SELECT kind, name, string_agg(what, ', ' ORDER BY at) AS what FROM need"
    " GROUP BY kind, name),"
    " alike AS (SELECT kind, what||' on '||CASE WHEN count(*)>1"
    " AND count(*)=(SELECT count(*) FROM c WHERE c.kind=each.kind) THEN 'all '||kind"
    " ELSE kind||' '||string_agg(name, ', ' ORDER BY name) END AS line FROM each"
    " GROUP BY kind, what)"
    " SELECT string_agg(line, '; ' ORDER BY kind, line), current_user::text FROM alike";

static bool refuse_rights(struct store *store, const char *role, const char *lack,
                          struct error *error) {
    return error_set(error, ERROR_CONFIG,
                     "store \"%s\": the role \"%s\" lacks rights (\"moonshift store grants\" prints"
                     " what to grant): %s",
                     store->db.name, role, lack);
}

bool postgres_rights(struct store *store, struct error *error) {
    const bool writes = store->mode != STORE_READ;
    struct row *row =
        db_query(&store->db, error, lacking, "ttn", postgres_of(store)->address.schema,
                 writes ? "SELECT INSERT UPDATE DELETE" : "SELECT", (int)writes);
    enum answer step = db_step(&store->db, row, error);
    const char *lack = step == YES ? row_text(row, 0) : NULL;
    bool fine = step == YES && (!lack || refuse_rights(store, row_text(row, 1), lack, error));
    if (step == YES)
        row_done(row);
    return fine;
}
