/* replica.c - a standby that is asked: how far is it behind? */
#include "store/postgres/db/connection.h"

/* While it is connected and has replayed what it has got, it is not behind. Else the last commit
 * that it has replayed tells. */
time_ms postgres_lag(struct store *store) {
    int64_t lag = 0;
    enum answer asked =
        db_value(&store->db, NULL, &lag,
                 "SELECT CASE WHEN pg_last_wal_receive_lsn()=pg_last_wal_replay_lsn()"
                 " AND EXISTS(SELECT 1 FROM pg_stat_wal_receiver) THEN 0"
                 " ELSE coalesce(floor(extract(epoch FROM"
                 " clock_timestamp()-pg_last_xact_replay_timestamp())*1000)::bigint, 0) END"
                 " WHERE pg_is_in_recovery()",
                 "");
    return asked == YES ? lag : TIME_NONE;
}
