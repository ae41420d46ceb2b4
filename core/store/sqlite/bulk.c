#include "store/sqlite/bulk.h"
#include "base/crash_point.h"
#include "store/rules/history.h"
#include "store/rules/places.h"
#include "store/sqlite/connection.h"
#include <stdlib.h>
#include <string.h>

enum { BULK_ROWS = 4096 };

/* ---- the virtual table ---- */

/* The fields of a job, by the names of the list, then what is made of them or of the outcome. lane:
 * as the job's row has it; lane_id: as the narrow rows have it. */
enum column {
    COLUMN_RANK = JOB_FIELD_COUNT,
    COLUMN_PLACE,
    COLUMN_LANE,
    COLUMN_PLAIN,
    COLUMN_STARTED,
    COLUMN_ENDED,
    COLUMN_RESULT
};

#define NAME(member, type, key, source, column, ...) #column ", "
#define COLUMNS                                                                                    \
    "CREATE TABLE bulk(" JOB_FIELDS(NAME) "rank, place, lane, plain, "                             \
                                          "started, ended, result)"

struct table {
    sqlite3_vtab base;
    const struct bulk *bulk;
};

struct cursor {
    sqlite3_vtab_cursor base;
    const struct bulk *bulk;
    size_t at;
};

static int bulk_connect(sqlite3 *handle, void *arg, int count, const char *const *words,
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
    table->bulk = arg;
    *made = &table->base;
    return SQLITE_OK;
}

static int bulk_disconnect(sqlite3_vtab *base) {
    free(base);
    return SQLITE_OK;
}

static int bulk_plan(sqlite3_vtab *base, sqlite3_index_info *plan) {
    (void)base;
    plan->estimatedCost = 1;
    return SQLITE_OK;
}

static int bulk_open(sqlite3_vtab *base, sqlite3_vtab_cursor **made) {
    struct cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    cursor->bulk = ((struct table *)base)->bulk;
    *made = &cursor->base;
    return SQLITE_OK;
}

static int bulk_close(sqlite3_vtab_cursor *base) {
    free(base);
    return SQLITE_OK;
}

static int bulk_filter(sqlite3_vtab_cursor *base, int number, const char *text, int count,
                       sqlite3_value **values) {
    (void)number;
    (void)text;
    (void)count;
    (void)values;
    struct cursor *cursor = (struct cursor *)base;
    cursor->at = cursor->bulk->from;
    return SQLITE_OK;
}

static int bulk_next(sqlite3_vtab_cursor *base) {
    ((struct cursor *)base)->at++;
    return SQLITE_OK;
}

static int bulk_end(sqlite3_vtab_cursor *base) {
    const struct cursor *cursor = (const struct cursor *)base;
    return cursor->at >= cursor->bulk->to;
}

static int bulk_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid) {
    *rowid = (sqlite3_int64)((struct cursor *)base)->at;
    return SQLITE_OK;
}

/* A column that gets no result is NULL. */
static void put_number(sqlite3_context *result, bool is_there, int64_t value) {
    if (is_there)
        sqlite3_result_int64(result, value);
}

static void put_field(sqlite3_context *result, const struct job *job,
                      const struct job_field *field) {
    int64_t number = job_field_number(job, field);
    switch (field->type) {
    case FIELD_TEXT:
        sqlite3_result_text(result, job_field_text(job, field), -1, SQLITE_STATIC);
        break;
    case FIELD_BLOB:
        if (job->payload)
            sqlite3_result_blob64(result, job->payload, job->payload_size, SQLITE_STATIC);
        break;
    case FIELD_TIME:
        put_number(result, number != TIME_NONE, number);
        break;
    case FIELD_ID:
        put_number(result, number != 0, number);
        break;
    case FIELD_NUMBER:
    case FIELD_COUNT:
    case FIELD_FLAG:
    case FIELD_KIND:
    case FIELD_STATE:
    case FIELD_MASK:
        put_number(result, true, number);
        break;
    }
}

static void put_made(sqlite3_context *result, const struct bulk_row *row, enum column column) {
    const struct job *job = row->job;
    switch (column) {
    case COLUMN_RANK:
        put_number(result, true, ~job->priority);
        break;
    case COLUMN_PLACE:
        put_number(result, true, row->place);
        break;
    case COLUMN_LANE:
        put_number(result, job->exclusive, job->lane_id);
        break;
    case COLUMN_PLAIN:
        put_number(result, place_is_plain(job), 1);
        break;
    case COLUMN_STARTED:
        put_number(result, row->outcome->started != TIME_NONE, row->outcome->started);
        break;
    case COLUMN_ENDED:
        put_number(result, true, row->outcome->ended);
        break;
    case COLUMN_RESULT:
        sqlite3_result_text(result, row->outcome->result, -1, SQLITE_STATIC);
    }
}

static int bulk_column(sqlite3_vtab_cursor *base, sqlite3_context *result, int column) {
    const struct cursor *cursor = (const struct cursor *)base;
    const struct bulk_row *row = &cursor->bulk->rows[cursor->at];
    if (column < JOB_FIELD_COUNT)
        put_field(result, row->job, &job_fields[column]);
    else
        put_made(result, row, (enum column)column);
    return SQLITE_OK;
}

bool bulk_attach(struct bulk *bulk, struct db *db, const char *name, struct error *error) {
    static const sqlite3_module module = {.xConnect = bulk_connect,
                                          .xBestIndex = bulk_plan,
                                          .xDisconnect = bulk_disconnect,
                                          .xOpen = bulk_open,
                                          .xClose = bulk_close,
                                          .xFilter = bulk_filter,
                                          .xNext = bulk_next,
                                          .xEof = bulk_end,
                                          .xColumn = bulk_column,
                                          .xRowid = bulk_rowid};
    return sqlite3_create_module_v2(db->handle, name, &module, bulk, NULL) == SQLITE_OK ||
           db_fail(db, error);
}

void bulk_clear(struct bulk *bulk) {
    free(bulk->rows);
    *bulk = (struct bulk){0};
}

/* ---- writing ---- */

#define NO_TEXT(member, type, key, source, ...)                                                    \
    JOB_WRITTEN_##source(JOB_TEXTS_##type(!job->member &&))
#define COLUMN(member, type, key, source, column, ...) JOB_WRITTEN_##source(#column ", ")

/* True if the job leaves the other columns to their defaults, as most jobs do. */
static bool row_is_short(const struct job *job) {
    return JOB_FIELDS(NO_TEXT) job->due == TIME_NONE && !job->suspended && !job->exclusive &&
           !job->batch && !job->execution;
}

/* The transaction goes with any error: nothing need be kept to undo one statement alone. */
static bool flush_jobs(struct bulk *bulk, struct db *db, struct error *error) {
    bool is_short = true;
    for (size_t i = 0; is_short && i < bulk->count; i++)
        is_short = row_is_short(bulk->rows[i].job);
    bulk->from = 0;
    bulk->to = bulk->count;
    if (is_short)
        return db_run(db, error,
                      "INSERT OR FAIL INTO job(id, stream, priority, created, place, retries,"
                      " payload) SELECT id, stream, priority, created, place, retries, payload"
                      " FROM bulk",
                      "");
    return db_run(db, error,
                  "INSERT OR FAIL INTO job(" JOB_FIELDS(COLUMN) "place, lane) SELECT " JOB_FIELDS(
                      COLUMN) "place, lane FROM bulk",
                  "");
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

/* In the order of the keys of `ready`, `timer` and `locked`. */
static int row_compare(const void *left, const void *right) {
    const struct bulk_row *a = left, *b = right;
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

static bool flush_kind(struct bulk *bulk, struct db *db, enum kind kind, enum place_bulk table,
                       struct error *error) {
    bulk->from = bulk->to;
    while (bulk->to < bulk->count && row_kind(bulk->rows[bulk->to].job) == kind)
        bulk->to++;
    return bulk->from == bulk->to || place_bulk(db, table, error);
}

/* Most lists are in order as they come: all of one priority, and what is in no place. */
static bool in_order(const struct bulk *bulk) {
    for (size_t i = 1; i < bulk->count; i++)
        if (row_compare(&bulk->rows[i - 1], &bulk->rows[i]) > 0)
            return false;
    return true;
}

static bool flush_places(struct bulk *bulk, struct db *db, struct error *error) {
    if (!in_order(bulk))
        qsort(bulk->rows, bulk->count, sizeof *bulk->rows, row_compare);
    bulk->to = 0;
    return flush_kind(bulk, db, KIND_READY, BULK_READY, error) &&
           flush_kind(bulk, db, KIND_TIMER, BULK_TIMER, error) &&
           flush_kind(bulk, db, KIND_LOCKED, BULK_LOCKED, error);
}

bool bulk_write(struct bulk *bulk, struct db *db, bool done, struct error *error) {
    if (done)
        done = flush_jobs(bulk, db, error) && CRASH_POINT("feed_inserted") &&
               flush_places(bulk, db, error) && CRASH_POINT("feed_placed");
    bulk->count = 0;
    return done;
}

bool bulk_write_locks(struct bulk *bulk, struct db *db, struct error *error) {
    const struct job *one = bulk->count == 1 ? bulk->rows[0].job : NULL;
    bulk->from = 0;
    bulk->to = bulk->count;
    bulk->count = 0;
    return one ? place_lock_row(db, one, error) : place_bulk(db, BULK_LOCKED, error);
}

static bool bulk_room(struct bulk *bulk, const struct db *db, struct error *error) {
    return bulk->rows || (bulk->rows = malloc(BULK_ROWS * sizeof *bulk->rows)) ||
           db_no_memory(db, error);
}

bool bulk_take(struct bulk *bulk, struct db *db, const struct job *job, struct error *error) {
    if (!bulk_room(bulk, db, error))
        return false;
    bulk->rows[bulk->count++] = (struct bulk_row){.job = job};
    return bulk->count < BULK_ROWS || bulk_lock(bulk, db, error);
}

size_t bulk_show(struct bulk *bulk, const struct db *db, struct job *const *jobs, size_t count,
                 struct error *error) {
    if (!bulk_room(bulk, db, error))
        return 0;
    bulk->from = bulk->to = 0;
    for (; bulk->to < count && bulk->to < BULK_ROWS; bulk->to++)
        bulk->rows[bulk->to] = (struct bulk_row){.job = jobs[bulk->to]};
    return bulk->to;
}

bool bulk_add(struct bulk *bulk, struct db *db, const struct job *job, time_ms place,
              struct error *error) {
    if (!bulk_room(bulk, db, error))
        return false;
    bulk->rows[bulk->count++] = (struct bulk_row){.job = job, .place = place};
    return bulk->count < BULK_ROWS || bulk_flush(bulk, db, true, error);
}

bool bulk_has(const struct bulk *bulk, int64_t job) {
    for (size_t i = bulk->count; i > 0; i--)
        if (bulk->rows[i - 1].job->id == job)
            return true;
    return false;
}

static bool row_belongs(const struct job *job) {
    return job->instance || job->root || job->activity || job->tenant || job->lane;
}

/* How much a list of ends has to say; a list with one that says more is written with that. */
enum ending { ENDING_SHORT, ENDING_PLAIN, ENDING_WHOLE };

static enum ending row_ending(const struct bulk_row *row) {
    if (row_belongs(row->job))
        return ENDING_WHOLE;
    bool is_short = row->job->due == TIME_NONE && !row->job->batch && !row->outcome->result;
    return is_short ? ENDING_SHORT : ENDING_PLAIN;
}

#define ENDED "job, stream, outcome, executor, started, at, retries, attempt, created, priority"
#define ENDING "id, stream, 1, owner, started, ended, retries, attempt, created, priority"
#define MORE "result, due, batch"
#define INSERT_ENDED "INSERT OR FAIL INTO ended(" ENDED

/* Columns that are not named cost nothing, and most jobs need few. */
bool bulk_write_endings(struct bulk *bulk, struct db *db, struct error *error) {
    static const char *const sql[] = {
        [ENDING_SHORT] = INSERT_ENDED ") SELECT " ENDING " FROM endings",
        [ENDING_PLAIN] = INSERT_ENDED ", " MORE ") SELECT " ENDING ", " MORE " FROM endings",
        [ENDING_WHOLE] = INSERT_ENDED ", " MORE ", " BELONGS ") SELECT " ENDING ", " MORE
                                      ", " BELONGS_TO " FROM endings"};
    enum ending most = ENDING_SHORT;
    for (size_t i = 0; most < ENDING_WHOLE && i < bulk->count; i++) {
        enum ending ending = row_ending(&bulk->rows[i]);
        most = ending > most ? ending : most;
    }
    bulk->from = 0;
    bulk->to = bulk->count;
    bulk->count = 0;
    return db_run(db, error, sql[most], "");
}

bool bulk_settle(struct bulk *bulk, struct db *db, const struct outcome *outcome,
                 struct error *error) {
    if (!bulk_room(bulk, db, error))
        return false;
    bulk->rows[bulk->count++] = (struct bulk_row){.job = outcome->job, .outcome = outcome};
    return bulk->count < BULK_ROWS || bulk_settled(bulk, db, error);
}

/* ---- the transaction ---- */

/* Of the entries that are kept back the first one is written alone where its number is not simply
 * the next. */
static bool bulk_number(struct store *store, struct bulk *endings, struct error *error) {
    if (!store->meta.ended || !endings->count)
        return true;
    const struct outcome *first = endings->rows[0].outcome;
    memmove(endings->rows, endings->rows + 1, --endings->count * sizeof *endings->rows);
    return history_ended(store, first, ENDED_SUCCESSFUL, error);
}

static bool bulk_before_commit(struct store *store, struct error *error) {
    return bulk_number(store, &sqlite_of(store)->endings, error) &&
           bulk_flush(&sqlite_of(store)->bulk, &store->db, true, error) &&
           bulk_settled(&sqlite_of(store)->endings, &store->db, error);
}

static void bulk_rolled_back(struct store *store) {
    sqlite_of(store)->bulk.count = sqlite_of(store)->endings.count = 0;
}

const struct txn_hook bulk_hook = {.before_commit = bulk_before_commit,
                                   .rolled_back = bulk_rolled_back};
