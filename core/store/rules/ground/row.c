#include "store/rules/ground/row.h"
#include "store/rules/ground/care.h"
#include "store/rules/ground/suspect_list.h"
#include "store/rules/ground/unit_ahead.h"
#include <string.h>

#define READ_TEXT(member) job->member = row_text(row, ROW_##member);
#define READ_NUMBER(member) job->member = row_int(row, ROW_##member);
#define READ_ID(member) job->member = row_int(row, ROW_##member);
#define READ_COUNT(member) job->member = row_int32(row, ROW_##member);
#define READ_MASK(member) job->member = row_int32(row, ROW_##member);
#define READ_TIME(member) job->member = row_time(row, ROW_##member);
#define READ_BLOB(member) job->member = row_blob(row, ROW_##member, &job->member##_size);
#define READ(member, type, key, source, ...) JOB_READ_##source(READ_##type(member))

static const struct catalog_stream *row_stream(const struct store *store, struct row *row) {
    return catalog_stream(&store->catalog, row_int(row, ROW_stream));
}

static void row_failed(struct row *row, struct job *job) {
    const char *activity = row_text(row, ROW_failed_activity);
    job->failed_activity = activity ? activity : job->activity;
    job->conflicts = row_int32(row, ROW_conflicts);
}

/* The rest of a job, whose stream has been told. */
static void row_rest(struct store *store, struct row *row, struct job *job) {
    job->exclusive = !row_null(row, ROW_lane_id);
    if (job->exclusive)
        job->lane_id = row_int(row, ROW_lane_id);
    job->lock_expiration = TIME_NONE;
    JOB_FIELDS(READ)
    job->suspect = suspects_has(store, job->id);
    row_show(store, job);
    if (job->message)
        row_failed(row, job);
}

static struct job row_of_stream(const struct catalog_stream *stream) {
    return (struct job){
        .definition = stream->definition->id,
        .deployment = stream->deployment,
        .type = stream->type,
        .handler = stream->definition->name,
        .category = stream->category,
        .topic = stream->topic,
    };
}

static void row_whole(struct store *store, struct row *row, const struct catalog_stream *stream,
                      struct job *job) {
    *job = row_of_stream(stream);
    row_rest(store, row, job);
}

static bool row_damaged(struct store *store, int64_t id, const char *lack, struct error *error) {
    care_touch(store, id);
    return error_set(error, ERROR_DAMAGED, "store \"%s\": damaged: job %lld has %s", store->db.name,
                     (long long)id, lack);
}

bool row_read(struct store *store, struct row *row, struct job *job, struct error *error) {
    const struct catalog_stream *stream = row_stream(store, row);
    if (!stream)
        return row_damaged(store, row_int(row, ROW_id), "no definition", error);
    row_whole(store, row, stream, job);
    care_touch(store, job->id);
    return true;
}

void row_read_any(struct store *store, struct row *row, struct job *job) {
    const struct catalog_stream *stream = row_stream(store, row);
    *job = (struct job){0};
    if (stream)
        row_whole(store, row, stream, job);
    else
        row_rest(store, row, job);
}

bool row_missing(struct store *store, int64_t id, struct error *error) {
    return row_damaged(store, id, "a place and no row", error);
}

bool row_read_bare(struct store *store, struct row *row, const int at[BARE_COUNT], struct job *job,
                   struct error *error) {
    if (row_null(row, at[BARE_STREAM]))
        return row_missing(store, row_int(row, at[BARE_ID]), error);
    const struct catalog_stream *stream =
        catalog_stream(&store->catalog, row_int(row, at[BARE_STREAM]));
    if (!stream)
        return row_damaged(store, row_int(row, at[BARE_ID]), "no definition", error);
    *job = row_of_stream(stream);
    job->id = row_int(row, at[BARE_ID]);
    job->stream = stream->id;
    job->priority = ~row_int(row, at[BARE_RANK]);
    job->created = row_int(row, at[BARE_CREATED]);
    job->retries = row_int32(row, at[BARE_RETRIES]);
    job->rev = row_int(row, at[BARE_REV]);
    job->payload = row_blob(row, at[BARE_PAYLOAD], &job->payload_size);
    job->attempt = 1;
    job->due = job->lock_expiration = TIME_NONE;
    job->suspect = suspects_has(store, job->id);
    care_touch(store, job->id);
    return true;
}

enum answer row_job(struct store *store, int64_t id, struct job **job, struct error *error) {
    struct job borrowed;
    struct row *row =
        db_query(&store->db, error, "SELECT " ROW_COLUMNS " FROM job j WHERE j.id=?1", "i", id);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step;
    *job = NULL;
    if (row_read(store, row, &borrowed, error) && !(*job = job_copy(&borrowed)))
        db_no_memory(&store->db, error);
    row_done(row);
    return *job ? YES : FAILED;
}

void row_place(struct row *found, struct job_row *row) {
    *row = (struct job_row){
        .stream = row_int(found, 0),
        .priority = row_int(found, 1),
        .lane = row_int(found, 2),
        .due = row_time(found, 3),
        .created = row_int(found, 4),
        .place = row_int(found, 5),
        .retries = row_int32(found, 6),
        .attempt = row_int32(found, 7),
        .crashes = row_int32(found, 8),
        .suspended = row_int32(found, 9),
        .token = row_int(found, 10),
        .owner = row_int(found, 11),
        .repeats = row_int32(found, 12) != 0,
        .keyed = row_int32(found, 13) != 0,
        .batch = row_int(found, 14),
        .has_message = row_int32(found, 15) != 0,
        .id = row_int(found, 16),
    };
}

static enum answer load(struct store *store, int64_t id, bool placeless, struct job_row *row,
                        struct error *error) {
    const struct job_row *wanted = row_ahead(store, id, placeless);
    care_touch(store, id);
    if (wanted) {
        *row = *wanted;
        return YES;
    }
    const struct store_sql *sql = store->engine->sql;
    struct row *found =
        db_query(&store->db, error, placeless ? sql->row_placeless : sql->row, "i", id);
    enum answer step = db_step(&store->db, found, error);
    if (step != YES)
        return step;
    row_place(found, row);
    row_done(found);
    return YES;
}

enum answer row_load(struct store *store, int64_t id, struct job_row *row, struct error *error) {
    return load(store, id, false, row, error);
}

enum answer row_load_placeless(struct store *store, int64_t id, struct job_row *row,
                               struct error *error) {
    return load(store, id, true, row, error);
}

time_ms row_due(const struct store *store, time_ms due, time_ms now) {
    return due == TIME_NONE && store->rules->ensure_due_date ? now : due;
}

/* ---- writing ---- */

/* It is not known which rows change. */
static void forget_any(struct store *store) {
    row_want_end(store);
    unit_ahead_forget_kind(store, ASKED_JOB);
}

bool row_write(struct store *store, const struct job_row *row, bool revised, struct error *error) {
    row_forget(store, row->id);
    return db_run(&store->db, error,
                  "UPDATE job SET retries=?2, priority=?3, due=?4, place=?5, suspended=?6,"
                  " crashes=?7, rev=rev+?8 WHERE id=?1",
                  "iniTinnn", row->id, (int)row->retries, row->priority, row->due, row->place,
                  (int)row->suspended, (int)row->crashes, (int)revised);
}

bool row_move(struct store *store, const struct job_row *row, const char *message,
              struct error *error) {
    row_forget(store, row->id);
    return db_run(&store->db, error,
                  "UPDATE job SET due=?2, place=?3, message=coalesce(?4, message),"
                  " failed_activity=CASE WHEN ?4 IS NULL THEN failed_activity END WHERE id=?1",
                  "iTit", row->id, row->due, row->place, message);
}

bool row_fail(struct store *store, const struct job_row *row, const char *message,
              const char *activity, struct error *error) {
    row_forget(store, row->id);
    return db_run(&store->db, error,
                  "UPDATE job SET retries=?2, due=?3, place=?4, crashes=?5, message=?6,"
                  " failed_activity=?7, attempt=attempt+1, rev=rev+1 WHERE id=?1",
                  "inTintt", row->id, (int)row->retries, row->due, row->place, (int)row->crashes,
                  message, activity);
}

bool row_replace(struct store *store, const struct job_row *row, const struct job *new,
                 struct error *error) {
    row_forget(store, row->id);
    return db_run(&store->db, error,
                  "UPDATE job SET stream=?2, priority=?3, due=?4, place=?5, payload=?6, repeat=?7,"
                  " term=?8, rev=rev+1 WHERE id=?1",
                  "iiiTibtt", row->id, row->stream, row->priority, row->due, row->place,
                  new->payload, new->payload_size, new->repeat, new->term);
}

bool row_delete(struct store *store, int64_t id, struct error *error) {
    row_forget(store, id);
    return db_run(&store->db, error, "DELETE FROM job WHERE id=?1", "i", id);
}

bool row_delete_range(struct store *store, int64_t from, int64_t to, struct error *error) {
    forget_any(store);
    return db_run(&store->db, error, "DELETE FROM job WHERE id>?1 AND id<=?2", "ii", from, to);
}

bool row_set_due(struct store *store, int64_t id, time_ms due, struct error *error) {
    row_forget(store, id);
    return db_run(&store->db, error, "UPDATE job SET due=?2 WHERE id=?1", "ii", id, due);
}

bool row_set_retries(struct store *store, int64_t id, int32_t retries, struct error *error) {
    row_forget(store, id);
    return db_run(&store->db, error, "UPDATE job SET retries=?2 WHERE id=?1", "in", id,
                  (int)retries);
}

bool row_set_payload(struct store *store, const struct job *job, int64_t id, struct error *error) {
    row_forget(store, id);
    return db_run(&store->db, error, "UPDATE job SET payload=?2, rev=rev+1 WHERE id=?1", "ib", id,
                  job->payload, job->payload_size);
}

bool row_set_version(struct store *store, int64_t id, int64_t version, const char *payload,
                     struct error *error) {
    row_forget(store, id);
    return db_run(&store->db, error,
                  "UPDATE job SET execution=?2, payload=?3, rev=rev+1 WHERE id=?1", "iib", id,
                  version, payload, strlen(payload));
}

bool row_set_receiver(struct store *store, int64_t id, const char *activity, const char *payload,
                      struct error *error) {
    row_forget(store, id);
    return db_run(&store->db, error,
                  "UPDATE job SET activity=?2, payload=?3, rev=rev+1 WHERE id=?1", "itb", id,
                  activity, payload, strlen(payload));
}

bool row_set_execution(struct store *store, const struct job_row *row, int64_t execution,
                       const char *activity, struct error *error) {
    row_forget(store, row->id);
    return db_run(&store->db, error,
                  "UPDATE job SET stream=?2, execution=?3, activity=?4, suspended=?5, rev=rev+1"
                  " WHERE id=?1",
                  "iiitn", row->id, row->stream, execution, activity, (int)row->suspended);
}

bool row_hold_instance(struct store *store, int64_t instance, struct error *error) {
    forget_any(store);
    return db_run(&store->db, error,
                  "UPDATE job SET suspended=(suspended-32)|4, rev=rev+1 WHERE instance_id=?1"
                  " AND suspended&32<>0",
                  "i", instance);
}

bool row_set_repeat(struct store *store, int64_t id, const char *repeat, struct error *error) {
    row_forget(store, id);
    return db_run(&store->db, error, "UPDATE job SET repeat=?2 WHERE id=?1", "it", id, repeat);
}

bool row_set_next(struct store *store, int64_t id, int64_t next, struct error *error) {
    row_forget(store, id);
    return db_run(&store->db, error, "UPDATE job SET repeat_done=?2 WHERE id=?1", "ii", id, next);
}

bool row_set_aside(struct store *store, int64_t id, const char *message, struct error *error) {
    row_forget(store, id);
    return db_run(&store->db, error, "UPDATE job SET retries=0, message=?2, rev=rev+1 WHERE id=?1",
                  "it", id, message);
}

bool row_drop_key(struct store *store, int64_t id, struct error *error) {
    row_forget(store, id);
    return db_run(&store->db, error, "UPDATE job SET unique_key=NULL WHERE id=?1", "i", id);
}

bool row_conflict(struct store *store, int64_t id, struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO conflicts(job, n) VALUES(?1, 1)"
                  " ON CONFLICT(job) DO UPDATE SET n=conflicts.n+1",
                  "i", id);
}

bool row_calm(struct store *store, int64_t id, struct error *error) {
    return db_run(&store->db, error, "DELETE FROM conflicts WHERE job=?1", "i", id);
}
