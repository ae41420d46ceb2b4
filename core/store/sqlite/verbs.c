/* verbs.c - what an operator does to jobs (rules §11, §12); due dates are in due.c, cycles
 * in recycle.c. */
#include "store/sqlite/alive.h"
#include "store/sqlite/batch.h"
#include "store/sqlite/cycle.h"
#include "store/sqlite/history.h"
#include "store/sqlite/incident.h"
#include "store/sqlite/lane.h"
#include "store/sqlite/occurrence.h"
#include "store/sqlite/tell.h"
#include "store/sqlite/verb.h"
#include <stdio.h>

/* ---- retries ---- */

/* One open incident as long as there are no retries, also while the job runs. */
static bool retries_incident(struct store *store, const struct row *old, const struct row *row,
                             time_ms now, struct error *error) {
    if (row->retries > 0)
        return incident_end(store, row->id, INCIDENT_RESOLVED, now, error);
    return old->retries == 0 || incident_open(store, row->id, INCIDENT_FAILED_JOB, now, error);
}

static bool retries_apply(struct store *store, const struct verb *verb, struct row *row,
                          struct error *error) {
    struct row old = *row;
    row->retries = (int32_t)verb->value;
    if (verb->set_due)
        row->due = verb->due;
    if (row->retries > 0 && old.retries == 0)
        row->crashes = 0; /* a fresh start, or the first crash would end it again */
    return verb_move(store, &old, row, verb->now, error) &&
           tell_retries(store, &old, row, verb->now, error) &&
           retries_incident(store, &old, row, verb->now, error);
}

static void retries_show(const struct row *row, char *text) {
    snprintf(text, VERB_TEXT, "%d", (int)row->retries);
}

bool store_set_retries(struct store *store, struct ids ids, int32_t retries, bool set_due,
                       time_ms due, time_ms now, struct error *error) {
    if (retries < 0)
        return error_set(error, ERROR_INVALID, "retries: %d (expected 0 or more)", (int)retries);
    return verb_run(store,
                    &(struct verb){.name = "set_retries",
                                   .apply = retries_apply,
                                   .show = retries_show,
                                   .value = retries,
                                   .set_due = set_due,
                                   .due = due,
                                   .now = now},
                    ids, error);
}

static bool retry_apply(struct store *store, const struct verb *verb, struct row *row,
                        struct error *error) {
    const struct catalog_stream *stream = catalog_stream(&store->catalog, row->stream);
    struct verb configured = *verb;
    if (!verb->value && stream &&
        db_value(&store->db, error, &configured.value,
                 "SELECT coalesce(json_extract(properties, '$.retries'), 0) FROM definition"
                 " WHERE id=?1",
                 "i", stream->definition->id) < 0)
        return false;
    if (configured.value < 1)
        configured.value = store->settings->retries;
    return retries_apply(store, &configured, row, error);
}

bool store_retry(struct store *store, struct ids ids, bool set_due, time_ms due, time_ms now,
                 struct error *error) {
    return verb_run(store,
                    &(struct verb){.name = "retry",
                                   .apply = retry_apply,
                                   .show = retries_show,
                                   .set_due = set_due,
                                   .due = due,
                                   .now = now},
                    ids, error);
}

bool verbs_retry(struct store *store, struct ids ids, int32_t retries, time_ms now,
                 struct error *error) {
    return verb_run(
        store, &(struct verb){.apply = retry_apply, .value = retries, .now = now, .silent = true},
        ids, error);
}

bool store_dead_letter(struct store *store, struct ids ids, time_ms now, struct error *error) {
    return verb_run(
        store,
        &(struct verb){
            .name = "dead_letter", .apply = retries_apply, .show = retries_show, .now = now},
        ids, error);
}

bool verbs_set_retries(struct store *store, struct ids ids, const struct order *order, time_ms now,
                       struct error *error) {
    return verb_run(store,
                    &(struct verb){.apply = retries_apply,
                                   .value = order->retries,
                                   .set_due = order->due_given,
                                   .due = order->due,
                                   .now = now,
                                   .silent = true},
                    ids, error);
}

/* ---- priority, due date, suspension ---- */

static bool priority_apply(struct store *store, const struct verb *verb, struct row *row,
                           struct error *error) {
    struct row old = *row;
    row->priority = verb->value;
    return verb_move(store, &old, row, verb->now, error);
}

static void priority_show(const struct row *row, char *text) {
    snprintf(text, VERB_TEXT, "%lld", (long long)row->priority);
}

bool verbs_set_priority(struct store *store, struct ids ids, int64_t priority, time_ms now,
                        struct error *error) {
    return verb_run(
        store,
        &(struct verb){.apply = priority_apply, .value = priority, .now = now, .silent = true}, ids,
        error);
}

bool store_set_priority(struct store *store, struct ids ids, int64_t priority, time_ms now,
                        struct error *error) {
    return verb_run(store,
                    &(struct verb){.name = "set_priority",
                                   .apply = priority_apply,
                                   .show = priority_show,
                                   .value = priority,
                                   .now = now},
                    ids, error);
}

/* Written, while the job stays where it is: only its reasons are others. */
static bool suspend_again(struct store *store, const struct row *row, struct error *error) {
    return db_run(&store->db, error, "UPDATE job SET suspended=?2, rev=rev+1 WHERE id=?1", "in",
                  row->id, (int)row->suspended);
}

/* The owner of the lock hears of it at once: what waits is not begun, what runs is cut short. */
static void cut(struct store *store) {
    store->meta.cuts++;
    store->wake.everybody = true;
}

/* A running job loses its lock and so cannot commit; its lane is held until the run ends, and so is
 * its place under a limit. */
static bool suspend_apply(struct store *store, const struct verb *verb, struct row *row,
                          struct error *error) {
    struct row old = *row;
    int32_t reasons = (int32_t)verb->value;
    row->suspended = verb->suspends ? row->suspended | reasons : row->suspended & ~reasons;
    if (!verb->suspends)
        held_add(&store->journal.held, row->suspended);
    if (row->suspended == old.suspended)
        return true;
    if (row->suspended && old.suspended)
        return suspend_again(store, row, error);
    if (row->suspended && row->token) {
        if (!db_run(&store->db, error, "DELETE FROM locked WHERE id=?1", "i", row->id) ||
            (row->repeats && !occurrence_cut(store, row, error)))
            return false;
        row->token = 0;
        cut(store);
    }
    return verb_move(store, &old, row, verb->now, error);
}

static void suspend_show(const struct row *row, char *text) {
    char reasons[SUSPENSION_TEXT];
    suspension_text(row->suspended, reasons);
    snprintf(text, VERB_TEXT, row->suspended == SUSPENDED_JOB ? "suspended" : "suspended (%s)",
             reasons);
    if (!row->suspended)
        snprintf(text, VERB_TEXT, "active");
}

bool verbs_set_suspended(struct store *store, struct ids ids, int reasons, bool suspended,
                         time_ms now, struct error *error) {
    return verb_run(store,
                    &(struct verb){.apply = suspend_apply,
                                   .value = reasons,
                                   .suspends = suspended,
                                   .now = now,
                                   .silent = true},
                    ids, error);
}

/* `reason` 0: what is done by id. */
static bool verbs_suspend(struct store *store, struct ids ids, int reason, bool suspended,
                          time_ms now, struct error *error) {
    int by_id = suspended ? SUSPENDED_JOB : SUSPENDED_BY_NAME;
    return verb_run(store,
                    &(struct verb){.name = suspended ? "suspend" : "activate",
                                   .apply = suspend_apply,
                                   .show = suspend_show,
                                   .value = reason ? reason : by_id,
                                   .suspends = suspended,
                                   .now = now},
                    ids, error);
}

bool store_set_suspended(struct store *store, struct ids ids, bool suspended, time_ms now,
                         struct error *error) {
    store->journal.held = (struct held){0};
    bool done = verbs_suspend(store, ids, 0, suspended, now, error);
    store->journal.held = (struct held){0};
    return done;
}

/* ---- delete, cancel ---- */

static bool delete_check(struct store *store, const struct verb *verb, const struct row *row,
                         struct error *error) {
    (void)verb;
    if (!row->token)
        return true;
    sqlite3_stmt *owner =
        db_query(&store->db, error, "SELECT name FROM executor WHERE id=?1", "i", row->owner);
    int step = owner ? db_step(&store->db, owner, error) : -1;
    if (step < 0)
        return false;
    error_set(error, ERROR_CONFLICT, "job %lld is locked by \"%s/%lld\" (cancel it instead)",
              (long long)row->id, step ? db_column_text(owner, 0) : "?", (long long)row->owner);
    if (step)
        sqlite3_reset(owner);
    return false;
}

static bool delete_apply(struct store *store, const struct verb *verb, struct row *row,
                         struct error *error) {
    if (row->token)
        cut(store);
    if (row->token && row->repeats && !occurrence_cut(store, row, error))
        return false;
    bool removed = row->token
                       ? db_run(&store->db, error, "DELETE FROM locked WHERE id=?1", "i", row->id)
                       : row_unplace(store, row, error);
    return removed && (row->retries == 0 || alive_end(store, row, error)) &&
           history_removed(store, row, (enum history_end)verb->value, verb->now, error) &&
           tell_removed(store, row, history_end_name((int)verb->value), verb->now, error) &&
           (!row->batch || batch_gone(store, row, TIME_NONE, verb->now, error)) &&
           db_run(&store->db, error, "DELETE FROM job WHERE id=?1", "i", row->id) &&
           db_run(&store->db, error, "DELETE FROM progress WHERE job=?1", "i", row->id) &&
           incident_end(store, row->id, INCIDENT_DELETED, verb->now, error) &&
           (!row->repeats ||
            (cycle_end(store, row->id, error) && occurrence_end(store, row->id, error))) &&
           lane_expose(store, row->lane, error);
}

bool verbs_delete(struct store *store, struct ids ids, time_ms now, struct error *error) {
    return verb_run(
        store,
        &(struct verb){.apply = delete_apply, .value = ENDED_DELETED, .now = now, .silent = true},
        ids, error);
}

bool verbs_delete_known(struct store *store, int64_t id, time_ms now, struct error *error) {
    struct row row;
    int found = row_load(store, id, &row, error);
    return found == 0 || (found > 0 && verbs_delete(store, (struct ids){&id, 1}, now, error));
}

bool verbs_cancel(struct store *store, struct ids ids, time_ms now, struct error *error) {
    return verb_run(
        store,
        &(struct verb){.apply = delete_apply, .value = ENDED_CANCELLED, .now = now, .silent = true},
        ids, error);
}

bool store_delete(struct store *store, struct ids ids, time_ms now, struct error *error) {
    return verb_run(store,
                    &(struct verb){.name = "delete",
                                   .check = delete_check,
                                   .apply = delete_apply,
                                   .value = ENDED_DELETED,
                                   .now = now},
                    ids, error);
}

bool store_cancel(struct store *store, struct ids ids, time_ms now, struct error *error) {
    return verb_run(
        store,
        &(struct verb){
            .name = "cancel", .apply = delete_apply, .value = ENDED_CANCELLED, .now = now},
        ids, error);
}

/* ---- all of them ---- */

/* Those of the ids whose jobs are there. */
static bool verbs_known(struct store *store, struct ids ids, int64_t *known, size_t *count,
                        struct error *error) {
    *count = 0;
    for (size_t i = 0; i < ids.count; i++) {
        int found = db_value(&store->db, error, &known[*count], "SELECT id FROM live WHERE id=?1",
                             "i", ids.list[i]);
        if (found < 0)
            return false;
        *count += (size_t)found;
    }
    return true;
}

static bool verbs_do(struct store *store, const struct order *order, struct ids ids, time_ms now,
                     struct error *error) {
    switch (order->verb) {
    case ORDER_SET_RETRIES:
        return store_set_retries(store, ids, order->retries, order->due_given, order->due, now,
                                 error);
    case ORDER_RETRY:
        return store_retry(store, ids, order->due_given, order->due, now, error);
    case ORDER_SET_PRIORITY:
        return store_set_priority(store, ids, order->priority, now, error);
    case ORDER_SET_DUE:
        return store_set_due(store, ids, order->due, order->cascade, now, error);
    case ORDER_RECALCULATE_DUE:
        return store_recalculate_due(store, ids, order->from_creation, now, error);
    case ORDER_SET_CYCLE:
        return verbs_set_cycle(store, ids, order, now, error);
    case ORDER_SUSPEND:
        return verbs_suspend(store, ids, order->reason, true, now, error);
    case ORDER_ACTIVATE:
        return verbs_suspend(store, ids, order->reason, false, now, error);
    case ORDER_DELETE:
        return store_delete(store, ids, now, error);
    case ORDER_CANCEL:
        return store_cancel(store, ids, now, error);
    default:
        return store_dead_letter(store, ids, now, error);
    }
}

bool verbs_operate(struct store *store, const struct order *order, struct ids ids, time_ms now,
                   struct error *error) {
    int64_t known[VERB_IDS];
    size_t count = 0;
    if (!order->ignore_missing || ids.count > VERB_IDS)
        return verbs_do(store, order, ids, now, error);
    return verbs_known(store, ids, known, &count, error) &&
           verbs_do(store, order, (struct ids){known, count}, now, error);
}

bool verbs_check(struct store *store, const struct order *order, struct ids ids, time_ms now,
                 struct error *error) {
    struct verb verb = {.check = order->verb == ORDER_DELETE            ? delete_check
                                 : order->verb == ORDER_RECALCULATE_DUE ? due_again_check
                                 : order->verb == ORDER_SET_CYCLE       ? recycle_check
                                 : order->cascade                       ? due_check
                                                                        : NULL,
                        .cycle = order->cycle,
                        .zone = order->zone,
                        .now = now};
    int64_t known[VERB_IDS];
    size_t count = 0;
    if (order->ignore_missing && ids.count <= VERB_IDS) {
        if (!verbs_known(store, ids, known, &count, error))
            return false;
        ids = (struct ids){known, count};
    }
    return verb_check(store, &verb, ids, error);
}
