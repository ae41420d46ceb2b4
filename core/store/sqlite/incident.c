#include "store/sqlite/incident.h"
#include "base/crash_point.h"
#include "base/text.h"
#include "store/sqlite/operation.h"
#include "store/sqlite/tell.h"
#include "store/sqlite/verbs.h"
#include <stdio.h>
#include <string.h>

bool incident_opened(struct store *store, time_ms now, struct error *error) {
    if (db_changes(&store->db) == 0)
        return true;
    int64_t id = sqlite3_last_insert_rowid(store->db.handle);
    return db_run(&store->db, error, "UPDATE incident SET cause=id, root=id WHERE id=?1", "i",
                  id) &&
           tell_incident(store, id, now, error);
}

bool incident_open(struct store *store, int64_t job, const char *type, time_ms now,
                   struct error *error) {
    if (!store->settings->incidents)
        return true;
    store->incidents = 1;
    if (!db_run(&store->db, error,
                "INSERT INTO incident(type, job, definition, activity, failed_activity, message,"
                " created) SELECT ?2, j.id, s.definition, j.activity, j.activity, j.message, ?3"
                " FROM job j LEFT JOIN stream s ON s.id=j.stream WHERE j.id=?1 AND NOT EXISTS"
                " (SELECT 1 FROM incident i WHERE i.job=?1 AND i.ended IS NULL"
                " AND i.type<>'" INCIDENT_HANDLER_STUCK "')",
                "iti", job, type, now))
        return false;
    CRASH_POINT("incident_inserted");
    return incident_opened(store, now, error);
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
           (db_run(&store->db, error,
                   "UPDATE incident SET ended=?2, how=?3 WHERE job=?1 AND ended IS NULL"
                   " AND type<>'" INCIDENT_HANDLER_STUCK "'",
                   "iin", job, now, (int)how) &&
            CRASH_POINT("incident_ended"));
}

/* ---- what a person does to one (rules §10, §11) ---- */

struct found {
    bool open, deleted;
    char note[128]; /* its beginning */
};

static bool incident_find(struct store *store, int64_t id, struct found *found,
                          struct error *error) {
    sqlite3_stmt *row = db_query(
        &store->db, error, "SELECT ended IS NULL, how, note FROM incident WHERE id=?1", "i", id);
    int step = row ? db_step(&store->db, row, error) : -1;
    if (step == 0)
        error_set(error, ERROR_NOT_FOUND, "no incident %lld", (long long)id);
    if (step <= 0)
        return false;
    const char *note = db_column_text(row, 2);
    *found = (struct found){.open = sqlite3_column_int(row, 0),
                            .deleted = sqlite3_column_int(row, 1) == INCIDENT_DELETED};
    if (note)
        memcpy(found->note, note, utf8_prefix(note, sizeof found->note / 4 - 1));
    sqlite3_reset(row);
    return true;
}

static bool incident_resolve(struct store *store, const struct order *order, time_ms now,
                             struct error *error) {
    return db_run(&store->db, error,
                  "UPDATE incident SET ended=?2, how=?3, note=coalesce(?4, note) WHERE id=?1",
                  "iint", order->incident, now, (int)INCIDENT_RESOLVED, order->note);
}

/* The job stays as it is: dead, if it was. */
static bool incident_check(const struct order *order, const struct found *found,
                           struct error *error) {
    return order->verb != ORDER_RESOLVE || found->open ||
           error_set(error, ERROR_CONFLICT, "incident %lld is %s already",
                     (long long)order->incident,
                     found->deleted ? "closed with its job" : "resolved");
}

bool incident_preview(struct store *store, const struct order *order, int64_t *count,
                      struct error *error) {
    struct found found;
    *count = 1;
    return incident_find(store, order->incident, &found, error) &&
           incident_check(order, &found, error);
}

bool incident_operate(struct store *store, const struct order *order, time_ms now,
                      struct error *error) {
    struct found found;
    char entity[64];
    bool resolves = order->verb == ORDER_RESOLVE;
    snprintf(entity, sizeof entity, "incident %lld", (long long)order->incident);
    if (!incident_find(store, order->incident, &found, error) ||
        !incident_check(order, &found, error))
        return false;
    bool done = resolves ? incident_resolve(store, order, now, error)
                         : db_run(&store->db, error, "UPDATE incident SET note=?2 WHERE id=?1",
                                  "it", order->incident, order->note);
    const char *before = resolves ? "open" : *found.note ? found.note : NULL;
    return done && operation_write(store, order->name, entity, 1, before,
                                   resolves ? "resolved" : order->note, now, error);
}
