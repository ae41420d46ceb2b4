#include "store/rules/record/bulk.h"
#include "base/crash_point.h"
#include "base/text.h"
#include "store/rules/place/cursor.h"
#include "store/rules/place/occupancy.h"
#include "store/rules/place/places.h"
#include "store/rules/record/history.h"
#include "store/rules/record/incident.h"
#include <stdlib.h>
#include <string.h>

bool bulk_room(struct bulk *bulk, struct error *error) {
    return bulk->rows || (bulk->rows = malloc(BULK_ROWS * sizeof *bulk->rows)) ||
           error_no_memory(error);
}

void bulk_clear(struct bulk *bulk) {
    free(bulk->rows);
    *bulk = (struct bulk){0};
}

/* ---- columns ---- */

static struct bulk_value number_if(bool is_there, int64_t number) {
    return (struct bulk_value){.type = is_there ? BULK_NUMBER : BULK_NULL, .number = number};
}

static struct bulk_value bulk_text_of(const char *text) {
    return (struct bulk_value){
        .type = text ? BULK_TEXT : BULK_NULL, .data = text, .size = text ? strlen(text) : 0};
}

/* The message as its job keeps it. */
static struct bulk_value message_of(const char *text) {
    struct bulk_value value = bulk_text_of(text);
    if (text)
        value.size = utf8_prefix(text, JOB_MESSAGE_MAX);
    return value;
}

static struct bulk_value field_value(const struct job *job, const struct job_field *field) {
    int64_t number = job_field_number(job, field);
    switch (field->type) {
    case FIELD_TEXT:
        return bulk_text_of(job_field_text(job, field));
    case FIELD_BLOB:
        return (struct bulk_value){.type = job->payload ? BULK_BLOB : BULK_NULL,
                                   .data = job->payload,
                                   .size = job->payload_size};
    case FIELD_TIME:
        return number_if(number != TIME_NONE, number);
    case FIELD_ID:
        return number_if(number != 0, number);
    case FIELD_NUMBER:
    case FIELD_COUNT:
    case FIELD_FLAG:
    case FIELD_KIND:
    case FIELD_STATE:
    case FIELD_MASK:
        break;
    }
    return number_if(true, number);
}

static struct bulk_value made_value(const struct bulk_row *row, enum bulk_column column) {
    const struct job *job = row->job;
    switch (column) {
    case BULK_RANK:
        return number_if(true, ~job->priority);
    case BULK_PLACE:
        return number_if(true, row->place);
    case BULK_LANE:
        return number_if(job->exclusive, job->lane_id);
    case BULK_PLAIN:
        return number_if(place_plain(job) != 0, place_plain(job));
    case BULK_SPOT:
        return number_if(!row->parked, row->spot);
    case BULK_STARTED:
        return number_if(row->outcome->started != TIME_NONE, row->outcome->started);
    case BULK_ENDED:
        return number_if(true, row->outcome->ended);
    case BULK_LEFT:
        return number_if(true, row->retries);
    case BULK_AGAIN:
        return number_if(row->due != TIME_NONE, row->due);
    case BULK_REASON:
        return number_if(true, row->outcome->reason);
    case BULK_MESSAGE:
        return message_of(row->outcome->message);
    case BULK_CAUSE:
        return bulk_text_of(row->outcome->message);
    case BULK_STACK:
        return bulk_text_of(row->outcome->stack);
    case BULK_INCIDENT:
        return bulk_text_of(incident_of(row->outcome));
    case BULK_NOW:
        return number_if(true, row->now);
    case BULK_RESULT:
        break;
    }
    return bulk_text_of(row->outcome->result);
}

struct bulk_value bulk_value(const struct bulk_row *row, int column) {
    return column < JOB_FIELD_COUNT ? field_value(row->job, &job_fields[column])
                                    : made_value(row, (enum bulk_column)column);
}

/* ---- keeping ---- */

/* Keeps a row; *full: there is no room for another one. */
static bool bulk_keep(struct bulk *bulk, struct bulk_row row, bool *full, struct error *error) {
    if (!bulk_room(bulk, error))
        return false;
    bulk->rows[bulk->count++] = row;
    *full = bulk->count == BULK_ROWS;
    return true;
}

static bool bulk_write(struct store *store, struct bulk *bulk, enum bulk_kind kind,
                       struct error *error) {
    return store->engine->bulk(store, bulk, kind, error);
}

/* ---- new jobs ---- */

/* The transaction goes with any error: nothing need be kept to undo one statement alone. */
static bool flush_jobs(struct store *store, struct error *error) {
    struct bulk *bulk = &store->bulk;
    bool is_short = true;
    for (size_t i = 0; is_short && i < bulk->count; i++)
        is_short = row_is_short(bulk->rows[i].job);
    for (size_t i = 0; store->intake && i < bulk->count; i++)
        occupancy_written(store, bulk->rows[i].job->stream, bulk->rows[i].job->id);
    bulk->from = 0;
    bulk->to = bulk->count;
    return bulk_write(store, bulk, is_short ? BULK_JOBS_SHORT : BULK_JOBS, error);
}

/* Ready ones, timers, those that are locked already, and suspended ones, which have no narrow row.
 */
enum kind { KIND_READY, KIND_TIMER, KIND_LOCKED, KIND_NONE };

static enum kind row_kind(const struct job *job) {
    if (job->state == JOB_READY)
        return KIND_READY;
    if (job->state == JOB_SCHEDULED)
        return KIND_TIMER;
    return job->state == JOB_LOCKED ? KIND_LOCKED : KIND_NONE;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* In the order of the key of `ready`, but for the id. */
static int ready_compare(const struct bulk_row *a, const struct bulk_row *b) {
    int order = ORDER(a->job->stream, b->job->stream);
    if (order == 0)
        order = ORDER(~a->job->priority, ~b->job->priority);
    return order ? order : ORDER(a->place, b->place);
}

/* In the order of the keys of `ready`, `timer` and `locked`. */
static int row_compare(const void *left, const void *right) {
    const struct bulk_row *a = left, *b = right;
    enum kind kind = row_kind(a->job);
    int order = ORDER(kind, row_kind(b->job));
    if (order == 0 && kind == KIND_TIMER)
        order = ORDER(a->job->due, b->job->due);
    if (order == 0 && kind == KIND_READY)
        order = ready_compare(a, b);
    return order ? order : ORDER(a->job->id, b->job->id);
}

static bool flush_kind(struct store *store, enum kind kind, enum bulk_kind table,
                       struct error *error) {
    struct bulk *bulk = &store->bulk;
    bulk->from = bulk->to;
    while (bulk->to < bulk->count && row_kind(bulk->rows[bulk->to].job) == kind)
        bulk->to++;
    if (bulk->from < bulk->to && kind == KIND_TIMER)
        store->timer = TIME_NONE;
    for (size_t i = bulk->from; kind != KIND_LOCKED && i < bulk->to; i++)
        occupancy_move(store, kind == KIND_TIMER ? OCCUPIED_TIMER : OCCUPIED_READY,
                       bulk->rows[i].job->stream, 1);
    return bulk->from == bulk->to || bulk_write(store, bulk, table, error);
}

/* Most lists are in order as they come: all of one priority, and what is in no place. */
static bool in_order(const struct bulk *bulk) {
    for (size_t i = 1; i < bulk->count; i++)
        if (row_compare(&bulk->rows[i - 1], &bulk->rows[i]) > 0)
            return false;
    return true;
}

static bool flush_places(struct store *store, struct error *error) {
    struct bulk *bulk = &store->bulk;
    if (!in_order(bulk))
        qsort(bulk->rows, bulk->count, sizeof *bulk->rows, row_compare);
    bulk->to = 0;
    return flush_kind(store, KIND_READY, BULK_READY, error) &&
           flush_kind(store, KIND_TIMER, BULK_TIMER, error) &&
           flush_kind(store, KIND_LOCKED, BULK_LOCKED, error);
}

bool bulk_flush(struct store *store, bool done, struct error *error) {
    store->db.keeps[KEEPS_JOBS] = NULL;
    if (!store->bulk.count)
        return done;
    if (done)
        done = flush_jobs(store, error) && CRASH_POINT("feed_inserted") &&
               flush_places(store, error) && CRASH_POINT("feed_placed");
    store->bulk.count = 0;
    return done;
}

static bool write_kept(struct db *db, struct error *error) {
    return bulk_flush((struct store *)((char *)db - offsetof(struct store, db)), true, error);
}

/* Of `locked` itself only those ask that have a job which was there before. */
static const char *const tables[] = {"job", "live", "counted", "locks", "ready", "timer", NULL};
static const struct db_keeps keeps = {tables, write_kept};

bool bulk_add(struct store *store, struct lasting_job job, time_ms place, struct error *error) {
    const struct bulk_row row = {.job = job.job, .place = place};
    bool full = false;
    if (!job.job || !bulk_keep(&store->bulk, row, &full, error))
        return false;
    store->db.keeps[KEEPS_JOBS] = &keeps;
    return !full || bulk_flush(store, true, error);
}

/* ---- locks ---- */

/* Spots are known of all jobs that were read as a page. */
static enum bulk_kind bulk_taken(const struct bulk *bulk) {
    for (size_t i = bulk->from; i < bulk->to; i++)
        if (!bulk->rows[i].spot)
            return BULK_TAKEN;
    return BULK_TAKEN_SPOTS;
}

int bulk_ready(const struct bulk *bulk) {
    int count = 0;
    for (size_t i = bulk->from; i < bulk->to; i++)
        count += !bulk->rows[i].parked;
    return count;
}

static bool bulk_leave(struct store *store, struct bulk *bulk, struct error *error) {
    return !store->engine->sets || !bulk_ready(bulk) ||
           bulk_write(store, bulk, bulk_taken(bulk), error);
}

bool bulk_lock(struct store *store, struct error *error) {
    struct bulk *bulk = &store->bulk;
    if (!bulk->count)
        return true;
    const struct job *one = bulk->count == 1 ? bulk->rows[0].job : NULL;
    bulk->from = 0;
    bulk->to = bulk->count;
    bulk->count = 0;
    if (!bulk_leave(store, bulk, error))
        return false;
    return one ? place_lock_row(&store->db, one, error)
               : bulk_write(store, bulk, BULK_LOCKED, error);
}

bool bulk_take(struct store *store, const struct job *job, const struct head *head, bool parked,
               struct error *error) {
    const struct bulk_row row = {
        .job = job, .place = head->place, .spot = head->spot, .parked = parked};
    bool full = false;
    return bulk_keep(&store->bulk, row, &full, error) && (!full || bulk_lock(store, error));
}

/* ---- ends ---- */

static bool row_belongs(const struct job *job) {
    return job->instance || job->root || job->activity || job->tenant || job->schedule;
}

/* How much an entry has to say, above BULK_ENDED_SHORT. */
static int row_says(const struct bulk_row *row) {
    const struct job *job = row->job;
    if (row_belongs(job))
        return BULK_ENDED_WHOLE - BULK_ENDED_SHORT;
    bool more = job->due != TIME_NONE || job->batch || row->outcome->result;
    return (more ? BULK_ENDED_PLAIN - BULK_ENDED_SHORT : 0) +
           (job->lane ? BULK_ENDED_LANE - BULK_ENDED_SHORT : 0);
}

/* A list is written with the columns that any of it needs. */
bool bulk_settled(struct store *store, struct error *error) {
    struct bulk *bulk = &store->endings;
    int says = 0;
    if (!bulk->count)
        return true;
    for (size_t i = 0; i < bulk->count; i++)
        says |= row_says(&bulk->rows[i]);
    bulk->from = 0;
    bulk->to = bulk->count;
    bulk->count = 0;
    return bulk_write(store, bulk, (enum bulk_kind)(BULK_ENDED_SHORT + says), error);
}

bool bulk_settled_ahead(struct store *store, struct error *error) {
    return store->meta.ended || bulk_settled(store, error);
}

bool bulk_settle(struct store *store, const struct outcome *outcome, struct error *error) {
    const struct bulk_row row = {.job = outcome_job(outcome).job, .outcome = outcome};
    bool full = false;
    return bulk_keep(&store->endings, row, &full, error) && (!full || bulk_settled(store, error));
}

/* ---- failures ---- */

/* First those that are ready, in the order of the key of `ready`; then timers in theirs. Those that
 * did not run come last. */
static int failed_compare(const void *left, const void *right) {
    const struct bulk_row *a = left, *b = right;
    int order = ORDER(a->goes, b->goes);
    if (order == 0 && a->goes == GOES_TIMER)
        order = ORDER(a->due, b->due);
    else if (order == 0)
        order = ready_compare(a, b);
    return order ? order : ORDER(a->job->id, b->job->id);
}

/* Of all rows those that go there, which are the next ones. */
static bool failed_place(struct store *store, size_t count, enum bulk_goes goes,
                         enum bulk_kind kind, struct error *error) {
    struct bulk *bulk = &store->failures;
    bulk->from = bulk->to;
    while (bulk->to < count && bulk->rows[bulk->to].goes == goes)
        bulk->to++;
    return bulk->from == bulk->to || bulk_write(store, bulk, kind, error);
}

static bool failed_places(struct store *store, size_t count, struct error *error) {
    store->failures.to = 0;
    return failed_place(store, count, GOES_READY, BULK_FAILED_READY, error) &&
           failed_place(store, count, GOES_TIMER, BULK_FAILED_TIMER, error) &&
           (!store->rules->incidents ||
            failed_place(store, count, GOES_DEAD, BULK_INCIDENTS, error));
}

/* What is said of those that have run, which come first. */
static bool failed_runs(struct store *store, size_t count, struct error *error) {
    struct bulk *bulk = &store->failures;
    bulk->from = 0;
    bulk->to = count;
    return !count ||
           ((store->rules->history == HISTORY_NONE ||
             bulk_write(store, bulk, BULK_ATTEMPTS, error)) &&
            bulk_write(store, bulk, BULK_FAILED, error) && failed_places(store, count, error));
}

static bool failed_back(struct store *store, size_t from, size_t to, struct error *error) {
    struct bulk *bulk = &store->failures;
    bulk->from = from;
    bulk->to = to;
    return from == to || bulk_write(store, bulk, BULK_BACK, error);
}

static bool bulk_failed(struct store *store, struct error *error) {
    struct bulk *bulk = &store->failures;
    size_t count = bulk->count, ran = 0;
    if (!count)
        return true;
    qsort(bulk->rows, count, sizeof *bulk->rows, failed_compare);
    while (ran < count && bulk->rows[ran].goes != GOES_BACK)
        ran++;
    bulk->count = 0;
    return failed_runs(store, ran, error) && failed_back(store, ran, count, error);
}

bool bulk_fail(struct store *store, const struct outcome *outcome, const struct job_row *row,
               enum bulk_goes goes, time_ms now, struct error *error) {
    const struct bulk_row kept = {.job = outcome_job(outcome).job,
                                  .outcome = outcome,
                                  .place = row->place,
                                  .due = row->due,
                                  .retries = row->retries,
                                  .goes = goes,
                                  .now = now};
    bool full = false;
    return bulk_keep(&store->failures, kept, &full, error) && (!full || bulk_failed(store, error));
}

static bool bulk_keys(struct store *store, struct error *error) {
    struct bulk *bulk = &store->keys;
    bulk->from = 0;
    bulk->to = bulk->count;
    bulk->count = 0;
    return !bulk->to || bulk_write(store, bulk, BULK_KEYS, error);
}

bool bulk_key(struct store *store, struct lasting_job job, time_ms now, struct error *error) {
    const struct bulk_row row = {.job = job.job, .now = now};
    bool full = false;
    return job.job && bulk_keep(&store->keys, row, &full, error) &&
           (!full || bulk_keys(store, error));
}

bool bulk_runs(struct store *store, struct error *error) {
    return bulk_failed(store, error) && bulk_keys(store, error);
}

/* ---- the transaction ---- */

/* Of the entries that are kept back the first one is written alone where its number is not simply
 * the next. */
static bool bulk_number(struct store *store, struct error *error) {
    struct bulk *endings = &store->endings;
    if (!store->meta.ended || !endings->count)
        return true;
    const struct outcome *first = endings->rows[0].outcome;
    memmove(endings->rows, endings->rows + 1, --endings->count * sizeof *endings->rows);
    return history_ended(store, first, ENDED_SUCCESSFUL, error);
}

static bool bulk_ended(struct store *store, struct error *error) {
    return bulk_settled(store, error) && bulk_runs(store, error);
}

static bool bulk_before_commit(struct store *store, struct error *error) {
    return bulk_number(store, error) && bulk_flush(store, true, error) && bulk_ended(store, error);
}

static void bulk_forget(struct store *store) {
    store->db.keeps[KEEPS_JOBS] = NULL;
    store->bulk.count = store->endings.count = store->failures.count = store->keys.count = 0;
}

const struct txn_hook bulk_hook = {.flush = bulk_before_commit, .drop = bulk_forget, .parts = true};
