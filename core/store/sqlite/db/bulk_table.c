#include "store/sqlite/db/bulk_table.h"
#include "store/rules/place/places.h"
#include "store/rules/record/bulk.h"
#include "store/rules/record/history.h"
#include "store/sqlite/db/connection.h"
#include <stdlib.h>

/* ---- the virtual table ---- */

#define NAME(member, type, key, source, column, ...) #column ", "
#define COLUMNS                                                                                    \
    "CREATE TABLE bulk(" JOB_FIELDS(NAME) "rank, place, lane, plain, spot, "                       \
                                          "started, ended, result)"
_Static_assert(BULK_RESULT == JOB_FIELD_COUNT + 7, "COLUMNS names those of enum bulk_column");

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
static int bulk_column(sqlite3_vtab_cursor *base, sqlite3_context *result, int column) {
    const struct cursor *cursor = (const struct cursor *)base;
    const struct bulk_value value = bulk_value(&cursor->bulk->rows[cursor->at], column);
    switch (value.type) {
    case BULK_NULL:
        break;
    case BULK_NUMBER:
        sqlite3_result_int64(result, value.number);
        break;
    case BULK_TEXT:
        sqlite3_result_text(result, value.data, (int)value.size, SQLITE_STATIC);
        break;
    case BULK_BLOB:
        sqlite3_result_blob64(result, value.data, value.size, SQLITE_STATIC);
        break;
    }
    return SQLITE_OK;
}

bool bulk_table_attach(struct bulk *bulk, struct db *db, const char *name, struct error *error) {
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

/* ---- what reads it ---- */

#define COLUMN(member, type, key, source, column, ...) JOB_WRITTEN_##source(#column ", ")
#define ENDED "job, stream, outcome, executor, started, at, retries, attempt, created, priority"
#define ENDING "id, stream, 1, owner, started, ended, retries, attempt, created, priority"
#define MORE "result, due, batch"
#define INSERT_ENDED "INSERT OR FAIL INTO ended(" ENDED

/* True if the locks are of one owner, and have neither lanes nor ends of their own, as most. */
static bool locks_are_short(const struct bulk *bulk) {
    const int64_t owner = bulk->rows[bulk->from].job->owner;
    for (size_t i = bulk->from; i < bulk->to; i++) {
        const struct job *job = bulk->rows[i].job;
        if (job->lane_id || job->until || job->owner != owner)
            return false;
    }
    return true;
}

/* Columns that are not named cost nothing, and most jobs need few. */
bool bulk_table_write(struct store *store, struct bulk *bulk, enum bulk_kind kind,
                      struct error *error) {
    static const char *const sql[] = {
        [BULK_JOBS_SHORT] = "INSERT OR FAIL INTO job(id, stream, priority, created, place, retries,"
                            " payload) SELECT id, stream, priority, created, place, retries,"
                            " payload FROM bulk",
        [BULK_JOBS] = "INSERT OR FAIL INTO job(" JOB_FIELDS(
            COLUMN) "place, lane) SELECT " JOB_FIELDS(COLUMN) "place, lane FROM bulk",
        [BULK_READY] = "INSERT OR FAIL INTO ready(stream, rank, place, id, lane, plain)"
                       " SELECT stream, rank, place, id, lane_id, plain FROM bulk",
        [BULK_TIMER] = "INSERT OR FAIL INTO timer(due, id, stream, rank, lane)"
                       " SELECT due, id, stream, rank, lane_id FROM bulk",
        [BULK_LOCKED] = "INSERT OR FAIL INTO locked(id, token, owner, stream, lane, until)"
                        " SELECT id, token, owner, stream, lane_id, until FROM bulk",
        [BULK_ENDED_SHORT] = INSERT_ENDED ") SELECT " ENDING " FROM endings",
        [BULK_ENDED_PLAIN] = INSERT_ENDED ", " MORE ") SELECT " ENDING ", " MORE " FROM endings",
        [BULK_ENDED_LANE] = INSERT_ENDED ", lane_key) SELECT " ENDING ", lane_key FROM endings",
        [BULK_ENDED_WHOLE] = INSERT_ENDED ", " MORE ", " BELONGS ") SELECT " ENDING ", " MORE
                                          ", " BELONGS_TO " FROM endings"};
    if (kind == BULK_LOCKED && locks_are_short(bulk)) /* the tables read the rest */
        return db_run(&store->db, error,
                      "INSERT OR FAIL INTO locked(id, token, owner, stream)"
                      " SELECT id, token, ?1, stream FROM bulk",
                      "i", bulk->rows[bulk->from].job->owner);
    return db_run(&store->db, error, sql[kind], "");
}

size_t bulk_table_show(struct bulk *bulk, struct job *const *jobs, size_t count,
                       struct error *error) {
    if (!bulk_room(bulk, error))
        return 0;
    bulk->from = bulk->to = 0;
    for (; bulk->to < count && bulk->to < BULK_ROWS; bulk->to++)
        bulk->rows[bulk->to] = (struct bulk_row){.job = jobs[bulk->to]};
    return bulk->to;
}
