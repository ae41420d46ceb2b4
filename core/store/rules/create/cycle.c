#include "store/rules/create/cycle.h"
#include "base/crash_point.h"
#include "store/rules/create/create.h"
#include "store/rules/create/occurrence.h"
#include "store/rules/ground/engine.h"
#include "store/rules/place/admission.h"
#include "store/rules/place/places.h"
#include "store/rules/place/unique.h"
#include "store/rules/record/history.h"
#include "store/rules/record/incident.h"
#include "store/rules/record/tell.h"
#include "time/repeat.h"
#include "time/schedule_policy.h"
#include <string.h>

#define SKIP_LATE 60000 /* ms: an occurrence that is later is skipped if its policy says so */

/* The cycle of a job that waits for its date. */
struct waiting {
    struct cycle cycle;
    enum misfire misfire;
    time_ms date, shift; /* date: by the grid; due is date + shift unless somebody moved it */
    int32_t retries;
    bool scheduled, paused;
    struct schedule_policy policy; /* of its schedule, if it has one */
    char schedule[JOB_NAME_MAX + 1];
    cycle_cancel *cancel;
};

bool cycle_begin(struct store *store, const struct job_spec *spec, struct error *error) {
    const struct job *job = &spec->job;
    return db_run(&store->db, error,
                  "INSERT INTO cycle(job, zone, misfire, origin, starts, date, retries, schedule)"
                  " VALUES(?1, coalesce(?2, 'UTC'), ?3, ?4, ?5, ?6, ?7, ?8)",
                  "itninint", job->id, spec->zone, (int)spec->misfire, spec->origin,
                  (int)spec->starts, job->due - spec->delay, (int)job->retries, job->schedule);
}

static bool waiting_policy(struct row *row, struct waiting *waiting, struct error *error) {
    const char *text = row_text(row, 10), *name = row_text(row, 8);
    strncat(waiting->schedule, name, JOB_NAME_MAX);
    waiting->paused = row_int32(row, 9) != 0;
    json_t *spec = text ? json_loads(text, 0, NULL) : json_object();
    bool fine = spec ? schedule_policy_read(spec, &waiting->policy, error) : error_no_memory(error);
    json_decref(spec);
    return fine;
}

static bool waiting_read(struct row *row, struct waiting *waiting, struct error *error) {
    struct repeat repeat = {
        .text = row_text(row, 0),
        .zone = row_text(row, 1),
        .origin = row_int(row, 3),
        .starts = row_int32(row, 4) != 0,
    };
    waiting->misfire = (enum misfire)row_int32(row, 2);
    waiting->date = row_int(row, 5);
    waiting->shift = row_int(row, 6);
    waiting->retries = row_int32(row, 7);
    waiting->scheduled = !row_null(row, 8);
    if (waiting->scheduled && !waiting_policy(row, waiting, error))
        return false;
    return repeat_open(&repeat, &waiting->cycle, error);
}

/* NO: the job has no next date to make. */
static enum answer waiting_load(struct store *store, int64_t job, struct waiting *waiting,
                                struct error *error) {
    *waiting = (struct waiting){0};
    struct row *row = db_query(&store->db, error, store->engine->sql->waiting, "i", job);
    enum answer step = db_step(&store->db, row, error);
    if (step == YES && !waiting_read(row, waiting, error))
        step = FAILED;
    if (row)
        row_done(row);
    return step;
}

static time_ms waiting_due(const struct waiting *waiting, time_ms date) {
    return date + waiting->shift +
           schedule_policy_delay(&waiting->policy, waiting->schedule, &waiting->cycle, date);
}

/* The first date that is due after `now`. */
static time_ms waiting_future(const struct waiting *waiting, time_ms now) {
    time_ms after = waiting->date, passed = now - waiting->shift - waiting->policy.jitter;
    time_ms date = cycle_next(&waiting->cycle, passed > after ? passed : after);
    while (date != TIME_NEVER && waiting_due(waiting, date) <= now)
        date = cycle_next(&waiting->cycle, date);
    return date;
}

/* The date after this one; missed ones are passed over, unless all of them are to run. */
static time_ms waiting_next(const struct waiting *waiting, time_ms now) {
    return waiting->misfire == MISFIRE_ALL ? cycle_next(&waiting->cycle, waiting->date)
                                           : waiting_future(waiting, now);
}

bool cycle_end(struct store *store, int64_t job, struct error *error) {
    return db_run(&store->db, error, "DELETE FROM cycle WHERE job=?1", "i", job);
}

/* ---- the next occurrence ---- */

/* As the one before was, but for what a run changes. */
static int64_t next_create(struct store *store, const struct job *job,
                           const struct waiting *waiting, time_ms date, time_ms now,
                           struct error *error) {
    struct job_spec next = {.job = *job, .priority_given = true};
    next.job.id = 0;
    next.job.due = waiting_due(waiting, date);
    next.job.retries = waiting->retries;
    next.job.schedule = waiting->scheduled ? waiting->schedule : NULL;
    next.job.message = next.job.failed_activity = next.job.lock_owner = NULL;
    const struct catalog_stream *stream = catalog_stream(&store->catalog, job->stream);
    return create_occurrence(store, &next, stream, now, error) && CRASH_POINT("cycle_created")
               ? next.reply.id
               : 0;
}

/* The schedule goes on with `next`; 0: it is over. */
static bool schedule_move(struct store *store, int64_t job, int64_t next, time_ms now,
                          struct error *error) {
    return db_run(&store->db, error, "UPDATE schedule SET last=?3, job=?2 WHERE job=?1", "izi", job,
                  next, now);
}

static bool next_make(struct store *store, struct job *job, const struct waiting *waiting,
                      time_ms now, struct error *error) {
    time_ms date = waiting_next(waiting, now);
    int64_t next = 0;
    bool done = date == TIME_NEVER
                    ? cycle_end(store, job->id, error)
                    : (next = next_create(store, job, waiting, date, now, error)) &&
                          db_run(&store->db, error, "UPDATE cycle SET job=?2, date=?3 WHERE job=?1",
                                 "iii", job->id, next, date) &&
                          CRASH_POINT("cycle_moved") && row_set_next(store, job->id, next, error);
    job->followed = next != 0;
    if (done && next && job->unique_key)
        done = unique_follow(store, job, next, error);
    return done &&
           (!waiting->scheduled ||
            (schedule_move(store, job->id, next, now, error) && CRASH_POINT("schedule_moved") &&
             occurrence_begin(store, waiting->schedule, job->id, now, error)));
}

/* *next: the occurrence that a job has made; 0: none. */
static bool next_load(struct store *store, int64_t job, int64_t *next, struct error *error) {
    return db_value(&store->db, error, next, "SELECT coalesce(repeat_done, 0) FROM job WHERE id=?1",
                    "i", job) != FAILED;
}

/* An earlier run of the job may have made the next one. */
static bool followed_load(struct store *store, struct job *job, struct error *error) {
    int64_t next = 0;
    bool read = next_load(store, job->id, &next, error);
    job->followed = next != 0;
    return read;
}

bool cycle_follow(struct store *store, struct job *job, time_ms now, struct error *error) {
    struct waiting waiting;
    enum answer found = waiting_load(store, job->id, &waiting, error);
    if (found == NO)
        return followed_load(store, job, error);
    return found == YES && next_make(store, job, &waiting, now, error);
}

/* ---- dates that were missed ---- */

static bool waiting_late(const struct waiting *waiting, const struct job *job, time_ms now) {
    if (waiting->misfire != MISFIRE_SKIP || job->due != waiting_due(waiting, waiting->date))
        return false; /* an operator's date is not missed */
    if (job->instance_id && waiting_future(waiting, now) == TIME_NEVER)
        return false; /* a token waits for the last one */
    time_ms next = cycle_next(&waiting->cycle, waiting->date);
    return now - job->due > SKIP_LATE || (next != TIME_NEVER && waiting_due(waiting, next) <= now);
}

/* Nothing of it has run: it leaves without a trace but its deletion. */
static bool skip_last(struct store *store, const struct job *job, time_ms now,
                      struct error *error) {
    struct job_row row = {
        .id = job->id, .stream = job->stream, .lane = job->lane_id, .keyed = job->unique_key};
    if (!admission_end(store, &row, error) ||
        !history_removed(store, &row, ENDED_DELETED, now, error) ||
        !tell_ended(store, job, history_end_name(ENDED_DELETED), now, error))
        return false;
    return cycle_end(store, job->id, error) &&
           db_run(&store->db, error, "UPDATE schedule SET job=NULL WHERE job=?1", "i", job->id) &&
           row_delete(store, job->id, error);
}

static bool defer_place(struct store *store, const struct job *job, time_ms due, time_ms now,
                        struct error *error) {
    struct job_row row = {.id = job->id,
                          .stream = job->stream,
                          .priority = job->priority,
                          .lane = job->lane_id,
                          .due = due,
                          .created = job->created,
                          .place = due,
                          .retries = job->retries};
    return incident_place(store, &row, now, error);
}

static bool skip_date(struct store *store, const struct job *job, const struct waiting *waiting,
                      time_ms now, struct error *error) {
    time_ms date = waiting_future(waiting, now);
    if (date == TIME_NEVER)
        return skip_last(store, job, now, error);
    time_ms due = waiting_due(waiting, date);
    const struct job_row moved = {.id = job->id, .due = due, .place = due};
    return db_run(&store->db, error, "UPDATE cycle SET date=?2 WHERE job=?1", "ii", job->id,
                  date) &&
           row_move(store, &moved, NULL, error) && defer_place(store, job, due, now, error);
}

/* ---- only so many late ones ---- */

/* How many dates from `from` on are due by `now`, counted to `most`. */
static int32_t due_count(const struct waiting *waiting, time_ms from, time_ms now, int32_t most) {
    int32_t count = 0;
    for (time_ms date = cycle_next(&waiting->cycle, from - 1);
         count < most && date != TIME_NEVER && waiting_due(waiting, date) <= now;
         date = cycle_next(&waiting->cycle, date))
        count++;
    return count;
}

/* The date of the first that still runs; it looks back from `now`, as far as it must. */
static time_ms late_first(const struct waiting *waiting, time_ms now) {
    const int32_t most = waiting->policy.catch_up;
    time_ms from = waiting->date, span = SKIP_LATE;
    if (due_count(waiting, from, now, most + 1) <= most)
        return from;
    while (now - span > from && due_count(waiting, now - span, now, most) < most)
        span *= 2;
    if (now - span > from)
        from = now - span;
    time_ms date = cycle_next(&waiting->cycle, from - 1);
    for (int32_t over = due_count(waiting, from, now, INT32_MAX) - most; over > 0; over--)
        date = cycle_next(&waiting->cycle, date);
    return date;
}

/* The job takes the date over that it is to run for; it stays in its place. */
static bool late_catch_up(struct store *store, struct job *job, struct waiting *waiting,
                          time_ms now, struct error *error) {
    if (!waiting->policy.catch_up || job->due != waiting_due(waiting, waiting->date))
        return true;
    time_ms date = late_first(waiting, now);
    if (date == waiting->date)
        return true;
    waiting->date = date;
    job->due = waiting_due(waiting, date);
    return db_run(&store->db, error, "UPDATE cycle SET date=?2 WHERE job=?1", "ii", job->id,
                  date) &&
           row_set_due(store, job->id, job->due, error);
}

/* ---- the run before it ---- */

/* Those that run, and those that are due and wait. The job begins once the handlers of those that
 * ran are cut off. */
static enum deferred rivals_cancel(struct store *store, const struct waiting *waiting, int64_t job,
                                   time_ms now, struct error *error) {
    struct rival rival = {0};
    enum answer found;
    while ((found = occurrence_rival(store, waiting->schedule, job, now, &rival, error)) == YES &&
           !rival.ending)
        if (!waiting->cancel(store, (struct ids){&rival.job, 1}, now, error))
            return DEFERRED_FAILED;
    if (found == FAILED)
        return DEFERRED_FAILED;
    return found ? DEFERRED_LEFT : DEFERRED_NOT;
}

/* What fell due before that run began is late, not in its way: it comes after it. */
static enum deferred overlap_defer(struct store *store, const struct job *job,
                                   const struct waiting *waiting, time_ms now,
                                   struct error *error) {
    struct rival rival;
    enum answer found = occurrence_rival(store, waiting->schedule, job->id, now, &rival, error);
    if (found != YES)
        return found ? DEFERRED_FAILED : DEFERRED_NOT;
    if (waiting->policy.overlap == OVERLAP_QUEUE || job->due <= rival.begun)
        return DEFERRED_LEFT;
    if (waiting->policy.overlap == OVERLAP_REPLACE)
        return rivals_cancel(store, waiting, job->id, now, error);
    return skip_date(store, job, waiting, now, error) ? DEFERRED : DEFERRED_FAILED;
}

enum deferred cycle_defer(struct store *store, struct job *job, time_ms now, cycle_cancel *cancel,
                          struct error *error) {
    struct waiting waiting;
    struct error reason = {0};
    if (job->due > now)
        return defer_place(store, job, job->due, now, error) ? DEFERRED : DEFERRED_FAILED;
    enum answer found = waiting_load(store, job->id, &waiting, &reason);
    if (found == FAILED && reason.code == ERROR_INVALID)
        return DEFERRED_LEFT;
    if (found == FAILED)
        return error_set(error, reason.code, "%s", reason.text), DEFERRED_FAILED;
    if (found == NO)
        return DEFERRED_NOT;
    waiting.cancel = cancel;
    if (waiting.paused)
        return DEFERRED_LEFT;
    if (waiting_late(&waiting, job, now))
        return skip_date(store, job, &waiting, now, error) ? DEFERRED : DEFERRED_FAILED;
    if (!waiting.scheduled)
        return DEFERRED_NOT;
    if (!late_catch_up(store, job, &waiting, now, error))
        return DEFERRED_FAILED;
    return overlap_defer(store, job, &waiting, now, error);
}

/* ---- what operators change ---- */

/* YES: the job waits for its date; NO: its next occurrence is there already (refused). */
static enum answer waiting_check(struct store *store, int64_t job, struct waiting *waiting,
                                 struct error *error) {
    int64_t next = 0;
    enum answer found = waiting_load(store, job, waiting, error);
    if (found != NO)
        return found;
    if (!next_load(store, job, &next, error))
        return FAILED;
    if (next)
        error_set(error, ERROR_CONFLICT, "job %lld has made its next occurrence, job %lld",
                  (long long)job, (long long)next);
    else
        error_set(error, ERROR_CONFLICT, "job %lld is the last of its cycle", (long long)job);
    return NO;
}

bool cycle_shift(struct store *store, int64_t job, time_ms span, struct error *error) {
    struct waiting waiting;
    return waiting_check(store, job, &waiting, error) == YES &&
           db_run(&store->db, error, "UPDATE cycle SET shift=shift+?2 WHERE job=?1", "ii", job,
                  span);
}

bool cycle_resume(struct store *store, int64_t job, time_ms from, time_ms *due,
                  struct error *error) {
    struct waiting waiting;
    if (waiting_check(store, job, &waiting, error) != YES)
        return false;
    *due = cycle_next(&waiting.cycle, from);
    if (*due == TIME_NEVER)
        return error_set(error, ERROR_CONFLICT, "job %lld: its cycle has no date left",
                         (long long)job);
    time_ms date = *due;
    waiting.shift = 0;
    *due = waiting_due(&waiting, date);
    return db_run(&store->db, error, "UPDATE cycle SET shift=0, date=?2 WHERE job=?1", "ii", job,
                  date);
}

/* ---- questions ---- */

bool cycle_dates(struct store *store, int64_t job, int count, json_t *dates, struct error *error) {
    struct waiting waiting;
    struct job_row row;
    enum answer found = waiting_load(store, job, &waiting, error);
    if (found == YES)
        found = row_load(store, job, &row, error);
    if (found != YES)
        return found == NO;
    const struct zone *zone = waiting.cycle.zone;
    time_ms date = waiting.date, due = row.due == TIME_NONE ? waiting_due(&waiting, date) : row.due;
    bool done = json_array_append_new(dates, repeat_date(zone, due)) == 0;
    while (done && --count > 0 && (date = cycle_next(&waiting.cycle, date)) != TIME_NEVER)
        done = json_array_append_new(dates, repeat_date(zone, waiting_due(&waiting, date))) == 0;
    return done || db_no_memory(&store->db, error);
}
