/* scale_store.c - filling a store and acquiring from it, by the verbs of the store itself. */
#include "base/json.h"
#include "bench/scale.h"
#include "job/job_spec.h"
#include <stdlib.h>

enum { FILL_EACH = 10000, LOCK_EACH = 1000, LOG_PAGES = 4000, PROMOTE = 1000 };
enum { WARMING = 2, WARM_MOST = 2000, ROUNDS = 20, LEASE = 3600000, DAY = 86400000 };

/* ---- rows ---- */

/* A job as `enqueue` would make it, to be copied. */
static bool spec_make(struct rig *rig, const struct scale_rows *rows, struct job_spec *spec,
                      struct error *error) {
    struct spec_rules rules = spec_rules(&rig->settings.write);
    time_ms now = clock_now(clock_system());
    json_t *object = rig_spec(rig, "noop", rig->payload, rig->bench->options->priorities);
    bool fine = object && (!rows->later || json_put_time(object, "at", now + DAY)) &&
                (!rows->lane || json_put_text(object, "lane", rows->lane));
    fine = (fine || error_no_memory(error)) && job_spec_read(spec, object, &rules, now, error);
    json_decref(object);
    if (fine)
        job_spec_define(spec, definitions_find(engine_definitions(rig->engine), "noop"), &rules);
    return fine;
}

static void copies_make(struct rig *rig, const struct scale_rows *rows, const struct job_spec *spec,
                        struct job_spec *specs, int64_t count) {
    uint32_t *random = &rig->bench->random;
    for (int64_t i = 0; i < count; i++) {
        specs[i] = *spec;
        specs[i].next = i + 1 < count ? &specs[i + 1] : NULL;
        if (!rows->lane)
            specs[i].job.priority = rig_priority(rig, random);
        if (rows->later)
            specs[i].job.due += rig_priority(rig, random) * 1000000 + i;
    }
}

static bool write_all(struct store *store, struct job_spec *specs, struct error *error) {
    if (!store_begin(store, STORE_TURN, error))
        return false;
    if (store_create(store, specs, 0, clock_now(clock_system()), error))
        return store_commit(store, error) && store_tend(store, CHORE_LOG, LOG_PAGES, NULL, error);
    store_rollback(store);
    return false;
}

bool scale_fill(struct rig *rig, const struct scale_rows *rows, struct error *error) {
    struct job_spec spec = {0};
    struct job_spec *specs = malloc(FILL_EACH * sizeof *specs);
    bool fine = specs ? spec_make(rig, rows, &spec, error) : error_no_memory(error);
    for (int64_t done = 0; fine && done < rows->count; done += FILL_EACH) {
        int64_t left = rows->count - done;
        rig_tell(rig, rows->doing, done, rows->count);
        int64_t part = left < FILL_EACH ? left : FILL_EACH;
        copies_make(rig, rows, &spec, specs, part);
        fine = place_goes_on(error) && write_all(engine_store(rig->engine), specs, error);
    }
    job_spec_clear(&spec);
    free(specs);
    return fine;
}

/* ---- acquiring ---- */

static struct acquire question(const struct rig *rig, int want) {
    struct acquire acquire = acquire_from(&rig->settings);
    acquire.want = acquire.idle = want;
    acquire.handlers = engine_definitions(rig->engine);
    acquire.steady = true;
    return acquire;
}

static bool join(struct rig *rig, const struct acquire *serves, const char *name,
                 struct error *error) {
    struct store_executor executor = {.name = name, .workers = 1, .serves = serves};
    return store_join(engine_store(rig->engine), &executor, clock_now(clock_system()), LEASE,
                      error);
}

/* As a turn does it: due timers first. */
static bool acquire_once(struct store *store, const struct acquire *acquire, struct job **jobs,
                         int *count, struct error *error) {
    bool more;
    int promoted;
    time_ms now = clock_now(clock_system());
    *jobs = NULL;
    *count = 0;
    if (!store_begin(store, STORE_TURN, error))
        return false;
    if (store_promote(store, now, PROMOTE, &promoted, error) &&
        store_acquire(store, acquire, now, jobs, count, &more, error))
        return store_commit(store, error);
    store_rollback(store);
    return false;
}

/* Takes the job over. The lane ends with the last of its jobs, which stand side by side. */
static bool settle_one(struct store *store, struct job *job, int64_t lane_token, time_ms now,
                       struct error *error) {
    enum settled settled;
    struct outcome *outcome = outcome_new(job, OUTCOME_SUCCESS);
    if (!outcome) {
        job_free(job);
        return error_no_memory(error);
    }
    outcome->started = outcome->ended = now;
    outcome->lane_token = lane_token;
    outcome->lane_ends = !job->next || !job->lane_id || job->next->lane_id != job->lane_id;
    job->next = NULL;
    bool fine = store_settle(store, outcome, now, &settled, error);
    if (fine && settled != SETTLED)
        fine = error_set(error, ERROR_FAILED, "scale: an acquired job could not be settled");
    outcome_free(outcome);
    return fine;
}

/* Takes them over. */
static bool settle_all(struct store *store, struct job *jobs, struct error *error) {
    int64_t lane = 0, token = 0;
    time_ms now = clock_now(clock_system());
    bool fine = store_begin(store, STORE_TURN, error);
    while (jobs && fine) {
        struct job *job = jobs;
        jobs = job->next;
        if (job->lane_id == 0 || job->lane_id != lane)
            token = job->token;
        lane = job->lane_id;
        fine = settle_one(store, job, token, now, error);
    }
    job_free_list(jobs);
    if (fine)
        return store_commit(store, error) && store_tend(store, CHORE_LOG, LOG_PAGES, NULL, error);
    store_rollback(store);
    return false;
}

/* One acquisition and the settling of what it got; microseconds of the former, how many jobs. */
static bool acquire_and_settle(struct rig *rig, const struct acquire *acquire, int64_t *span,
                               int *count, struct error *error) {
    struct store *store = engine_store(rig->engine);
    struct job *jobs;
    int64_t from = clock_monotonic_us();
    if (!place_goes_on(error) || !acquire_once(store, acquire, &jobs, count, error))
        return false;
    *span = clock_monotonic_us() - from;
    return settle_all(store, jobs, error);
}

/* Until acquisitions are full: jobs of a lane that runs are put aside first, some each time. */
static bool warm(struct rig *rig, const struct acquire *acquire, double *met, struct error *error) {
    int full = 0, count = 0;
    int64_t span = 0;
    *met = 0;
    for (int i = 0; i < WARM_MOST; i++) {
        if (!acquire_and_settle(rig, acquire, &span, &count, error))
            return false;
        full = count == SCALE_EACH ? full + 1 : 0;
        *met += full ? 0 : (double)span / 1000;
        if (full == WARMING)
            return true;
    }
    return error_set(error, ERROR_FAILED, "scale: %d jobs are acquired at once (expected %d)",
                     count, SCALE_EACH);
}

bool scale_acquire(struct rig *rig, double *found, double *met, struct error *error) {
    struct acquire acquire = question(rig, SCALE_EACH);
    int64_t spans[ROUNDS];
    bool fine = join(rig, &acquire, "bench", error) && warm(rig, &acquire, met, error);
    for (int i = 0, count; fine && i < ROUNDS; i++) {
        fine = acquire_and_settle(rig, &acquire, &spans[i], &count, error);
        if (fine && count != SCALE_EACH)
            fine = error_set(error, ERROR_FAILED, "scale: %d jobs were acquired (expected %d)",
                             count, SCALE_EACH);
    }
    *found = fine ? meter_part(spans, ROUNDS, 0.5) * 1000 / SCALE_EACH : 0;
    return fine && store_leave(engine_store(rig->engine), error);
}

bool scale_lock(struct rig *rig, int64_t count, struct error *error) {
    struct acquire acquire = question(rig, LOCK_EACH);
    struct store *store = engine_store(rig->engine);
    bool fine = join(rig, &acquire, "other", error);
    int empty = 0; /* acquisitions in a row that met nothing but a lane that runs */
    for (int64_t locked = 0; fine && locked < count;) {
        struct job *jobs;
        int got = 0;
        fine = place_goes_on(error) && acquire_once(store, &acquire, &jobs, &got, error) &&
               store_tend(store, CHORE_LOG, LOG_PAGES, NULL, error);
        job_free_list(fine ? jobs : NULL);
        locked += got;
        empty = got > 0 ? 0 : empty + 1;
        if (fine && empty > WARM_MOST)
            fine = error_set(error, ERROR_FAILED, "scale: nothing is left to be locked");
        rig_tell(rig, "locking", locked, count);
    }
    rig->engine = NULL; /* it lives as long as this process */
    return fine && rig_engine(rig, error);
}
