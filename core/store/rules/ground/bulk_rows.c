#include "store/rules/ground/bulk_rows.h"
#include "store/rules/ground/state.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 4096, BYTES_MOST = 8 << 20 }; /* rows of a kind, and texts of all, at once */

/* Which kept rows of its table a row must come behind, and which of those that follow must come
 * behind it: all of its instance, the one that the second value tells apart, or none. */
enum { NO_ROW = 0, ALL_ROWS = 1, ONE_ROW = 2, BOTH = ALL_ROWS | ONE_ROW };

/* `live` and its like look at locks. */
static const char *const tables[] = {
    "instance",    "past",    "subscription", "user_task",    "searched",
    "large_value", "trail",   "operation",    "locked",       "locks",
    "live",        "counted", "body_turn",    "kept_message", NULL};
enum {
    INSTANCE,
    PAST,
    SUBSCRIPTION,
    TASK,
    SEARCHED,
    VALUE,
    TRAIL,
    OPERATION,
    LOCKED,
    TURN = 12,
    KEPT
};

static const struct {
    int table;
    int behind; /* it must come behind these if they are kept */
    int before; /* these must come behind it */
} kinds[] = {
    [ROWS_LOCK_ENDS] = {LOCKED, NO_ROW, NO_ROW},
    [ROWS_INSTANCE] = {INSTANCE, NO_ROW, NO_ROW},
    [ROWS_PAST] = {PAST, NO_ROW, NO_ROW},
    [ROWS_INSTANCE_ENDS] = {INSTANCE, NO_ROW, NO_ROW}, /* it is behind in the order */
    [ROWS_TURN_ENDS] = {TURN, ALL_ROWS, NO_ROW},
    [ROWS_TURN] = {TURN, NO_ROW, ALL_ROWS},
    [ROWS_SUBSCRIPTIONS_END] = {SUBSCRIPTION, ALL_ROWS, NO_ROW},
    [ROWS_SUBSCRIPTION_ENDS] = {SUBSCRIPTION, ONE_ROW, NO_ROW},
    [ROWS_TASKS_END] = {TASK, ALL_ROWS, NO_ROW},
    [ROWS_TASK_ENDS] = {TASK, ONE_ROW, NO_ROW},
    [ROWS_SEARCHED_END] = {SEARCHED, ALL_ROWS, NO_ROW},
    [ROWS_SEARCHED_ENDS] = {SEARCHED, ONE_ROW, NO_ROW},
    [ROWS_VALUES_END] = {VALUE, ALL_ROWS, NO_ROW},
    [ROWS_VALUE_ENDS] = {VALUE, ONE_ROW, NO_ROW},
    [ROWS_SUBSCRIPTION] = {SUBSCRIPTION, NO_ROW, BOTH},
    [ROWS_TASK] = {TASK, NO_ROW, BOTH},
    [ROWS_SEARCHED_TEXT] = {SEARCHED, ONE_ROW, BOTH},
    [ROWS_SEARCHED_NUMBER] = {SEARCHED, ONE_ROW, BOTH},
    [ROWS_SEARCHED_WHOLE] = {SEARCHED, ONE_ROW, BOTH},
    [ROWS_VALUE] = {VALUE, NO_ROW, BOTH},
    [ROWS_TRAIL] = {TRAIL, NO_ROW, NO_ROW},
    [ROWS_OPERATION] = {OPERATION, NO_ROW, NO_ROW},
    [ROWS_KEPT] = {KEPT, NO_ROW, NO_ROW},
};

/* ---- writing ---- */

static void forget(struct store *store) {
    struct unit_rows_kept *kept = &store->unit_rows;
    for (size_t kind = 0; kind < UNIT_ROWS; kind++)
        kept->of[kind].count = 0;
    if (kept->marked)
        memset(kept->bits, 0, sizeof kept->bits);
    kept->marked = false;
    kept->bytes = 0;
    store->db.keeps[KEEPS_UNITS] = NULL;
}

static bool flush(struct store *store, struct error *error) {
    const struct kept_rows *of = store->unit_rows.of;
    bool done = true;
    if (!store->db.keeps[KEEPS_UNITS])
        return true;
    store->db.keeps[KEEPS_UNITS] = NULL;
    for (size_t kind = 0; done && kind < UNIT_ROWS; kind++)
        if (of[kind].count)
            done = store->engine->unit_rows(store, (enum unit_rows)kind, &of[kind], error);
    forget(store);
    return done;
}

static bool write_kept(struct db *db, struct error *error) {
    return flush((struct store *)((char *)db - offsetof(struct store, db)), error);
}

static const struct db_keeps keeps = {tables, write_kept};

/* ---- what is kept ---- */

static uint64_t mixed(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t mixed_text(uint64_t hash, const char *text) {
    for (; text && *text; text++)
        hash = mixed(hash, (unsigned char)*text);
    return hash;
}

/* The bits of a row: for all of its instance, and its own. Two rows may have the same one: then
 * what is kept is written too early, which changes nothing. */
struct row_bits {
    size_t all, one;
};

static struct row_bits bits_of(enum unit_rows kind, const char *letters,
                               const union unit_cell *cells) {
    const uint64_t all = mixed((uint64_t)kinds[kind].table, (uint64_t)cells[0].number);
    uint64_t one = mixed(all, 1);
    if (letters[1] == 't')
        one = mixed_text(one, cells[1].text);
    else if (letters[1])
        one = mixed(one, (uint64_t)cells[1].number);
    return (struct row_bits){all >> (64 - ROW_BITS), one >> (64 - ROW_BITS)};
}

static bool has_bit(const struct unit_rows_kept *kept, size_t bit) {
    return kept->bits[bit / 64] >> bit % 64 & 1;
}

static void set_bit(struct unit_rows_kept *kept, size_t bit) {
    kept->bits[bit / 64] |= (uint64_t)1 << bit % 64;
    kept->marked = true;
}

static bool must_wait(const struct unit_rows_kept *kept, int behind, struct row_bits bits) {
    return (behind & ALL_ROWS && has_bit(kept, bits.all)) ||
           (behind & ONE_ROW && has_bit(kept, bits.one));
}

static void mark(struct unit_rows_kept *kept, int before, struct row_bits bits) {
    if (before & ALL_ROWS)
        set_bit(kept, bits.all);
    if (before & ONE_ROW)
        set_bit(kept, bits.one);
}

/* ---- keeping ---- */

static bool make_room(struct kept_rows *rows, size_t columns) {
    if (rows->count < rows->room)
        return true;
    size_t room = rows->room ? 2 * rows->room : 64;
    union unit_cell *cells = realloc(rows->cells, room * columns * sizeof *cells);
    if (!cells)
        return false;
    rows->cells = cells;
    rows->room = room;
    return true;
}

static void read_cells(union unit_cell *cell, const char *letters, va_list values) {
    for (; *letters; letters++, cell++)
        if (*letters == 'd')
            cell->real = va_arg(values, double);
        else if (*letters == 't')
            cell->text = va_arg(values, const char *);
        else
            cell->number = va_arg(values, int64_t);
}

/* Makes the texts lasting; NULL stays NULL. */
static bool keep_texts(struct store *store, union unit_cell *cell, const char *letters,
                       struct error *error) {
    for (; *letters; letters++, cell++) {
        if (*letters != 't' || !cell->text)
            continue;
        store->unit_rows.bytes += strlen(cell->text);
        cell->text = txn_text(store, cell->text, error).text;
        if (!cell->text)
            return false;
    }
    return true;
}

static bool keep(struct store *store, enum unit_rows kind, const char *letters, va_list values,
                 struct error *error) {
    struct unit_rows_kept *kept = &store->unit_rows;
    struct kept_rows *rows = &kept->of[kind];
    const size_t columns = strlen(letters);
    union unit_cell cells[UNIT_COLUMNS];
    read_cells(cells, letters, values);
    const struct row_bits bits = bits_of(kind, letters, cells);
    bool full = rows->count == ROWS_MOST || kept->bytes > BYTES_MOST;
    if ((full || must_wait(kept, kinds[kind].behind, bits)) && !flush(store, error))
        return false;
    if (!make_room(rows, columns))
        return db_no_memory(&store->db, error);
    if (!keep_texts(store, cells, letters, error))
        return false;
    memcpy(rows->cells + rows->count++ * columns, cells, columns * sizeof *cells);
    mark(kept, kinds[kind].before, bits);
    rows->letters = letters;
    store->db.keeps[KEEPS_UNITS] = &keeps;
    return true;
}

bool unit_row(struct store *store, struct error *error, enum unit_rows kind, const char *sql,
              const char *letters, ...) {
    va_list values;
    va_start(values, letters);
    bool done = store->engine->sets ? keep(store, kind, letters, values, error)
                                    : db_run_list(&store->db, error, sql, letters, values);
    va_end(values);
    return done;
}

void unit_rows_clear(struct store *store) {
    for (size_t kind = 0; kind < UNIT_ROWS; kind++)
        free(store->unit_rows.of[kind].cells);
    store->unit_rows = (struct unit_rows_kept){0};
}

const struct txn_hook unit_rows_hook = {.flush = flush, .drop = forget, .parts = true};
