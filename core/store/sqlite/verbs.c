/* verbs.c - what an operator changes: each verb checks every id first, then changes all of them,
 * and writes one entry to the operation log. */
#include "store/sqlite/verbs.h"
#include "base/span.h"
#include "store/sqlite/cycle.h"
#include "store/sqlite/history.h"
#include "store/sqlite/incident.h"
#include "store/sqlite/lane.h"
#include "store/sqlite/operation.h"
#include <stdio.h>
#include <stdlib.h>

struct verb {
    const char *name;
    /* NULL: every state is fine */
    bool (*check)(struct store *store, const struct row *row, struct error *error);
    bool (*apply)(struct store *store, const struct verb *verb, struct row *row,
                  struct error *error);
    /* the value before and after, for the log; `text` has VERB_TEXT bytes; may be NULL */
    void (*before)(const struct row *row, char *text);
    const char *after;
    int64_t value; /* the new retries, priority, due date … */
    bool set_due;
    bool cascade; /* a due date: the cycle's later ones move with it */
    bool silent;  /* part of another verb, which writes the log's entry */
    time_ms due, now;
    const struct definitions *definitions;
};

#define VERB_TEXT 64

static bool verb_load(struct store *store, int64_t id, struct row *row, struct error *error) {
    int found = row_load(store, id, row, error);
    return found > 0 ||
           (found == 0 && error_set(error, ERROR_NOT_FOUND, "no job %lld", (long long)id));
}

static bool verb_check(struct store *store, const struct verb *verb, struct ids ids,
                       struct error *error) {
    struct row row;
    if (ids.count > VERB_IDS)
        return error_set(error, ERROR_INVALID, "%zu jobs at once (at most %d)", ids.count,
                         VERB_IDS);
    for (size_t i = 0; i < ids.count; i++)
        if (!verb_load(store, ids.list[i], &row, error) ||
            (verb->check && !verb->check(store, &row, error)))
            return false;
    return true;
}

static bool verb_log(struct store *store, const struct verb *verb, struct ids ids,
                     const char *before, struct error *error) {
    char entity[64];
    snprintf(entity, sizeof entity, ids.count == 1 ? "job %lld" : "%lld jobs",
             ids.count == 1 ? (long long)ids.list[0] : (long long)ids.count);
    return operation_write(store, verb->name, entity, (int)ids.count, before, verb->after,
                           verb->now, error);
}

static bool verb_all(struct store *store, const struct verb *verb, struct ids ids,
                     struct error *error) {
    char before[VERB_TEXT] = "";
    struct row row;
    if (!verb_check(store, verb, ids, error))
        return false;
    for (size_t i = 0; i < ids.count; i++) {
        /* The same id twice may be gone by now. */
        int found = row_load(store, ids.list[i], &row, error);
        if (found < 0)
            return false;
        if (found == 0)
            continue;
        if (ids.count == 1 && verb->before)
            verb->before(&row, before);
        if (!verb->apply(store, verb, &row, error))
            return false;
    }
    return ids.count == 0 || verb->silent ||
           verb_log(store, verb, ids, *before ? before : NULL, error);
}

static bool verb_run(struct store *store, const struct verb *verb, struct ids ids,
                     struct error *error) {
    bool own = false;
    if (!unit_begin(store, &own, error))
        return false;
    return unit_end(store, own, verb_all(store, verb, ids, error), error);
}

/* Writes what may change, and moves a job that is not running to where it belongs now. */
static bool verb_move(struct store *store, const struct row *old, struct row *row, time_ms now,
                      struct error *error) {
    row->place = row->due == TIME_NONE ? row->created : row->due;
    return (row->token || row_unplace(store, old, error)) &&
           db_run(&store->db, error,
                  "UPDATE job SET retries=?2, priority=?3, due=?4, place=?5, suspended=?6,"
                  " crashes=?7, rev=rev+1 WHERE id=?1",
                  "iniTinn", row->id, (int)row->retries, row->priority, row->due, row->place,
                  (int)row->suspended, (int)row->crashes) &&
           (row->token || row_place(store, row, now, error)) &&
           (row->token || lane_expose(store, row->lane, error));
}

/* ---- retries ---- */

static bool retries_apply(struct store *store, const struct verb *verb, struct row *row,
                          struct error *error) {
    struct row old = *row;
    row->retries = (int32_t)verb->value;
    if (verb->set_due)
        row->due = verb->due;
    if (row->retries > 0 && old.retries == 0)
        row->crashes = 0; /* a fresh start, or the first crash would end it again */
    return verb_move(store, &old, row, verb->now, error) &&
           (row->retries == 0 || incident_end(store, row->id, INCIDENT_RESOLVED, verb->now, error));
}

static void retries_before(const struct row *row, char *text) {
    snprintf(text, VERB_TEXT, "%d", (int)row->retries);
}

bool store_set_retries(struct store *store, struct ids ids, int32_t retries, bool set_due,
                       time_ms due, time_ms now, struct error *error) {
    char after[VERB_TEXT];
    snprintf(after, sizeof after, "%d", (int)retries);
    if (retries < 0)
        return error_set(error, ERROR_INVALID, "retries: %d (expected 0 or more)", (int)retries);
    return verb_run(store,
                    &(struct verb){.name = "set_retries",
                                   .apply = retries_apply,
                                   .before = retries_before,
                                   .after = after,
                                   .value = retries,
                                   .set_due = set_due,
                                   .due = due,
                                   .now = now},
                    ids, error);
}

static bool retry_apply(struct store *store, const struct verb *verb, struct row *row,
                        struct error *error) {
    const struct catalog_stream *stream = catalog_stream(&store->catalog, row->stream);
    const struct definition *definition =
        stream && verb->definitions ? definitions_find(verb->definitions, stream->definition->name)
                                    : NULL;
    int64_t kept = 0;
    if (stream && !definition &&
        db_value(&store->db, error, &kept,
                 "SELECT coalesce(json_extract(properties, '$.retries'), 0) FROM definition"
                 " WHERE id=?1",
                 "i", stream->definition->id) < 0)
        return false;
    struct verb configured = *verb;
    configured.value = definition ? definition->retries : kept;
    if (configured.value < 1)
        configured.value = store->settings->retries;
    return retries_apply(store, &configured, row, error);
}

bool store_retry(struct store *store, struct ids ids, const struct definitions *definitions,
                 time_ms now, struct error *error) {
    return verb_run(store,
                    &(struct verb){.name = "retry",
                                   .apply = retry_apply,
                                   .before = retries_before,
                                   .now = now,
                                   .definitions = definitions},
                    ids, error);
}

/* ---- priority, due date, suspension ---- */

static bool priority_apply(struct store *store, const struct verb *verb, struct row *row,
                           struct error *error) {
    struct row old = *row;
    row->priority = verb->value;
    return verb_move(store, &old, row, verb->now, error);
}

static void priority_before(const struct row *row, char *text) {
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
    char after[VERB_TEXT];
    snprintf(after, sizeof after, "%lld", (long long)priority);
    return verb_run(store,
                    &(struct verb){.name = "set_priority",
                                   .apply = priority_apply,
                                   .before = priority_before,
                                   .after = after,
                                   .value = priority,
                                   .now = now},
                    ids, error);
}

static bool due_check(struct store *store, const struct row *row, struct error *error) {
    (void)store;
    return !row->repeats || row->due != TIME_NONE ||
           error_set(error, ERROR_CONFLICT, "job %lld has no due date to move its cycle from",
                     (long long)row->id);
}

static bool due_apply(struct store *store, const struct verb *verb, struct row *row,
                      struct error *error) {
    struct row old = *row;
    row->due = verb->due;
    return (!verb->cascade || !row->repeats ||
            cycle_shift(store, row->id, row->due - old.due, error)) &&
           verb_move(store, &old, row, verb->now, error);
}

static void due_before(const struct row *row, char *text) {
    time_format(row->due, text);
}

bool store_set_due(struct store *store, struct ids ids, time_ms due, bool cascade, time_ms now,
                   struct error *error) {
    char after[TIME_TEXT_SIZE];
    time_format(due, after);
    if (cascade && due == TIME_NONE)
        return error_set(error, ERROR_INVALID, "cascade: expected a due date");
    return verb_run(store,
                    &(struct verb){.name = "set_due",
                                   .check = cascade ? due_check : NULL,
                                   .apply = due_apply,
                                   .before = due_before,
                                   .after = *after ? after : NULL,
                                   .due = due,
                                   .cascade = cascade,
                                   .now = now},
                    ids, error);
}

/* ---- due dates, evaluated again ---- */

static bool again_check(struct store *store, const struct row *row, struct error *error) {
    const struct catalog_stream *stream = catalog_stream(&store->catalog, row->stream);
    return (stream && stream->type == JOB_TIMER) ||
           error_set(error, ERROR_CONFLICT, "job %lld is no timer", (long long)row->id);
}

/* The date or duration that a timer was created with, counted from `from`. */
static bool again_term(struct store *store, int64_t id, time_ms from, time_ms *due,
                       struct error *error) {
    struct span span = {0};
    sqlite3_stmt *row =
        db_query(&store->db, error, "SELECT term FROM job WHERE id=?1 AND term NOT NULL", "i", id);
    int step = row ? db_step(&store->db, row, error) : -1;
    if (step <= 0)
        return step == 0 &&
               error_set(error, ERROR_CONFLICT,
                         "job %lld: what its due date came from is not known", (long long)id);
    const char *term = db_column_text(row, 0);
    bool relative = *term == 'P';
    bool done = relative ? span_parse(term, &span, error) : time_parse(term, due, error);
    if (relative)
        *due = span_add(from, &span);
    sqlite3_reset(row);
    return done;
}

static bool again_apply(struct store *store, const struct verb *verb, struct row *row,
                        struct error *error) {
    struct row old = *row;
    time_ms from = verb->value ? row->created : verb->now;
    return (row->repeats ? cycle_resume(store, row->id, from, &row->due, error)
                         : again_term(store, row->id, from, &row->due, error)) &&
           verb_move(store, &old, row, verb->now, error);
}

bool store_recalculate_due(struct store *store, struct ids ids, bool from_creation, time_ms now,
                           struct error *error) {
    return verb_run(store,
                    &(struct verb){.name = "recalculate_due",
                                   .check = again_check,
                                   .apply = again_apply,
                                   .before = due_before,
                                   .after = from_creation ? "from creation" : "from now",
                                   .value = from_creation,
                                   .now = now},
                    ids, error);
}

/* A running job loses its lock and so cannot commit; its lane is held until the run ends. */
static bool suspend_apply(struct store *store, const struct verb *verb, struct row *row,
                          struct error *error) {
    struct row old = *row;
    bool suspended = verb->value != 0;
    if (row->suspended == suspended)
        return true;
    row->suspended = suspended;
    if (suspended && row->token) {
        if (!db_run(&store->db, error, "DELETE FROM locked WHERE id=?1", "i", row->id))
            return false;
        row->token = 0;
        store->wake.everybody = true; /* its owner may cut the run short */
    }
    return verb_move(store, &old, row, verb->now, error);
}

bool verbs_set_suspended(struct store *store, struct ids ids, bool suspended, time_ms now,
                         struct error *error) {
    return verb_run(
        store,
        &(struct verb){.apply = suspend_apply, .value = suspended, .now = now, .silent = true}, ids,
        error);
}

bool store_set_suspended(struct store *store, struct ids ids, bool suspended, time_ms now,
                         struct error *error) {
    return verb_run(store,
                    &(struct verb){.name = suspended ? "suspend" : "activate",
                                   .apply = suspend_apply,
                                   .value = suspended,
                                   .now = now},
                    ids, error);
}

/* ---- delete, cancel ---- */

static bool delete_check(struct store *store, const struct row *row, struct error *error) {
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
        store->wake.everybody = true;
    bool removed = row->token
                       ? db_run(&store->db, error, "DELETE FROM locked WHERE id=?1", "i", row->id)
                       : row_unplace(store, row, error);
    return removed &&
           history_removed(store, row, (enum history_end)verb->value, verb->now, error) &&
           db_run(&store->db, error, "DELETE FROM job WHERE id=?1", "i", row->id) &&
           db_run(&store->db, error, "DELETE FROM progress WHERE job=?1", "i", row->id) &&
           incident_end(store, row->id, INCIDENT_DELETED, verb->now, error) &&
           (!row->repeats || cycle_end(store, row->id, error)) &&
           lane_expose(store, row->lane, error);
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
