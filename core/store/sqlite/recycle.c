/* recycle.c - an operator gives a job that waits for its date another cycle (rules §11, §14). */
#include "base/repeat.h"
#include "store/sqlite/verb.h"
#include <stdio.h>
#include <string.h>

/* What the job will repeat by: the order's terms, and its own where the order is silent. */
struct terms {
    enum misfire misfire;
    char zone[JOB_NAME_MAX + 1];
};

static bool state_check(const struct row *row, struct error *error) {
    const char *why = row->token          ? "is locked (expected one that waits for its date)"
                      : row->retries == 0 ? "is dead (expected one that waits for its date)"
                                          : "does not repeat (enqueue one with a cycle instead)";
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

static bool terms_take(sqlite3_stmt *row, const struct verb *verb, int64_t job, struct terms *terms,
                       struct error *error) {
    const char *zone = db_column_text(row, 0), *schedule = db_column_text(row, 2);
    if (!zone)
        return refuse_over(job, sqlite3_column_int64(row, 3), error);
    if (schedule)
        return error_set(error, ERROR_CONFLICT,
                         "job %lld: the schedule \"%s\" says when: change its file", (long long)job,
                         schedule);
    strncat(terms->zone, verb->zone ? verb->zone : zone, JOB_NAME_MAX);
    terms->misfire = verb->set_misfire ? verb->misfire : (enum misfire)sqlite3_column_int(row, 1);
    return true;
}

static bool terms_read(struct store *store, const struct verb *verb, int64_t job,
                       struct terms *terms, struct error *error) {
    *terms = (struct terms){0};
    sqlite3_stmt *row = db_query(&store->db, error,
                                 "SELECT c.zone, c.misfire, c.schedule, coalesce(j.repeat_done, 0)"
                                 " FROM job j LEFT JOIN cycle c ON c.job=j.id WHERE j.id=?1",
                                 "i", job);
    int step = row ? db_step(&store->db, row, error) : -1;
    if (step <= 0)
        return step == 0 && error_set(error, ERROR_NOT_FOUND, "no job %lld", (long long)job);
    bool fine = terms_take(row, verb, job, terms, error);
    sqlite3_reset(row);
    return fine;
}

/* The first date of the new cycle, as if the job were created now. */
static bool terms_first(const struct verb *verb, const struct terms *terms, time_ms *due,
                        struct error *error) {
    struct repeat repeat = {.text = verb->cycle, .zone = terms->zone, .origin = verb->now};
    struct cycle cycle;
    if (!repeat_open(&repeat, &cycle, error))
        return false;
    *due = repeat_first(&repeat, &cycle, verb->now);
    return *due != TIME_NEVER ||
           error_set(error, ERROR_CONFLICT, "cycle \"%s\": has no date left", verb->cycle);
}

bool recycle_check(struct store *store, const struct verb *verb, const struct row *row,
                   struct error *error) {
    struct terms terms;
    time_ms due;
    return state_check(row, error) && terms_read(store, verb, row->id, &terms, error) &&
           terms_first(verb, &terms, &due, error);
}

static bool recycle_apply(struct store *store, const struct verb *verb, struct row *row,
                          struct error *error) {
    struct row old = *row;
    struct terms terms;
    return terms_read(store, verb, row->id, &terms, error) &&
           terms_first(verb, &terms, &row->due, error) &&
           db_run(&store->db, error,
                  "UPDATE cycle SET zone=?2, misfire=?3, origin=?4, starts=0, date=?5, shift=0"
                  " WHERE job=?1",
                  "itnii", row->id, terms.zone, (int)terms.misfire, verb->now, row->due) &&
           db_run(&store->db, error, "UPDATE job SET repeat=?2 WHERE id=?1", "it", row->id,
                  verb->cycle) &&
           verb_move(store, &old, row, verb->now, error);
}

/* Its cycle as the operation log has it: "0 3 * * * (Europe/Berlin, once)". */
static bool recycle_read(struct store *store, const struct row *row, char *text,
                         struct error *error) {
    sqlite3_stmt *found = db_query(
        &store->db, error,
        "SELECT j.repeat, c.zone, c.misfire FROM job j JOIN cycle c ON c.job=j.id WHERE j.id=?1",
        "i", row->id);
    int step = found ? db_step(&store->db, found, error) : -1;
    if (step <= 0)
        return step == 0;
    snprintf(text, VERB_TEXT, "%s (%s, %s)", db_column_text(found, 0), db_column_text(found, 1),
             misfire_name((enum misfire)sqlite3_column_int(found, 2)));
    sqlite3_reset(found);
    return true;
}

bool verbs_set_cycle(struct store *store, struct ids ids, const struct order *order, time_ms now,
                     struct error *error) {
    return verb_run(store,
                    &(struct verb){.name = "set_cycle",
                                   .check = recycle_check,
                                   .apply = recycle_apply,
                                   .read = recycle_read,
                                   .cycle = order->cycle,
                                   .zone = order->zone,
                                   .misfire = order->misfire,
                                   .set_misfire = order->misfire_given,
                                   .now = now},
                    ids, error);
}
