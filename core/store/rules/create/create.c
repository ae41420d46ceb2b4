/* create.c - new jobs: their definition, their stream, the wide row and the one narrow row
 * (rules §1; §7: an override on the definition; §12: suspended ones). */
#include "store/rules/create/create.h"
#include "base/crash_point.h"
#include "store/rules/create/claims.h"
#include "store/rules/create/cycle.h"
#include "store/rules/create/prelock.h"
#include "store/rules/create/replace.h"
#include "store/rules/ground/row.h"
#include "store/rules/ground/stream.h"
#include "store/rules/ground/unit_ahead.h"
#include "store/rules/place/backlog.h"
#include "store/rules/place/fair_share.h"
#include "store/rules/place/places.h"
#include "store/rules/place/unique.h"
#include "store/rules/record/bulk.h"
#include "store/rules/record/incident.h"
#include "store/rules/record/tell.h"

static void create_priority(struct job_spec *spec, const struct catalog_stream *stream) {
    if (stream->definition->overridden && !spec->priority_given)
        spec->job.priority = stream->definition->override_priority;
}

/* An instance of a process is a lane, unless the job says that its root is, or the one beside. */
static int64_t create_lane(const struct job *job) {
    if (!job->exclusive)
        return 0;
    if (!job->instance_id)
        return job->lane ? job_lane_id(job->lane) : 0;
    bool given = job->lane_id & JOB_LANE_OF_INSTANCE || job->lane_id < 0;
    return given ? job->lane_id : job_instance_lane(job->instance_id);
}

static void create_fill(struct store *store, struct job_spec *spec,
                        const struct catalog_stream *stream, time_ms now) {
    struct job *job = &spec->job;
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
        job->retries = store->rules->retries;
    spec->reply = (struct created){job->id, CREATION_CREATED};
    create_priority(spec, stream);
    if (stream->definition->suspended)
        job->suspended |= SUSPENDED_DEFINITION;
    if (store->intake) /* decided as it gets its place */
        job->suspended = 0;
    job->lane_id = create_lane(job);
    job->state = job->due != TIME_NONE && job->due > now ? JOB_SCHEDULED : JOB_READY;
    if (job->suspended || store->intake)
        job->state = JOB_SUSPENDED;
}

/* Parameters of the columns that a creation writes: their kinds, then their values. */
#define KIND_TEXT "t"
#define KIND_NUMBER "i"
#define KIND_ID "z"
#define KIND_COUNT "n"
#define KIND_MASK "n"
#define KIND_TIME "T"
#define KIND_BLOB "b"
#define VALUE_TEXT(member) job->member
#define VALUE_NUMBER(member) job->member
#define VALUE_ID(member) job->member
#define VALUE_COUNT(member) (int)job->member
#define VALUE_MASK(member) (int)job->member
#define VALUE_TIME(member) job->member
#define VALUE_BLOB(member) job->member, job->member##_size
#define COLUMN(member, type, key, source, column, ...) JOB_WRITTEN_##source(#column ", ")
#define MARK(member, type, key, source, ...) JOB_WRITTEN_##source("?, ")
#define KIND(member, type, key, source, ...) JOB_WRITTEN_##source(KIND_##type)
#define VALUE(member, type, key, source, ...) JOB_WRITTEN_##source(VALUE_##type(member), )

static bool create_row(struct store *store, const struct job *job, time_ms place,
                       struct error *error) {
    int64_t lane = job->exclusive ? job->lane_id : TIME_NONE; /* bound as NULL */
    if (row_is_short(job))
        return db_run(&store->db, error,
                      "INSERT INTO job(id, stream, priority, created, place, retries, payload)"
                      " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                      "iiiiinb", job->id, job->stream, job->priority, job->created, place,
                      (int)job->retries, job->payload, job->payload_size);
    return db_run(
        &store->db, error,
        "INSERT INTO job(" JOB_FIELDS(COLUMN) "place, lane) VALUES(" JOB_FIELDS(MARK) "?, ?)",
        JOB_FIELDS(KIND) "iT", JOB_FIELDS(VALUE) place, lane);
}

int64_t create_deployment(const struct store *store, const char *handler) {
    const struct catalog_definition *definition = catalog_definition(&store->catalog, handler);
    return definition && !definition->reserved ? definition->deployment : 0;
}

/* YES: its instance is suspended. Asked only while any is. */
static enum answer create_halted(struct store *store, const struct job *job, struct error *error) {
    int64_t one = 0;
    struct job shown = *job;
    row_show(store, &shown);
    if (!store->catalog.instances || !shown.instance || store->intake)
        return NO;
    return db_value(&store->db, error, &one, "SELECT 1 FROM suspended_instance WHERE instance=?1",
                    "t", shown.instance);
}

/* It only needs rows of its own, which are written before a statement may ask for them. */
static bool create_is_plain(const struct store *store, const struct job *job) {
    return store->bulk.open && job->retries > 0 && !job->repeat;
}

/* Is locked at once, or will have a narrow row. */
static bool create_later(struct store *store, struct job *job, time_ms place, time_ms now,
                         struct error *error) {
    enum answer locked = store->intake ? YES : prelock(store, job, now, error);
    const struct place_key key = {job->stream, ~job->priority, place, job->id, job->lane_id};
    if (locked == NO && job->state == JOB_READY)
        place_ready_later(store, &key);
    else if (locked == NO && job->state != JOB_SUSPENDED)
        ring_note(&store->ring, job->stream, job->priority);
    return locked != FAILED && bulk_add(store, created_job(store, job, error), place, error);
}

static bool create_written(struct store *store, struct job_spec *spec,
                           const struct catalog_stream *stream, time_ms now, struct error *error) {
    struct job *job = &spec->job;
    enum answer halted = create_halted(store, job, error);
    if (halted == FAILED)
        return false;
    if (halted)
        job->suspended |= SUSPENDED_INSTANCE;
    halted = stream->definition->process ? version_halts(store, job, error) : NO;
    if (halted == FAILED)
        return false;
    if (halted)
        job->suspended |= SUSPENDED_PROCESS;
    create_fill(store, spec, stream, now);
    struct job_row row = {
        .id = job->id,
        .stream = job->stream,
        .priority = job->priority,
        .lane = job->lane_id,
        .due = job->due,
        .created = now,
        .retries = job->retries,
        .suspended = job->suspended,
        .plain = place_plain(job),
    };
    if (!fair_share_place_new(store, job, &row.place, error) || !CRASH_POINT("create_begun") ||
        !backlog_move(store, job->stream, job->lane_id, 1, error))
        return false;
    if (create_is_plain(store, job))
        return create_later(store, job, row.place, now, error);
    if (!create_row(store, job, row.place, error) || !CRASH_POINT("create_inserted"))
        return false;
    if (store->intake)
        return true;
    enum answer locked = prelock(store, job, now, error);
    return locked != FAILED &&
           (locked ? place_lock_row(&store->db, job, error)
                   : incident_place(store, &row, now, error)) &&
           CRASH_POINT("create_placed");
}

bool create_occurrence(struct store *store, struct job_spec *spec,
                       const struct catalog_stream *stream, time_ms now, struct error *error) {
    if (spec->job.instance_id)
        unit_ahead_forget(store, ASKED_JOB, spec->job.instance_id);
    return create_written(store, spec, stream, now, error) &&
           (spec->told || tell_created(store, &spec->job, now, error));
}

/* Another job holds its key. A job of one tenant never gets the payload of another one, nor stands
 * for it: who asks would hear of a job that is none of theirs, and have none. */
static bool create_meet(struct store *store, struct job_spec *spec,
                        const struct catalog_stream *stream, const struct unique_holder *holder,
                        time_ms now, struct error *error) {
    const bool replaces =
        spec->on_conflict == ON_CONFLICT_REPLACE && holder->there && !holder->runs;
    if ((replaces || spec->job.tenant) &&
        unique_own(store, stream->definition->id, &spec->job, replaces, error) != YES)
        return false;
    if (spec->on_conflict == ON_CONFLICT_REFUSE)
        return unique_refuse(spec->job.handler, spec->job.unique_key, holder, error);
    spec->reply = (struct created){holder->job, replaces ? CREATION_REPLACED : CREATION_KEPT};
    create_priority(spec, stream);
    bool later = store->intake && !holder->own; /* what others see is changed by the release */
    return !replaces || later || replace_job(store, spec, holder->job, now, error);
}

/* Does another job hold its key? */
static enum answer create_held(struct store *store, const struct claim *claim, int64_t definition,
                               const struct job *job, time_ms now, struct unique_holder *holder,
                               struct error *error) {
    int64_t other = 0;
    if (claim && claim->state == CLAIM_HELD)
        return unique_judge(store, job->unique_key, &claim->found, now, holder, error);
    enum answer taken = unique_taken(store, definition, job->unique_key, &other, error);
    return taken == YES ? unique_find(store, definition, job->unique_key, now, holder, error)
                        : taken;
}

/* YES: it has the key that it asks for, or asks for none. Where a backlog may refuse the job, the
 * key is written behind it. */
static enum answer create_claim(struct store *store, struct job_spec *spec,
                                const struct claim *claim, int64_t definition, time_ms now,
                                struct error *error) {
    struct job *job = &spec->job;
    bool given = job->id != 0;
    if (!job->unique_key)
        return YES;
    if (backlog_of(store, job->handler))
        return NO;
    if (claim && claim->state != CLAIM_ITSELF)
        return claim->state == CLAIM_DONE ? YES : NO;
    job->definition = definition;
    job->id = given ? job->id : meta_id(store);
    enum answer claimed = unique_claim(store, job, spec->unique_until, now, error);
    if (claimed == NO && !given) {
        job->id = 0;
        store->meta.next_id--;
    }
    return claimed;
}

static bool create_one(struct store *store, struct job_spec *spec, const struct claim *claim,
                       int64_t deployment, time_ms now, struct error *error) {
    struct job *job = &spec->job;
    struct unique_holder holder;
    if (!deployment)
        deployment = create_deployment(store, job->handler);
    const struct catalog_stream *stream = stream_make(store, job, deployment, error);
    if (!stream)
        return false;
    const struct catalog_definition *definition = stream->definition;
    enum answer claimed = create_claim(store, spec, claim, definition->id, now, error);
    enum answer held =
        claimed == NO ? create_held(store, claim, definition->id, job, now, &holder, error) : NO;
    if (claimed == FAILED)
        return false;
    if (held != NO)
        return held == YES && create_meet(store, spec, stream, &holder, now, error);
    if (!job->schedule && !backlog_check(store, definition, job, error))
        return false;
    return create_occurrence(store, spec, stream, now, error) &&
           (claimed == YES || unique_hold(store, job, spec->unique_until, now, error)) &&
           (!job->repeat || cycle_begin(store, spec, error));
}

/* ---- beside other creations ---- */

/* True if creating it asks for no row that another creation may write, or writes one that another
 * may ask for. A unique key is such a row: its index makes one of two creations wait. */
static bool create_is_apart(struct store *store, const struct job_spec *spec, int64_t deployment) {
    const struct job *job = &spec->job;
    if (job->repeat || job->batch || job->instance_id || job->schedule ||
        spec->on_conflict == ON_CONFLICT_REPLACE)
        return false;
    if (!store->catalog.version) /* that is judged once definitions are known */
        return true;
    int64_t of = deployment ? deployment : create_deployment(store, job->handler);
    const struct catalog_stream *stream = catalog_find(&store->catalog, job, of);
    return stream && !stream->definition->process && !backlog_of(store, job->handler);
}

static bool create_are_apart(struct store *store, const struct job_spec *specs,
                             int64_t deployment) {
    bool apart = store->engine->draw_ids && !store->intake && !store->meta.fair &&
                 !store->catalog.hooks && !store->open.capacity;
    for (const struct job_spec *spec = specs; apart && spec; spec = spec->next)
        apart = create_is_apart(store, spec, deployment) && !(specs->next && spec->job.unique_key);
    return apart;
}

static int create_count(const struct job_spec *specs) {
    int count = 0;
    for (const struct job_spec *spec = specs; spec; spec = spec->next)
        count += !spec->job.id;
    return count;
}

/* The definition of a single job that has a key; 0: none. */
static int64_t create_keyed(struct store *store, const struct job_spec *specs, int64_t deployment) {
    const struct job *job = &specs->job;
    if (!job->unique_key || specs->next)
        return 0;
    int64_t of = deployment ? deployment : create_deployment(store, job->handler);
    const struct catalog_stream *stream = catalog_find(&store->catalog, job, of);
    return stream ? stream->definition->id : 0;
}

/* Begins beside other creations, with a claim of the key if there is one. */
static bool create_begin_apart(struct store *store, const struct job_spec *specs,
                               struct unique_ahead *ahead, bool *own, struct error *error) {
    store->claims = ahead->definition ? ahead : NULL;
    bool done = store->engine->draw_ids(store, create_count(specs), error) &&
                unit_begin(store, STORE_CREATION, own, error);
    store->claims = NULL;
    return done;
}

/* What is known of definitions may be old: with what is so now the creation is judged again. */
static bool create_begin(struct store *store, const struct job_spec *specs, int64_t deployment,
                         time_ms now, struct unique_ahead *ahead, bool *own, struct error *error) {
    if (store->writing || !specs || !create_are_apart(store, specs, deployment))
        return unit_begin(store, STORE_TURN, own, error);
    ahead->key = specs->job.unique_key;
    ahead->tenant = specs->job.tenant;
    ahead->definition = create_keyed(store, specs, deployment);
    ahead->given = specs->job.id;
    ahead->until = specs->unique_until > now ? specs->unique_until : TIME_NONE;
    if (!create_begin_apart(store, specs, ahead, own, error))
        return false;
    bool same = !ahead->asked || create_keyed(store, specs, deployment) == ahead->definition;
    if (same && create_are_apart(store, specs, deployment))
        return true;
    store_rollback(store);
    ahead->asked = false;
    return unit_begin(store, STORE_TURN, own, error);
}

/* What has become of the key of the only job. */
static struct claim create_claimed(struct store *store, struct job_spec *spec,
                                   const struct unique_ahead *ahead) {
    if (!ahead->claimed)
        return (struct claim){.state = CLAIM_TAKEN};
    spec->job.definition = ahead->definition;
    spec->job.id = spec->job.id ? spec->job.id : meta_id(store);
    return (struct claim){.state = CLAIM_DONE};
}

/* True if the outcome, which lasts until the transaction has ended, has this list. */
static bool outcome_creates(const struct outcome *creator, const struct job_spec *specs) {
    return creator && creator->created == specs;
}

bool store_create(struct store *store, struct job_spec *specs, int64_t deployment, time_ms now,
                  struct error *error) {
    bool own = false;
    struct claims claims;
    struct unique_ahead ahead = {0};
    struct claim only;
    if (!create_begin(store, specs, deployment, now, &ahead, &own, error))
        return false;
    bool keeps = store->prelock.keeps;
    store->bulk.open = keeps || (specs && specs->next && !store->open.capacity);
    store->bulk.lasts = !keeps || outcome_creates(store->prelock.creator, specs);
    bool done = claims_make(store, specs, deployment, now, &claims, error);
    const struct claim *claim = claims.list;
    if (ahead.asked) {
        only = create_claimed(store, specs, &ahead);
        claim = &only;
        done = done && (ahead.until == TIME_NONE || unique_purge(store, now, error));
    }
    for (struct job_spec *spec = specs; done && spec; spec = spec->next, claim += claim != NULL) {
        spec->reply = (struct created){0};
        done = create_one(store, spec, claim, deployment, now, error);
        if (!done && error && error_refuses(error))
            spec->reply.creation = CREATION_REFUSED;
    }
    claims_end(&claims);
    store->bulk.open = store->bulk.lasts = false;
    if (!keeps)
        done = bulk_flush(store, done, error);
    return unit_end(store, own, done, error);
}

int64_t store_reserve_ids(struct store *store, int count, struct error *error) {
    bool own = false, alone = !store->writing && !store->looking;
    int64_t first = alone && store->engine->give_ids ? store->engine->give_ids(store, count) : 0;
    if (first)
        return first;
    if (!unit_begin(store, STORE_TURN, &own, error))
        return 0;
    first = store->meta.next_id;
    store->meta.next_id += count;
    return unit_end(store, own, true, error) ? first : 0;
}
