/* commands.c - what is done to a batch, by people and by its own jobs (rules §17). Its state
 * changes with the first step; its jobs follow in steps of at most 1 000. */
#include "store/rules/batch/batch.h"
#include "store/rules/record/operation.h"
#include <stdio.h>

#define PARTS 50 /* of one step: they may be large */

static bool command_refuse(const struct command *command, const struct batch *batch,
                           struct error *error) {
    return error_set(error, ERROR_CONFLICT, "%s: batch %lld is %s", command->name,
                     (long long)batch->id, batch_state_name((int)batch->state));
}

static bool command_state(struct store *store, struct batch *batch, enum batch_state state,
                          struct error *error) {
    batch->state = state;
    return db_run(&store->db, error, "UPDATE batch SET state=?2 WHERE id=?1", "in", batch->id,
                  (int)state);
}

/* The jobs of the next step: all, or those that `wanted` says. */
enum wanted { WANTED_ALL, WANTED_ACTIVE, WANTED_SUSPENDED, WANTED_DEAD, WANTED_EXECUTIONS };

static bool command_jobs(struct store *store, struct step *step, struct command *command,
                         enum wanted wanted, struct error *error) {
    static const char *const sql[] = {
        "SELECT id FROM live WHERE batch=?1 AND id>?2 AND id<=?3 ORDER BY id LIMIT ?4",
        "SELECT id FROM live WHERE batch=?1 AND suspended&8=0 AND id>?2 AND id<=?3"
        " ORDER BY id LIMIT ?4",
        "SELECT id FROM live WHERE batch=?1 AND suspended&8<>0 AND id>?2 AND id<=?3"
        " ORDER BY id LIMIT ?4",
        "SELECT id FROM live WHERE batch=?1 AND retries=0 AND id>?2 AND id<=?3"
        " ORDER BY id LIMIT ?4",
        "SELECT id FROM live WHERE batch=?1 AND suspended&8=0 AND id>?2 AND id<=?3 AND NOT EXISTS"
        " (SELECT 1 FROM batch b WHERE b.id=?1 AND (b.seed=live.id OR b.monitor=live.id))"
        " ORDER BY id LIMIT ?4"};
    return step_read(store, step, command,
                     db_query(&store->db, error, sql[wanted], "iiin", command->batch,
                              command->after, step_end(step, command), COMMAND_IDS + 1),
                     error);
}

static bool command_log(struct store *store, const struct command *command, size_t count,
                        const char *before, const char *after, time_ms now, struct error *error) {
    char entity[64];
    snprintf(entity, sizeof entity, "batch %lld", (long long)command->batch);
    return operation_write(store, command->name, entity, (int)count, before, after, now, error);
}

/* ---- suspend, activate ---- */

/* Seed or monitor may have been deleted by hand: activating goes on without it. */
static bool command_revive(struct store *store, struct batch *batch, time_ms now,
                           struct error *error) {
    int64_t one = 0;
    enum answer found =
        db_value(&store->db, error, &one, "SELECT id FROM live WHERE id IN (?1, ?2) LIMIT 1", "ii",
                 batch->seed, batch->monitor);
    if (found)
        return found == YES;
    bool seeds = batch->made < batch->total;
    const struct batch_job job = {.handler = seeds ? BATCH_SEED : BATCH_MONITOR, .due = TIME_NONE};
    return batch_job(store, batch, &job, now, &one, error) &&
           db_run(&store->db, error, "UPDATE batch SET seed=?2, monitor=?3 WHERE id=?1", "izz",
                  batch->id, seeds ? one : 0, seeds ? 0 : one);
}

static bool command_going(const struct command *command, const struct batch *batch,
                          struct error *error) {
    return batch->state == BATCH_ACTIVE || batch->state == BATCH_SUSPENDED ||
           command_refuse(command, batch, error);
}

/* Its execution jobs alone, those to come, too; the batch itself goes on. */
static bool command_hold(struct store *store, struct batch *batch, bool held, struct error *error) {
    batch->held = held;
    return db_run(&store->db, error, "UPDATE batch SET held=?2 WHERE id=?1", "in", batch->id,
                  (int)held);
}

static bool command_suspend(struct store *store, struct command *command, struct step *step,
                            struct batch *batch, time_ms now, struct error *error) {
    bool suspends = command->verb == COMMAND_SUSPEND_BATCH;
    enum batch_state before = batch->state;
    if (!command_going(command, batch, error) ||
        !command_hold(store, batch, suspends && command->jobs_only, error))
        return false;
    if (batch->held)
        return command_jobs(store, step, command, WANTED_EXECUTIONS, error) &&
               commands_set_suspended(store, step->ids, SUSPENDED_BATCH, true, now, error) &&
               command_log(store, command, step->ids.count, NULL, "jobs only", now, error);
    if (!command_state(store, batch, suspends ? BATCH_SUSPENDED : BATCH_ACTIVE, error))
        return false;
    if (!suspends && !command_revive(store, batch, now, error))
        return false;
    return command_jobs(store, step, command, suspends ? WANTED_ACTIVE : WANTED_SUSPENDED, error) &&
           commands_set_suspended(store, step->ids, SUSPENDED_BATCH, suspends, now, error) &&
           command_log(store, command, step->ids.count, batch_state_name((int)before),
                       batch_state_name((int)batch->state), now, error);
}

/* ---- retry what has failed ---- */

static bool command_retry(struct store *store, struct command *command, struct step *step,
                          struct batch *batch, time_ms now, struct error *error) {
    if (!command_going(command, batch, error))
        return false;
    return command_jobs(store, step, command, WANTED_DEAD, error) &&
           commands_retry(store, step->ids, (int32_t)batch->retries, now, error) &&
           command_log(store, command, step->ids.count, NULL, NULL, now, error);
}

/* ---- priority ---- */

/* Of its jobs, and of those to come. */
static bool command_priority(struct store *store, struct command *command, struct step *step,
                             struct batch *batch, time_ms now, struct error *error) {
    char before[32] = "", after[32];
    if (!command_going(command, batch, error))
        return false;
    if (batch->priority_given)
        snprintf(before, sizeof before, "%lld", (long long)batch->priority);
    snprintf(after, sizeof after, "%lld", (long long)command->priority);
    return db_run(&store->db, error, "UPDATE batch SET priority=?2 WHERE id=?1", "ii", batch->id,
                  command->priority) &&
           command_jobs(store, step, command, WANTED_ALL, error) &&
           commands_set_priority(store, step->ids, command->priority, now, error) &&
           command_log(store, command, step->ids.count, *before ? before : NULL, after, now, error);
}

/* ---- removal time ---- */

static bool command_ended(const struct batch *batch) {
    return batch->state == BATCH_COMPLETED || batch->state == BATCH_DELETED;
}

static bool command_removable(const struct command *command, const struct batch *batch,
                              struct error *error) {
    return command_ended(batch) || command_refuse(command, batch, error);
}

static bool command_remove_at(struct store *store, const struct command *command,
                              const struct batch *batch, time_ms now, struct error *error) {
    char after[TIME_TEXT_SIZE];
    removal_name(command->removal, after);
    return command_removable(command, batch, error) &&
           db_run(&store->db, error, "UPDATE batch SET removal=?2 WHERE id=?1", "iT", batch->id,
                  command->removal) &&
           command_log(store, command, 1, NULL, after, now, error);
}

/* ---- delete ---- */

/* First what would make more jobs. */
static bool delete_makers(struct store *store, struct batch *batch, time_ms now,
                          struct error *error) {
    int64_t list[] = {batch->seed, batch->monitor};
    for (int i = 0; i < 2; i++)
        if (list[i] && !commands_delete_known(store, list[i], now, error))
            return false;
    return db_run(&store->db, error, "UPDATE batch SET seed=NULL, monitor=NULL WHERE id=?1", "i",
                  batch->id) &&
           command_state(store, batch, BATCH_DELETING, error);
}

static bool delete_parts(struct store *store, struct step *step, const struct batch *batch,
                         struct error *error) {
    if (!db_run(&store->db, error,
                "DELETE FROM batch_part WHERE batch=?1 AND n IN"
                " (SELECT n FROM batch_part WHERE batch=?1 ORDER BY n LIMIT ?2)",
                "in", batch->id, PARTS))
        return false;
    step->more = db_changes(&store->db) == PARTS;
    return true;
}

static bool delete_history(struct store *store, struct step *step, const struct batch *batch,
                           struct error *error) {
    int count = 0;
    if (!batch_forget(store, batch->id, COMMAND_IDS, &count, error))
        return false;
    step->more = count > 0;
    return step->more ||
           (db_run(&store->db, error, "DELETE FROM batch_config WHERE batch=?1", "i", batch->id) &&
            db_run(&store->db, error, "DELETE FROM batch WHERE id=?1", "i", batch->id));
}

/* Jobs, then parts, then history, as far as one step goes. */
static bool delete_step(struct store *store, struct command *command, struct step *step,
                        struct batch *batch, time_ms now, struct error *error) {
    if (!command_jobs(store, step, command, WANTED_ALL, error) ||
        !commands_delete(store, step->ids, now, error))
        return false;
    if (!step->more && !delete_parts(store, step, batch, error))
        return false;
    if (step->more)
        return true;
    if (command->history)
        return delete_history(store, step, batch, error);
    return batch_end(store, batch, BATCH_DELETED, now, error);
}

static bool command_deletable(const struct command *command, const struct batch *batch,
                              struct error *error) {
    return !command_ended(batch) || command->history ||
           error_set(error, ERROR_CONFLICT,
                     "delete_batch: batch %lld is %s (only its history can go)",
                     (long long)batch->id, batch_state_name((int)batch->state));
}

static bool command_delete(struct store *store, struct command *command, struct step *step,
                           struct batch *batch, time_ms now, struct error *error) {
    enum batch_state before = batch->state;
    if (!command_deletable(command, batch, error))
        return false;
    if (!command_ended(batch) && !delete_makers(store, batch, now, error))
        return false;
    return delete_step(store, command, step, batch, now, error) &&
           command_log(store, command, step->ids.count, batch_state_name((int)before),
                       command->history ? "without history" : NULL, now, error);
}

/* ---- its own jobs ---- */

static bool command_own(struct store *store, const struct command *command, struct batch *batch,
                        time_ms now, struct error *error) {
    bool seeds = command->verb == COMMAND_BATCH_SEED;
    int64_t job = seeds ? batch->seed : batch->monitor;
    if (!job || store->journal.job != job)
        return error_set(error, ERROR_INVALID, "%s: only the %s of batch %lld can do that",
                         command->name, seeds ? "seed" : "monitor", (long long)batch->id);
    return seeds ? batch_seed(store, batch, now, error)
                 : batch_monitor(store, batch, command->ended, now, error);
}

bool batch_command(struct store *store, struct command *command, struct step *step, time_ms now,
                   struct error *error) {
    struct batch batch;
    step->ids = (struct ids){step->list, 0};
    if (!batch_load(store, command->batch, &batch, error))
        return false;
    if (command->verb == COMMAND_BATCH_SEED || command->verb == COMMAND_BATCH_MONITOR)
        return command_own(store, command, &batch, now, error);
    if (command->verb == COMMAND_DELETE_BATCH)
        return command_delete(store, command, step, &batch, now, error);
    if (command->verb == COMMAND_RETRY_FAILED)
        return command_retry(store, command, step, &batch, now, error);
    if (command->verb == COMMAND_SUSPEND_BATCH || command->verb == COMMAND_ACTIVATE_BATCH)
        return command_suspend(store, command, step, &batch, now, error);
    if (command->verb == COMMAND_SET_BATCH_PRIORITY)
        return command_priority(store, command, step, &batch, now, error);
    if (command->verb == COMMAND_SET_BATCH_REMOVAL_TIME) {
        step->ids.count = 1;
        return command_remove_at(store, command, &batch, now, error);
    }
    return error_set(error, ERROR_FAILED, "%s: no batch can do it", command->name);
}

bool batch_preview(struct store *store, const struct command *command, int64_t *count,
                   struct error *error) {
    static const char *const all = "SELECT count(*) FROM live WHERE batch=?1";
    const char *sql = all;
    struct batch batch;
    if (!batch_load(store, command->batch, &batch, error))
        return false;
    *count = 1;
    if (command->verb == COMMAND_SET_BATCH_REMOVAL_TIME)
        return command_removable(command, &batch, error);
    bool may = command->verb == COMMAND_DELETE_BATCH ? command_deletable(command, &batch, error)
                                                     : command_going(command, &batch, error);
    if (command->verb == COMMAND_SUSPEND_BATCH && command->jobs_only)
        sql = "SELECT count(*) FROM live WHERE batch=?1 AND suspended&8=0 AND NOT EXISTS (SELECT 1"
              " FROM batch b WHERE b.id=?1 AND (b.seed=live.id OR b.monitor=live.id))";
    else if (command->verb == COMMAND_SUSPEND_BATCH)
        sql = "SELECT count(*) FROM live WHERE batch=?1 AND suspended&8=0";
    else if (command->verb == COMMAND_ACTIVATE_BATCH)
        sql = "SELECT count(*) FROM live WHERE batch=?1 AND suspended&8<>0";
    else if (command->verb == COMMAND_RETRY_FAILED)
        sql = "SELECT count(*) FROM live WHERE batch=?1 AND retries=0";
    return may && db_value(&store->db, error, count, sql, "i", command->batch) != FAILED;
}
