/* definitions.c - what an operator changes at a definition, and at its jobs with it. */
#include "base/text.h"
#include "store/sqlite/operation.h"
#include "store/sqlite/verbs.h"
#include <stdio.h>

/* The jobs of a definition that are not yet as they shall be. */
struct members {
    int64_t list[VERB_IDS];
    struct ids ids;
};

static bool members_read(struct store *store, struct members *members, const char *sql,
                         int64_t definition, int64_t value, struct error *error) {
    sqlite3_stmt *rows = db_query(&store->db, error, sql, "ii", definition, value);
    int step = rows ? 1 : -1;
    members->ids = (struct ids){members->list, 0};
    while (rows && (step = db_step(&store->db, rows, error)) > 0) {
        if (members->ids.count == VERB_IDS) {
            sqlite3_reset(rows);
            return error_set(error, ERROR_INVALID,
                             "the definition has more than %d such jobs (expected at most so many "
                             "at once)",
                             VERB_IDS);
        }
        members->list[members->ids.count++] = sqlite3_column_int64(rows, 0);
    }
    return step == 0;
}

/* Its catalog entry is read again, here and by everybody else. */
static bool definition_changed(struct store *store, int64_t definition, struct error *error) {
    if (!db_changes(&store->db))
        return error_set(error, ERROR_NOT_FOUND, "no definition %lld", (long long)definition);
    store->meta.catalog = store->stored.catalog + 1;
    store->catalog.version = 0;
    return catalog_refresh(&store->catalog, &store->db, store->meta.catalog, error);
}

static bool definition_log(struct store *store, const char *verb, int64_t definition, size_t count,
                           const char *after, time_ms now, struct error *error) {
    char entity[64];
    snprintf(entity, sizeof entity, "definition %lld", (long long)definition);
    return operation_write(store, verb, entity, (int)count, NULL, after, now, error);
}

static bool override_write(struct store *store, const struct store_override *override,
                           struct members *members, time_ms now, struct error *error) {
    char after[32];
    snprintf(after, sizeof after, "%lld", (long long) override->priority);
    members->ids = (struct ids){members->list, 0};
    bool done =
        override->clear
            ? db_run(&store->db, error, "UPDATE definition SET override_priority=NULL WHERE id=?1",
                     "i", override->definition)
            : db_run(&store->db, error, "UPDATE definition SET override_priority=?2 WHERE id=?1",
                     "ii", override->definition, override->priority);
    if (!done || !definition_changed(store, override->definition, error))
        return false;
    if (override->cascade &&
        (!members_read(store, members,
                       "SELECT j.id FROM stream s JOIN job j ON j.stream=s.id WHERE s.definition=?1"
                       " AND j.priority<>?2",
                       override->definition, override->priority, error) ||
         !verbs_set_priority(store, members->ids, override->priority, now, error)))
        return false;
    return definition_log(store, override->clear ? "clear_override" : "override_priority",
                          override->definition, members->ids.count, override->clear ? NULL : after,
                          now, error);
}

bool store_override_priority(struct store *store, const struct store_override *override,
                             size_t *touched, time_ms now, struct error *error) {
    bool own = false;
    struct members members;
    if (!unit_begin(store, &own, error))
        return false;
    bool done = override_write(store, override, &members, now, error);
    *touched = done ? members.ids.count : 0;
    return unit_end(store, own, done, error);
}

static bool suspension_write(struct store *store, int64_t definition, bool suspended,
                             bool include_jobs, struct members *members, time_ms now,
                             struct error *error) {
    members->ids = (struct ids){members->list, 0};
    if (!db_run(&store->db, error, "UPDATE definition SET suspended=?2 WHERE id=?1", "in",
                definition, (int)suspended) ||
        !definition_changed(store, definition, error))
        return false;
    if (include_jobs &&
        (!members_read(store, members,
                       "SELECT j.id FROM stream s JOIN job j ON j.stream=s.id WHERE s.definition=?1"
                       " AND j.suspended<>?2",
                       definition, suspended, error) ||
         !verbs_set_suspended(store, members->ids, suspended, now, error)))
        return false;
    return definition_log(store, suspended ? "suspend" : "activate", definition, members->ids.count,
                          NULL, now, error);
}

bool store_suspend_definition(struct store *store, int64_t definition, bool suspended,
                              bool include_jobs, size_t *touched, time_ms now,
                              struct error *error) {
    bool own = false;
    struct members members;
    if (!unit_begin(store, &own, error))
        return false;
    bool done = suspension_write(store, definition, suspended, include_jobs, &members, now, error);
    *touched = done ? members.ids.count : 0;
    return unit_end(store, own, done, error);
}

int store_overridden(struct store *store, const char *handler, struct error *error) {
    int64_t one = 0;
    return db_value(&store->db, error, &one,
                    "SELECT 1 FROM definition WHERE name=?1 AND override_priority NOT NULL", "t",
                    handler);
}
