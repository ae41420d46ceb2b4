/* operate.c - the operator's verbs as orders: one way in for people, jobs and dates (rules §11,
 * §12). A verb is done in steps of at most 1 000 jobs, each a transaction; a date is a timer job
 * of its own whose success does the verb. */
#include "base/crash_point.h"
#include "base/json.h"
#include "base/span.h"
#include "base/text.h"
#include "store/sqlite/defined.h"
#include "store/sqlite/jobs.h"
#include "store/sqlite/operation.h"
#include "store/sqlite/stuck.h"
#include "store/sqlite/verbs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LANE_CHARACTERS 58  /* of a name: with four bytes each they fit */
#define EFFECT_WINDOW 50000 /* ids that a step inside a turn looks at */

bool catalog_changed(struct store *store, struct error *error) {
    store->meta.catalog = store->stored.catalog + 1;
    store->catalog.version = 0;
    return catalog_refresh(&store->catalog, &store->db, store->meta.catalog, error);
}

/* ---- steps ---- */

int64_t step_end(const struct step *step, const struct order *order) {
    bool whole = !step->window || order->upto - order->after <= step->window;
    return whole ? order->upto : order->after + step->window;
}

/* One more than a step takes was asked for: is there more? */
static void step_close(struct step *step, struct order *order) {
    int64_t end = step_end(step, order);
    if (step->ids.count > VERB_IDS) {
        step->ids.count = VERB_IDS;
        end = step->list[VERB_IDS - 1];
    }
    order->after = end;
    step->more = end < order->upto;
}

bool step_read(struct store *store, struct step *step, struct order *order, sqlite3_stmt *rows,
               struct error *error) {
    int state = rows ? 1 : -1;
    step->ids = (struct ids){step->list, 0};
    while (rows && (state = db_step(&store->db, rows, error)) > 0)
        step->list[step->ids.count++] = sqlite3_column_int64(rows, 0);
    step_close(step, order);
    return state == 0;
}

static void step_slice(struct step *step, struct order *order) {
    size_t count =
        json_is_array(order->ids) ? json_array_size(order->ids) : json_is_integer(order->ids);
    step->ids = (struct ids){step->list, 0};
    while (order->done < count && step->ids.count < VERB_IDS) {
        const json_t *id =
            json_is_array(order->ids) ? json_array_get(order->ids, order->done) : order->ids;
        step->list[step->ids.count++] = json_integer_value(id);
        order->done++;
    }
    step->more = order->done < count;
}

bool step_select(struct store *store, struct step *step, struct order *order, time_ms now,
                 struct error *error) {
    step->ids = (struct ids){step->list, 0};
    if (order->ids) {
        step_slice(step, order);
        return true;
    }
    struct jobs_range range = {order->after, step_end(step, order), VERB_IDS + 1};
    if (!jobs_ids(store, order->query, &range, now, step->list, &step->ids.count, error))
        return false;
    step_close(step, order);
    return true;
}

/* ---- one verb ---- */

static bool operate_step(struct store *store, struct order *order, struct step *step, time_ms now,
                         struct error *error) {
    switch (order->target) {
    case ORDER_DEFINITION:
        return definition_operate(store, order, step, now, error);
    case ORDER_INSTANCE:
        return instance_operate(store, order, step, now, error);
    case ORDER_INCIDENT:
        step->ids.count = 1;
        return incident_operate(store, order, now, error);
    case ORDER_HISTORY:
        return history_operate(store, order, step, now, error);
    case ORDER_PLAN:
        return cleanup_operate(store, order, step, now, error);
    case ORDER_SCHEDULE:
        return schedule_operate(store, order, &step->job, now, error);
    case ORDER_BATCH:
        return batch_operate(store, order, step, now, error);
    default:
        return step_select(store, step, order, now, error) &&
               verbs_operate(store, order, step->ids, now, error);
    }
}

static bool operate_now(struct store *store, const json_t *object, struct order *order,
                        int64_t window, struct store_operated *operated, time_ms now,
                        struct error *error) {
    struct step *step = calloc(1, sizeof *step);
    if (!step)
        return error_set(error, ERROR_FAILED, "out of memory");
    step->window = window;
    if (!order->upto)
        order->upto = store->meta.next_id - 1; /* those created meanwhile are not meant */
    store->journal.entry = store->journal.written = order->entry;
    store->journal.held = order->held;
    store->journal.query = order->query;
    bool done = operate_step(store, order, step, now, error);
    store->journal.query = NULL;
    order->entry = store->journal.written;
    store->journal.entry = 0;
    operated->held = order->held = store->journal.held;
    store->journal.held = (struct held){0};
    operated->touched = step->ids.count;
    operated->job = step->job;
    if (done && (order->verb == ORDER_CANCEL || order->verb == ORDER_DELETE))
        done = stuck_among(store, step->ids, &operated->stuck, error);
    if (done && step->more && !(operated->rest = order_rest(object, order)))
        done = error_set(error, ERROR_FAILED, "out of memory");
    free(step);
    return done;
}

/* ---- a verb for later ---- */

/* Its job is of no deployment, and every executor may run it (serves.c). Those for one
 * thing share a lane: what was asked for two dates is done in their order, however late. */
static bool operate_job(struct store *store, const json_t *object, time_ms due, time_ms now,
                        int64_t *id, struct error *error) {
    char lane[JOB_NAME_MAX + 1] = "";
    const char *definition = json_string_value(json_object_get(object, "definition"));
    const char *instance = json_string_value(json_object_get(object, "instance"));
    size_t size = 0;
    char *payload = json_write(object, &size);
    const char *name = definition ? definition : instance;
    if (name)
        snprintf(lane, sizeof lane, ORDER_RESERVED "%s/%.*s",
                 definition ? "definition" : "instance", (int)utf8_prefix(name, LANE_CHARACTERS),
                 name);
    struct job job = {.handler = ORDER_HANDLER,
                      .type = due == TIME_NONE ? JOB_MESSAGE : JOB_TIMER,
                      .due = due,
                      .lock_expiration = TIME_NONE,
                      .lane = name ? lane : NULL,
                      .exclusive = name != NULL,
                      .payload = payload,
                      .payload_size = size};
    struct defined defined = {0};
    bool done = payload ? defined_read(store, ORDER_HANDLER, &defined, error)
                        : error_set(error, ERROR_FAILED, "out of memory");
    defined_apply(&defined, store, &job);
    done = done && store_create(store, &job, 0, now, error);
    free(payload);
    *id = job.id;
    return done;
}

static bool operate_later(struct store *store, const json_t *object, const struct order *order,
                          struct store_operated *operated, time_ms now, struct error *error) {
    char entity[JOB_NAME_MAX + 32], at[TIME_TEXT_SIZE], text[64];
    json_t *bare = json_copy((json_t *)(uintptr_t)object);
    if (!bare)
        return error_set(error, ERROR_FAILED, "out of memory");
    if (order->definition && !catalog_definition(&store->catalog, order->definition)) {
        json_decref(bare);
        return error_set(error, ERROR_NOT_FOUND, "unknown definition \"%s\"", order->definition);
    }
    json_object_del(bare, "at");
    bool done = operate_job(store, bare, order->at, now, &operated->job, error);
    json_decref(bare);
    time_format(order->at, at);
    snprintf(text, sizeof text, "at %s by job %lld", at, (long long)operated->job);
    snprintf(entity, sizeof entity, "%s \"%.255s\"", order->definition ? "definition" : "instance",
             order->definition ? order->definition : order->instance);
    return done && operation_write(store, order->name, entity, 0, NULL, text, now, error);
}

static bool operate(struct store *store, const json_t *object, int64_t window,
                    struct store_operated *operated, time_ms now, struct error *error) {
    struct order order;
    *operated = (struct store_operated){0};
    if (!order_read(&order, object, error))
        return false;
    return order.at == TIME_NONE ? operate_now(store, object, &order, window, operated, now, error)
                                 : operate_later(store, object, &order, operated, now, error);
}

bool store_operate(struct store *store, const json_t *order, struct store_operated *operated,
                   time_ms now, struct error *error) {
    bool own = false;
    *operated = (struct store_operated){0};
    if (!unit_begin(store, &own, error))
        return false;
    if (unit_end(store, own,
                 operate(store, order, 0, operated, now, error) && CRASH_POINT("verb_written"),
                 error))
        return true;
    json_decref(operated->rest);
    *operated = (struct store_operated){0};
    return false;
}

static bool preview_ids(struct store *store, struct order *order, int64_t *count, time_ms now,
                        struct error *error) {
    struct step *step = calloc(1, sizeof *step);
    bool fine = step || error_set(error, ERROR_FAILED, "out of memory");
    for (bool more = true; fine && more; more = fine && step->more) {
        step_slice(step, order);
        fine = verbs_check(store, order, step->ids, now, error);
        *count += (int64_t)step->ids.count;
    }
    free(step);
    return fine;
}

static bool preview(struct store *store, struct order *order, int64_t *count, time_ms now,
                    struct error *error) {
    switch (order->target) {
    case ORDER_JOBS:
        return order->ids ? preview_ids(store, order, count, now, error)
                          : store_jobs_count(store, order->query, now, count, error);
    case ORDER_DEFINITION:
        return definition_preview(store, order, count, error);
    case ORDER_INSTANCE:
        return instance_preview(store, order, count, error);
    case ORDER_HISTORY:
        return history_preview(store, order, count, error);
    case ORDER_INCIDENT:
        return incident_preview(store, order, count, error);
    case ORDER_SCHEDULE:
        return schedule_preview(store, order, count, error);
    case ORDER_BATCH:
        return batch_preview(store, order, count, error);
    case ORDER_PLAN:
        break;
    }
    return error_set(error, ERROR_INVALID, "%s: cannot be tried (see history clean --dry-run)",
                     order->name);
}

bool store_preview(struct store *store, const json_t *object, size_t *count, time_ms now,
                   struct error *error) {
    struct order order;
    bool own = false;
    int64_t found = 0;
    *count = 0;
    if (!order_read(&order, object, error) || !look_begin(store, &own, error))
        return false;
    bool fine = preview(store, &order, &found, now, error);
    look_end(store, own);
    *count = (size_t)found;
    return fine;
}

/* ---- effects ---- */

/* What one transaction cannot take goes on as a job. */
static bool effect(struct store *store, const json_t *order, time_ms now, struct error *error) {
    struct store_operated operated;
    int64_t id = 0;
    bool done = operate(store, order, EFFECT_WINDOW, &operated, now, error) &&
                (!operated.rest || operate_job(store, operated.rest, TIME_NONE, now, &id, error));
    json_decref(operated.rest);
    return done;
}

bool operate_effects(struct store *store, const json_t *effects, const struct job *job, time_ms now,
                     struct error *error) {
    bool done = true;
    snprintf(store->journal.who, sizeof store->journal.who, "job %lld", (long long)job->id);
    store->journal.job = job->id;
    store->journal.attempt = job->attempt;
    store->journal.silent = job->batch != 0;
    for (size_t i = 0; done && i < json_array_size(effects); i++)
        done = effect(store, json_array_get(effects, i), now, error);
    store->journal = (struct journal){0};
    return done;
}
