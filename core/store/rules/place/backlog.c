#include "store/rules/place/backlog.h"

bool backlog_named(const struct store *store, const char *handler) {
    const struct catalog_definition *definition = catalog_definition(&store->catalog, handler);
    return definition && (definition->backlog || definition->lane_backlog);
}

bool backlog_has(const struct store *store, int64_t stream) {
    const struct catalog_stream *of = catalog_stream(&store->catalog, stream);
    return of && (of->definition->backlog || of->definition->lane_backlog);
}

/* ---- the limits ---- */

static const char *check_noun(int64_t count) {
    return count == 1 ? "job waits" : "jobs wait";
}

static bool check_total(struct store *store, const struct catalog_definition *definition,
                        struct error *error) {
    int64_t waiting = 0;
    if (!definition->backlog)
        return true;
    if (db_value(&store->db, error, &waiting,
                 "SELECT coalesce(waiting, 0) FROM definition WHERE id=?1", "i",
                 definition->id) == FAILED)
        return false;
    return waiting < definition->backlog ||
           error_set(error, ERROR_BACKLOG, "backlog of \"%s\" is full: %lld %s (limit %lld)",
                     definition->name, (long long)waiting, check_noun(waiting),
                     (long long)definition->backlog);
}

static bool check_lane(struct store *store, const struct catalog_definition *definition,
                       const struct job *job, struct error *error) {
    int64_t waiting = 0;
    if (!definition->lane_backlog || !job->exclusive || !job->lane)
        return true;
    if (db_value(&store->db, error, &waiting,
                 "SELECT waiting FROM lane_backlog WHERE definition=?1 AND lane=?2", "ii",
                 definition->id, job_lane_id(job->lane)) == FAILED)
        return false;
    return waiting < definition->lane_backlog ||
           error_set(error, ERROR_BACKLOG,
                     "backlog of \"%s\" is full in lane \"%s\": %lld %s (limit %lld)",
                     definition->name, job->lane, (long long)waiting, check_noun(waiting),
                     (long long)definition->lane_backlog);
}

bool backlog_check(struct store *store, const struct catalog_definition *definition,
                   const struct job *job, struct error *error) {
    return check_total(store, definition, error) && check_lane(store, definition, job, error);
}

/* ---- the counts ---- */

static bool move_lane(struct store *store, int64_t definition, int64_t lane, int by,
                      struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO lane_backlog(definition, lane, waiting) VALUES(?1, ?2, ?3)"
                  " ON CONFLICT(definition, lane) DO UPDATE SET waiting=lane_backlog.waiting+?3",
                  "iin", definition, lane, by) &&
           (by > 0 || db_run(&store->db, error,
                             "DELETE FROM lane_backlog WHERE definition=?1 AND lane=?2"
                             " AND waiting=0",
                             "ii", definition, lane));
}

bool backlog_add(struct store *store, int64_t stream, int64_t lane, int by, struct error *error) {
    const struct catalog_stream *found = catalog_stream(&store->catalog, stream);
    if (!found)
        return true;
    const struct catalog_definition *definition = found->definition;
    return (!definition->backlog ||
            db_run(&store->db, error, "UPDATE definition SET waiting=waiting+?2 WHERE id=?1", "in",
                   definition->id, by)) &&
           (!definition->lane_backlog || !lane ||
            move_lane(store, definition->id, lane, by, error));
}

/* ---- limits that come and go ---- */

#define ITS_JOBS                                                                                   \
    " FROM counted WHERE retries>0 AND stream IN (SELECT id FROM stream WHERE definition=?1)"

static bool deploy_total(struct store *store, int64_t id, bool limited, struct error *error) {
    return limited
               ? db_run(&store->db, error,
                        "UPDATE definition SET waiting=(SELECT count(*)" ITS_JOBS ") WHERE id=?1",
                        "i", id)
               : db_run(&store->db, error, "UPDATE definition SET waiting=NULL WHERE id=?1", "i",
                        id);
}

static bool deploy_lanes(struct store *store, int64_t id, bool limited, struct error *error) {
    return db_run(&store->db, error, "DELETE FROM lane_backlog WHERE definition=?1", "i", id) &&
           (!limited ||
            db_run(&store->db, error,
                   "INSERT INTO lane_backlog(definition, lane, waiting)"
                   " SELECT ?1, lane, count(*)" ITS_JOBS " AND lane IS NOT NULL GROUP BY lane",
                   "i", id));
}

bool backlog_deploy(struct store *store, const struct definition *definition,
                    const struct catalog_definition *before, struct error *error) {
    bool total = definition->backlog != 0, lanes = definition->lane_backlog != 0;
    bool had_total = before && before->backlog, had_lanes = before && before->lane_backlog;
    return (total == had_total || deploy_total(store, definition->id, total, error)) &&
           (lanes == had_lanes || deploy_lanes(store, definition->id, lanes, error));
}
