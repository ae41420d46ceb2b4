#include "store/sqlite/verb.h"
#include "store/sqlite/alive.h"
#include "store/sqlite/batch.h"
#include "store/sqlite/lane.h"
#include "store/sqlite/occurrence.h"
#include "store/sqlite/operation.h"
#include "store/sqlite/share.h"
#include <stdio.h>
#include <string.h>

static bool verb_load(struct store *store, int64_t id, struct row *row, struct error *error) {
    int found = row_load(store, id, row, error);
    return found > 0 ||
           (found == 0 && error_set(error, ERROR_NOT_FOUND, "no job %lld", (long long)id));
}

bool verb_check(struct store *store, const struct verb *verb, struct ids ids, struct error *error) {
    struct row row;
    if (ids.count > VERB_IDS)
        return error_set(error, ERROR_INVALID, "%zu jobs at once (at most %d)", ids.count,
                         VERB_IDS);
    for (size_t i = 0; i < ids.count; i++)
        if (!verb_load(store, ids.list[i], &row, error) ||
            (verb->check && !verb->check(store, verb, &row, error)))
            return false;
    return true;
}

/* A value as long as it is the same for all jobs. */
struct common {
    char text[VERB_TEXT];
    bool differs;
};

static bool common_add(struct store *store, struct common *common, const struct verb *verb,
                       const struct row *row, bool first, struct error *error) {
    char text[VERB_TEXT] = "";
    if (verb->read && !verb->read(store, row, text, error))
        return false;
    if (verb->show)
        verb->show(row, text);
    if (first)
        memcpy(common->text, text, sizeof text);
    common->differs |= strcmp(common->text, text) != 0;
    return true;
}

static const char *common_text(const struct common *common) {
    return common->differs || !*common->text ? NULL : common->text;
}

static bool verb_log(struct store *store, const struct verb *verb, struct ids ids,
                     const struct common *before, const struct common *after, struct error *error) {
    char entity[64];
    snprintf(entity, sizeof entity, ids.count == 1 ? "job %lld" : "%lld jobs",
             ids.count == 1 ? (long long)ids.list[0] : (long long)ids.count);
    const char *now = store->journal.held.jobs ? "active" : common_text(after);
    return operation_write_ids(store, verb->name, entity, ids, common_text(before), now, verb->now,
                               error);
}

static bool verb_all(struct store *store, const struct verb *verb, struct ids ids,
                     struct error *error) {
    struct common before = {0}, after = {0};
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
        if (!common_add(store, &before, verb, &row, i == 0, error) ||
            !verb->apply(store, verb, &row, error) ||
            !common_add(store, &after, verb, &row, i == 0, error))
            return false;
    }
    return ids.count == 0 || verb->silent || verb_log(store, verb, ids, &before, &after, error);
}

bool verb_run(struct store *store, const struct verb *verb, struct ids ids, struct error *error) {
    bool own = false;
    if (!unit_begin(store, &own, error))
        return false;
    return unit_end(store, own, verb_all(store, verb, ids, error), error);
}

bool verb_move(struct store *store, const struct row *old, struct row *row, time_ms now,
               struct error *error) {
    row->due = row_due(store, row->due, now);
    /* What its run leaves of a row that is dead now is not for the run to know. */
    if (row->token &&
        !db_run(&store->db, error, "UPDATE locked SET edited=1 WHERE id=?1", "i", row->id))
        return false;
    return alive_move(store, old, row, now, error) && share_place(store, old, row, now, error) &&
           (row->token || row_unplace(store, old, error)) &&
           db_run(&store->db, error,
                  "UPDATE job SET retries=?2, priority=?3, due=?4, place=?5, suspended=?6,"
                  " crashes=?7, rev=rev+1 WHERE id=?1",
                  "iniTinn", row->id, (int)row->retries, row->priority, row->due, row->place,
                  (int)row->suspended, (int)row->crashes) &&
           (!row->batch || batch_retries(store, old, row, error)) &&
           (row->token || (old->retries == 0 && row->retries == 0) ||
            row_place(store, row, now, error)) && /* one that is dead already stays nowhere */
           (row->token || lane_expose(store, row->lane, error)) &&
           (row->token || !row->repeats || occurrence_left(store, row, error));
}
