#include "store/rules/process/move.h"
#include "job/suspension.h"
#include "store/rules/ground/stream.h"
#include "store/rules/ground/unit_ahead.h"
#include "store/rules/place/backlog.h"
#include "store/rules/place/places.h"
#include "store/rules/process/instance.h"
#include "store/rules/process/signal.h"
#include "store/rules/process/subscription.h"
#include "store/rules/process/suspend.h"
#include "store/rules/process/user_task.h"
#include "store/rules/process/version.h"
#include "store/rules/record/incident.h"
#include <stdio.h>
#include <string.h>

enum { JOBS_MOST = 8 }; /* of one token and one definition; one is the most usual */

/* The version alone changes: the row of a job says nothing of that. */
static bool is_same_job(const struct unit_move *move) {
    return move->to == move->token && strcmp(move->handler, move->from_handler) == 0;
}

/* The jobs of the token, which are not commands to its instance. */
static bool jobs_of(struct store *store, const struct unit_move *move, int64_t *list, size_t *count,
                    struct error *error) {
    enum answer step = NO;
    struct row *rows =
        db_query(&store->db, error,
                 "SELECT j.id FROM job j JOIN stream s ON s.id=j.stream JOIN definition d"
                 " ON d.id=s.definition WHERE j.instance_id=?1 AND j.execution=?2 AND d.name=?3"
                 " ORDER BY j.id LIMIT ?4",
                 "iitn", move->instance, move->token, move->from_handler, (int)JOBS_MOST);
    for (*count = 0; (step = db_step(&store->db, rows, error)) == YES; (*count)++)
        list[*count] = row_int(rows, 0);
    return step == NO;
}

static bool may(struct store *store, const struct unit_move *move, struct error *error) {
    int64_t list[JOBS_MOST];
    size_t count = 0;
    struct job_row row;
    bool done = jobs_of(store, move, list, &count, error);
    for (size_t i = 0; done && i < count; i++) {
        enum answer found = row_load(store, list[i], &row, error);
        done = found == NO || (found == YES && !row.token) ||
               (found == YES &&
                error_set(error, ERROR_CONFLICT,
                          "instance %lld: job %lld of \"%s\" is running (expected"
                          " its end before the migration)",
                          (long long)move->instance, (long long)list[i], move->from_handler));
    }
    return done;
}

/* Its jobs have places, which no instance of that version may have. */
static bool may_become(struct store *store, const struct unit_instance *one, struct error *error) {
    int64_t held = 0;
    enum answer stays = store->catalog.processes ? version_holds(store, one->id, error) : YES;
    enum answer holds =
        stays == NO ? db_value(&store->db, error, &held,
                               "SELECT 1 FROM process_version v JOIN process p ON p.key=v.key"
                               " WHERE v.id=?1 AND (v.suspended&2<>0 OR p.suspended&2<>0)",
                               "i", one->version)
                    : NO;
    if (stays == FAILED || holds == FAILED)
        return false;
    return holds == NO || error_set(error, ERROR_CONFLICT,
                                    "instance %lld: the version is suspended with its instances"
                                    " (expected its activation)",
                                    (long long)one->id);
}

bool moves_may(struct store *store, const struct unit *unit, struct error *error) {
    bool fine = true;
    for (size_t i = 0; fine && i < unit->instance_count; i++)
        fine = !unit->instances[i].migrates || may_become(store, &unit->instances[i], error);
    for (size_t i = 0; fine && i < unit->move_count; i++)
        fine = !(unit->moves[i].what & UNIT_JOB) || is_same_job(&unit->moves[i]) ||
               may(store, &unit->moves[i], error);
    return fine;
}

/* The stream of the new definition, with all else as in the old one. NULL: error. */
static const struct catalog_stream *stream_of(struct store *store, int64_t old, const char *handler,
                                              struct error *error) {
    char category[JOB_NAME_MAX + 1] = "", topic[JOB_NAME_MAX + 1] = "";
    const struct catalog_stream *stream = catalog_stream(&store->catalog, old);
    if (!stream)
        return error_null(error_set(error, ERROR_DAMAGED,
                                    "store \"%s\": damaged: there is no stream %lld",
                                    store->db.name, (long long)old));
    struct job like = {.handler = handler, .type = stream->type};
    if (stream->category && *stream->category) { /* a new stream moves the catalog */
        snprintf(category, sizeof category, "%s", stream->category);
        like.category = category;
    }
    if (stream->topic) {
        snprintf(topic, sizeof topic, "%s", stream->topic);
        like.topic = topic;
    }
    return stream_make(store, &like, stream->deployment, error);
}

/* A job waits while the definition is suspended to which it belongs. */
static void suspend_as(struct job_row *row, const struct catalog_stream *stream) {
    row->suspended &= ~SUSPENDED_DEFINITION;
    if (stream->definition->suspended)
        row->suspended |= SUSPENDED_DEFINITION;
}

/* A dead job does not wait. */
static bool count_anew(struct store *store, const struct job_row *old, const struct job_row *row,
                       struct error *error) {
    return old->retries == 0 || (backlog_move(store, old->stream, old->lane, -1, error) &&
                                 backlog_move(store, row->stream, row->lane, 1, error));
}

static bool move_job(struct store *store, const struct unit_move *move, const struct job_row *old,
                     time_ms now, struct error *error) {
    struct job_row row = *old;
    const struct catalog_stream *stream = stream_of(store, old->stream, move->handler, error);
    if (!stream || !place_remove(store, old, error))
        return false;
    row.stream = stream->id;
    suspend_as(&row, stream);
    if (!row_set_execution(store, &row, move->to, move->activity, error) ||
        !count_anew(store, old, &row, error) || !place_row(store, &row, now, error))
        return false;
    return place_expose(store, row.lane, error) &&
           incident_move(store, row.id, move->handler, move->activity, error);
}

static bool move_jobs(struct store *store, const struct unit_move *move, time_ms now,
                      struct error *error) {
    int64_t list[JOBS_MOST];
    size_t count = 0;
    struct job_row row;
    bool done = jobs_of(store, move, list, &count, error);
    unit_ahead_forget(store, ASKED_JOB, move->instance);
    for (size_t i = 0; done && i < count; i++) {
        enum answer found = row_load(store, list[i], &row, error);
        done = found == NO || (found == YES && move_job(store, move, &row, now, error));
    }
    return done;
}

bool move_write(struct store *store, const struct unit_move *move, time_ms now,
                struct error *error) {
    if (move->what & UNIT_JOB)
        return is_same_job(move) || move_jobs(store, move, now, error);
    if (move->what & UNIT_TASK)
        return user_tasks_move(store, move, error);
    return subscriptions_move(store, move, error) &&
           (is_same_job(move) || signals_follow(store, move, error));
}

bool move_instance(struct store *store, const struct unit_instance *one, time_ms now,
                   struct error *error) {
    enum answer before = version_holds(store, one->id, error);
    if (before == FAILED || !instance_set_version(store, one, error))
        return false;
    enum answer after = before == YES ? version_holds(store, one->id, error) : YES;
    return after == YES || (after == NO && instance_hold(store, one->id, now, error) &&
                            row_hold_instance(store, one->id, error));
}
