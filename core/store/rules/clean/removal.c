/* removal.c - what an operator does to ended jobs (rules §18): says when they go from the history,
 * or removes them. */
#include "store/rules/clean/clean.h"
#include "store/rules/process/past.h"
#include "store/rules/record/operation.h"
#include <stdio.h>

enum { FILE_FIRST = 100000 }; /* ended jobs that are filed by number before any is looked for */

/* A job that ended without a note of it has left no more than its failures. */
static enum answer removal_nowhere(struct store *store, int64_t job, struct error *error) {
    int64_t live = 0;
    enum answer found =
        db_value(&store->db, error, &live,
                 "SELECT EXISTS(SELECT 1 FROM live WHERE id=?1) FROM attempt WHERE job=?1"
                 " LIMIT 1",
                 "i", job);
    return found == YES ? !live : found;
}

/* NO: it may be missing. */
static enum answer removal_find(struct store *store, const struct command *command, int64_t job,
                                struct ended *ended, struct error *error) {
    int64_t one = 0;
    *ended = (struct ended){.job = job};
    enum answer found = history_find(store, job, ended, error);
    if (found == NO)
        ended->instance = (found = past_found(store, job, error)) == YES;
    if (found == NO && command->verb == COMMAND_DELETE_HISTORY)
        found = removal_nowhere(store, job, error);
    /* That all were there was seen before the first step. */
    if (found != NO || command->ignore_missing || command->goes_on)
        return found;
    found = db_value(&store->db, error, &one, "SELECT 1 FROM live WHERE id=?1", "i", job);
    if (found == YES)
        error_set(error, ERROR_CONFLICT, "job %lld has not ended", (long long)job);
    else if (found == NO)
        error_set(error, ERROR_NOT_FOUND, "no job %lld in the history", (long long)job);
    return FAILED;
}

static bool removal_apply(struct store *store, const struct command *command,
                          const struct ended *ended, struct error *error) {
    bool gone = false, some = true;
    if (ended->instance)
        return command->verb == COMMAND_SET_REMOVAL_TIME
                   ? past_keep(store, ended->job, command->removal, error)
                   : past_forget(store, ended->job, error);
    if (command->verb == COMMAND_SET_REMOVAL_TIME)
        return db_run(&store->db, error, "UPDATE ended SET removal=?2 WHERE seq=?1", "iT",
                      ended->seq, command->removal);
    while (!gone && some) { /* of many lines a thousand go at once */
        int64_t room = CLEANUP_ROWS;
        if (!clean_job(store, ended, &room, &gone, error))
            return false;
        some = room < CLEANUP_ROWS;
    }
    return true;
}

static bool removal_log(struct store *store, const struct command *command, const struct step *step,
                        time_ms now, struct error *error) {
    char entity[64], after[TIME_TEXT_SIZE];
    bool one = step->ids.count == 1 && command->ids;
    snprintf(entity, sizeof entity, one ? "job %lld" : "%lld jobs",
             one ? (long long)step->list[0] : (long long)step->ids.count);
    removal_name(command->removal, after);
    return operation_write_ids(store, command->name, entity, step->ids, NULL,
                               command->verb == COMMAND_SET_REMOVAL_TIME ? after : "removed", now,
                               error);
}

/* The jobs of this step; those of a query by the order in which they ended. */
static bool removal_select(struct store *store, struct command *command, struct step *step,
                           struct error *error) {
    if (command->ids)
        return step_select(store, step, command, 0, error);
    if (!command->goes_on && db_value(&store->db, error, &command->upto,
                                      "SELECT coalesce(max(seq), 0) FROM ended", "") == FAILED)
        return false;
    return ended_step(store, step, command, error);
}

static bool removal_each(struct store *store, const struct command *command,
                         const struct step *step, struct error *error) {
    for (size_t i = 0; i < step->ids.count; i++) {
        struct ended ended;
        enum answer found = removal_find(store, command, step->list[i], &ended, error);
        if (found == FAILED || (found && !removal_apply(store, command, &ended, error)))
            return false;
    }
    return true;
}

/* One id, or all of a list, those of later steps, too. */
static bool removal_check(struct store *store, const struct command *command, struct error *error) {
    size_t count = json_is_array(command->ids) ? json_array_size(command->ids) : 0;
    struct ended ended;
    if (command->goes_on || !command->ids)
        return true;
    if (json_is_integer(command->ids))
        return removal_find(store, command, json_integer_value(command->ids), &ended, error) !=
               FAILED;
    for (size_t i = 0; i < count; i++)
        if (removal_find(store, command, json_integer_value(json_array_get(command->ids, i)),
                         &ended, error) == FAILED)
            return false;
    return true;
}

bool history_preview(struct store *store, const struct command *command, int64_t *count,
                     struct error *error) {
    if (!command->ids)
        return ended_count(store, command, count, error);
    *count = json_is_array(command->ids) ? (int64_t)json_array_size(command->ids) : 1;
    return true;
}

/* All are looked at first, then all are changed, a thousand at a time. */
bool history_command(struct store *store, struct command *command, struct step *step, time_ms now,
                     struct error *error) {
    bool more;
    if (!store_file_ended(store, FILE_FIRST, &more, error))
        return false;
    if (!removal_check(store, command, error) || !removal_select(store, command, step, error))
        return false;
    return removal_each(store, command, step, error) &&
           (step->ids.count == 0 || removal_log(store, command, step, now, error));
}
