#include "store/sqlite/row.h"
#include "store/sqlite/incident.h"
#include "store/sqlite/prelock.h"

static void row_texts(sqlite3_stmt *row, struct job *job) {
    job->lane = db_column_text(row, 11);
    job->instance = db_column_text(row, 12);
    job->root = db_column_text(row, 13);
    job->activity = db_column_text(row, 14);
    job->tenant = db_column_text(row, 15);
    job->repeat = db_column_text(row, 17);
    job->unique_key = db_column_text(row, 18);
    job->payload = sqlite3_column_blob(row, 19);
    job->payload_size = (size_t)sqlite3_column_bytes(row, 19);
    job->message = db_column_text(row, 20);
    job->failed_activity = job->message ? job->activity : NULL;
}

bool row_read(const struct store *store, sqlite3_stmt *row, struct job *job, struct error *error) {
    const struct catalog_stream *stream =
        catalog_stream(&store->catalog, sqlite3_column_int64(row, 2));
    if (!stream)
        return error_set(error, ERROR_DAMAGED, "store \"%s\": damaged: job %lld has no definition",
                         store->db.name, (long long)sqlite3_column_int64(row, 0));
    *job = (struct job){
        .id = sqlite3_column_int64(row, 0),
        .rev = sqlite3_column_int64(row, 1),
        .stream = stream->id,
        .definition = stream->definition->id,
        .deployment = stream->deployment,
        .type = stream->type,
        .handler = stream->definition->name,
        .category = stream->category,
        .priority = sqlite3_column_int64(row, 3),
        .due = db_column_time(row, 4),
        .created = sqlite3_column_int64(row, 5),
        .retries = sqlite3_column_int(row, 6),
        .attempt = sqlite3_column_int(row, 7),
        .crashes = sqlite3_column_int(row, 8),
        .conflicts = sqlite3_column_int(row, 21),
        .suspended = sqlite3_column_int(row, 9),
        .lane_id = sqlite3_column_int64(row, 10),
        .batch = sqlite3_column_int64(row, 16),
        .lock_expiration = TIME_NONE,
    };
    job->exclusive = sqlite3_column_type(row, 10) != SQLITE_NULL;
    row_texts(row, job);
    return true;
}

void row_locked(const struct store *store, struct job *job) {
    job->owner = store->self.id;
    job->lock_owner = store->self.owner;
    job->state = JOB_LOCKED;
    job->lock_expiration = store->self.lease_until;
}

int row_job(struct store *store, int64_t id, struct job **job, struct error *error) {
    struct job borrowed;
    sqlite3_stmt *row =
        db_query(&store->db, error, "SELECT " ROW_COLUMNS " FROM job j WHERE j.id=?1", "i", id);
    int step = row ? db_step(&store->db, row, error) : -1;
    if (step <= 0)
        return step;
    *job = NULL;
    if (row_read(store, row, &borrowed, error) && !(*job = job_copy(&borrowed)))
        error_set(error, ERROR_FAILED, "store \"%s\": out of memory", store->db.name);
    sqlite3_reset(row);
    return *job ? 1 : -1;
}

#define ROW_LOAD(table)                                                                            \
    "SELECT j.stream, j.priority, j.lane, j.due, j.created, j.place, j.retries, j.attempt,"        \
    " j.crashes, j.suspended, l.token, l.owner, j.repeat IS NOT NULL,"                             \
    " j.unique_key IS NOT NULL, j.batch FROM " table " j LEFT JOIN locked l ON l.id=j.id"          \
    " WHERE j.id=?1"

static int load(struct store *store, sqlite3_stmt *found, int64_t id, struct row *row,
                struct error *error) {
    int step = found ? db_step(&store->db, found, error) : -1;
    if (step <= 0)
        return step;
    *row = (struct row){
        .id = id,
        .stream = sqlite3_column_int64(found, 0),
        .priority = sqlite3_column_int64(found, 1),
        .lane = sqlite3_column_int64(found, 2),
        .due = db_column_time(found, 3),
        .created = sqlite3_column_int64(found, 4),
        .place = sqlite3_column_int64(found, 5),
        .retries = sqlite3_column_int(found, 6),
        .attempt = sqlite3_column_int(found, 7),
        .crashes = sqlite3_column_int(found, 8),
        .suspended = sqlite3_column_int(found, 9),
        .token = sqlite3_column_int64(found, 10),
        .owner = sqlite3_column_int64(found, 11),
        .repeats = sqlite3_column_int(found, 12) != 0,
        .keyed = sqlite3_column_int(found, 13) != 0,
        .batch = sqlite3_column_int64(found, 14),
    };
    sqlite3_reset(found);
    return 1;
}

int row_load(struct store *store, int64_t id, struct row *row, struct error *error) {
    return load(store, db_query(&store->db, error, ROW_LOAD("live"), "i", id), id, row, error);
}

int row_load_placeless(struct store *store, int64_t id, struct row *row, struct error *error) {
    return load(store, db_query(&store->db, error, ROW_LOAD("job"), "i", id), id, row, error);
}

time_ms row_due(const struct store *store, time_ms due, time_ms now) {
    return due == TIME_NONE && store->settings->ensure_due_date ? now : due;
}

bool row_place(struct store *store, const struct row *row, time_ms now, struct error *error) {
    if (row->retries <= 0)
        return incident_open(store, row->id, INCIDENT_FAILED_JOB, now, error);
    if (row->suspended)
        return true;
    wake_note(&store->wake, row->stream, row->priority);
    if (row->due != TIME_NONE && row->due > now)
        return db_run(&store->db, error,
                      "INSERT INTO timer(due, id, stream, rank, lane) VALUES(?1, ?2, ?3, ?4, ?5)",
                      "iiiiz", row->due, row->id, row->stream, ~row->priority, row->lane);
    prelock_ready(store, row->stream, row->priority, row->place, row->id);
    store->placed++;
    return db_run(&store->db, error,
                  "INSERT INTO ready(stream, rank, place, id, lane) VALUES(?1, ?2, ?3, ?4, ?5)",
                  "iiiiz", row->stream, ~row->priority, row->place, row->id, row->lane);
}

bool row_unplace(struct store *store, const struct row *row, struct error *error) {
    if (!db_run(&store->db, error,
                "DELETE FROM ready WHERE stream=?1 AND rank=?2 AND place=?3 AND id=?4", "iiii",
                row->stream, ~row->priority, row->place, row->id))
        return false;
    if (db_changes(&store->db))
        return true;
    if (row->lane &&
        !db_run(&store->db, error,
                "DELETE FROM parked WHERE lane=?1 AND stream=?2 AND rank=?3 AND place=?4 AND id=?5",
                "iiiii", row->lane, row->stream, ~row->priority, row->place, row->id))
        return false;
    return row->due == TIME_NONE ||
           db_run(&store->db, error, "DELETE FROM timer WHERE due=?1 AND id=?2", "ii", row->due,
                  row->id);
}
