/* due.c - an operator sets a due date, or has it counted anew (rules §11, §14). */
#include "base/span.h"
#include "store/sqlite/cycle.h"
#include "store/sqlite/verb.h"

bool due_check(struct store *store, const struct verb *verb, const struct row *row,
               struct error *error) {
    (void)store, (void)verb;
    return !row->repeats || row->due != TIME_NONE ||
           error_set(error, ERROR_CONFLICT, "job %lld has no due date to move its cycle from",
                     (long long)row->id);
}

static bool due_apply(struct store *store, const struct verb *verb, struct row *row,
                      struct error *error) {
    struct row old = *row;
    row->due = verb->due;
    return (!verb->cascade || !row->repeats ||
            cycle_shift(store, row->id, row->due - old.due, error)) &&
           verb_move(store, &old, row, verb->now, error);
}

static void due_show(const struct row *row, char *text) {
    time_format(row->due, text);
}

bool store_set_due(struct store *store, struct ids ids, time_ms due, bool cascade, time_ms now,
                   struct error *error) {
    due = row_due(store, due, now);
    if (cascade && due == TIME_NONE)
        return error_set(error, ERROR_INVALID, "cascade: expected a due date");
    return verb_run(store,
                    &(struct verb){.name = "set_due",
                                   .check = cascade ? due_check : NULL,
                                   .apply = due_apply,
                                   .show = due_show,
                                   .due = due,
                                   .cascade = cascade,
                                   .now = now},
                    ids, error);
}

/* ---- due dates, evaluated again ---- */

bool due_again_check(struct store *store, const struct verb *verb, const struct row *row,
                     struct error *error) {
    (void)verb;
    const struct catalog_stream *stream = catalog_stream(&store->catalog, row->stream);
    return (stream && stream->type == JOB_TIMER) ||
           error_set(error, ERROR_CONFLICT, "job %lld is no timer", (long long)row->id);
}

/* The date or duration that a timer was created with, counted from `from`. */
static bool again_term(struct store *store, int64_t id, time_ms from, time_ms *due,
                       struct error *error) {
    struct span span = {0};
    sqlite3_stmt *row =
        db_query(&store->db, error, "SELECT term FROM job WHERE id=?1 AND term NOT NULL", "i", id);
    int step = row ? db_step(&store->db, row, error) : -1;
    if (step <= 0)
        return step == 0 &&
               error_set(error, ERROR_CONFLICT,
                         "job %lld: what its due date came from is not known", (long long)id);
    const char *term = db_column_text(row, 0);
    bool relative = *term == 'P';
    bool done = relative ? span_parse(term, &span, error) : time_parse(term, due, error);
    if (relative)
        *due = span_add(from, &span);
    sqlite3_reset(row);
    return done;
}

static bool again_apply(struct store *store, const struct verb *verb, struct row *row,
                        struct error *error) {
    struct row old = *row;
    time_ms from = verb->value ? row->created : verb->now;
    return (row->repeats ? cycle_resume(store, row->id, from, &row->due, error)
                         : again_term(store, row->id, from, &row->due, error)) &&
           verb_move(store, &old, row, verb->now, error);
}

bool store_recalculate_due(struct store *store, struct ids ids, bool from_creation, time_ms now,
                           struct error *error) {
    return verb_run(store,
                    &(struct verb){.name = "recalculate_due",
                                   .check = due_again_check,
                                   .apply = again_apply,
                                   .show = due_show,
                                   .value = from_creation,
                                   .now = now},
                    ids, error);
}
