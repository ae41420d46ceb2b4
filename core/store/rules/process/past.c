#include "store/rules/process/past.h"
#include "store/rules/process/large_value.h"
#include "store/rules/process/searched.h"
#include "store/rules/record/trail.h"

enum { TRAIL_ROWS = 1000 };

/* What is kept of its variables beside the instance. */
static bool variables_remove(struct store *store, int64_t id, struct error *error) {
    return searched_remove(store, id, error) && large_values_remove(store, id, error);
}

bool past_write(struct store *store, const struct unit_instance *one, time_ms now,
                struct error *error) {
    if (store->rules->history != HISTORY_FULL)
        return variables_remove(store, one->id, error);
    return unit_row(
        store, error, ROWS_PAST,
        "INSERT INTO past(" PAST_COLUMNS ") VALUES(?1, ?2, ?3, ?4, coalesce(?5, (SELECT i.started"
        " FROM instance i WHERE i.id=?1)), ?6, ?7, ?8, ?9, ?10, ?11, ?6+(SELECT coalesce(v.ttl, "
        "?12) FROM process_version v WHERE v.id=?2))",
        "iizzTitttttz", one->id, one->version, one->root, one->parent, one->started, now,
        one->ended, one->reason, one->key, one->tenant, one->variables, store->rules->history_ttl);
}

static bool past_remove(struct store *store, int64_t id, int64_t *room, int64_t *count,
                        struct error *error) {
    bool gone = false;
    if (!trail_remove(store, id, room, &gone, error))
        return false;
    *room -= gone;
    *count += gone;
    return !gone || (variables_remove(store, id, error) &&
                     db_run(&store->db, error, "DELETE FROM past WHERE id=?1", "i", id));
}

enum { FILE_FIRST = 100000 }; /* rows of trails, before any is looked for */

bool past_clean(struct store *store, int64_t *room, int64_t *count, time_ms now,
                struct error *error) {
    int64_t id = 0;
    enum answer found = YES;
    bool filed = false, more = false;
    while (*room > 0 && (found = db_value(&store->db, error, &id,
                                          "SELECT id FROM past WHERE removal<=?1 ORDER BY removal"
                                          " LIMIT 1",
                                          "i", now)) == YES) {
        if (!filed && !trail_file(store, FILE_FIRST, &more, error))
            return false;
        filed = true;
        if (!past_remove(store, id, room, count, error))
            return false;
    }
    return found != FAILED;
}

/* ---- by operators ---- */

enum answer past_found(struct store *store, int64_t id, struct error *error) {
    int64_t runs = 0;
    enum answer found =
        db_value(&store->db, error, &runs,
                 "SELECT 0 FROM past WHERE id=?1 UNION ALL SELECT 1 FROM instance WHERE id=?1"
                 " LIMIT 1",
                 "i", id);
    if (found != YES || !runs)
        return found;
    error_set(error, ERROR_CONFLICT, "instance %lld has not ended", (long long)id);
    return FAILED;
}

bool past_keep(struct store *store, int64_t id, time_ms removal, struct error *error) {
    if (removal != TIME_NONE)
        return db_run(&store->db, error, "UPDATE past SET removal=?2 WHERE id=?1", "ii", id,
                      removal);
    return db_run(&store->db, error,
                  "UPDATE past SET removal=ended+(SELECT coalesce(v.ttl, ?2) FROM process_version v"
                  " WHERE v.id=past.version) WHERE id=?1",
                  "iz", id, store->rules->history_ttl);
}

bool past_forget(struct store *store, int64_t id, struct error *error) {
    int64_t count = 0;
    while (!count) { /* of a long trail a thousand entries go at once */
        int64_t room = TRAIL_ROWS;
        if (!past_remove(store, id, &room, &count, error))
            return false;
    }
    return true;
}
