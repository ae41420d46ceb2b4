#include "store/rules/process/waiting.h"
#include "job/hook.h"
#include "store/rules/ground/row.h"
#include "store/rules/ground/unit_ahead.h"
#include "store/rules/job/job_commands.h"
#include "store/rules/place/places.h"
#include "store/rules/process/message.h"
#include <stdlib.h>

/* ---- those that go together ---- */

/* Nothing is told, counted or noted of a job that is cancelled, but for its entry in the history.
 */
static bool goes_untold(const struct store *store, int64_t token) {
    return store->rules->history == HISTORY_FULL && !store->meta.ended &&
           !(store->catalog.hooks & HOOK_ENDED) && !store->catalog.backlogs &&
           (token || store->kept == 0);
}

bool waiting_may_go(const struct store *store, int64_t instance, int64_t token, int64_t running) {
    const struct asked_job *jobs;
    size_t count;
    bool may = unit_ahead_jobs(store, instance, token, &jobs, &count);
    for (size_t i = 0; may && i < count; i++)
        may = jobs[i].id == running || unit_ahead_gone(store, jobs[i].id) ||
              (unit_ahead_goes(store, &jobs[i]) && goes_untold(store, token));
    return may;
}

static bool going_grow(struct going *going) {
    const size_t room = going->room ? 2 * going->room : 64;
    int64_t **const columns[] = {&going->ids, &going->instants, &going->executors};
    if (going->count < going->room)
        return true;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        int64_t *column = realloc(*columns[i], room * sizeof *column);
        if (!column)
            return false;
        *columns[i] = column;
    }
    going->room = room;
    return true;
}

static bool going_add(struct store *store, const struct asked_job *job, time_ms now,
                      struct error *error) {
    struct going *going = &store->going;
    if (!going_grow(going))
        return db_no_memory(&store->db, error);
    going->ids[going->count] = job->id;
    going->instants[going->count] = now;
    going->executors[going->count++] = store->self.id ? store->self.id : TIME_NONE;
    store->timer = TIME_NONE;
    row_forget(store, job->id);
    return unit_ahead_ended(store, job->id, error) &&
           (job->goes == JOB_GOES || place_expose(store, job->goes, error));
}

static bool going_add_all(struct store *store, int64_t instance, int64_t token, int64_t running,
                          time_ms now, struct error *error) {
    const struct asked_job *jobs;
    size_t count;
    unit_ahead_jobs(store, instance, token, &jobs, &count);
    for (size_t i = 0; i < count; i++)
        if (jobs[i].id != running && !unit_ahead_gone(store, jobs[i].id) &&
            !going_add(store, &jobs[i], now, error))
            return false;
    return true;
}

bool waiting_gone(struct store *store, struct error *error) {
    struct going *going = &store->going;
    struct set set = {.kind = SET_CANCELLED,
                      .columns = {going->ids, going->instants, going->executors},
                      .count = going->count};
    going->count = 0;
    return !set.count || store->engine->set(store, &set, error);
}

static void going_forget(struct store *store) {
    free(store->going.ids);
    free(store->going.instants);
    free(store->going.executors);
    store->going = (struct going){0};
}

const struct txn_hook waiting_hook = {
    .flush = waiting_gone, .committed = going_forget, .drop = going_forget, .parts = true};

/* ---- one by one ---- */

/* Also rows of jobs that have ended: the view of the living costs more than to look at each. */
#define ROWS "SELECT id FROM job WHERE instance_id=?1 AND id<>?2 AND id>?3"

/* The jobs of a token, at most COMMAND_IDS behind `after`. */
static struct row *token_rows(struct store *store, int64_t instance, int64_t token, int64_t running,
                              int64_t after, struct error *error) {
    return db_query(&store->db, error, ROWS " AND execution=?4 ORDER BY id LIMIT ?5", "iiiin",
                    instance, running, after, token, COMMAND_IDS);
}

/* The same of an instance. The index has them by token: to sort a few costs more than to find them.
 * So they come as they are, unless they are many. */
static struct row *instance_rows(struct store *store, int64_t instance, int64_t running,
                                 int64_t after, bool many, struct error *error) {
    return db_query(&store->db, error,
                    many ? ROWS " AND coalesce(execution, 0)>=0 ORDER BY id LIMIT ?4"
                         : ROWS " AND coalesce(execution, 0)>=0 LIMIT ?4",
                    "iiin", instance, running, after, COMMAND_IDS);
}

static bool ids_read(struct store *store, struct row *rows, struct ids *ids, int64_t *list,
                     struct error *error) {
    enum answer step = NO;
    *ids = (struct ids){list, 0};
    while ((step = db_step(&store->db, rows, error)) == YES)
        list[ids->count++] = row_int(rows, 0);
    return step == NO;
}

/* Keeps those of the ids whose jobs are there. */
static bool waiting_living(struct store *store, struct ids *ids, int64_t *list,
                           struct error *error) {
    size_t count = 0;
    struct job_row row;
    if (!row_want(store, *ids, false, error))
        return false;
    for (size_t i = 0; i < ids->count; i++) {
        enum answer found = row_load(store, list[i], &row, error);
        if (found == FAILED)
            return false;
        if (found == YES)
            list[count++] = list[i];
    }
    ids->count = count;
    return true;
}

bool waiting_remove(struct store *store, int64_t instance, int64_t token, int64_t running,
                    time_ms now, struct error *error) {
    int64_t list[COMMAND_IDS], after = 0;
    struct ids ids = {list, 0};
    bool more = true, many = token != 0;
    if (waiting_may_go(store, instance, token, running))
        return going_add_all(store, instance, token, running, now, error);
    while (more) {
        struct row *rows = token ? token_rows(store, instance, token, running, after, error)
                                 : instance_rows(store, instance, running, after, many, error);
        if (!ids_read(store, rows, &ids, list, error))
            return false;
        more = ids.count == COMMAND_IDS;
        if (more && !many) { /* from the beginning, in their order */
            many = true;
            continue;
        }
        after = ids.count ? list[ids.count - 1] : after;
        if (!waiting_living(store, &ids, list, error) ||
            (ids.count && !token && !messages_unbind(store, instance, running, error)) ||
            (ids.count && !commands_cancel(store, ids, now, error)))
            return false;
    }
    return true;
}

bool waiting_remove_range(struct store *store, int64_t instance, struct token_range tokens,
                          time_ms now, struct error *error) {
    int64_t list[COMMAND_IDS];
    struct ids ids = {list, COMMAND_IDS};
    while (ids.count == COMMAND_IDS) {
        struct row *rows = db_query(&store->db, error,
                                    "SELECT id FROM job WHERE instance_id=?1"
                                    " AND execution BETWEEN ?2 AND ?3 LIMIT ?4",
                                    "iiin", instance, tokens.first, tokens.last, COMMAND_IDS);
        if (!ids_read(store, rows, &ids, list, error))
            return false;
        const size_t count = ids.count;
        if (!waiting_living(store, &ids, list, error) ||
            (ids.count && !commands_cancel(store, ids, now, error)))
            return false;
        if (count == COMMAND_IDS && !ids.count)
            break;
        ids.count = count;
    }
    return true;
}
