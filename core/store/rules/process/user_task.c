#include "store/rules/process/user_task.h"
#include "base/json.h"
#include "store/rules/ground/engine.h"
#include "store/rules/ground/unit_ahead.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Another unit may change the rest at the same time. */
#define CHANGED(bit, value, column)                                                                \
    "CASE WHEN CAST(?6 AS BIGINT) & " bit "<>0 THEN " value " ELSE " column " END"

static bool task_change(struct store *store, const struct unit_task *one, struct error *error) {
    return db_run(
        &store->db, error,
        "UPDATE user_task SET name=" CHANGED("1", "?2", "name") ", assignee=" CHANGED(
            "2", "?3",
            "assignee") ", due=" CHANGED("4", "CAST(?4 AS BIGINT)",
                                         "due") ", priority=" CHANGED("8", "CAST(?5 AS BIGINT)",
                                                                      "priority") " WHERE id=?1",
        "ittTii", one->id, one->name, one->assignee, one->due, one->priority, one->changes);
}

bool user_task_write(struct store *store, const struct unit_task *one, time_ms now,
                     struct error *error) {
    unit_ahead_forget(store, ASKED_TASK, one->instance);
    changed_note(store, one->instance);
    if (one->id)
        return task_change(store, one, error);
    return unit_row(store, error, ROWS_TASK,
                    "INSERT INTO user_task(" TASK_COLUMNS
                    ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
                    "iiittttTiiti", one->instance, one->token, meta_id(store), one->activity,
                    one->name, one->assignee, one->candidates, one->due, one->priority, now,
                    one->form, one->listens);
}

enum answer user_task_waits(struct store *store, const struct unit_wait *left,
                            struct error *error) {
    int64_t one = 0;
    const struct asked_entry *task =
        unit_ahead_find(store, ASKED_TASK, left->instance, left->token);
    if (task && task->count == 1)
        return task->value == left->task ? YES : NO;
    return db_value(&store->db, error, &one,
                    "SELECT 1 FROM user_task WHERE id=?1 AND instance=?2 AND token=?3", "iii",
                    left->task, left->instance, left->token);
}

bool user_tasks_remove(struct store *store, int64_t instance, int64_t token, struct error *error) {
    unit_ahead_forget(store, ASKED_TASK, instance);
    if (token)
        return unit_row(store, error, ROWS_TASK_ENDS,
                        "DELETE FROM user_task WHERE instance=?1 AND token=?2", "ii", instance,
                        token);
    return unit_row(store, error, ROWS_TASKS_END,
                    "DELETE FROM user_task WHERE instance=?1 AND token>=0", "i", instance);
}

bool user_tasks_move(struct store *store, const struct unit_move *move, struct error *error) {
    unit_ahead_forget(store, ASKED_TASK, move->instance);
    return db_run(&store->db, error,
                  "UPDATE user_task SET token=?3, activity=?4, listens=?5 WHERE instance=?1 AND"
                  " token=?2",
                  "iiiti", move->instance, move->token, move->to, move->activity, move->listens);
}

bool user_tasks_remove_range(struct store *store, int64_t instance, struct token_range tokens,
                             struct error *error) {
    return db_run(&store->db, error,
                  "DELETE FROM user_task WHERE instance=?1 AND token BETWEEN ?2 AND ?3", "iii",
                  instance, tokens.first, tokens.last);
}

/* ---- what listeners see ---- */

static json_t *task_of(struct row *row) {
    json_t *task = json_pack("{sI sI sI ss sI sb}", "id", (json_int_t)row_int(row, 0), "instance",
                             (json_int_t)row_int(row, 1), "token", (json_int_t)row_int(row, 2),
                             "activity", row_text(row, 3), "priority", (json_int_t)row_int(row, 6),
                             "listens", (int)row_int(row, 8));
    bool fine = json_put_text(task, "name", row_text(row, 4)) &&
                json_put_text(task, "assignee", row_text(row, 5)) &&
                (row_null(row, 7) || json_put(task, "due", json_integer(row_int(row, 7))));
    return json_kept(task, fine);
}

static json_t *task_gone(void) {
    return json_pack("{sb}", "gone", 1);
}

json_t *user_task_ask(struct store *store, int64_t id, int64_t instance, int64_t token,
                      struct error *error) {
    bool own = false;
    if (!look_begin(store, &own, error))
        return NULL;
    struct row *row =
        id ? db_query(&store->db, error, "SELECT " TASK_SEEN "id=?1", "i", id)
           : db_query(&store->db, error, "SELECT " TASK_SEEN "instance=?1 AND t.token=?2", "ii",
                      instance, token);
    enum answer step = db_step(&store->db, row, error);
    json_t *found = step == NO ? task_gone() : NULL;
    if (step == YES) {
        found = task_of(row);
        row_done(row);
    }
    look_end(store, own);
    return found;
}

json_t *user_tasks_ask(struct store *store, const json_t *questions, struct error *error) {
    json_t *tasks = json_array();
    const size_t count = json_array_size(questions);
    struct kept_rows rows = {"ii", calloc(2 * count + 1, sizeof *rows.cells), count, 0};
    enum answer step = rows.cells ? NO : FAILED;
    for (size_t i = 0; rows.cells && i < count; i++) {
        rows.cells[2 * i].number = (int64_t)i;
        rows.cells[2 * i + 1].number = json_int(json_array_get(questions, i), "id");
        json_array_append_new(tasks, task_gone());
    }
    struct row *row =
        rows.cells ? store->engine->asked_rows(store, ASKED_TASKS, &rows, error) : NULL;
    while (rows.cells && (step = db_step(&store->db, row, error)) == YES)
        json_array_set_new(tasks, (size_t)row_int(row, 9), task_of(row));
    free(rows.cells);
    return json_kept(tasks, step == NO || (!rows.cells && db_no_memory(&store->db, error)));
}

/* ---- who does it ---- */

static bool assignee_of(struct store *store, int64_t id, char *before, bool *listens,
                        struct error *error) {
    enum answer step =
        db_read(&store->db, error, "SELECT assignee, listens FROM user_task WHERE id=?1", "tf<i",
                before, (size_t)JOB_NAME_MAX + 1, listens, id);
    if (step == NO)
        error_set(error, ERROR_NOT_FOUND, "no task %lld", (long long)id);
    return step == YES;
}

static bool may(struct store *store, int64_t id, const char *assignee, bool claims, char *before,
                bool *listens, struct error *error) {
    if (!assignee_of(store, id, before, listens, error))
        return false;
    bool own = !*before || (assignee && strcmp(before, assignee) == 0);
    return !claims || own ||
           error_set(error, ERROR_CONFLICT, "task %lld is claimed by \"%s\"", (long long)id,
                     before);
}

bool user_task_may(struct store *store, int64_t id, const char *assignee, bool claims,
                   struct error *error) {
    char before[JOB_NAME_MAX + 1];
    bool listens;
    return may(store, id, assignee, claims, before, &listens, error);
}

bool user_task_assign(struct store *store, int64_t id, const char *assignee, bool claims,
                      char *before, struct error *error) {
    bool listens = false;
    if (!may(store, id, assignee, claims, before, &listens, error))
        return false;
    if (listens)
        return error_set(error, ERROR_CONFLICT,
                         "task %lld has listeners, which no job's command calls (expected a claim"
                         " or an assignment outside of jobs)",
                         (long long)id);
    changed_note_common(store);
    return db_run(&store->db, error, "UPDATE user_task SET assignee=?2 WHERE id=?1", "it", id,
                  assignee);
}
