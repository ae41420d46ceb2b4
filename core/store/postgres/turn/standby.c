/* standby.c - does a commit of the server wait for a synchronous standby? */
#include "store/postgres/db/connection.h"

/* The names that commits wait for and the standbys that are connected, where they wait in vain. A
 * server shows a role its own sessions alone, unless it may see all. */
static const char waits_sql[] =
    "SELECT current_setting('synchronous_standby_names'), s.n"
    " FROM (SELECT count(*) AS n FROM pg_stat_get_wal_senders()) s"
    " WHERE current_setting('synchronous_standby_names')<>''"
    " AND current_setting('synchronous_commit') NOT IN ('off', 'local') AND (s.n=0"
    " OR EXISTS(SELECT 1 FROM pg_stat_activity WHERE datname=current_database()"
    " AND wait_event='SyncRep' AND state_change<clock_timestamp()-interval '1 second'))";

bool postgres_stalled(struct store *store, struct error *why) {
    struct row *row = db_query(&store->db, NULL, waits_sql, "");
    if (db_step(&store->db, row, NULL) != YES)
        return false;
    const int64_t count = row_int(row, 1);
    if (count == 0)
        error_set(why, ERROR_BUSY,
                  "the server waits for a synchronous standby (%s); none is connected",
                  row_text(row, 0));
    else
        error_set(why, ERROR_BUSY,
                  "the server waits for a synchronous standby (%s); connected: %lld",
                  row_text(row, 0), (long long)count);
    row_done(row);
    return true;
}
