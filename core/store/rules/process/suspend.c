/* suspend.c - suspending and activating an instance: its jobs and, through the table that
 * create.c looks at, those created later (rules §12). */
#include "store/rules/process/suspend.h"
#include "store/rules/process/caller.h"
#include "store/rules/process/version.h"
#include "store/rules/record/operation.h"
#include <stdio.h>
#include <stdlib.h>

static bool instance_suspend(struct store *store, const char *instance, time_ms now,
                             struct error *error) {
    return db_run(
               &store->db, error,
               "INSERT INTO suspended_instance(instance, at) VALUES(?1, ?2) ON CONFLICT DO NOTHING",
               "ti", instance, now) &&
           catalog_changed(store, error);
}

static bool instance_activate(struct store *store, const char *instance, bool *was,
                              struct error *error) {
    if (!db_run(&store->db, error, "DELETE FROM suspended_instance WHERE instance=?1", "t",
                instance))
        return false;
    *was = db_changes(&store->db) > 0;
    return !*was || catalog_changed(store, error);
}

/* ---- instances of processes: their key is their number ---- */

enum answer instance_held(struct store *store, int64_t id, struct error *error) {
    char text[24];
    int64_t one = 0;
    enum answer held = NO;
    snprintf(text, sizeof text, "%lld", (long long)id);
    if (store->catalog.instances)
        held = db_value(&store->db, error, &one,
                        "SELECT 1 FROM suspended_instance WHERE instance=?1", "t", text);
    return held == NO ? version_holds(store, id, error) : held;
}

bool instance_hold(struct store *store, int64_t id, time_ms now, struct error *error) {
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)id);
    return instance_suspend(store, text, now, error);
}

bool instance_released(struct store *store, int64_t id, struct error *error) {
    char text[24];
    bool was = false;
    snprintf(text, sizeof text, "%lld", (long long)id);
    return !store->catalog.instances || instance_activate(store, text, &was, error);
}

/* The process instance that is meant by digits, if it runs; 0: none, -1: error. */
static int64_t suspend_number_of(struct store *store, const char *key, struct error *error) {
    char *end = NULL;
    int64_t found = 0;
    long long id = *key >= '1' && *key <= '9' ? strtoll(key, &end, 10) : 0;
    if (!end || *end)
        return 0;
    return db_value(&store->db, error, &found, "SELECT id FROM instance WHERE id=?1", "i",
                    (int64_t)id) == FAILED
               ? -1
               : found;
}

/* A process instance has no other jobs than its own, whatever text plain jobs have. */
#define MEMBERS(what) "SELECT " what " FROM live WHERE (instance=?1 AND ?2=0 OR instance_id=?2)"

/* An instance and those that it called, and so on. */
#define TREE                                                                                       \
    "WITH RECURSIVE tree(id) AS (SELECT id FROM instance WHERE id=?1 UNION ALL SELECT i.id"        \
    " FROM instance i JOIN tree t ON i.parent=t.id) "

static bool instance_jobs(struct store *store, struct step *step, struct command *command,
                          bool suspends, int64_t number, struct error *error) {
    return step_read(store, step, command,
                     db_query(&store->db, error,
                              suspends ? MEMBERS("id") " AND suspended&4=0 AND id>?3 AND id<=?4"
                                                       " ORDER BY id LIMIT ?5"
                                       : MEMBERS("id") " AND suspended&4<>0 AND id>?3 AND id<=?4"
                                                       " ORDER BY id LIMIT ?5",
                              "tiiin", command->instance, number, command->after,
                              step_end(step, command), COMMAND_IDS + 1),
                     error);
}

/* ---- with the instances that it called ---- */

static bool tree_suspend(struct store *store, int64_t number, bool suspends, bool *was, time_ms now,
                         struct error *error) {
    bool done =
        suspends
            ? db_run(&store->db, error,
                     TREE
                     "INSERT INTO suspended_instance(instance, at)"
                     " SELECT CAST(id AS TEXT), ?2 FROM tree WHERE true ON CONFLICT DO NOTHING",
                     "ii", number, now)
            : db_run(&store->db, error,
                     TREE "DELETE FROM suspended_instance WHERE instance IN"
                          " (SELECT CAST(id AS TEXT) FROM tree)",
                     "i", number);
    *was = suspends || db_changes(&store->db) > 0;
    return done && (!*was || catalog_changed(store, error));
}

static bool tree_jobs(struct store *store, struct step *step, struct command *command,
                      bool suspends, int64_t number, struct error *error) {
    return step_read(store, step, command,
                     db_query(&store->db, error,
                              TREE "SELECT id FROM live WHERE instance_id IN (SELECT id FROM tree)"
                                   " AND (suspended&4<>0)<>(?2<>0) AND id>?3 AND id<=?4"
                                   " ORDER BY id LIMIT ?5",
                              "iniin", number, (int)suspends, command->after,
                              step_end(step, command), COMMAND_IDS + 1),
                     error);
}

/* ---- the verbs ---- */

static bool instance_begin(struct store *store, const struct command *command, int64_t number,
                           bool *was, time_ms now, struct error *error) {
    bool suspends = command->verb == COMMAND_SUSPEND_INSTANCE;
    if (command->goes_on)
        return true;
    if (command->hierarchy)
        return tree_suspend(store, number, suspends, was, now, error);
    return suspends ? instance_suspend(store, command->instance, now, error)
                    : instance_activate(store, command->instance, was, error);
}

static bool instance_members(struct store *store, struct step *step, struct command *command,
                             int64_t number, struct error *error) {
    bool suspends = command->verb == COMMAND_SUSPEND_INSTANCE;
    if (!command->include_jobs)
        return true;
    return command->hierarchy ? tree_jobs(store, step, command, suspends, number, error)
                              : instance_jobs(store, step, command, suspends, number, error);
}

/* The process instance that is meant; 0: plain jobs. -1: error. Only a process instance calls
 * others. */
static int64_t instance_meant(struct store *store, const struct command *command,
                              struct error *error) {
    int64_t number = suspend_number_of(store, command->instance, error);
    if (number || !command->hierarchy || command->goes_on || command->ignore_missing)
        return number;
    error_set(error, ERROR_NOT_FOUND, "no instance \"%.255s\" of a process that runs",
              command->instance);
    return -1;
}

bool instance_command(struct store *store, struct command *command, struct step *step, time_ms now,
                      struct error *error) {
    bool suspends = command->verb == COMMAND_SUSPEND_INSTANCE, was = true;
    char entity[JOB_NAME_MAX + 32];
    int64_t number = instance_meant(store, command, error);
    snprintf(entity, sizeof entity, "instance \"%.255s\"", command->instance);
    store->journal.instance = number;
    if (!number && command->ignore_missing && !command->goes_on)
        return true;
    if (number < 0 || !instance_begin(store, command, number, &was, now, error) ||
        !instance_members(store, step, command, number, error))
        return false;
    if (!was && command->include_jobs && step->ids.count == 0 && !step->more &&
        !command->ignore_missing)
        return error_set(error, ERROR_NOT_FOUND,
                         "instance \"%s\": neither it nor any of its jobs is suspended",
                         command->instance);
    return commands_set_suspended(store, step->ids, SUSPENDED_INSTANCE, suspends, now, error) &&
           (suspends || command->goes_on || caller_release(store, number, now, error)) &&
           operation_write_ids(store, command->name, entity, step->ids,
                               suspends ? "active" : "suspended", suspends ? "suspended" : "active",
                               now, error);
}

static bool tree_count(struct store *store, int64_t number, bool suspends, int64_t *count,
                       struct error *error) {
    return db_value(&store->db, error, count,
                    TREE "SELECT count(*) FROM live WHERE instance_id IN (SELECT id FROM tree)"
                         " AND (suspended&4<>0)<>(?2<>0)",
                    "in", number, (int)suspends) != FAILED;
}

bool instance_preview(struct store *store, const struct command *command, int64_t *count,
                      struct error *error) {
    bool suspends = command->verb == COMMAND_SUSPEND_INSTANCE;
    int64_t number = instance_meant(store, command, error);
    *count = 0;
    if (number >= 0 && command->hierarchy)
        return tree_count(store, number, suspends, count, error);
    return number >= 0 &&
           (!command->include_jobs ||
            db_value(&store->db, error, count, MEMBERS("count(*)") " AND (suspended&4<>0)<>(?3<>0)",
                     "tin", command->instance, number, (int)suspends) != FAILED);
}
