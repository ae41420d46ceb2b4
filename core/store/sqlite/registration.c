/* registration.c - whose deployments a deployment-aware executor serves, kept per executor name:
 * loading registers, and so does an operator by hand (rules §13). */
#include "store/sqlite/operation.h"
#include <stdio.h>

static bool registration_write(struct store *store, int64_t deployment, const char *executor,
                               bool registered, struct error *error) {
    if (registered)
        return db_run(&store->db, error,
                      "INSERT OR IGNORE INTO registration(executor, deployment) VALUES(?1, ?2)",
                      "ti", executor, deployment);
    return db_run(&store->db, error, "DELETE FROM registration WHERE executor=?1 AND deployment=?2",
                  "ti", executor, deployment);
}

/* Executors of that name look again at once. */
static bool registration_change(struct store *store, int64_t deployment, const char *executor,
                                bool registered, size_t *changed, time_ms now,
                                struct error *error) {
    int64_t one = 0;
    char entity[64];
    int known =
        db_value(&store->db, error, &one, "SELECT 1 FROM deployment WHERE id=?1", "i", deployment);
    if (known < 0)
        return false;
    if (!known)
        return error_set(error, ERROR_NOT_FOUND, "no deployment %lld", (long long)deployment);
    if (!registration_write(store, deployment, executor, registered, error))
        return false;
    *changed = (size_t)db_changes(&store->db);
    if (!*changed)
        return true;
    store->wake.everybody = true;
    snprintf(entity, sizeof entity, "deployment %lld", (long long)deployment);
    return operation_write(store, registered ? "register" : "unregister", entity, 1,
                           registered ? NULL : executor, registered ? executor : NULL, now, error);
}

bool store_set_registered(struct store *store, int64_t deployment, const char *executor,
                          bool registered, size_t *changed, time_ms now, struct error *error) {
    bool own = false;
    *changed = 0;
    return unit_begin(store, &own, error) &&
           unit_end(
               store, own,
               registration_change(store, deployment, executor, registered, changed, now, error),
               error);
}
