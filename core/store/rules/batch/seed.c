/* seed.c - what the seed and the monitor of a batch do with their success (rules §17): the
 * next execution jobs, and the end. The ids go from the parts to the jobs as text. */
#include "base/crash_point.h"
#include "base/text.h"
#include "job/command.h"
#include "job/instance_batch.h"
#include "store/rules/batch/batch.h"
#include "store/rules/ground/defined.h"
#include <stdlib.h>
#include <string.h>

struct seeding {
    struct store *store;
    struct batch *batch;
    char *part; /* NULL: not read yet */
    struct batch_job execution;
    const struct instance_batch *type; /* NULL: its jobs walk no instances */
    struct defined defined; /* what the folder says of the type's definition, where it is known */
    time_ms now;
};

/* ---- ids ---- */

/* Where the value ends that begins at `at`: at the comma or bracket behind it. */
static const char *value_end(const char *at) {
    for (int depth = 0; *at; at++) {
        if (*at == '"')
            for (at++; *at != '"'; at++)
                at += *at == '\\';
        else if (*at == '[' || *at == '{')
            depth++;
        else if (depth == 0 && (*at == ',' || *at == ']'))
            return at;
        else if (*at == ']' || *at == '}')
            depth--;
    }
    return at;
}

static bool part_read(struct seeding *seeding, struct error *error) {
    struct store *store = seeding->store;
    const struct batch *batch = seeding->batch;
    struct row *row =
        db_query(&store->db, error, "SELECT ids FROM batch_part WHERE batch=?1 AND n=?2", "ii",
                 batch->id, batch->part);
    enum answer step = db_step(&store->db, row, error);
    if (step == NO)
        error_set(error, ERROR_DAMAGED, "store \"%s\": damaged: part %lld of batch %lld is missing",
                  store->db.name, (long long)batch->part, (long long)batch->id);
    if (step != YES)
        return false;
    seeding->part = strdup(row_text(row, 0));
    row_done(row);
    return seeding->part || error_no_memory(error);
}

static bool part_end(struct seeding *seeding, struct error *error) {
    struct batch *batch = seeding->batch;
    free(seeding->part);
    seeding->part = NULL;
    batch->reached = 0;
    return db_run(&seeding->store->db, error, "DELETE FROM batch_part WHERE batch=?1 AND n=?2",
                  "ii", batch->id, batch->part++);
}

/* One id more; behind the bracket that opens the part, or the comma. */
static bool seed_id(struct seeding *seeding, struct text *ids, struct error *error) {
    struct batch *batch = seeding->batch;
    if (!seeding->part && !part_read(seeding, error))
        return false;
    const char *begin = seeding->part + batch->reached + 1, *end = value_end(begin);
    if (ids->size)
        text_append(ids, ",", 1);
    text_append(ids, begin, (size_t)(end - begin));
    batch->reached = end - seeding->part;
    return *end == ',' || part_end(seeding, error);
}

static bool seed_ids(struct seeding *seeding, struct text *ids, struct error *error) {
    const struct batch *batch = seeding->batch;
    int64_t left = batch->ids - batch->made * batch->invocations;
    int64_t count = left < batch->invocations ? left : batch->invocations;
    for (int64_t i = 0; i < count; i++)
        if (!seed_id(seeding, ids, error))
            return false;
    return !ids->failed || error_no_memory(error);
}

/* ---- jobs ---- */

/* A job that has one instance waits for what runs of it. */
static bool seed_lane(struct seeding *seeding, const char *ids, struct error *error) {
    const struct instance_batch *type = seeding->type;
    char *end = NULL;
    int64_t id = type && type->lane != BATCH_LANE_NONE ? strtoll(ids, &end, 10) : 0;
    seeding->execution.lane = 0;
    if (id <= 0 || *end)
        return true;
    if (seeding->store->rules->lane_of_root &&
        db_value(&seeding->store->db, error, &id,
                 "SELECT coalesce(root, id) FROM instance WHERE id=?1", "i", id) == FAILED)
        return false;
    const int64_t lane = job_instance_lane(id);
    seeding->execution.lane = type->lane == BATCH_LANE_BESIDE ? ~lane : lane;
    return true;
}

static bool seed_execution(struct seeding *seeding, struct error *error) {
    struct text ids = {0};
    int64_t id = 0;
    bool done = seed_ids(seeding, &ids, error) && seed_lane(seeding, ids.data, error);
    seeding->execution.ids = ids.data;
    done = done &&
           batch_job(seeding->store, seeding->batch, &seeding->execution, seeding->now, &id, error);
    seeding->batch->made++;
    seeding->batch->open++;
    text_clear(&ids);
    return done;
}

static bool seed_own(struct seeding *seeding, const char *handler, int64_t *id,
                     struct error *error) {
    const struct batch_job own = {.handler = handler, .due = TIME_NONE};
    return batch_job(seeding->store, seeding->batch, &own, seeding->now, id, error);
}

/* The next seed stands among its jobs, so that those run while it makes more. */
static bool seed_jobs(struct seeding *seeding, struct error *error) {
    struct batch *batch = seeding->batch;
    int64_t left = batch->total - batch->made;
    int64_t count = left < batch->jobs_per_seed ? left : batch->jobs_per_seed;
    batch->seed = 0;
    for (int64_t i = 0; i < count; i++)
        if ((i == count / 2 && count < left &&
             !seed_own(seeding, BATCH_SEED, &batch->seed, error)) ||
            !seed_execution(seeding, error))
            return false;
    return count < left || seed_own(seeding, BATCH_MONITOR, &batch->monitor, error);
}

static bool seed_write(struct store *store, const struct batch *batch, struct error *error) {
    return db_run(&store->db, error,
                  "UPDATE batch SET made=?2, open=?3, part=?4, reached=?5, seed=?6, monitor=?7"
                  " WHERE id=?1",
                  "iiiiizz", batch->id, batch->made, batch->open, batch->part, batch->reached,
                  batch->seed, batch->monitor);
}

bool batch_seed(struct store *store, struct batch *batch, time_ms now, struct error *error) {
    struct seeding seeding = {.store = store, .batch = batch, .now = now};
    seeding.type = instance_batch_of(batch->definition);
    seeding.execution = (struct batch_job){
        .handler = batch->definition, .defined = &seeding.defined, .due = TIME_NONE};
    bool done = defined_read(store, batch->definition, &seeding.defined, error) &&
                seed_jobs(&seeding, error) && CRASH_POINT("seed_jobs_made") &&
                seed_write(store, batch, error) && CRASH_POINT("seed_written");
    free(seeding.part);
    return done;
}

/* ---- the end ---- */

static bool monitor_end(struct store *store, const struct batch *batch, time_ms now,
                        struct error *error) {
    return batch_end(store, batch, BATCH_COMPLETED, now, error) && CRASH_POINT("batch_completed");
}

bool batch_monitor(struct store *store, struct batch *batch, bool ended, time_ms now,
                   struct error *error) {
    bool over = batch->open == 0 && batch->made == batch->total;
    if (over && ended)
        return monitor_end(store, batch, now, error);
    const struct batch_job next = {
        .handler = BATCH_MONITOR, .due = over ? TIME_NONE : now + store->settings->batch_poll_time};
    return batch_job(store, batch, &next, now, &batch->monitor, error) &&
           CRASH_POINT("monitor_created") &&
           db_run(&store->db, error, "UPDATE batch SET monitor=?2 WHERE id=?1", "ii", batch->id,
                  batch->monitor);
}
