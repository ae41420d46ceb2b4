#include "store/sqlite/incident.h"
#include "store/sqlite/operation.h"
#include <stdio.h>

bool incident_open(struct store *store, int64_t job, const char *type, time_ms now,
                   struct error *error) {
    store->incidents = 1;
    if (!db_run(&store->db, error,
                "INSERT INTO incident(type, job, definition, activity, failed_activity, message,"
                " created) SELECT ?2, j.id, s.definition, j.activity, j.activity, j.message, ?3"
                " FROM job j LEFT JOIN stream s ON s.id=j.stream WHERE j.id=?1 AND NOT EXISTS"
                " (SELECT 1 FROM incident i WHERE i.job=?1 AND i.ended IS NULL)",
                "iti", job, type, now))
        return false;
    /* Its own cause and root: nothing called this job. */
    return db_changes(&store->db) == 0 ||
           db_run(&store->db, error, "UPDATE incident SET cause=id, root=id WHERE id=?1", "i",
                  (int64_t)sqlite3_last_insert_rowid(store->db.handle));
}

bool incident_end(struct store *store, int64_t job, enum incident_end how, time_ms now,
                  struct error *error) {
    int64_t some = 0;
    if (store->incidents < 0) {
        if (db_value(&store->db, error, &some,
                     "SELECT EXISTS(SELECT 1 FROM incident WHERE ended IS NULL)", "") < 0)
            return false;
        store->incidents = some != 0;
    }
    return !store->incidents ||
           db_run(&store->db, error,
                  "UPDATE incident SET ended=?2, how=?3 WHERE job=?1 AND ended IS NULL", "iin", job,
                  now, (int)how);
}

bool store_annotate(struct store *store, int64_t incident, const char *note, time_ms now,
                    struct error *error) {
    bool own = false;
    char entity[64];
    snprintf(entity, sizeof entity, "incident %lld", (long long)incident);
    if (!unit_begin(store, &own, error))
        return false;
    bool done =
        db_run(&store->db, error, "UPDATE incident SET note=?2 WHERE id=?1", "it", incident, note);
    if (done && !db_changes(&store->db))
        done = error_set(error, ERROR_NOT_FOUND, "no incident %lld", (long long)incident);
    done = done && operation_write(store, "annotate", entity, 1, NULL, note, now, error);
    return unit_end(store, own, done, error);
}
