/* scratch.c - what a bench asks of a server: its process, and the end of a schema. */
#include "store/postgres/db/connection.h"
#include <stdio.h>

int64_t postgres_backend(struct store *store) {
    int64_t pid = 0;
    return db_value(&store->db, NULL, &pid, "SELECT pg_backend_pid()", "") == YES ? pid : 0;
}

/* No other schema than one that a bench has made is ever dropped. */
bool postgres_drop(struct store *store, struct error *error) {
    const char *schema = postgres_of(store)->address.schema;
    char sql[SCHEMA_MAX + 32];
    if (strncmp(schema, STORE_SCRATCH, strlen(STORE_SCRATCH)) != 0)
        return error_set(error, ERROR_INVALID,
                         "store \"%s\": is not dropped (expected a schema " STORE_SCRATCH "…)",
                         store->db.name);
    snprintf(sql, sizeof sql, "DROP SCHEMA \"%s\" CASCADE", schema);
    return db_execute(&store->db, sql, error);
}
