/* due_date.c - an operator sets a due date, or has it counted anew (rules §11, §14). */
#include "job/job_spec.h"
#include "store/rules/create/cycle.h"
#include "store/rules/job/change.h"
#include "time/repeat.h"
#include "time/span.h"
#include <stdio.h>

bool due_check(struct store *store, const struct change *change, const struct job_row *row,
               struct error *error) {
    (void)store;
    return !change->command->cascade || !row->repeats || row->due != TIME_NONE ||
           error_set(error, ERROR_CONFLICT, "job %lld has no due date to move its cycle from",
                     (long long)row->id);
}

bool due_apply(struct store *store, const struct change *change, struct job_row *row,
               struct error *error) {
    struct job_row old = *row;
    row->due = change->due;
    return (!change->command->cascade || !row->repeats ||
            cycle_shift(store, row->id, row->due - old.due, error)) &&
           change_move(store, &old, row, change->now, error);
}

void due_show(const struct job_row *row, char *text) {
    time_format(row->due, text);
}

/* ---- due dates, evaluated again ---- */

bool again_check(struct store *store, const struct change *change, const struct job_row *row,
                 struct error *error) {
    (void)change;
    const struct catalog_stream *stream = catalog_stream(&store->catalog, row->stream);
    return (stream && stream->type == JOB_TIMER) ||
           error_set(error, ERROR_CONFLICT, "job %lld is no timer", (long long)row->id);
}

/* *due: the first date of a cycle that does not come again. */
static bool again_cycle(struct store *store, const char *term, time_ms from, time_ms *due,
                        struct error *error) {
    struct repeat repeat = {.text = term, .zone = spec_rules(store->rules).zone, .origin = from};
    struct cycle cycle;
    if (!repeat_open(&repeat, &cycle, error))
        return false;
    *due = repeat_first(&repeat, &cycle, from);
    return *due != TIME_NEVER ||
           error_set(error, ERROR_CONFLICT, "cycle \"%s\": has no date left", term);
}

/* A date, a duration or a cycle, counted from `from`. */
static bool again_due(struct store *store, const char *term, time_ms from, time_ms *due,
                      struct error *error) {
    struct span span = {0};
    struct error ignored = {0};
    if (*term == 'P' && span_parse(term, &span, error)) {
        *due = span_add(from, &span);
        return true;
    }
    return *term != 'P' &&
           (time_parse(term, due, &ignored) || again_cycle(store, term, from, due, error));
}

/* The date or duration that a timer was created with, counted from `from`. */
static bool again_term(struct store *store, const struct command *command, int64_t id, time_ms from,
                       time_ms *due, struct error *error) {
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)id);
    const char *asked = json_string_value(json_object_get(command->terms, key));
    if (asked)
        return again_due(store, asked, from, due, error);
    struct row *row = db_query(&store->db, error,
                               "SELECT term FROM job WHERE id=?1 AND term IS NOT NULL", "i", id);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step == NO &&
               error_set(error, ERROR_CONFLICT,
                         "job %lld: what its due date came from is not known", (long long)id);
    bool done = again_due(store, row_text(row, 0), from, due, error);
    row_done(row);
    return done;
}

bool again_apply(struct store *store, const struct change *change, struct job_row *row,
                 struct error *error) {
    struct job_row old = *row;
    time_ms from = change->command->from_creation ? row->created : change->now;
    return (row->repeats ? cycle_resume(store, row->id, from, &row->due, error)
                         : again_term(store, change->command, row->id, from, &row->due, error)) &&
           change_move(store, &old, row, change->now, error);
}
