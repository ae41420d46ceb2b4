/* old_reader.c - who keeps an old state of the database: rows that have gone since cannot be
 * removed, and pages of ready jobs read over them. */
#include "base/json.h"
#include "store/postgres/db/connection.h"

static json_t *log_make(struct row *row) {
    const char *program = row_text(row, 1);
    json_t *log = json_object();
    if (json_put(log, "bytes", NULL) && json_put(log, "held_bytes", NULL) &&
        json_put(log, "held_age", json_real((double)row_int(row, 2) / 1000)) &&
        json_put(log, "process", json_integer(row_int(row, 0))) &&
        json_put_text(log, "program", program && *program ? program : NULL))
        return log;
    json_decref(log);
    return NULL;
}

/* The server shows a role its own sessions alone, unless it may see all. */
json_t *postgres_log(struct store *store, struct error *error) {
    struct row *row =
        db_query(&store->db, error,
                 "SELECT pid::bigint, application_name,"
                 " floor(extract(epoch FROM clock_timestamp()-xact_start)*1000)::bigint"
                 " FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND xact_start IS NOT NULL"
                 " AND pid<>pg_backend_pid() AND datname=current_database()"
                 " ORDER BY xact_start LIMIT 1",
                 "");
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step == NO ? json_null() : NULL;
    json_t *log = log_make(row);
    row_done(row);
    if (!log)
        error_no_memory(error);
    return log;
}
