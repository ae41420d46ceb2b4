#include "store/rules/process/lane.h"
#include "store/rules/engine.h"
#include "store/rules/places.h"
#include <stdio.h>

/* ---- the lane for a command ---- */

/* The jobs of the lane that are locked: at most one of them runs. */
static bool runners_read(struct store *store, int64_t lane, struct lane_run *list, size_t max,
                         size_t *count, struct error *error) {
    struct row *rows = db_query(&store->db, error,
                                "SELECT l.id, l.token, l.owner, j.activity FROM locked l JOIN job j"
                                " ON j.id=l.id WHERE l.lane=?1 LIMIT ?2",
                                "in", lane, (int)max);
    enum answer step = NO;
    *count = 0;
    while ((step = db_step(&store->db, rows, error)) == YES) {
        struct lane_run *run = &list[(*count)++];
        const char *activity = row_text(rows, 3);
        *run = (struct lane_run){.job = row_int(rows, 0), .token = row_int(rows, 1), .held = true};
        run->owner = row_int(rows, 2);
        snprintf(run->activity, sizeof run->activity, "%s", activity ? activity : "");
    }
    return step == NO;
}

/* YES: a worker of the owner has begun it. */
static enum answer has_begun(struct store *store, const struct lane_run *run, struct error *error) {
    struct running running = {0};
    if (store->kind == STORE_MEMORY || store->engine->has_died(store, run->owner))
        return NO;
    if (!store->engine->running(store, run->owner, &running)) {
        db_no_memory(&store->db, error);
        return FAILED;
    }
    bool begun = running_has(&running, run->job, run->token);
    running_clear(&running);
    return begun ? YES : NO;
}

/* A command that has the lane, or a run that insists on it; of another executor. */
static enum answer has_taken(struct store *store, int64_t lane, struct lane_run *run,
                             struct error *error) {
    struct row *row =
        db_query(&store->db, error,
                 "SELECT a.owner, l.id, j.activity FROM lane a LEFT JOIN locked l"
                 " ON l.token=a.token AND l.owner=a.owner LEFT JOIN job j ON j.id=l.id"
                 " WHERE a.id=?1",
                 "i", lane);
    enum answer step = db_step(&store->db, row, error);
    if (step != YES)
        return step;
    const char *activity = row_text(row, 2);
    *run = (struct lane_run){.owner = row_int(row, 0), .job = row_int(row, 1)};
    snprintf(run->activity, sizeof run->activity, "%s", activity ? activity : "");
    row_done(row);
    run->held = store->kind != STORE_MEMORY && run->owner != store->self.id &&
                !store->engine->has_died(store, run->owner);
    return run->held ? YES : NO;
}

/* The lane has a row: what is in it? */
static enum answer lane_busy(struct store *store, int64_t lane, struct lane_run *run,
                             struct error *error) {
    enum { RUNS = 64 };
    struct lane_run list[RUNS];
    size_t count = 0;
    if (!runners_read(store, lane, list, RUNS, &count, error))
        return FAILED;
    enum answer busy = count ? NO : has_taken(store, lane, run, error);
    for (size_t i = 0; busy == NO && i < count; i++)
        if ((busy = has_begun(store, &list[i], error)) == YES)
            *run = list[i];
    return busy;
}

bool store_lane_look(struct store *store, int64_t lane, struct lane_run *run, struct error *error) {
    int64_t one = 0;
    *run = (struct lane_run){0};
    enum answer busy =
        db_value(&store->db, error, &one, "SELECT 1 FROM lane WHERE id=?1", "i", lane);
    if (busy == YES)
        busy = lane_busy(store, lane, run, error);
    return busy != FAILED;
}

enum answer store_lane_hold(struct store *store, int64_t lane, int64_t *token,
                            struct error *error) {
    bool taken = false;
    *token = meta_token(store);
    if (!place_hold(store, lane, *token, &taken, error))
        return FAILED;
    return taken ? YES : NO;
}

bool store_lane_release(struct store *store, int64_t lane, int64_t token, struct error *error) {
    return place_release(store, lane, token, error);
}

/* ---- for a run outside of it ---- */

static enum answer lane_of(struct store *store, const struct job *job, int64_t *lane,
                           struct error *error) {
    int64_t root = 0;
    enum answer found =
        db_value(&store->db, error, &root, "SELECT coalesce(root, id) FROM instance WHERE id=?1",
                 "i", job->instance_id);
    *lane = job_instance_lane(store->settings->lane_of_root ? root : job->instance_id);
    return found;
}

bool lane_insist(struct store *store, struct job *job, struct error *error) {
    int64_t lane = 0;
    bool taken = false;
    if (++job->behind < LANE_CONFLICTS || job->lane_id || job->lane_held || !job->instance_id)
        return true;
    enum answer found = lane_of(store, job, &lane, error);
    if (found != YES)
        return found == NO;
    if (!place_hold(store, lane, job->token, &taken, error))
        return false;
    job->lane_held = taken ? lane : 0;
    return true;
}

bool lane_give_back(struct store *store, const struct job *job, struct error *error) {
    return !job->lane_held || place_release(store, job->lane_held, job->token, error);
}
