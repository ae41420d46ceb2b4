#include "store/rules/job/stuck.h"
#include "store/rules/record/incident.h"
#include "store/rules/record/tell.h"
#include <stdio.h>

/* One more run of a job that has an open one tells the newer story. */
static bool stuck_report(struct store *store, const struct outcome *outcome, time_ms now,
                         struct error *error) {
    const struct job *job = outcome->job;
    char message[JOB_NAME_MAX + 512];
    snprintf(message, sizeof message, "a run of handler \"%s\" (job %lld) on %s does not end: %s%s",
             job->handler, (long long)job->id, store->self.owner, outcome->stuck,
             job->lane_id ? "; it holds its lane" : "");
    int64_t id = 0;
    return db_value(&store->db, error, &id,
                    "INSERT INTO incident(type, job, definition, activity, failed_activity,"
                    " message, created, instance, root_instance, tenant, lane_key, schedule)"
                    " VALUES(?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO "
                    "NOTHING RETURNING id",
                    "tiittittttt", INCIDENT_HANDLER_STUCK, job->id, job->definition, job->activity,
                    message, now, job->instance, job->root, job->tenant, job->lane,
                    job->schedule) != FAILED &&
           (!id || tell_incident(store, id, now, error)) &&
           db_run(&store->db, error,
                  "UPDATE incident SET message=?3, count=count+CASE WHEN job=?1 THEN 0 ELSE 1 END,"
                  " seen=CASE WHEN job=?1 THEN seen ELSE ?5 END, job=?1"
                  " WHERE type=?2 AND ended IS NULL AND (job=?1 OR schedule=?4)",
                  "ittti", job->id, INCIDENT_HANDLER_STUCK, message, job->schedule, now);
}

static bool stuck_begin(struct store *store, const struct outcome *outcome, time_ms now,
                        struct error *error) {
    const struct job *job = outcome->job;
    return (!store->rules->incidents || stuck_report(store, outcome, now, error)) &&
           db_run(&store->db, error,
                  "INSERT INTO stuck(token, owner, job, lane, since, place, incident)"
                  " VALUES(?1, ?2, ?3, ?4, ?5, ?6, (SELECT id FROM incident WHERE job=?3"
                  " AND type=?7 AND ended IS NULL))"
                  " ON CONFLICT(token) DO UPDATE SET owner=excluded.owner, job=excluded.job,"
                  " lane=excluded.lane, since=excluded.since, place=excluded.place,"
                  " incident=excluded.incident",
                  "iiizitt", job->token, job->owner, job->id, job->lane_id, outcome->started,
                  outcome->stuck, INCIDENT_HANDLER_STUCK);
}

/* Whose runs have all ended. */
static bool stuck_resolve(struct store *store, time_ms now, struct error *error) {
    return db_run(&store->db, error,
                  "UPDATE incident SET ended=CASE WHEN created>?2 THEN created ELSE ?2 END, how=?3 "
                  "WHERE type=?1 AND ended IS NULL"
                  " AND id NOT IN (SELECT incident FROM stuck WHERE incident IS NOT NULL)",
                  "tin", INCIDENT_HANDLER_STUCK, now, (int)INCIDENT_RESOLVED);
}

bool stuck_note(struct store *store, const struct outcome *outcome, time_ms now,
                struct error *error) {
    if (outcome->stuck)
        return stuck_begin(store, outcome, now, error);
    return db_run(&store->db, error, "DELETE FROM stuck WHERE token=?1", "i",
                  outcome->job->token) &&
           stuck_resolve(store, now, error);
}

bool stuck_gone(struct store *store, int64_t owner, time_ms now, struct error *error) {
    return db_run(&store->db, error, "DELETE FROM stuck WHERE owner=?1", "i", owner) &&
           (db_changes(&store->db) == 0 || stuck_resolve(store, now, error));
}

static bool stuck_is_of(struct ids ids, int64_t job) {
    for (size_t i = 0; i < ids.count; i++)
        if (ids.list[i] == job)
            return true;
    return false;
}

static void stuck_say(struct row *row, struct stuck_runs *stuck) {
    const char *name = row_text(row, 2);
    char since[TIME_TEXT_SIZE];
    time_format(row_time(row, 3), since);
    stuck->job = row_int(row, 0);
    snprintf(stuck->at, sizeof stuck->at, "a run of job %lld on %s/%lld, begun at %s, at %s",
             (long long)stuck->job, name ? name : "?", (long long)row_int(row, 1), since,
             row_text(row, 4));
}

bool stuck_among(struct store *store, struct ids ids, struct stuck_runs *stuck,
                 struct error *error) {
    struct row *rows = db_query(&store->db, error,
                                "SELECT s.job, s.owner, e.name, s.since, s.place FROM stuck s"
                                " LEFT JOIN executor e ON e.id=s.owner",
                                "");
    enum answer step = NO;
    while ((step = db_step(&store->db, rows, error)) == YES)
        if (stuck_is_of(ids, row_int(rows, 0)) && stuck->count++ == 0)
            stuck_say(rows, stuck);
    return step == NO;
}
