#include "store/rules/record/trail.h"
#include "store/rules/record/history.h"

bool trail_write(struct store *store, const struct unit_trail *one, int64_t job, time_ms now,
                 struct error *error) {
    return store->rules->history != HISTORY_FULL ||
           unit_row(store, error, ROWS_TRAIL,
                    "INSERT INTO trail(" TRAIL_COLUMNS ") VALUES(?1, ?2, ?3, ?4)", "iizt",
                    one->instance, now, job, one->events);
}

static bool trail_filed(struct store *store, int64_t *filed, struct error *error) {
    *filed = 0;
    return db_value(&store->db, error, filed, "SELECT value FROM meta WHERE key='trail_filed'",
                    "") != FAILED;
}

static bool file_to(struct store *store, int64_t to, struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO meta(key, value) VALUES('trail_filed', ?1)"
                  " ON CONFLICT(key) DO UPDATE SET value=excluded.value",
                  "i", to);
}

#define FIRST_BEHIND "SELECT coalesce(min(seq), 0) FROM trail WHERE seq>?1"

bool trail_file(struct store *store, int limit, bool *more, struct error *error) {
    int64_t filed = 0, last = 0;
    if (!trail_filed(store, &filed, error) ||
        db_value(&store->db, error, &last, "SELECT coalesce(max(seq), 0) FROM trail", "") ==
            FAILED ||
        (last - filed > limit && !history_skip_gap(store, FIRST_BEHIND, &filed, error)))
        return false;
    *more = last - filed > limit;
    int64_t to = *more ? filed + limit : last;
    return last <= filed || (db_run(&store->db, error,
                                    "INSERT INTO trail_of(instance, seq) SELECT instance, seq"
                                    " FROM trail WHERE seq>?1 AND seq<=?2 ORDER BY instance, seq",
                                    "ii", filed, to) &&
                             file_to(store, to, error));
}

/* A number that comes again must be filed again. */
static bool file_back(struct store *store, struct error *error) {
    int64_t filed = 0, last = 0;
    return trail_filed(store, &filed, error) &&
           db_value(&store->db, error, &last, "SELECT coalesce(max(seq), 0) FROM trail", "") !=
               FAILED &&
           (last >= filed || file_to(store, last, error));
}

bool trail_remove(struct store *store, int64_t instance, int64_t *room, bool *gone,
                  struct error *error) {
    int64_t filed = 0, most = *room;
    *gone = false;
    if (most < 1)
        return true;
    if (!trail_filed(store, &filed, error) ||
        !db_run(&store->db, error,
                "DELETE FROM trail WHERE instance=?1 AND seq IN"
                " (SELECT seq FROM trail_of WHERE instance=?1 ORDER BY seq LIMIT ?2)",
                "ii", instance, most))
        return false;
    *room -= db_changes(&store->db);
    if (!db_run(&store->db, error,
                "DELETE FROM trail_of WHERE instance=?1 AND seq IN"
                " (SELECT seq FROM trail_of WHERE instance=?1 ORDER BY seq LIMIT ?2)",
                "ii", instance, most))
        return false;
    *gone = *room > 0;
    if (*gone && !db_run(&store->db, error, "DELETE FROM trail WHERE seq>?1 AND instance=?2", "ii",
                         filed, instance))
        return false;
    return file_back(store, error);
}
