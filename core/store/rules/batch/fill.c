/* fill.c - how a batch begins: its row, its ids in parts, at last its seed (rules §17). */
#include "base/crash_point.h"
#include "base/json.h"
#include "job/command.h"
#include "store/batch.h"
#include "store/rules/batch/batch.h"
#include "store/rules/ground/engine.h"
#include "store/rules/record/operation.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART_BYTES (16 << 20)
#define JOBS_PER_SEED 10000
#define IDS_DEPTH (JSON_DEPTH - 1) /* their jobs have them in an object */

/* ---- begin ---- */

static int64_t fill_invocations(const struct store *store, const struct store_batch *batch) {
    const struct settings *settings = store->settings;
    const json_t *own = json_object_get(settings->invocations_by_type, batch->type);
    if (batch->invocations)
        return batch->invocations;
    return own ? json_integer_value(own) : settings->invocations_per_batch_job;
}

static bool fill_refuse(const char *what, int64_t number, int64_t most, struct error *error) {
    return error_set(error, ERROR_INVALID, "%s: %lld (expected a whole number from 1 to %lld)",
                     what, (long long)number, (long long)most);
}

static bool fill_check(const struct store_batch *batch, int64_t invocations, int64_t jobs_per_seed,
                       struct error *error) {
    if (!*batch->type || strlen(batch->type) > JOB_NAME_MAX - sizeof BATCH_HANDLERS + 1)
        return error_set(error, ERROR_INVALID, "type: expected a text of 1 to %zu bytes",
                         JOB_NAME_MAX - sizeof BATCH_HANDLERS + 1);
    if (invocations < 1 || invocations > BATCH_INVOCATIONS)
        return fill_refuse("invocations", invocations, BATCH_INVOCATIONS, error);
    if (jobs_per_seed < 1 || jobs_per_seed > JOBS_PER_SEED)
        return fill_refuse("jobs_per_seed", jobs_per_seed, JOBS_PER_SEED, error);
    return (batch->retries >= 0 && batch->retries <= INT32_MAX) ||
           fill_refuse("retries", batch->retries, INT32_MAX, error);
}

static bool fill_row(struct store *store, const struct store_batch *batch, time_ms now, int64_t *id,
                     struct error *error) {
    int64_t invocations = fill_invocations(store, batch);
    int64_t jobs =
        batch->jobs_per_seed ? batch->jobs_per_seed : store->settings->batch_jobs_per_seed;
    return fill_check(batch, invocations, jobs, error) &&
           db_value(
               &store->db, error, id,
               "INSERT INTO batch(type, name, state, jobs_per_seed, invocations, retries,"
               " priority, on_complete, who, upto, created)"
               " VALUES(?1, ?2, ?3, ?4, ?5, ?6, CASE WHEN ?7<>0 THEN ?8 END, ?9, ?10, ?11, ?12) "
               "RETURNING id",
               "ttniiznittii", batch->type, batch->name, (int)BATCH_FILLING, jobs, invocations,
               batch->retries, (int)(batch->priority != NULL),
               batch->priority ? *batch->priority : (int64_t)0, batch->on_complete,
               store->rules->who, meta_bound(store), now) == YES;
}

static bool fill_config(struct store *store, int64_t id, const json_t *config,
                        struct error *error) {
    size_t size = 0;
    char *text = config ? json_write(config, &size) : NULL;
    if (!config)
        return true;
    bool done = false;
    if (!text)
        error_no_memory(error);
    else if (json_depth(text, size) > JSON_DEPTH)
        error_set(error, ERROR_INVALID, "config: nested deeper than %d", JSON_DEPTH);
    else if (size > BATCH_CONFIG)
        error_set(error, ERROR_INVALID, "config: %zu bytes, at most %d are allowed", size,
                  (int)BATCH_CONFIG);
    else
        done = db_run(&store->db, error, "INSERT INTO batch_config(batch, config) VALUES(?1, ?2)",
                      "it", id, text);
    free(text);
    return done;
}

bool store_batch_begin(struct store *store, const struct store_batch *batch, time_ms now,
                       int64_t *id, struct error *error) {
    bool own = false;
    *id = 0;
    if (!unit_begin(store, STORE_COMMAND, &own, error))
        return false;
    int64_t made = 0;
    bool done = fill_row(store, batch, now, &made, error);
    CRASH_POINT("batch_inserted");
    done = done && fill_config(store, made, batch->config, error) &&
           store->engine->sign_take(store, SIGN_BATCH(made), error);
    if (!unit_end(store, own, done, error)) {
        store->engine->sign_drop(store, SIGN_BATCH(made));
        return false;
    }
    *id = made;
    return true;
}

/* ---- parts ---- */

static bool fill_find(struct store *store, int64_t id, struct batch *batch, struct error *error) {
    if (!batch_load(store, id, batch, error))
        return false;
    return batch->state == BATCH_FILLING ||
           error_set(error, ERROR_CONFLICT, "batch %lld is not being filled any more (it is %s)",
                     (long long)id, batch_state_name((int)batch->state));
}

static bool fill_part(struct store *store, const struct batch *batch, const json_t *ids,
                      struct error *error) {
    size_t size = 0;
    int64_t count = batch->ids + (int64_t)json_array_size(ids);
    char *text = json_write(ids, &size);
    if (text && json_depth(text, size) > IDS_DEPTH) {
        free(text);
        return error_set(error, ERROR_INVALID, "ids: an id nested deeper than %d", IDS_DEPTH - 1);
    }
    if (!text || size > PART_BYTES) {
        free(text);
        return text ? error_set(error, ERROR_INVALID, "ids: %zu bytes in one part (at most %d)",
                                size, PART_BYTES)
                    : error_no_memory(error);
    }
    bool done =
        db_run(&store->db, error, "INSERT INTO batch_part(batch, n, ids) VALUES(?1, ?2, ?3)", "iit",
               batch->id, batch->parts + 1, text) &&
        CRASH_POINT("batch_part_inserted") &&
        db_run(&store->db, error, "UPDATE batch SET parts=parts+1, ids=?2, total=?3 WHERE id=?1",
               "iii", batch->id, count, (count + batch->invocations - 1) / batch->invocations);
    free(text);
    return done;
}

/* Numbers that were given before are left out; what `enqueue` is given are payloads. NULL: no
 * memory. */
static json_t *fill_fresh(struct store *store, const struct batch *batch, const json_t *ids) {
    struct filling *filling = &store->filling;
    json_t *list = json_array(), *id;
    bool payloads = strcmp(batch->definition, BATCH_HANDLERS "enqueue") == 0, done = list != NULL;
    size_t i;
    if (filling->batch != batch->id)
        id_set_clear(&filling->ids);
    filling->batch = batch->id;
    json_array_foreach(ids, i, id) {
        bool fresh = true;
        done = done &&
               (payloads || !json_is_integer(id) ||
                id_set_add(&filling->ids, json_integer_value(id), &fresh)) &&
               (!fresh || json_array_append(list, id) == 0);
    }
    return json_kept(list, done);
}

static bool fill_add(struct store *store, int64_t id, const json_t *ids, struct error *error) {
    struct batch batch;
    size_t count = json_array_size(ids);
    if (count < 1 || count > BATCH_PART)
        return error_set(error, ERROR_INVALID, "ids: %zu in one part (expected 1 to %d)", count,
                         (int)BATCH_PART);
    if (!fill_find(store, id, &batch, error))
        return false;
    json_t *fresh = fill_fresh(store, &batch, ids);
    bool done = fresh ? json_array_size(fresh) == 0 || fill_part(store, &batch, fresh, error)
                      : db_no_memory(&store->db, error);
    json_decref(fresh);
    return done;
}

bool store_batch_add(struct store *store, int64_t id, const json_t *ids, struct error *error) {
    bool own = false;
    if (!unit_begin(store, STORE_COMMAND, &own, error))
        return false;
    return unit_end(store, own, fill_add(store, id, ids, error), error);
}

/* The ids as a part. */
static bool fill_found(struct store *store, const struct batch *batch, const int64_t *list,
                       size_t count, struct error *error) {
    json_t *ids = json_array();
    for (size_t i = 0; ids && i < count; i++)
        json_array_append_new(ids, json_integer(list[i]));
    bool done = count == 0 || (json_array_size(ids) == count ? fill_part(store, batch, ids, error)
                                                             : error_no_memory(error));
    json_decref(ids);
    return done;
}

/* The operation log shows what the batch was filled by; without filters that is every job. */
static bool fill_query(struct store *store, int64_t id, const json_t *filters,
                       struct error *error) {
    char *text = filters ? json_write(filters, NULL) : strdup("{}");
    bool done =
        text ? db_run(&store->db, error, "UPDATE batch SET query=?2 WHERE id=?1", "it", id, text)
             : error_no_memory(error);
    free(text);
    return done;
}

bool store_batch_find(struct store *store, int64_t id, const json_t *filters, int64_t *after,
                      bool *more, time_ms now, struct error *error) {
    bool own = false;
    struct batch batch;
    int64_t list[BATCH_PART];
    size_t count = 0;
    *more = false;
    if (!unit_begin(store, STORE_COMMAND, &own, error))
        return false;
    bool done = fill_find(store, id, &batch, error) &&
                (*after > 0 || fill_query(store, id, filters, error)) &&
                jobs_ids(store, filters, &(struct jobs_range){*after, batch.upto, BATCH_PART}, now,
                         list, &count, error) &&
                fill_found(store, &batch, list, count, error);
    if (!unit_end(store, own, done, error))
        return false;
    *more = count == BATCH_PART;
    *after = count ? list[count - 1] : *after;
    return true;
}

/* Ids ascend; those behind the last that was there when the batch was begun are new. */
static size_t found_ids(const json_t *rows, int64_t upto, int64_t *list) {
    const json_t *row;
    size_t count = 0, i;
    json_array_foreach(rows, i, row) {
        const int64_t id = json_int(row, "id");
        if (id <= upto && count < BATCH_PART)
            list[count++] = id;
    }
    return count;
}

bool store_batch_found(struct store *store, int64_t id, const json_t *filters, const json_t *rows,
                       int64_t *after, bool *more, struct error *error) {
    bool own = false;
    struct batch batch;
    int64_t list[BATCH_PART];
    size_t count = 0;
    *more = false;
    if (!unit_begin(store, STORE_COMMAND, &own, error))
        return false;
    bool done = fill_find(store, id, &batch, error) &&
                (*after > 0 || fill_query(store, id, filters, error));
    count = done ? found_ids(rows, batch.upto, list) : 0;
    if (!unit_end(store, own, done && fill_found(store, &batch, list, count, error), error))
        return false;
    *more = count == BATCH_PART;
    *after = count ? list[count - 1] : *after;
    return true;
}

/* ---- the end of it ---- */

static bool fill_start(struct store *store, int64_t id, time_ms now, struct error *error) {
    struct batch batch;
    char entity[64];
    if (!fill_find(store, id, &batch, error))
        return false;
    if (batch.ids == 0)
        return error_set(error, ERROR_INVALID, "ids: none (a batch needs at least one)");
    batch.state = BATCH_ACTIVE;
    const struct batch_job seed = {.handler = BATCH_SEED, .due = TIME_NONE};
    snprintf(entity, sizeof entity, "batch %lld", (long long)id);
    id_set_clear(&store->filling.ids);
    store->engine->sign_drop_after(store, SIGN_BATCH(id));
    return batch_job(store, &batch, &seed, now, &batch.seed, error) &&
           CRASH_POINT("batch_seed_created") &&
           db_run(&store->db, error, "UPDATE batch SET state=?2, seed=?3 WHERE id=?1", "ini", id,
                  (int)BATCH_ACTIVE, batch.seed) &&
           operation_write(store, "create_batch", entity, (int)batch.total, NULL,
                           batch.definition + sizeof BATCH_HANDLERS - 1, now, error) &&
           operation_of_batch(store, id, error);
}

bool store_batch_start(struct store *store, int64_t id, time_ms now, struct error *error) {
    bool own = false;
    if (!unit_begin(store, STORE_COMMAND, &own, error))
        return false;
    return unit_end(store, own, fill_start(store, id, now, error), error);
}

static bool fill_abandon(struct store *store, int64_t id, struct error *error) {
    struct batch batch;
    id_set_clear(&store->filling.ids);
    store->engine->sign_drop_after(store, SIGN_BATCH(id));
    return fill_find(store, id, &batch, error) &&
           db_run(&store->db, error, "DELETE FROM batch_part WHERE batch=?1", "i", id) &&
           db_run(&store->db, error, "DELETE FROM batch_config WHERE batch=?1", "i", id) &&
           db_run(&store->db, error, "DELETE FROM batch WHERE id=?1", "i", id);
}

bool store_batch_abandon(struct store *store, int64_t id, struct error *error) {
    bool own = false;
    if (!unit_begin(store, STORE_COMMAND, &own, error))
        return false;
    return unit_end(store, own, fill_abandon(store, id, error), error);
}
