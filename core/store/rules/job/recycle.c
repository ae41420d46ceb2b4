/* recycle.c - an operator gives a job that waits for its date another cycle (rules §11, §14). */
#include "store/rules/job/change.h"
#include "store/rules/record/history.h"
#include "time/repeat.h"
#include <stdio.h>
#include <string.h>

/* What the job will repeat by: the command's terms, and its own where the command is silent. */
struct terms {
    enum misfire misfire;
    char zone[JOB_NAME_MAX + 1];
};

static bool state_check(const struct job_row *row, struct error *error) {
    const char *why = "does not repeat (enqueue one with a cycle instead)";
    if (row->token)
        why = "is locked (expected one that waits for its date)";
    else if (row->retries == 0)
        why = "is dead (expected one that waits for its date)";
    return (!row->token && row->retries > 0 && row->repeats) ||
           error_set(error, ERROR_CONFLICT, "job %lld %s", (long long)row->id, why);
}

/* The row of its cycle is gone. */
static bool refuse_over(int64_t job, int64_t next, struct error *error) {
    if (next)
        return error_set(error, ERROR_CONFLICT, "job %lld has made its next occurrence, job %lld",
                         (long long)job, (long long)next);
    return error_set(error, ERROR_CONFLICT, "job %lld is the last of its cycle", (long long)job);
}

static bool terms_take(struct row *row, const struct change *change, int64_t job,
                       struct terms *terms, struct error *error) {
    const char *zone = row_text(row, 0), *schedule = row_text(row, 2);
    if (!zone)
        return refuse_over(job, row_int(row, 3), error);
    if (schedule)
        return error_set(error, ERROR_CONFLICT,
                         "job %lld: the schedule \"%s\" says when: change its file", (long long)job,
                         schedule);
    strncat(terms->zone, change->command->zone ? change->command->zone : zone, JOB_NAME_MAX);
    terms->misfire =
        change->command->misfire_given ? change->command->misfire : (enum misfire)row_int32(row, 1);
    return true;
}

static bool terms_read(struct store *store, const struct change *change, int64_t job,
                       struct terms *terms, struct error *error) {
    *terms = (struct terms){0};
    struct row *row = db_query(&store->db, error,
                               "SELECT c.zone, c.misfire, c.schedule, coalesce(j.repeat_done, 0)"
                               " FROM job j LEFT JOIN cycle c ON c.job=j.id WHERE j.id=?1",
                               "i", job);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step == NO && history_missing(store, job, error);
    bool fine = terms_take(row, change, job, terms, error);
    row_done(row);
    return fine;
}

/* The first date of the new cycle, as if the job were created now. */
static bool terms_first(const struct change *change, const struct terms *terms, time_ms *due,
                        struct error *error) {
    struct repeat repeat = {
        .text = change->command->cycle, .zone = terms->zone, .origin = change->now};
    struct cycle cycle;
    if (!repeat_open(&repeat, &cycle, error))
        return false;
    *due = repeat_first(&repeat, &cycle, change->now);
    return *due != TIME_NEVER || error_set(error, ERROR_CONFLICT, "cycle \"%s\": has no date left",
                                           change->command->cycle);
}

bool recycle_check(struct store *store, const struct change *change, const struct job_row *row,
                   struct error *error) {
    struct terms terms;
    time_ms due;
    return state_check(row, error) && terms_read(store, change, row->id, &terms, error) &&
           terms_first(change, &terms, &due, error);
}

bool recycle_apply(struct store *store, const struct change *change, struct job_row *row,
                   struct error *error) {
    struct job_row old = *row;
    struct terms terms;
    if (!terms_read(store, change, row->id, &terms, error) ||
        !terms_first(change, &terms, &row->due, error))
        return false;
    return db_run(&store->db, error,
                  "UPDATE cycle SET zone=?2, misfire=?3, origin=?4, starts=0, date=?5, shift=0"
                  " WHERE job=?1",
                  "itnii", row->id, terms.zone, (int)terms.misfire, change->now, row->due) &&
           row_set_repeat(store, row->id, change->command->cycle, error) &&
           change_move(store, &old, row, change->now, error);
}

/* Its cycle as the operation log has it: "0 3 * * * (Europe/Berlin, once)". */
bool recycle_read(struct store *store, const struct job_row *row, char *text, struct error *error) {
    struct row *found = db_query(
        &store->db, error,
        "SELECT j.repeat, c.zone, c.misfire FROM job j JOIN cycle c ON c.job=j.id WHERE j.id=?1",
        "i", row->id);
    enum answer step = db_step(&store->db, found, error);
    if (step != YES)
        return step == NO;
    snprintf(text, CHANGE_TEXT, "%s (%s, %s)", row_text(found, 0), row_text(found, 1),
             misfire_name((enum misfire)row_int32(found, 2)));
    row_done(found);
    return true;
}
