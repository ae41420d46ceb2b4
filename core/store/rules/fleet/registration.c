/* registration.c - whose deployments a deployment-aware executor serves, kept per executor name:
 * loading registers, and so does an operator by hand (rules §13). */
#include "store/rules/fleet/commands.h"
#include "store/rules/fleet/rename.h"
#include "store/rules/record/operation.h"
#include <stdio.h>

static bool registration_write(struct store *store, int64_t deployment, const char *executor,
                               bool registered, struct error *error) {
    if (registered)
        return db_run(
            &store->db, error,
            "INSERT INTO registration(executor, deployment) VALUES(?1, ?2) ON CONFLICT DO NOTHING",
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
    enum answer known =
        db_value(&store->db, error, &one, "SELECT 1 FROM deployment WHERE id=?1", "i", deployment);
    if (known == FAILED)
        return false;
    if (!known)
        return error_set(error, ERROR_NOT_FOUND, "no deployment %lld", (long long)deployment);
    if (!registration_write(store, deployment, executor, registered, error))
        return false;
    *changed = (size_t)db_changes(&store->db);
    if (!*changed)
        return true;
    store->ring.everybody = true;
    snprintf(entity, sizeof entity, "deployment %lld", (long long)deployment);
    return operation_write(store, registered ? "register" : "unregister", entity, 1,
                           registered ? NULL : executor, registered ? executor : NULL, now, error);
}

static bool deployment_one(struct store *store, const struct command *command, int64_t id,
                           size_t *changed, time_ms now, struct error *error) {
    *changed = command->verb == COMMAND_DELETE_DEPLOYMENT;
    if (*changed)
        return retire_deployment(store, id, false, now, error);
    const char *executor = command->executor ? command->executor : store->settings->name;
    return registration_change(store, id, executor, command->verb == COMMAND_REGISTER, changed, now,
                               error);
}

/* The n-th of the command's ids. */
static int64_t deployment_id(const struct command *command, size_t n) {
    const json_t *ids = command->deployments;
    return json_integer_value(json_is_array(ids) ? json_array_get(ids, n) : ids);
}

static size_t deployment_count(const struct command *command) {
    return json_is_array(command->deployments) ? json_array_size(command->deployments) : 1;
}

bool deployment_command(struct store *store, const struct command *command, size_t *touched,
                        time_ms now, struct error *error) {
    if (command->verb == COMMAND_RENAME_DEPLOYMENT)
        return rename_command(store, command, touched, now, error);
    for (size_t i = 0; i < deployment_count(command); i++) {
        size_t changed = 0;
        if (!deployment_one(store, command, deployment_id(command, i), &changed, now, error))
            return false;
        *touched += changed;
    }
    return true;
}

bool deployment_preview(struct store *store, const struct command *command, int64_t *count,
                        time_ms now, struct error *error) {
    if (command->verb != COMMAND_DELETE_DEPLOYMENT)
        return error_set(error, ERROR_INVALID, "%s: cannot be tried", command->name);
    for (size_t i = 0; i < deployment_count(command); i++, ++*count)
        if (!retire_deployment(store, deployment_id(command, i), true, now, error))
            return false;
    return true;
}
