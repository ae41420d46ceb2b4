/* ended_step.c - the ended jobs that a verb means, in the order of their ends. */
#include "store/rules/clean/clean.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/record/log_filters.h"

static json_t *step_row(struct store *store, struct row *row, struct error *error) {
    (void)store, (void)error;
    return json_pack("[I, I]", (json_int_t)row_int(row, 0), (json_int_t)row_int(row, 1));
}

static json_t *step_rows(struct store *store, const struct step *step,
                         const struct command *command, struct error *error) {
    struct query query = {0};
    json_t *rows = NULL;
    query_add(&query, "SELECT g.job, g.place FROM (" LOG_END "ended e) g");
    if (query_where(&query, command->query, &log_table, error)) {
        query_add(&query, json_object_size(command->query) ? " AND g.place>" : " WHERE g.place>");
        query_bind_new(&query, json_integer(command->after));
        query_add(&query, " AND g.place<=");
        query_bind_new(&query, json_integer(step_end(step, command)));
        text_add(&query.sql, " ORDER BY g.place LIMIT %d", COMMAND_IDS + 1);
        rows = query_rows(&query, store, "ended jobs", step_row, error);
    }
    query_clear(&query);
    return rows;
}

static int64_t step_number(const json_t *rows, size_t row, size_t column) {
    return json_integer_value(json_array_get(json_array_get(rows, row), column));
}

bool ended_step(struct store *store, struct step *step, struct command *command,
                struct error *error) {
    json_t *rows = step_rows(store, step, command, error);
    int64_t end = step_end(step, command);
    size_t count = json_array_size(rows);
    if (!rows)
        return false;
    if (count > COMMAND_IDS) {
        count = COMMAND_IDS;
        end = step_number(rows, count - 1, 1);
    }
    step->ids = (struct ids){step->list, count};
    for (size_t i = 0; i < count; i++)
        step->list[i] = step_number(rows, i, 0);
    command->after = end;
    step->more = end < command->upto;
    json_decref(rows);
    return true;
}

static json_t *count_row(struct store *store, struct row *row, struct error *error) {
    (void)store, (void)error;
    return json_integer(row_int(row, 0));
}

bool ended_count(struct store *store, const struct command *command, int64_t *count,
                 struct error *error) {
    struct query query = {0};
    json_t *rows = NULL;
    query_add(&query, "SELECT count(*) FROM (" LOG_END "ended e) g");
    if (query_where(&query, command->query, &log_table, error))
        rows = query_rows(&query, store, "ended jobs", count_row, error);
    query_clear(&query);
    *count = json_integer_value(json_array_get(rows, 0));
    json_decref(rows);
    return rows != NULL;
}
