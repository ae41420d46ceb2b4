/* process.c - suspending and activating a process, or one version of it: nothing of it starts, and
 * the jobs of its definitions wait (rules §23). And who does a user task. */
#include "store/rules/command/commands.h"
#include "store/rules/process/caller.h"
#include "store/rules/process/user_task.h"
#include "store/rules/process/version.h"
#include "store/rules/record/operation.h"
#include <stdio.h>

/* Its start timers, and the jobs that start it; with their instances all of its jobs. */
#define MEMBERS(what)                                                                              \
    "SELECT " what " FROM live WHERE stream IN (SELECT s.id FROM stream s JOIN definition d"       \
    " ON d.id=s.definition WHERE substr(d.name, 1, length(?1)+1) IN (?1||'/', ?1||':'))"           \
    " AND (suspended&32<>0)<>(?2<>0) AND (execution IN (SELECT v.id FROM process_version v"        \
    " WHERE v.key=?3 AND (v.number=?4 OR ?4=0)) AND instance_id IS NULL OR ?5<>0 AND"              \
    " instance_id IN (SELECT i.id FROM instance i JOIN process_version v ON v.id=i.version"        \
    " WHERE v.key=?3 AND (v.number=?4 OR ?4=0)))"

/* What the names of its definitions begin with. */
static void prefix_of(const struct command *command, char prefix[JOB_NAME_MAX + 16]) {
    snprintf(prefix, JOB_NAME_MAX + 16, "process/%s", command->process);
}

static int suspension_of(const struct command *command) {
    if (command->verb != COMMAND_SUSPEND_PROCESS)
        return VERSION_ACTIVE;
    return VERSION_SUSPENDED | (command->include_instances ? VERSION_WITH_INSTANCES : 0);
}

static bool members_read(struct store *store, struct step *step, struct command *command,
                         bool suspends, struct error *error) {
    char prefix[JOB_NAME_MAX + 16];
    prefix_of(command, prefix);
    return step_read(store, step, command,
                     db_query(&store->db, error,
                              MEMBERS("id") " AND id>?6 AND id<=?7 ORDER BY id LIMIT ?8",
                              "tntiniin", prefix, (int)suspends, command->process, command->version,
                              (int)command->include_instances, command->after,
                              step_end(step, command), COMMAND_IDS + 1),
                     error);
}

bool process_command(struct store *store, struct command *command, struct step *step, time_ms now,
                     struct error *error) {
    bool suspends = command->verb == COMMAND_SUSPEND_PROCESS;
    char entity[JOB_NAME_MAX + 64];
    snprintf(entity, sizeof entity,
             command->version ? "process \"%.255s\" version %lld" : "process \"%.255s\"",
             command->process, (long long)command->version);
    if (!command->goes_on && (!version_suspend(store, command->process, command->version,
                                               suspension_of(command), error) ||
                              !catalog_changed(store, error)))
        return false;
    bool releases = !suspends && !command->goes_on;
    if (releases && !caller_release_process(store, command->process, now, error))
        return false;
    return members_read(store, step, command, suspends, error) &&
           commands_set_suspended(store, step->ids, SUSPENDED_PROCESS, suspends, now, error) &&
           operation_write_ids(store, command->name, entity, step->ids,
                               suspends ? "active" : "suspended", suspends ? "suspended" : "active",
                               now, error);
}

bool process_preview(struct store *store, const struct command *command, int64_t *count,
                     struct error *error) {
    char prefix[JOB_NAME_MAX + 16];
    prefix_of(command, prefix);
    *count = 0;
    return db_value(&store->db, error, count, MEMBERS("count(*)"), "tntin", prefix,
                    (int)(command->verb == COMMAND_SUSPEND_PROCESS), command->process,
                    command->version, (int)command->include_instances) != FAILED;
}

/* ---- user tasks ---- */

/* A claim without a name is for the one who asks. */
static const char *assignee_of(const struct store *store, const struct command *command) {
    return command->claims && !command->assignee ? store->rules->who : command->assignee;
}

bool task_command(struct store *store, const struct command *command, time_ms now,
                  struct error *error) {
    char entity[64], before[JOB_NAME_MAX + 1];
    const char *assignee = assignee_of(store, command);
    snprintf(entity, sizeof entity, "task %lld", (long long)command->task);
    return db_value(&store->db, error, &store->journal.instance,
                    "SELECT instance FROM user_task WHERE id=?1", "i", command->task) != FAILED &&
           user_task_assign(store, command->task, assignee, command->claims, before, error) &&
           operation_write(store, command->name, entity, 1, *before ? before : NULL, assignee, now,
                           error);
}

bool task_preview(struct store *store, const struct command *command, int64_t *count,
                  struct error *error) {
    *count = 1;
    return user_task_may(store, command->task, assignee_of(store, command), command->claims, error);
}
