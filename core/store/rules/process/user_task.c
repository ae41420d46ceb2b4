#include "store/rules/process/user_task.h"

bool user_task_write(struct store *store, const struct unit_task *one, time_ms now,
                     struct error *error) {
    return db_run(&store->db, error,
                  "INSERT INTO user_task(id, instance, token, activity, name, assignee, candidates,"
                  " due, priority, created, form) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
                  " ?11)",
                  "iiittttTiit", meta_id(store), one->instance, one->token, one->activity,
                  one->name, one->assignee, one->candidates, one->due, one->priority, now,
                  one->form);
}

bool user_tasks_remove(struct store *store, int64_t instance, int64_t token, struct error *error) {
    if (token)
        return db_run(&store->db, error, "DELETE FROM user_task WHERE instance=?1 AND token=?2",
                      "ii", instance, token);
    return db_run(&store->db, error, "DELETE FROM user_task WHERE instance=?1", "i", instance);
}
