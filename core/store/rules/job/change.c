#include "store/rules/job/change.h"
#include "store/rules/create/occurrence.h"
#include "store/rules/job/job_commands.h"
#include "store/rules/job/tally.h"
#include "store/rules/place/admission.h"
#include "store/rules/place/fair_share.h"
#include "store/rules/place/places.h"
#include "store/rules/record/history.h"
#include "store/rules/record/incident.h"
#include "store/rules/record/operation.h"
#include <stdio.h>
#include <string.h>

static bool change_load(struct store *store, int64_t id, struct job_row *row, struct error *error) {
    enum answer found = row_load(store, id, row, error);
    return found == YES || (found == NO && history_missing(store, id, error));
}

bool change_check(struct store *store, const struct change *change, struct ids ids,
                  struct error *error) {
    struct job_row row;
    if (ids.count > COMMAND_IDS)
        return error_set(error, ERROR_INVALID, "%zu jobs at once (at most %d)", ids.count,
                         COMMAND_IDS);
    if (!row_want(store, ids, false, error))
        return false;
    for (size_t i = 0; i < ids.count; i++)
        if (!change_load(store, ids.list[i], &row, error) ||
            (change->check && !change->check(store, change, &row, error)))
            return false;
    return true;
}

/* A value as long as it is the same for all jobs. */
struct common {
    char text[CHANGE_TEXT];
    bool differs;
};

static bool common_add(struct store *store, struct common *common, const struct change *change,
                       const struct job_row *row, bool first, struct error *error) {
    char text[CHANGE_TEXT] = "";
    if (change->silent)
        return true;
    if (change->read && !change->read(store, row, text, error))
        return false;
    if (change->show)
        change->show(row, text);
    if (first)
        memcpy(common->text, text, sizeof text);
    common->differs |= strcmp(common->text, text) != 0;
    return true;
}

static const char *common_text(const struct common *common) {
    return common->differs || !*common->text ? NULL : common->text;
}

static bool change_log(struct store *store, const struct change *change, struct ids ids,
                       const struct common *before, const struct common *after,
                       struct error *error) {
    char entity[64];
    snprintf(entity, sizeof entity, ids.count == 1 ? "job %lld" : "%lld jobs",
             ids.count == 1 ? (long long)ids.list[0] : (long long)ids.count);
    const char *now = store->journal.held.jobs ? "active" : common_text(after);
    return operation_write_ids(store, change->name, entity, ids, common_text(before), now,
                               change->now, error);
}

static bool change_all(struct store *store, const struct change *change, struct ids ids,
                       struct error *error) {
    struct common before = {0}, after = {0};
    struct job_row row;
    if (!change_check(store, change, ids, error))
        return false;
    for (size_t i = 0; i < ids.count; i++) {
        /* The same id twice may be gone by now. */
        enum answer found = row_load(store, ids.list[i], &row, error);
        if (found == FAILED)
            return false;
        if (found == NO)
            continue;
        if (!common_add(store, &before, change, &row, i == 0, error) ||
            !change->apply(store, change, &row, error) ||
            !common_add(store, &after, change, &row, i == 0, error))
            return false;
    }
    return ids.count == 0 || change->silent ||
           change_log(store, change, ids, &before, &after, error);
}

bool change_run(struct store *store, const struct change *change, struct ids ids,
                struct error *error) {
    bool own = false;
    if (!unit_begin(store, STORE_COMMAND, &own, error))
        return false;
    struct configured configured = {0};
    struct change whole = *change;
    whole.configured = &configured;
    bool done = change_all(store, &whole, ids, error);
    row_want_end(store);
    return unit_end(store, own, done, error);
}

bool change_move(struct store *store, const struct job_row *old, struct job_row *row, time_ms now,
                 struct error *error) {
    row->due = row_due(store, row->due, now);
    /* What its run leaves of a row that is dead now is not for the run to know. */
    if (row->token && !place_edited(store, row->id, error))
        return false;
    if (!admission_move(store, old, row, now, error) ||
        !fair_share_place(store, old, row, now, error))
        return false;
    if (!row->token && !place_remove(store, old, error))
        return false;
    if (!row_write(store, row, true, error) ||
        (row->batch && !batch_retries(store, old, row, error)))
        return false;
    if (row->token)
        return true;
    bool stays_dead = old->retries == 0 && row->retries == 0; /* it has no place */
    return (stays_dead || incident_place(store, row, now, error)) &&
           place_expose(store, row->lane, error) &&
           (!row->repeats || occurrence_left(store, row, error));
}
