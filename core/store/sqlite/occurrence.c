#include "store/sqlite/occurrence.h"
#include "store/sqlite/prelock.h"

bool occurrence_begin(struct store *store, const char *schedule, int64_t job, time_ms now,
                      struct error *error) {
    return db_run(&store->db, error,
                  "INSERT OR REPLACE INTO occurrence(job, schedule, begun) VALUES(?1, ?2, ?3)",
                  "iti", job, schedule, now);
}

/* The next one stands ready and was passed over; who serves it is not looked at. */
static void stir(struct store *store) {
    prelock_blind(store);
    store->wake.everybody = true;
    store->stirred = true;
}

bool occurrence_end(struct store *store, int64_t job, struct error *error) {
    if (!db_run(&store->db, error, "DELETE FROM occurrence WHERE job=?1", "i", job))
        return false;
    if (db_changes(&store->db))
        stir(store);
    return true;
}

bool occurrence_left(struct store *store, const struct row *row, struct error *error) {
    if (row->retries <= 0)
        return occurrence_end(store, row->id, error);
    int64_t one = 0;
    int found =
        db_value(&store->db, error, &one, "SELECT 1 FROM occurrence WHERE job=?1", "i", row->id);
    if (found > 0)
        stir(store);
    return found >= 0;
}

int occurrence_rival(struct store *store, const char *schedule, int64_t job, time_ms now,
                     struct rival *rival, struct error *error) {
    sqlite3_stmt *row =
        db_query(&store->db, error,
                 "SELECT o.job, o.begun FROM occurrence o JOIN live j ON j.id=o.job"
                 " LEFT JOIN locked l ON l.id=j.id WHERE o.schedule=?1 AND o.job<>?2"
                 " AND (l.id IS NOT NULL OR (j.retries>0 AND j.suspended=0"
                 " AND coalesce(j.due<=?3, 1))) ORDER BY o.begun DESC, o.job DESC LIMIT 1",
                 "tii", schedule, job, now);
    int step = row ? db_step(&store->db, row, error) : -1;
    if (step <= 0)
        return step;
    *rival = (struct rival){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)};
    sqlite3_reset(row);
    return 1;
}
