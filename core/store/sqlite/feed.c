#include "store/sqlite/feed.h"
#include "base/crash_point.h"
#include <stdlib.h>

enum { FEED_ROWS = 4096 };

/* ---- the virtual table ---- */

enum column {
    COLUMN_ID,
    COLUMN_STREAM,
    COLUMN_PRIORITY,
    COLUMN_RANK,
    COLUMN_DUE,
    COLUMN_CREATED,
    COLUMN_PLACE,
    COLUMN_RETRIES,
    COLUMN_SUSPENDED,
    COLUMN_LANE,
    COLUMN_LANE_ID,
    COLUMN_BATCH,
    COLUMN_TOKEN,
    COLUMN_OWNER,
    COLUMN_ATTEMPT,
    COLUMN_STARTED,
    COLUMN_ENDED,
    COLUMN_LANE_KEY, /* texts from here on, and the payload */
    COLUMN_INSTANCE,
    COLUMN_ROOT,
    COLUMN_ACTIVITY,
    COLUMN_TENANT,
    COLUMN_PAYLOAD,
    COLUMN_TERM,
    COLUMN_RESULT
};

/* lane: as the job's row has it; lane_id: as the narrow rows have it. */
#define COLUMNS                                                                                    \
    "CREATE TABLE feed(id, stream, priority, rank, due, created, place, retries, suspended, lane," \
    " lane_id, batch, token, owner, attempt, started, ended, lane_key, instance, root, activity, " \
    "tenant, payload, term, result)"

struct table {
    sqlite3_vtab base;
    const struct feed *feed;
};

struct cursor {
    sqlite3_vtab_cursor base;
    const struct feed *feed;
    size_t at;
};

static int feed_connect(sqlite3 *handle, void *arg, int count, const char *const *words,
                        sqlite3_vtab **made, char **message) {
    (void)count;
    (void)words;
    (void)message;
    int code = sqlite3_declare_vtab(handle, COLUMNS);
    if (code != SQLITE_OK)
        return code;
    struct table *table = calloc(1, sizeof *table);
    if (!table)
        return SQLITE_NOMEM;
    table->feed = arg;
    *made = &table->base;
    return SQLITE_OK;
}

static int feed_disconnect(sqlite3_vtab *base) {
    free(base);
    return SQLITE_OK;
}

static int feed_plan(sqlite3_vtab *base, sqlite3_index_info *plan) {
    (void)base;
    plan->estimatedCost = 1;
    return SQLITE_OK;
}

static int feed_open(sqlite3_vtab *base, sqlite3_vtab_cursor **made) {
    struct cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    cursor->feed = ((struct table *)base)->feed;
    *made = &cursor->base;
    return SQLITE_OK;
}

static int feed_close(sqlite3_vtab_cursor *base) {
    free(base);
    return SQLITE_OK;
}

static int feed_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count,
                       sqlite3_value **values) {
    (void)number;
    (void)text;
    (void)count;
    (void)values;
    struct cursor *cursor = (struct cursor *)base;
    cursor->at = cursor->feed->from;
    return SQLITE_OK;
}

static int feed_next(sqlite3_vtab_cursor *base) {
    ((struct cursor *)base)->at++;
    return SQLITE_OK;
}

static int feed_end(sqlite3_vtab_cursor *base) {
    const struct cursor *cursor = (const struct cursor *)base;
    return cursor->at >= cursor->feed->to;
}

static int feed_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    *rowid = (sqlite3_int64)((struct cursor *)base)->at;
    return SQLITE_OK;
}

/* What every row has. */
static int64_t row_given(const struct feed_row *row, int column) {
    const struct job *job = row->job;
    switch (column) {
    case COLUMN_ID:
        return job->id;
    case COLUMN_STREAM:
        return job->stream;
    case COLUMN_PRIORITY:
        return job->priority;
    case COLUMN_RANK:
        return ~job->priority;
    case COLUMN_CREATED:
        return job->created;
    case COLUMN_PLACE:
        return row->place;
    case COLUMN_RETRIES:
        return job->retries;
    case COLUMN_SUSPENDED:
        return job->suspended;
    case COLUMN_TOKEN:
        return job->token;
    case COLUMN_ATTEMPT:
        return job->attempt;
    case COLUMN_ENDED:
        return row->outcome->ended;
    default:
        return job->owner;
    }
}

/* False: the row has none. */
static bool row_number(const struct feed_row *row, int column, int64_t *value) {
    const struct job *job = row->job;
    switch (column) {
    case COLUMN_DUE:
        *value = job->due;
        return job->due != TIME_NONE;
    case COLUMN_LANE:
        *value = job->lane_id;
        return job->exclusive;
    case COLUMN_LANE_ID:
        *value = job->lane_id;
        return job->lane_id != 0;
    case COLUMN_STARTED:
        *value = row->outcome->started;
        return *value != TIME_NONE;
    case COLUMN_BATCH:
        *value = job->batch;
        return job->batch != 0;
    default:
        *value = row_given(row, column);
        return true;
    }
}

static const char *row_text(const struct feed_row *row, int column) {
    const struct job *job = row->job;
    switch (column) {
    case COLUMN_RESULT:
        return row->outcome->result;
    case COLUMN_LANE_KEY:
        return job->lane;
    case COLUMN_INSTANCE:
        return job->instance;
    case COLUMN_ROOT:
        return job->root;
    case COLUMN_ACTIVITY:
        return job->activity;
    case COLUMN_TENANT:
        return job->tenant;
    default:
        return job->term;
    }
}

/* A column that gets no result is NULL. */
static int feed_column(sqlite3_vtab_cursor *base, sqlite3_context *result, int column) {
    const struct cursor *cursor = (const struct cursor *)base;
    const struct feed_row *row = &cursor->feed->rows[cursor->at];
    const struct job *job = row->job;
    int64_t value;
    if (column < COLUMN_LANE_KEY) {
        if (row_number(row, column, &value))
            sqlite3_result_int64(result, value);
    } else if (column != COLUMN_PAYLOAD) {
        sqlite3_result_text(result, row_text(row, column), -1, SQLITE_STATIC);
    } else if (job->payload) {
        sqlite3_result_blob64(result, job->payload, job->payload_size, SQLITE_STATIC);
    }
    return SQLITE_OK;
}

bool feed_attach(struct feed *feed, struct db *db, const char *name, struct error *error) {
    static const sqlite3_module module = {.xConnect = feed_connect,
                                          .xBestIndex = feed_plan,
                                          .xDisconnect = feed_disconnect,
                                          .xOpen = feed_open,
                                          .xClose = feed_close,
                                          .xFilter = feed_filter,
                                          .xNext = feed_next,
                                          .xEof = feed_end,
                                          .xColumn = feed_column,
                                          .xRowid = feed_rowid};
    return sqlite3_create_module_v2(db->handle, name, &module, feed, NULL) == SQLITE_OK ||
           db_fail(db, error);
}

void feed_clear(struct feed *feed) {
    free(feed->rows);
    *feed = (struct feed){0};
}

/* ---- writing ---- */

#define LOCK_SQL                                                                                   \
    "INSERT OR FAIL INTO locked(id, token, owner, stream, lane)"                                   \
    " SELECT id, token, owner, stream, lane_id FROM feed"

/* Most jobs leave the columns of the others to their defaults. */
static bool row_is_short(const struct job *job) {
    return job->due == TIME_NONE && !job->suspended && !job->exclusive && !job->batch &&
           !job->lane && !job->instance && !job->root && !job->activity && !job->tenant &&
           !job->term;
}

/* The transaction goes with any error: nothing need be kept to undo one statement alone. */
static bool flush_jobs(struct feed *feed, struct db *db, struct error *error) {
    bool brief = true;
    for (size_t i = 0; brief && i < feed->count; i++)
        brief = row_is_short(feed->rows[i].job);
    feed->from = 0;
    feed->to = feed->count;
    if (brief)
        return db_run(db, error,
                      "INSERT OR FAIL INTO job(id, stream, priority, created, place, retries,"
                      " payload) SELECT id, stream, priority, created, place, retries, payload"
                      " FROM feed",
                      "");
    return db_run(db, error,
                  "INSERT OR FAIL INTO job(id, stream, priority, due, created, place, retries,"
                  " suspended, lane, lane_key, instance, root, activity, tenant, batch, payload,"
                  " term) SELECT id, stream, priority, due, created, place, retries, suspended,"
                  " lane, lane_key, instance, root, activity, tenant, batch, payload, term"
                  " FROM feed",
                  "");
}

/* Ready ones, timers, those that are locked already, and suspended ones, which have no narrow row.
 */
enum kind { KIND_READY, KIND_TIMER, KIND_LOCKED, KIND_NONE };

static enum kind row_kind(const struct job *job) {
    return job->state == JOB_READY       ? KIND_READY
           : job->state == JOB_SCHEDULED ? KIND_TIMER
           : job->state == JOB_LOCKED    ? KIND_LOCKED
                                         : KIND_NONE;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* In the order of the keys of `ready`, `timer` and `locked`. */
static int row_compare(const void *left, const void *right) {
    const struct feed_row *a = left, *b = right;
    enum kind kind = row_kind(a->job);
    int order = ORDER(kind, row_kind(b->job));
    if (order == 0 && kind == KIND_TIMER)
        order = ORDER(a->job->due, b->job->due);
    if (order == 0 && kind == KIND_READY)
        order = ORDER(a->job->stream, b->job->stream);
    if (order == 0 && kind == KIND_READY)
        order = ORDER(~a->job->priority, ~b->job->priority);
    if (order == 0 && kind == KIND_READY)
        order = ORDER(a->place, b->place);
    return order ? order : ORDER(a->job->id, b->job->id);
}

static bool flush_kind(struct feed *feed, struct db *db, enum kind kind, const char *sql,
                       struct error *error) {
    feed->from = feed->to;
    while (feed->to < feed->count && row_kind(feed->rows[feed->to].job) == kind)
        feed->to++;
    return feed->from == feed->to || db_run(db, error, sql, "");
}

static bool flush_places(struct feed *feed, struct db *db, struct error *error) {
    qsort(feed->rows, feed->count, sizeof *feed->rows, row_compare);
    feed->to = 0;
    return flush_kind(feed, db, KIND_READY,
                      "INSERT OR FAIL INTO ready(stream, rank, place, id, lane)"
                      " SELECT stream, rank, place, id, lane_id FROM feed",
                      error) &&
           flush_kind(feed, db, KIND_TIMER,
                      "INSERT OR FAIL INTO timer(due, id, stream, rank, lane)"
                      " SELECT due, id, stream, rank, lane_id FROM feed",
                      error) &&
           flush_kind(feed, db, KIND_LOCKED, LOCK_SQL, error);
}

bool feed_flush(struct feed *feed, struct db *db, bool done, struct error *error) {
    if (done && feed->count)
        done = flush_jobs(feed, db, error) && CRASH_POINT("feed_inserted") &&
               flush_places(feed, db, error) && CRASH_POINT("feed_placed");
    feed->count = 0;
    return done;
}

bool feed_lock(struct feed *feed, struct db *db, struct error *error) {
    const struct job *one = feed->count == 1 ? feed->rows[0].job : NULL;
    feed->from = 0;
    feed->to = feed->count;
    feed->count = 0;
    if (one)
        return db_run(db, error,
                      "INSERT INTO locked(id, token, owner, stream, lane)"
                      " VALUES(?1, ?2, ?3, ?4, ?5)",
                      "iiiiz", one->id, one->token, one->owner, one->stream, one->lane_id);
    return feed->from == feed->to || db_run(db, error, LOCK_SQL, "");
}

static bool feed_room(struct feed *feed, const struct db *db, struct error *error) {
    return feed->rows || (feed->rows = malloc(FEED_ROWS * sizeof *feed->rows)) ||
           error_set(error, ERROR_FAILED, "store \"%s\": out of memory", db->name);
}

bool feed_take(struct feed *feed, struct db *db, const struct job *job, struct error *error) {
    if (!feed_room(feed, db, error))
        return false;
    feed->rows[feed->count++] = (struct feed_row){.job = job};
    return feed->count < FEED_ROWS || feed_lock(feed, db, error);
}

bool feed_add(struct feed *feed, struct db *db, const struct job *job, time_ms place,
              struct error *error) {
    if (!feed_room(feed, db, error))
        return false;
    feed->rows[feed->count++] = (struct feed_row){.job = job, .place = place};
    return feed->count < FEED_ROWS || feed_flush(feed, db, true, error);
}

bool feed_settled(struct feed *feed, struct db *db, struct error *error) {
    feed->from = 0;
    feed->to = feed->count;
    feed->count = 0;
    return feed->from == feed->to ||
           db_run(db, error,
                  "INSERT OR FAIL INTO ended(job, stream, outcome, executor, started, at, retries,"
                  " attempt, result, created, due, priority, batch) SELECT id, stream, 1, owner,"
                  " started, ended, retries, attempt, result, created, due, priority, batch"
                  " FROM endings",
                  "");
}

bool feed_settle(struct feed *feed, struct db *db, const struct outcome *outcome,
                 struct error *error) {
    if (!feed_room(feed, db, error))
        return false;
    feed->rows[feed->count++] = (struct feed_row){.job = outcome->job, .outcome = outcome};
    return feed->count < FEED_ROWS || feed_settled(feed, db, error);
}
