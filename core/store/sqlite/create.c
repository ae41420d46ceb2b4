/* create.c - new jobs: their definition, their stream, the wide row and the one narrow row
 * (rules §1; §7: an override on the definition; §12: suspended ones). */
#include "store/sqlite/create.h"
#include "base/crash_point.h"
#include "store/sqlite/backlog.h"
#include "store/sqlite/cycle.h"
#include "store/sqlite/prelock.h"
#include "store/sqlite/replace.h"
#include "store/sqlite/row.h"
#include "store/sqlite/share.h"
#include "store/sqlite/tell.h"
#include "store/sqlite/unique.h"

/* A handler that nobody has deployed: an unchecked job may name it. */
static bool create_definition(struct store *store, const char *name, struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO definition(name, properties) VALUES(?1, '{}')"
                  " ON CONFLICT DO NOTHING",
                  "t", name);
}

const struct catalog_stream *create_stream(struct store *store, const struct job *job,
                                           int64_t deployment, struct error *error) {
    const struct catalog_stream *stream = catalog_find(&store->catalog, job, deployment);
    if (stream)
        return stream;
    if (!create_definition(store, job->handler, error) ||
        !db_run(&store->db, error,
                "INSERT INTO stream(definition, deployment, category, type)"
                " SELECT id, ?2, coalesce(?3, ''), ?4 FROM definition WHERE name=?1",
                "titn", job->handler, deployment, job->category, (int)job->type))
        return NULL;
    CRASH_POINT("stream_made");
    /* In this transaction the number moves once; a second change reads the tables again. */
    if (store->meta.catalog == store->stored.catalog)
        store->meta.catalog++;
    store->catalog.version = 0;
    if (!catalog_refresh(&store->catalog, &store->db, store->meta.catalog, error))
        return NULL;
    stream = catalog_find(&store->catalog, job, deployment);
    if (!stream)
        error_set(error, ERROR_DAMAGED, "store \"%s\": damaged: no stream for \"%s\"",
                  store->db.name, job->handler);
    return stream;
}

static void create_priority(struct job *job, const struct catalog_stream *stream) {
    if (stream->definition->overridden && !job->priority_given)
        job->priority = stream->definition->override_priority;
}

static void create_fill(struct store *store, struct job *job, const struct catalog_stream *stream,
                        time_ms now) {
    if (!job->id)
        job->id = meta_id(store);
    job->rev = 1;
    job->stream = stream->id;
    job->definition = stream->definition->id;
    job->deployment = stream->deployment;
    job->created = now;
    job->due = row_due(store, job->due, now);
    job->attempt = 1;
    job->crashes = job->conflicts = 0;
    job->token = job->owner = 0;
    job->lock_expiration = TIME_NONE;
    if (job->retries < 1)
        job->retries = store->settings->retries;
    job->creation = CREATION_CREATED;
    job->holder = 0;
    create_priority(job, stream);
    if (stream->definition->suspended)
        job->suspended |= SUSPENDED_DEFINITION;
    if (store->intake) /* decided as it gets its place */
        job->suspended = 0;
    job->lane_id = job->exclusive && job->lane ? job_lane_id(job->lane) : 0;
    job->state = job->suspended || store->intake           ? JOB_SUSPENDED
                 : job->due != TIME_NONE && job->due > now ? JOB_SCHEDULED
                                                           : JOB_READY;
}

static bool create_row(struct store *store, const struct job *job, time_ms place,
                       struct error *error) {
    int64_t lane = job->exclusive ? job->lane_id : TIME_NONE; /* bound as NULL */
    return db_run(
        &store->db, error,
        "INSERT INTO job(id, stream, priority, due, created, place, retries, suspended, lane,"
        " lane_key, instance, root, activity, tenant, batch, repeat, unique_key, payload, term)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,"
        " ?19)",
        "iiiTiinnTtttttzttbt", job->id, job->stream, job->priority, job->due, job->created, place,
        (int)job->retries, (int)job->suspended, lane, job->lane, job->instance, job->root,
        job->activity, job->tenant, job->batch, job->repeat, job->unique_key, job->payload,
        job->payload_size, job->term);
}

/* The deployment that its definition came with; 0 for a handler that nobody has deployed. */
static int64_t create_deployment(const struct store *store, const char *handler) {
    const struct catalog_definition *definition = catalog_definition(&store->catalog, handler);
    return definition && !definition->reserved ? definition->deployment : 0;
}

/* 1 its instance is suspended, 0 not, -1 error. Asked only while any is. */
static int create_halted(struct store *store, const struct job *job, struct error *error) {
    int64_t one = 0;
    if (!store->catalog.instances || !job->instance || store->intake)
        return 0;
    return db_value(&store->db, error, &one, "SELECT 1 FROM suspended_instance WHERE instance=?1",
                    "t", job->instance);
}

/* It only needs rows of its own: nobody asks for them before the others are there. */
static bool create_is_plain(const struct store *store, const struct job *job) {
    return store->feed.open && job->retries > 0 && !job->unique_key && !job->repeat;
}

/* Is locked at once, or will have a narrow row. */
static bool create_later(struct store *store, struct job *job, time_ms place, time_ms now,
                         struct error *error) {
    int locked = store->intake ? 1 : prelock(store, job, now, error);
    if (locked == 0 && job->state == JOB_READY)
        prelock_ready(store, job->stream, job->priority, place, job->id);
    if (locked == 0 && job->state != JOB_SUSPENDED)
        wake_note(&store->wake, job->stream, job->priority);
    return locked >= 0 && feed_add(&store->feed, &store->db, job, place, error);
}

static bool create_locked(struct store *store, const struct job *job, struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO locked(id, token, owner, stream, lane) VALUES(?1, ?2, ?3, ?4, ?5)",
                  "iiiiz", job->id, job->token, job->owner, job->stream, job->lane_id);
}

static bool create_written(struct store *store, struct job *job,
                           const struct catalog_stream *stream, time_ms now, struct error *error) {
    int halted = create_halted(store, job, error);
    if (halted < 0)
        return false;
    if (halted)
        job->suspended |= SUSPENDED_INSTANCE;
    create_fill(store, job, stream, now);
    struct row row = {
        .id = job->id,
        .stream = job->stream,
        .priority = job->priority,
        .lane = job->lane_id,
        .due = job->due,
        .created = now,
        .retries = job->retries,
        .suspended = job->suspended,
    };
    if (!share_place_new(store, job, &row.place, error) || !CRASH_POINT("create_begun") ||
        !backlog_move(store, job->stream, job->lane_id, 1, error))
        return false;
    if (create_is_plain(store, job))
        return create_later(store, job, row.place, now, error);
    if (!create_row(store, job, row.place, error) || !CRASH_POINT("create_inserted"))
        return false;
    if (store->intake)
        return true;
    int locked = prelock(store, job, now, error);
    return locked >= 0 &&
           (locked ? create_locked(store, job, error) : row_place(store, &row, now, error)) &&
           CRASH_POINT("create_placed");
}

bool create_occurrence(struct store *store, struct job *job, const struct catalog_stream *stream,
                       time_ms now, struct error *error) {
    return create_written(store, job, stream, now, error) && tell_created(store, job, now, error);
}

/* Another job holds its key. */
static bool create_meet(struct store *store, struct job *job, const struct catalog_stream *stream,
                        const struct unique_holder *holder, time_ms now, struct error *error) {
    if (job->on_conflict == ON_CONFLICT_REFUSE)
        return unique_refuse(job->handler, job->unique_key, holder, error);
    bool replaces = job->on_conflict == ON_CONFLICT_REPLACE && holder->there && !holder->runs;
    job->holder = holder->job;
    job->creation = replaces ? CREATION_REPLACED : CREATION_KEPT;
    create_priority(job, stream);
    bool later = store->intake && !holder->own; /* what others see is changed by the release */
    return !replaces || later || replace_job(store, job, holder->job, now, error);
}

static bool create_one(struct store *store, struct job *job, int64_t deployment, time_ms now,
                       struct error *error) {
    struct unique_holder holder;
    if (!deployment)
        deployment = create_deployment(store, job->handler);
    const struct catalog_stream *stream = create_stream(store, job, deployment, error);
    if (!stream)
        return false;
    const struct catalog_definition *definition = stream->definition;
    int held = job->unique_key
                   ? unique_find(store, definition->id, job->unique_key, now, &holder, error)
                   : 0;
    if (held != 0)
        return held > 0 && create_meet(store, job, stream, &holder, now, error);
    return (job->schedule || backlog_check(store, definition, job, error)) &&
           create_occurrence(store, job, stream, now, error) &&
           (!job->unique_key || unique_hold(store, job, now, error)) &&
           (!job->repeat || cycle_begin(store, job, error));
}

bool store_create(struct store *store, struct job *jobs, int64_t deployment, time_ms now,
                  struct error *error) {
    bool own = false, done = true;
    if (!unit_begin(store, &own, error))
        return false;
    bool keeps = store->prelock.keeps;
    store->feed.open = keeps || (jobs && jobs->next && !store->prelock.offer);
    for (struct job *job = jobs; done && job; job = job->next) {
        done = create_one(store, job, deployment, now, error);
        job->refused = !done && error && error->code == ERROR_CONFLICT;
    }
    store->feed.open = false;
    if (!keeps)
        done = feed_flush(&store->feed, &store->db, done, error);
    return unit_end(store, own, done, error);
}

int64_t store_reserve_ids(struct store *store, int count, struct error *error) {
    bool own = false;
    if (!unit_begin(store, &own, error))
        return 0;
    int64_t first = store->meta.next_id;
    store->meta.next_id += count;
    return unit_end(store, own, true, error) ? first : 0;
}
