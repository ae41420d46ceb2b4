/* fetch.c - jobs for workers outside: locked, kept longer, handed back (rules §24). While the store
 * acts for such a worker it stands in for the joined executor: its number owns what is locked, and
 * its locks end by themselves. */
#include "base/json.h"
#include "store/outside.h"
#include "store/rules/fleet/remote.h"
#include "store/rules/ground/serves.h"
#include "store/rules/job/job_commands.h"
#include "store/rules/job/locks.h"
#include "store/rules/place/mark.h"
#include "store/rules/place/places.h"
#include "store/rules/process/frame_page.h"
#include "store/rules/process/large_value.h"
#include "store/rules/record/frame.h"
#include "store/rules/record/history.h"
#include "store/rules/work/outside_ended.h"
#include "store/rules/work/work.h"
#include <string.h>

enum { PROMOTED = 1000 };          /* timers that a fetch makes ready, at most */
enum { LANES_EXPIRED_MAX = 1000 }; /* locks that one turn takes away */

/* ---- locks that have run out ---- */

/* One of them; NO: there is none. */
static enum answer late_read(struct store *store, struct row *row, struct lock_late *late,
                             struct error *error) {
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step;
    *late = (struct lock_late){row_int(row, 0), row_int(row, 1), row_int(row, 2), row_int(row, 3),
                               row_int(row, 4)};
    row_done(row);
    return YES;
}

#define LATE "SELECT k.id, k.token, k.owner, k.stream, k.lane FROM "

/* A run without an outcome has failed. */
static bool late_end(struct store *store, const struct lock_late *late, time_ms now,
                     struct error *error) {
    const struct catalog_stream *stream = catalog_stream(&store->catalog, late->stream);
    return lock_expire(store, late, now, error) &&
           (!stream || outside_ended_add(store, late->owner, stream->definition->id, false, error));
}

static enum answer late_of_stream(struct store *store, int64_t stream, time_ms now,
                                  struct lock_late *late, struct error *error) {
    return late_read(store,
                     db_query(&store->db, error,
                              LATE "locked k WHERE k.stream=?1 AND k.until<=?2 AND " IS_REMOTE(
                                  "k.owner") " ORDER BY k.until LIMIT 1",
                              "ii", stream, now),
                     late, error);
}

/* Of the streams that the worker asks for, as many as it wants jobs. */
static bool expire_topics(struct store *store, struct fetch *fetch, time_ms now,
                          struct error *error) {
    const json_t *topics = fetch->topics;
    int most = fetch->max;
    struct lock_late late;
    for (size_t i = 0; i < store->catalog.stream_count; i++) {
        const struct catalog_stream *stream = &store->catalog.streams[i];
        enum answer found = NO;
        const int64_t id = stream->id;
        if (!stream->topic || !serves_category(topics, stream->topic))
            continue;
        while (most > 0 && (found = late_of_stream(store, id, now, &late, error)) == YES) {
            if (!late_end(store, &late, now, error))
                return false;
            most--;
        }
        if (found == FAILED)
            return false;
    }
    fetch->none_late = most > 0;
    return true;
}

bool work_expire_lanes(struct store *store, time_ms now, bool *changed, struct error *error) {
    struct lock_late late;
    enum answer found = NO;
    for (int i = 0; i < LANES_EXPIRED_MAX; i++) {
        struct row *row = db_query(
            &store->db, error,
            LATE "lane l JOIN locked k ON k.lane=l.id AND k.token=l.token WHERE l.until<=?1"
                 " AND l.owner<>0 AND EXISTS(SELECT 1 FROM parked p WHERE p.lane=l.id) LIMIT 1",
            "i", now);
        if ((found = late_read(store, row, &late, error)) != YES)
            break;
        if (!late_end(store, &late, now, error))
            return false;
        *changed = true;
    }
    return found != FAILED;
}

/* ---- as somebody else ---- */

/* The store acts for the worker, until act_end. */
static struct self act(struct store *store, const struct self *worker) {
    const struct self own = store->self;
    marks_forget(store);
    store->self = *worker;
    return own;
}

/* A rollback inside has said that the lease is not to be relied on. */
static void act_end(struct store *store, const struct self *own) {
    const bool lost = store->self.lease_until == INT64_MIN;
    store->self = *own;
    if (lost)
        store->self.lease_until = INT64_MIN;
}

/* ---- fetching ---- */

/* Gives the job the lock of its topic, and its lane the same end. */
static bool taken_until(struct store *store, const struct fetch *fetch, struct job *job,
                        time_ms now, struct error *error) {
    const struct acquire of = {.wanted = fetch->list, .wanted_count = fetch->count};
    const struct wanted_topic *wanted = acquire_wanted(&of, job->topic);
    const time_ms until = now + (wanted ? wanted->lock : fetch->lock);
    const bool other = until != job->until;
    job->until = job->lock_expiration = until;
    ring_note_until(&store->ring, job->stream);
    return (!other || place_extend(store, job->id, job->token, until, error)) &&
           (!job->lane_id || place_hold_on(store, job->lane_id, job->token, until, error));
}

static bool taken_all(struct store *store, const struct fetch *fetch, struct job *jobs, time_ms now,
                      struct error *error) {
    for (struct job *job = jobs; job; job = job->next)
        if (!taken_until(store, fetch, job, now, error))
            return false;
    return true;
}

static bool take(struct store *store, const struct fetch *fetch, const struct acquire *order,
                 const struct self *worker, time_ms now, struct job **jobs, struct error *error) {
    struct acquire acquire = *order;
    struct capacity *capacity = store->open.capacity;
    int count = 0;
    bool more = false;
    acquire.want = acquire.idle = fetch->max;
    acquire.lane_run = 1; /* of one lane one at a time */
    acquire.priority_min = fetch->least;
    acquire.priority_max = fetch->most;
    acquire.topics = fetch->topics;
    acquire.wanted = fetch->list;
    acquire.wanted_count = fetch->count;
    acquire.categories = NULL;
    acquire.deployment_aware = false;
    store->open.capacity = NULL;
    const struct self own = act(store, worker);
    bool done = store_acquire(store, &acquire, now, jobs, &count, &more, error);
    act_end(store, &own);
    store->open.capacity = capacity;
    return done && taken_all(store, fetch, *jobs, now, error);
}

/* Cancels what no worker needs to do any more. */
static bool drop_left(struct store *store, struct job **jobs, bool *dropped, time_ms now,
                      struct error *error) {
    int64_t list[COMMAND_IDS];
    struct ids ids = {list, 0};
    while (*jobs && ids.count < COMMAND_IDS) {
        struct job *job = *jobs;
        if (!frame_is_gone(job)) {
            jobs = &job->next;
            continue;
        }
        list[ids.count++] = job->id;
        *jobs = job->next;
        job_free(job);
    }
    *dropped = ids.count > 0;
    return !*dropped || commands_cancel(store, ids, now, error);
}

/* Again, if none of those that were taken is left. */
static bool take_needed(struct store *store, const struct fetch *fetch, const struct acquire *order,
                        const struct self *worker, time_ms now, struct job **jobs,
                        struct error *error) {
    bool done = true, dropped = true;
    while (done && dropped && !*jobs)
        done = take(store, fetch, order, worker, now, jobs, error) &&
               drop_left(store, jobs, &dropped, now, error);
    return done;
}

bool store_fetch(struct store *store, struct fetch *fetch, const struct acquire *order, time_ms now,
                 struct job **jobs, struct error *error) {
    struct self worker;
    int promoted = 0;
    *jobs = NULL;
    bool done = remote_join(store, fetch, now, &worker, error);
    done = done && (fetch->none_late || expire_topics(store, fetch, now, error));
    done = done && store_promote(store, now, PROMOTED, &promoted, error) &&
           take_needed(store, fetch, order, &worker, now, jobs, error);
    if (!done) {
        job_free_list(*jobs);
        *jobs = NULL;
    }
    return done;
}

/* ---- what it holds ---- */

bool store_extend_outside(struct store *store, const struct job *job, time_ms until,
                          struct error *error) {
    return place_extend(store, job->id, job->token, until, error) &&
           (!job->lane_id || place_hold_on(store, job->lane_id, job->token, until, error));
}

/* A turn that stands outside of the frame of its instance sees what is around it as well. */
static bool variables_add(const struct job *job, json_t *variables, json_t *large,
                          struct error *error) {
    const int64_t turn = turn_of_token(job->execution);
    const int64_t number = turn ? -job->execution - (turn << TURN_BITS) : job->execution;
    return frame_variables(variables, large, job->frame, number, error) &&
           (!job->around || frame_variables(variables, large, job->around, job->body_token, error));
}

json_t *store_variables_seen(struct store *store, const struct job *job, struct error *error) {
    if (!job->frame)
        return json_null();
    json_t *variables = json_object(), *large = json_object();
    bool done = (variables && large) || error_no_memory(error);
    done = done && variables_add(job, variables, large, error) &&
           (!json_object_size(large) ||
            large_values_show(store, variables, job->instance_id, large, error));
    json_decref(large);
    return json_kept(variables, done);
}

/* ---- handing back ---- */

/* What it creates may be refused: then it is undone alone. */
static bool settle_one(struct store *store, struct outcome *outcome, struct error *refused,
                       time_ms now, struct error *error) {
    struct error why = {0};
    if (store_settle(store, outcome, now, &outcome->settled, &why))
        return true;
    if (!outcome->undone || !refused)
        return error_set(error, why.code, "%s", why.text);
    *refused = why;
    return true;
}

/* Each in the name of the worker that has the lock. */
static bool settle_all(struct store *store, struct outcome *outcomes, struct error **refused,
                       time_ms now, struct error *error) {
    size_t at = 0;
    if (!store_settle_bulk(store, outcomes, error))
        return false;
    for (struct outcome *outcome = outcomes; outcome; outcome = outcome->next, at++) {
        store->self.id = outcome->job->owner;
        if (!settle_one(store, outcome, refused ? refused[at] : NULL, now, error))
            return false;
    }
    return store_settle_end(store, error);
}

static bool count_all(struct store *store, const struct outcome *outcomes, struct error *error) {
    bool done = true;
    for (const struct outcome *outcome = outcomes; done && outcome; outcome = outcome->next) {
        const bool successful = outcome->kind == OUTCOME_SUCCESS;
        const bool written = outcome->settled == SETTLED || outcome->settled == SETTLED_DEAD;
        if (written && !outcome->undone && (successful || outcome->kind == OUTCOME_FAILURE))
            done = outside_ended_add(store, outcome->job->owner, outcome->job->definition,
                                     successful, error);
    }
    return done;
}

bool store_settle_outside(struct store *store, struct outcome *outcomes, struct error **refused,
                          time_ms now, struct error *error) {
    const struct self worker = {.id = outcomes->job->owner, .now = now, .remote = true};
    const struct self own = act(store, &worker);
    bool done = settle_all(store, outcomes, refused, now, error);
    act_end(store, &own);
    return done && count_all(store, outcomes, error);
}

bool store_note_outside(struct store *store, const struct worker_note *note, time_ms now,
                        struct error *error) {
    const int64_t job = note->outcome->job->id;
    return (note->fraction < 0 ||
            store_progress(store, job, note->fraction, note->text, now, error)) &&
           (!note->outcome->lines || history_say(store, note->outcome, error));
}
