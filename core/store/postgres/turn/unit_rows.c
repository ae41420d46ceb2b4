/* unit_rows.c - the rows that units leave (rules/ground/bulk_rows.h): a statement a kind, an array
 * a column. */
#include "store/postgres/db/array.h"
#include "store/postgres/db/driver.h"
#include "store/postgres/db/engine.h"
#include "store/rules/ask/processes.h"
#include "store/rules/ask/turns.h"
#include "store/rules/process/instance.h"
#include "store/rules/process/message.h"
#include "store/rules/process/past.h"
#include "store/rules/process/searched.h"
#include "store/rules/process/subscription.h"
#include "store/rules/process/turn.h"
#include "store/rules/process/user_task.h"
#include "store/rules/record/operation.h"
#include "store/rules/record/trail.h"
#include <string.h>

/* Arrays side by side become rows. */
#define EACH "unnest(?)"
#define EACH2 EACH ", " EACH
#define EACH4 EACH2 ", " EACH2

/* Rows that go are found one after the other by an index, as those of set.c are. */
#define ENDS(ends, table, keys, where)                                                             \
    ends " WHERE ctid=ANY(ARRAY(SELECT r.spot FROM (SELECT " keys ") AS k CROSS JOIN LATERAL"      \
         " (SELECT ctid AS spot FROM " table " WHERE " where " OFFSET 0) AS r))"
#define ALL_END(ends, table) ENDS(ends, table, EACH " AS instance", "instance=k.instance")
/* Not those of turns outside of its frame. */
#define FRAME_ENDS(ends, table)                                                                    \
    ENDS(ends, table, EACH " AS instance", "instance=k.instance AND token>=0")
#define ONE_ENDS(ends, table, column)                                                              \
    ENDS(ends, table, EACH " AS instance, " EACH " AS part",                                       \
         "instance=k.instance AND " column "=k.part")
#define SEARCHED(column)                                                                           \
    "INSERT INTO searched(instance, name, " column ") SELECT " EACH2 ", " EACH SEARCHED_AGAIN

/* clang-format off */
static const char *const kinds[] = {
    [ROWS_LOCK_ENDS] = ENDS("DELETE FROM locked", "locked",
                            EACH " AS id, " EACH " AS owner, " EACH " AS token",
                            "id=k.id AND owner=k.owner AND token=k.token"),
    [ROWS_INSTANCE] = "INSERT INTO instance(" INSTANCE_COLUMNS ") SELECT " EACH4 ", " EACH4 ", "
                      EACH,
    [ROWS_PAST] = "INSERT INTO past(" PAST_COLUMNS ") SELECT id, version, root, parent,"
                  " coalesce(started, (SELECT i.started FROM instance AS i WHERE i.id=k.id)),"
                  " ended, how, reason, key, tenant, variables, ended+(SELECT coalesce(v.ttl, k.ttl)"
                  " FROM process_version AS v WHERE v.id=k.version) FROM (SELECT " EACH " AS id, "
                  EACH " AS version, " EACH " AS root, " EACH " AS parent, " EACH " AS started, "
                  EACH " AS ended, " EACH " AS how, " EACH " AS reason, " EACH " AS key, "
                  EACH " AS tenant, " EACH " AS variables, " EACH " AS ttl) AS k",
    [ROWS_INSTANCE_ENDS] = ENDS("DELETE FROM instance", "instance", EACH " AS id", "id=k.id"),
    [ROWS_TURN_ENDS] = ENDS("DELETE FROM body_turn", "body_turn", EACH " AS id", "id=k.id"),
    [ROWS_TURN] = "INSERT INTO body_turn(id, body, rev, frame) SELECT " EACH4,
    [ROWS_SUBSCRIPTIONS_END] = FRAME_ENDS("DELETE FROM subscription", "subscription"),
    [ROWS_SUBSCRIPTION_ENDS] = ONE_ENDS("DELETE FROM subscription", "subscription", "token"),
    [ROWS_TASKS_END] = FRAME_ENDS("DELETE FROM user_task", "user_task"),
    [ROWS_TASK_ENDS] = ONE_ENDS("DELETE FROM user_task", "user_task", "token"),
    [ROWS_SEARCHED_END] = ALL_END("DELETE FROM searched", "searched"),
    [ROWS_SEARCHED_ENDS] = ONE_ENDS("DELETE FROM searched", "searched", "name"),
    [ROWS_VALUES_END] = ALL_END("DELETE FROM large_value", "large_value"),
    [ROWS_VALUE_ENDS] = ONE_ENDS("DELETE FROM large_value", "large_value", "n"),
    [ROWS_SUBSCRIPTION] = "INSERT INTO subscription(" SUBSCRIPTION_COLUMNS ") SELECT " EACH4 ", "
                          EACH4 ", " EACH " ON CONFLICT DO NOTHING",
    [ROWS_TASK] = "INSERT INTO user_task(" TASK_COLUMNS ") SELECT " EACH4 ", " EACH4 ", " EACH4,
    [ROWS_SEARCHED_TEXT] = SEARCHED("text"),
    [ROWS_SEARCHED_NUMBER] = SEARCHED("number"),
    [ROWS_SEARCHED_WHOLE] = SEARCHED("whole"),
    [ROWS_VALUE] = "INSERT INTO large_value(instance, n, name, data) SELECT " EACH4,
    [ROWS_TRAIL] = "INSERT INTO trail(" TRAIL_COLUMNS ") SELECT " EACH4,
    [ROWS_OPERATION] = "INSERT INTO operation(" OPERATION_COLUMNS ") SELECT " EACH4 ", " EACH4 ", "
                       EACH2,
    [ROWS_KEPT] = "INSERT INTO kept_message(" KEPT_COLUMNS ") SELECT " EACH4 ", " EACH4 ", " EACH,
};

#define MESSAGES                                                                                   \
    "(SELECT " EACH " AS at, " EACH " AS name, " EACH " AS key, " EACH " AS instance, " EACH       \
    " AS token, " EACH " AS business) AS k"

/* What waits is found first, whatever the planner knows of the tables. */
#define FOUND(waiting)                                                                             \
    " FROM (" waiting ") AS s CROSS JOIN LATERAL"                                                  \
    " (SELECT key FROM process_version WHERE id=s.version OFFSET 0) AS v"

static const char *const questions[] = {
    [ASKED_FRAMES] = "SELECT f.*, k.at FROM (SELECT " EACH " AS at, " EACH " AS id) AS k CROSS JOIN"
                     " LATERAL (SELECT " FRAME_COLUMNS FRAME_FROM "k.id OFFSET 0) AS f",
    [ASKED_TURNS] = "SELECT t.*, k.at FROM (SELECT " EACH " AS at, " EACH " AS id, " EACH
                    " AS instance) AS k CROSS JOIN LATERAL (SELECT " TURN_COLUMNS
                    TURN_FROM("k.id", "k.instance") " OFFSET 0) AS t",
    [ASKED_TASKS] = "SELECT t.*, k.at FROM (SELECT " EACH " AS at, " EACH " AS id) AS k CROSS JOIN"
                    " LATERAL (SELECT " TASK_SEEN "id=k.id OFFSET 0) AS t",
    [ASKED_TWINS] = "SELECT t.id, k.at FROM (SELECT " EACH " AS at, " EACH " AS version, " EACH
                    " AS key, " EACH " AS tenant) AS k CROSS JOIN LATERAL (SELECT key FROM"
                    " process_version WHERE id=k.version OFFSET 0) AS v CROSS JOIN LATERAL ("
                    INSTANCE_TWIN("v.key", "k.key", "k.tenant") ") AS t",
    [ASKED_WAITING] = "SELECT r.*, k.at FROM " MESSAGES " CROSS JOIN LATERAL (SELECT "
                      RECEIVER_COLUMNS FOUND(WAITING("k.name", "k.key", "k.instance", "k.business"))
                      " CROSS JOIN LATERAL (SELECT key FROM instance WHERE id=s.instance OFFSET 0)"
                      " AS i WHERE (k.token=0 OR s.token=k.token)"
                      " AND " OPEN_TOKEN("s.token") " LIMIT 100) AS r",
    [ASKED_STARTING] = "SELECT r.*, k.at FROM " MESSAGES " CROSS JOIN LATERAL (SELECT "
                       STARTING_COLUMNS FOUND(WAITING_FOR("k.name", "k.key", "instance=0"))
                       " WHERE k.instance=0 LIMIT 100) AS r",
    [ASKED_SIGNALS] = "SELECT k.at FROM (SELECT " EACH " AS at, " EACH " AS name) AS k CROSS JOIN"
                      " LATERAL (SELECT 1 FROM subscription WHERE kind='signal' AND name=k.name"
                      " LIMIT 1) AS s",
};
/* clang-format on */

static enum array_type type_of(char letter) {
    if (letter == 't')
        return ARRAY_TEXT;
    return letter == 'd' ? ARRAY_FLOAT8 : ARRAY_INT8;
}

static void add(struct array *array, char letter, const union unit_cell *cell) {
    bool none = (letter == 't' && !cell->text) || (letter == 'z' && cell->number == 0) ||
                (letter == 'T' && cell->number == TIME_NONE);
    if (none)
        array_add_null(array);
    else if (letter == 't')
        array_add_bytes(array, cell->text, strlen(cell->text));
    else if (letter == 'd')
        array_add_real(array, cell->real);
    else
        array_add_int(array, cell->number);
}

/* False: no memory. */
static bool bind_column(struct row *row, int at, const struct kept_rows *rows) {
    const size_t columns = strlen(rows->letters);
    struct array array;
    array_begin(&array, type_of(rows->letters[at]));
    for (size_t i = 0; i < rows->count; i++)
        add(&array, rows->letters[at], &rows->cells[i * columns + (size_t)at]);
    array_end(&array);
    const bool bound = statement_bind_array(row, at, &array);
    array_clear(&array);
    return bound;
}

/* NULL: error. */
static struct row *bound(struct store *store, const char *sql, const struct kept_rows *rows,
                         struct error *error) {
    struct row *row = db_query(&store->db, error, sql, "");
    for (int at = 0; row && rows->letters[at]; at++)
        if (!bind_column(row, at, rows))
            return error_null(db_no_memory(&store->db, error));
    return row;
}

struct row *postgres_asked_rows(struct store *store, enum asked_rows kind,
                                const struct kept_rows *rows, struct error *error) {
    return bound(store, questions[kind], rows, error);
}

bool postgres_unit_rows(struct store *store, enum unit_rows kind, const struct kept_rows *rows,
                        struct error *error) {
    struct row *row = bound(store, kinds[kind], rows, error);
    return row && (kind == ROWS_LOCK_ENDS ? db_run_counted(&store->db, row, (int)rows->count, error)
                                          : db_run_row(&store->db, row, error));
}
