#include "store/rules/create/occurrence.h"
#include "store/rules/ground/capacity.h"

bool occurrence_begin(struct store *store, const char *schedule, int64_t job, time_ms now,
                      struct error *error) {
    return db_run(
        &store->db, error,
        "INSERT INTO occurrence(job, schedule, begun) VALUES(?1, ?2, ?3)"
        " ON CONFLICT(job) DO UPDATE SET schedule=excluded.schedule, begun=excluded.begun,"
        " token=NULL, owner=NULL",
        "iti", job, schedule, now);
}

/* The next one stands ready and was passed over; who serves it is not looked at. */
static void stir(struct store *store) {
    capacity_blind(store);
    store->ring.everybody = true;
    store->changed = true;
}

bool occurrence_end(struct store *store, int64_t job, struct error *error) {
    if (!db_run(&store->db, error, "DELETE FROM occurrence WHERE job=?1 AND token IS NULL", "i",
                job))
        return false;
    if (db_changes(&store->db))
        stir(store);
    return true;
}

bool occurrence_cut(struct store *store, const struct job_row *row, struct error *error) {
    return db_run(&store->db, error, "UPDATE occurrence SET token=?2, owner=?3 WHERE job=?1", "iii",
                  row->id, row->token, row->owner);
}

/* A job that is there, suspended, may have a run again. */
bool occurrence_over(struct store *store, int64_t job, int64_t token, struct error *error) {
    if (!db_run(&store->db, error,
                "DELETE FROM occurrence WHERE job=?1 AND token=?2"
                " AND NOT EXISTS(SELECT 1 FROM live WHERE id=?1)",
                "ii", job, token))
        return false;
    bool gone = db_changes(&store->db) > 0;
    if (!gone && !db_run(&store->db, error,
                         "UPDATE occurrence SET token=NULL, owner=NULL WHERE job=?1 AND token=?2",
                         "ii", job, token))
        return false;
    if (gone || db_changes(&store->db))
        stir(store);
    return true;
}

bool occurrence_forget(struct store *store, int64_t owner, struct error *error) {
    if (!db_run(&store->db, error,
                "DELETE FROM occurrence WHERE owner=?1"
                " AND NOT EXISTS(SELECT 1 FROM live WHERE id=occurrence.job)",
                "i", owner))
        return false;
    bool some = db_changes(&store->db) > 0;
    if (!db_run(&store->db, error, "UPDATE occurrence SET token=NULL, owner=NULL WHERE owner=?1",
                "i", owner))
        return false;
    if (some || db_changes(&store->db))
        stir(store);
    return true;
}

bool occurrence_left(struct store *store, const struct job_row *row, struct error *error) {
    if (row->retries <= 0)
        return occurrence_end(store, row->id, error);
    int64_t one = 0;
    enum answer found =
        db_value(&store->db, error, &one, "SELECT 1 FROM occurrence WHERE job=?1", "i", row->id);
    if (found == YES)
        stir(store);
    return found != FAILED;
}

enum answer occurrence_rival(struct store *store, const char *schedule, int64_t job, time_ms now,
                             struct rival *rival, struct error *error) {
    return db_read(
        &store->db, error,
        "SELECT o.job, o.begun, o.token IS NOT NULL FROM occurrence o"
        " LEFT JOIN live j ON j.id=o.job LEFT JOIN locks l ON l.id=j.id"
        " WHERE o.schedule=?1 AND o.job<>?2"
        " AND (o.token IS NOT NULL OR l.id IS NOT NULL OR (j.retries>0 AND j.suspended=0"
        " AND (j.due IS NULL OR j.due<=?3))) ORDER BY 3, o.begun DESC, o.job DESC LIMIT 1",
        "iif<tii", &rival->job, &rival->begun, &rival->ending, schedule, job, now);
}
