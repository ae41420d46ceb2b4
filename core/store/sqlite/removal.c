/* removal.c - what an operator does to ended jobs (rules §18): says when they go from the history,
 * or removes them. */
#include "store/sqlite/clean.h"
#include "store/sqlite/joblog.h"
#include "store/sqlite/operation.h"
#include "store/sqlite/verbs.h"
#include <stdio.h>

enum { FILE_FIRST = 100000 }; /* ended jobs that are filed by number before any is looked for */

/* A job that ended without a note of it has left no more than its failures. */
static int removal_nowhere(struct store *store, int64_t job, struct error *error) {
    int64_t live = 0;
    int found = db_value(&store->db, error, &live,
                         "SELECT EXISTS(SELECT 1 FROM live WHERE id=?1) FROM attempt WHERE job=?1"
                         " LIMIT 1",
                         "i", job);
    return found > 0 ? !live : found;
}

/* 1, 0 it may be missing, -1 error or refused. */
static int removal_find(struct store *store, const struct order *order, int64_t job,
                        struct ended *ended, struct error *error) {
    int64_t one = 0;
    *ended = (struct ended){.job = job};
    int found = history_find(store, job, ended, error);
    if (found == 0 && order->verb == ORDER_DELETE_HISTORY)
        found = removal_nowhere(store, job, error);
    /* That all were there was seen before the first step. */
    if (found != 0 || order->ignore_missing || order->goes_on)
        return found;
    found = db_value(&store->db, error, &one, "SELECT 1 FROM live WHERE id=?1", "i", job);
    if (found > 0)
        error_set(error, ERROR_CONFLICT, "job %lld has not ended", (long long)job);
    else if (found == 0)
        error_set(error, ERROR_NOT_FOUND, "no job %lld in the history", (long long)job);
    return -1;
}

static bool removal_apply(struct store *store, const struct order *order, const struct ended *ended,
                          struct error *error) {
    bool gone = false, some = true;
    if (order->verb == ORDER_SET_REMOVAL_TIME)
        return db_run(&store->db, error, "UPDATE ended SET removal=?2 WHERE seq=?1", "iT",
                      ended->seq, order->removal);
    while (!gone && some) { /* of many lines a thousand go at once */
        int64_t room = CLEANUP_ROWS;
        if (!clean_job(store, ended, &room, &gone, error))
            return false;
        some = room < CLEANUP_ROWS;
    }
    return true;
}

static bool removal_log(struct store *store, const struct order *order, const struct step *step,
                        time_ms now, struct error *error) {
    char entity[64], after[TIME_TEXT_SIZE] = "";
    bool one = step->ids.count == 1 && order->ids;
    snprintf(entity, sizeof entity, one ? "job %lld" : "%lld jobs",
             one ? (long long)step->list[0] : (long long)step->ids.count);
    if (order->removal == TIME_NEVER || order->removal == TIME_NONE)
        snprintf(after, sizeof after, order->removal == TIME_NONE ? "computed" : "never");
    else
        time_format(order->removal, after);
    return operation_write_ids(store, order->name, entity, step->ids, NULL,
                               order->verb == ORDER_SET_REMOVAL_TIME ? after : "removed", now,
                               error);
}

/* The jobs of this step; those of a query by the order in which they ended. */
static bool removal_select(struct store *store, struct order *order, struct step *step,
                           struct error *error) {
    if (order->ids)
        return step_select(store, step, order, 0, error);
    if (!order->goes_on && db_value(&store->db, error, &order->upto,
                                    "SELECT coalesce(max(seq), 0) FROM ended", "") < 0)
        return false;
    return joblog_step(store, step, order, error);
}

static bool removal_each(struct store *store, const struct order *order, const struct step *step,
                         struct error *error) {
    for (size_t i = 0; i < step->ids.count; i++) {
        struct ended ended;
        int found = removal_find(store, order, step->list[i], &ended, error);
        if (found < 0 || (found && !removal_apply(store, order, &ended, error)))
            return false;
    }
    return true;
}

/* One id, or all of a list, those of later steps, too. */
static bool removal_check(struct store *store, const struct order *order, struct error *error) {
    size_t count = json_is_array(order->ids) ? json_array_size(order->ids) : 0;
    struct ended ended;
    if (order->goes_on || !order->ids)
        return true;
    if (json_is_integer(order->ids))
        return removal_find(store, order, json_integer_value(order->ids), &ended, error) >= 0;
    for (size_t i = 0; i < count; i++)
        if (removal_find(store, order, json_integer_value(json_array_get(order->ids, i)), &ended,
                         error) < 0)
            return false;
    return true;
}

bool history_preview(struct store *store, const struct order *order, int64_t *count,
                     struct error *error) {
    if (!order->ids)
        return joblog_count(store, order, count, error);
    *count = json_is_array(order->ids) ? (int64_t)json_array_size(order->ids) : 1;
    return true;
}

/* All are looked at first, then all are changed, a thousand at a time. */
bool history_operate(struct store *store, struct order *order, struct step *step, time_ms now,
                     struct error *error) {
    bool more;
    return store_file_ended(store, FILE_FIRST, &more, error) &&
           removal_check(store, order, error) && removal_select(store, order, step, error) &&
           removal_each(store, order, step, error) &&
           (order->verb != ORDER_DELETE_HISTORY || clean_refile(store, error)) &&
           (step->ids.count == 0 || removal_log(store, order, step, now, error));
}
