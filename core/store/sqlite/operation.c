#include "store/sqlite/operation.h"
#include "base/crash_point.h"
#include <stdio.h>

/* The verb goes on in another transaction: what it has touched adds up in its one entry. A
 * definition or instance had its old value before the first one. */
static bool operation_add(struct store *store, int count, const char *before, const char *after,
                          struct error *error) {
    return db_run(&store->db, error,
                  "UPDATE operation SET count=count+?2, new=coalesce(?4, new),"
                  " old=CASE WHEN old IS ?3 OR entity NOT LIKE '% jobs' THEN old END,"
                  " entity=CASE WHEN entity LIKE '% jobs' THEN (count+?2) || ' jobs' ELSE entity"
                  " END WHERE id=?1",
                  "intt", store->journal.entry, count, before, after);
}

bool operation_write(struct store *store, const char *verb, const char *entity, int count,
                     const char *before, const char *after, time_ms now, struct error *error) {
    char held[HELD_TEXT + 64], stay[HELD_TEXT];
    bool holds = store->journal.held.jobs > 0;
    held_text(&store->journal.held, stay);
    snprintf(held, sizeof held, "%.60s, %s", after ? after : "active", stay);
    const char *who = store->journal.who[0] ? store->journal.who : store->settings->who;
    if (store->journal.silent)
        return true;
    if (store->journal.entry)
        return operation_add(store, count, before, holds ? held : NULL, error);
    if (!db_run(&store->db, error,
                "INSERT INTO operation(at, who, verb, entity, count, old, new)"
                " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                "itttntt", now, who, verb, entity, count, before, holds ? held : after))
        return false;
    CRASH_POINT("operation_written");
    store->journal.written = sqlite3_last_insert_rowid(store->db.handle);
    return true;
}
