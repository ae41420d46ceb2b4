/* bulk.c - the rows that a bulk keeps (rules/record/bulk.h), written as a set: an array a column.
 */
#include "store/rules/record/bulk.h"
#include "store/postgres/db/array.h"
#include "store/postgres/db/driver.h"
#include "store/postgres/turn/lock_page.h"
#include "store/rules/record/history.h"
#include "store/rules/record/incident.h"
#include <stdlib.h>

#define F(member) JOB_FIELD_##member
#define INDEX(member, type, key, source, ...) JOB_WRITTEN_##source(F(member), )
#define COLUMN(member, type, key, source, column, ...) JOB_WRITTEN_##source(#column ", ")
#define MARK(member, type, key, source, ...) JOB_WRITTEN_##source("unnest(?), ")

/* clang-format off */
static const int jobs_short[] = {F(id), F(stream), F(priority), F(created), BULK_PLACE, F(retries),
                                 F(payload), -1};
static const int jobs[] = {JOB_FIELDS(INDEX) BULK_PLACE, BULK_LANE, -1};
static const int ready[] = {F(stream), BULK_RANK, BULK_PLACE, F(id), F(lane_id), BULK_PLAIN, -1};
static const int timer[] = {F(due), F(id), F(stream), BULK_RANK, F(lane_id), -1};
static const int locked[] = {F(id), F(token), F(owner), F(stream), F(lane_id), F(until),
                             -1};
#define ENDED F(id), F(stream), F(owner), BULK_STARTED, BULK_ENDED, F(retries), F(attempt),        \
              F(created), F(priority)
#define MORE  BULK_RESULT, F(due), F(batch)
static const int taken[] = {F(stream), BULK_RANK, BULK_PLACE, F(id), -1};
static const int spots[] = {BULK_SPOT, -1};
static const int attempts[] = {F(id), F(attempt), BULK_ENDED, F(stream), F(owner), BULK_STARTED,
                               F(retries), F(due), F(priority), BULK_REASON, BULK_CAUSE, BULK_STACK,
                               F(batch), F(instance), F(root), F(activity), F(tenant), F(lane),
                               F(schedule), -1};
static const int failed[] = {F(id), BULK_LEFT, BULK_AGAIN, BULK_PLACE, BULK_MESSAGE, -1};
static const int failed_ready[] = {F(stream), BULK_RANK, BULK_PLACE, F(id), F(lane_id), -1};
static const int failed_timer[] = {BULK_AGAIN, F(id), F(stream), BULK_RANK, F(lane_id), -1};
static const int back[] = {F(id), -1};
static const int keys[] = {F(definition), F(unique_key), F(id), BULK_NOW, -1};
static const int incidents[] = {F(id), BULK_INCIDENT, BULK_NOW, -1};
static const int ended_short[] = {ENDED, -1};
static const int ended_plain[] = {ENDED, MORE, -1};
static const int ended_lane[] = {ENDED, F(lane), -1};
static const int ended_whole[] = {ENDED, MORE, F(instance), F(root), F(activity), F(tenant),
                                  F(lane), F(schedule), -1};

/* Arrays side by side become rows. In FROM they would be put aside as a table first. */
#define EACH       "unnest(?)"
#define EACH4      EACH ", " EACH ", " EACH ", " EACH
#define ENDED_EACH EACH4 ", " EACH4 ", " EACH
#define MORE_EACH  EACH ", " EACH ", " EACH
#define ENDED_COLUMNS "job, stream, executor, started, at, retries, attempt, created, priority"
#define INSERT_ENDED(more, each)                                                                   \
    "INSERT INTO ended(" ENDED_COLUMNS more ", outcome) SELECT " ENDED_EACH each ", 1"

/* The locks of a turn end together, before its outcomes are written. An outcome before a failure may
 * have removed the job that failed. */
#define STILL_THERE " WHERE (SELECT true FROM job WHERE id=k.id OFFSET 0)"

static const struct {
    const char *sql;
    const int *columns;
} kinds[] = {
    [BULK_JOBS_SHORT] = {"INSERT INTO job(id, stream, priority, created, place, retries, payload)"
                         " SELECT " EACH4 ", " MORE_EACH, jobs_short},
    [BULK_JOBS] = {"INSERT INTO job(" JOB_FIELDS(COLUMN) "place, lane)"
                   " SELECT " JOB_FIELDS(MARK) EACH ", " EACH, jobs},
    [BULK_READY] = {"INSERT INTO ready(stream, rank, place, id, lane, plain)"
                    " SELECT " EACH4 ", " EACH ", " EACH, ready},
    [BULK_TIMER] = {"INSERT INTO timer(due, id, stream, rank, lane) SELECT " EACH4 ", " EACH,
                    timer},
    [BULK_LOCKED] = {"INSERT INTO locked(id, token, owner, stream, lane, until) SELECT " EACH4 ", "
                     EACH ", " EACH, locked},
    [BULK_TAKEN] = {"DELETE FROM ready r USING unnest(?, ?, ?, ?) AS k(stream, rank, place, id)"
                    " WHERE r.stream=k.stream AND r.rank=k.rank AND r.place=k.place"
                    " AND r.id=k.id", taken},
    [BULK_TAKEN_SPOTS] = {"DELETE FROM ready WHERE ctid=ANY(?)", spots},
    [BULK_ENDED_SHORT] = {INSERT_ENDED("", ""), ended_short},
    [BULK_ENDED_PLAIN] = {INSERT_ENDED(", result, due, batch", ", " MORE_EACH), ended_plain},
    [BULK_ENDED_LANE] = {INSERT_ENDED(", lane_key", ", " EACH), ended_lane},
    [BULK_ENDED_WHOLE] = {INSERT_ENDED(", result, due, batch, " BELONGS,
                                       ", " MORE_EACH ", " EACH4 ", " EACH ", " EACH), ended_whole},
    [BULK_ATTEMPTS] = {"INSERT INTO attempt(" ATTEMPT ") SELECT " EACH4 ", " EACH4 ", " EACH4 ", "
                       EACH4 ", " EACH ", " EACH ", " EACH " " ATTEMPT_AGAIN, attempts},
    [BULK_FAILED] = {"UPDATE job SET retries=k.retries, due=k.due, place=k.place,"
                     " message=k.message, failed_activity=NULL, attempt=attempt+1, rev=rev+1 FROM"
                     " (SELECT " EACH " AS id, " EACH " AS retries, " EACH " AS due, " EACH
                     " AS place, " EACH " AS message) AS k CROSS JOIN LATERAL"
                     " (SELECT ctid AS spot FROM job WHERE id=k.id OFFSET 0) AS j"
                     " WHERE job.ctid=j.spot", failed},
    [BULK_FAILED_READY] = {"INSERT INTO ready(stream, rank, place, id, lane)"
                           " SELECT " EACH4 ", " EACH, failed_ready},
    [BULK_FAILED_TIMER] = {"INSERT INTO timer(due, id, stream, rank, lane)"
                           " SELECT " EACH4 ", " EACH, failed_timer},
    [BULK_BACK] = {"INSERT INTO ready(stream, rank, place, id, lane) SELECT j.* FROM (SELECT " EACH
                   " AS id) AS k CROSS JOIN LATERAL (SELECT stream, ~priority, place, id,"
                   " nullif(lane, 0) FROM job WHERE id=k.id OFFSET 0) AS j", back},
    [BULK_KEYS] = {"DELETE FROM unique_key WHERE ctid=ANY(ARRAY(SELECT u.spot FROM (SELECT " EACH
                   " AS definition, " EACH " AS key, " EACH " AS job, " EACH " AS now) AS k"
                   " CROSS JOIN LATERAL (SELECT ctid AS spot FROM unique_key"
                   " WHERE definition=k.definition AND key=k.key AND job=k.job"
                   " AND (until IS NULL OR until<=k.now) OFFSET 0) AS u))", keys},
    [BULK_INCIDENTS] = {"INSERT INTO incident(" INCIDENT_COLUMNS ") SELECT i.* FROM (SELECT " EACH
                        " AS job, " EACH " AS type, " EACH " AS now) AS k CROSS JOIN LATERAL"
                        " (" INCIDENT_OF ", k.type, k.job, k.now"
                        INCIDENT_FROM("k.job") " OFFSET 0) AS i", incidents},
};
/* clang-format on */

static bool is_text(int column) {
    static const int texts[] = {BULK_RESULT, BULK_MESSAGE, BULK_CAUSE, BULK_STACK, BULK_INCIDENT};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] == column)
            return true;
    return false;
}

static enum array_type column_type(int column) {
    if (is_text(column))
        return ARRAY_TEXT;
    if (column == BULK_SPOT)
        return ARRAY_TID;
    if (column >= JOB_FIELD_COUNT)
        return ARRAY_INT8;
    enum field_type type = job_fields[column].type;
    if (type == FIELD_TEXT)
        return ARRAY_TEXT;
    return type == FIELD_BLOB ? ARRAY_BYTEA : ARRAY_INT8;
}

static void add_value(struct array *array, const struct bulk_value *value) {
    switch (value->type) {
    case BULK_NULL:
        array_add_null(array);
        break;
    case BULK_NUMBER:
        array_add_int(array, value->number);
        break;
    case BULK_TEXT:
    case BULK_BLOB:
        array_add_bytes(array, value->data, value->size);
        break;
    }
}

/* Fills one column from all rows, and binds it. False: no memory. */
static bool bind_column(struct row *row, int at, const struct bulk *bulk, int column) {
    struct array array;
    array_begin(&array, column_type(column));
    for (size_t i = bulk->from; i < bulk->to; i++) {
        const struct bulk_value value = bulk_value(&bulk->rows[i], column);
        add_value(&array, &value);
    }
    array_end(&array);
    const bool bound = statement_bind_array(row, at, &array);
    array_clear(&array);
    return bound;
}

bool postgres_bulk(struct store *store, struct bulk *bulk, enum bulk_kind kind,
                   struct error *error) {
    if (kind == BULK_LOCKED && lock_page_fits(store, bulk))
        return lock_page_write(store, bulk, error);
    const int *columns = kinds[kind].columns;
    struct row *row = db_query(&store->db, error, kinds[kind].sql, "");
    bool done = row != NULL;
    int count = 0;
    for (; done && columns[count] >= 0; count++)
        done = bind_column(row, count, bulk, columns[count]) || db_no_memory(&store->db, error);
    bool counted = kind == BULK_TAKEN || kind == BULK_TAKEN_SPOTS;
    return done && (counted ? db_run_counted(&store->db, row, bulk_ready(bulk), error)
                            : db_run_row(&store->db, row, error));
}
