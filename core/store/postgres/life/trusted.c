/* trusted.c - the schema of a store is the only place in which its names are looked for. What other
 * roles could put there would run with the rights of the role that opens the store. */
#include "base/text.h"
#include "store/postgres/db/connection.h"
#include "store/postgres/life/schema.h"

/* The owner of the database stands for the role that has the server's own name for it. */
#define OWNER                                                                                      \
    "CASE WHEN r.rolname='pg_database_owner' THEN (SELECT d.datdba FROM pg_catalog.pg_database d"  \
    " WHERE d.datname=pg_catalog.current_database()) ELSE n.nspowner END"
#define OF_SUPER(role)                                                                             \
    "EXISTS(SELECT 1 FROM pg_catalog.pg_roles s WHERE s.oid=" role " AND s.rolsuper)"

/* `maker` made the tables, or is this role where there are none. */
#define SCHEMA                                                                                     \
    "WITH n AS (SELECT n.oid, n.nspacl, n.nspowner, " OWNER " AS owner,"                           \
    " (SELECT c.relowner FROM pg_catalog.pg_class c WHERE c.relnamespace=n.oid"                    \
    " AND c.relname='schema_version') AS made,"                                                    \
    " (SELECT u.oid FROM pg_catalog.pg_roles u WHERE u.rolname=current_user) AS self"              \
    " FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid=n.nspowner"               \
    " WHERE n.nspname=?1), m AS (SELECT n.*, coalesce(n.made, n.self) AS maker FROM n)"

/* In this order: of whom the schema is, who may put something there, and what is there. A role that
 * cannot create there is told so by the server. */
static const char untrusted[] = SCHEMA
    ", found AS (SELECT 1 AS at, 'is owned by the role \"'||pg_catalog.pg_get_userbyid(m.owner)"
    "||'\", which has not made its tables' AS what FROM m WHERE m.owner<>m.maker"
    " AND (m.made IS NOT NULL OR pg_catalog.has_schema_privilege(m.oid, 'CREATE'))"
    " AND NOT " OF_SUPER(
        "m.owner") " UNION ALL"
                   " SELECT 2, CASE WHEN a.grantee=0::oid THEN 'lets every role' ELSE 'lets the "
                   "role \"'"
                   "||pg_catalog.pg_get_userbyid(a.grantee)||'\"' END||' create in it' FROM m"
                   " CROSS JOIN LATERAL pg_catalog.aclexplode(m.nspacl) AS a"
                   " WHERE a.privilege_type='CREATE' AND a.grantee<>m.owner AND "
                   "a.grantee<>m.nspowner"
                   " AND a.grantee<>m.maker AND NOT " OF_SUPER(
                       "a.grantee") " UNION ALL"
                                    " SELECT 3, 'holds the function '||p.proname||'('"
                                    "||pg_catalog.pg_get_function_identity_arguments(p.oid)||') of "
                                    "another program' FROM m"
                                    " JOIN pg_catalog.pg_proc p ON p.pronamespace=m.oid WHERE "
                                    "p.proowner<>m.maker"
                                    " OR "
                                    "(p.proname||'('||pg_catalog.pg_get_function_identity_"
                                    "arguments(p.oid)||')') NOT IN"
                                    " ('payload_json(payload bytea)', 'json_group_array(text)', "
                                    "'json_group_array(bigint)', 'outbox_place()', "
                                    "'occupancy_move()',"
                                    " 'enqueue(handler text, payload jsonb, options jsonb)')"
                                    " UNION ALL SELECT 4, 'holds the operator '||o.oprname||' of "
                                    "another program' FROM m"
                                    " JOIN pg_catalog.pg_operator o ON o.oprnamespace=m.oid UNION "
                                    "ALL"
                                    " SELECT 5, 'holds the type '||t.typname||' of another "
                                    "program' FROM m"
                                    " JOIN pg_catalog.pg_type t ON t.typnamespace=m.oid WHERE NOT "
                                    "EXISTS(SELECT 1 FROM"
                                    " pg_catalog.pg_class c WHERE c.oid=t.typrelid AND "
                                    "c.relkind<>'c') AND NOT EXISTS(SELECT 1 FROM"
                                    " pg_catalog.pg_type e WHERE e.oid=t.typelem AND "
                                    "e.typarray=t.oid"
                                    " AND e.typnamespace=m.oid) UNION ALL"
                                    " SELECT 6, 'holds \"'||c.relname||'\" of the role \"'"
                                    "||pg_catalog.pg_get_userbyid(c.relowner)||'\"' FROM m"
                                    " JOIN pg_catalog.pg_class c ON c.relnamespace=m.oid WHERE "
                                    "m.made IS NOT NULL"
                                    " AND c.relowner<>m.maker) SELECT f.what FROM found f ORDER BY "
                                    "f.at, f.what LIMIT 1";

bool postgres_trusts(struct store *store, struct error *error) {
    const char *schema = postgres_of(store)->address.schema;
    struct row *row = db_query(&store->db, error, untrusted, "t", schema);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step == NO;
    error_set(error, ERROR_CONFIG,
              "store \"%s\": the schema \"%s\" %s (expected one in which its owner alone creates, "
              "and nothing but a store)",
              store->db.name, schema, row_text(row, 0));
    row_done(row);
    return false;
}
