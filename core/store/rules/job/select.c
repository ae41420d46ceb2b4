#include "store/rules/job/select.h"
#include "store/rules/job/few.h"
#include "store/rules/job/question.h"

/* ---- ids ---- */

static json_t *jobs_read_number(struct store *store, struct row *row, struct error *error) {
    (void)store;
    (void)error;
    return json_integer(row_int(row, 0));
}

bool store_jobs_count(struct store *store, const json_t *wanted, time_ms now, int64_t *count,
                      struct error *error) {
    struct query query = {0};
    json_t *rows = NULL;
    if (jobs_question(&query, store, "count(*)", wanted, now, error) &&
        jobs_few(store, &query, wanted, error))
        rows = query_rows(&query, store, "the number of jobs", jobs_read_number, error);
    if (rows)
        *count = json_integer_value(json_array_get(rows, 0));
    json_decref(rows);
    query_clear(&query);
    return rows != NULL;
}

bool jobs_ids(struct store *store, const json_t *wanted, const struct jobs_range *range,
              time_ms now, int64_t *ids, size_t *count, struct error *error) {
    struct query query = {0};
    json_t *rows = NULL;
    if (jobs_question(&query, store, "j.id", wanted, now, error)) {
        query_add(&query, json_object_size(wanted) ? " AND j.id>" : " WHERE j.id>");
        query_bind_new(&query, json_integer(range->after));
        query_add(&query, " AND j.id<=");
        query_bind_new(&query, json_integer(range->upto));
        text_add(&query.sql, " ORDER BY j.id LIMIT %d", range->limit);
        rows = query_rows(&query, store, "the number of jobs", jobs_read_number, error);
    }
    *count = json_array_size(rows);
    for (size_t i = 0; i < *count; i++)
        ids[i] = json_integer_value(json_array_get(rows, i));
    json_decref(rows);
    query_clear(&query);
    return rows != NULL;
}

/* ---- steps ---- */

int64_t step_end(const struct step *step, const struct command *command) {
    bool whole = !step->window || command->upto - command->after <= step->window;
    return whole ? command->upto : command->after + step->window;
}

/* One more than a step takes was asked for: is there more? */
static void step_close(struct step *step, struct command *command) {
    int64_t end = step_end(step, command);
    if (step->ids.count > COMMAND_IDS) {
        step->ids.count = COMMAND_IDS;
        end = step->list[COMMAND_IDS - 1];
    }
    command->after = end;
    step->more = end < command->upto;
}

bool step_read(struct store *store, struct step *step, struct command *command, struct row *rows,
               struct error *error) {
    enum answer state = NO;
    step->ids = (struct ids){step->list, 0};
    while ((state = db_step(&store->db, rows, error)) == YES)
        step->list[step->ids.count++] = row_int(rows, 0);
    step_close(step, command);
    return state == NO;
}

void step_slice(struct step *step, struct command *command) {
    size_t count =
        json_is_array(command->ids) ? json_array_size(command->ids) : json_is_integer(command->ids);
    step->ids = (struct ids){step->list, 0};
    while (command->done < count && step->ids.count < COMMAND_IDS) {
        const json_t *id = json_is_array(command->ids) ? json_array_get(command->ids, command->done)
                                                       : command->ids;
        step->list[step->ids.count++] = json_integer_value(id);
        command->done++;
    }
    step->more = command->done < count;
}

bool step_select(struct store *store, struct step *step, struct command *command, time_ms now,
                 struct error *error) {
    step->ids = (struct ids){step->list, 0};
    if (command->ids) {
        step_slice(step, command);
        return true;
    }
    struct jobs_range range = {command->after, step_end(step, command), COMMAND_IDS + 1};
    if (!jobs_ids(store, command->query, &range, now, step->list, &step->ids.count, error))
        return false;
    step_close(step, command);
    return true;
}
