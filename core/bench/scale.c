/* scale.c - the same acquisition beside ten thousand rows and beside ten million. */
#include "bench/scale.h"
#include "base/json.h"
#include "base/log.h"
#include "bench/client_group.h"
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

enum {
    ROW_BYTES = 250,
    WORKING = 1000000,
    QUIET = 200000,
    LOOK_EVERY = 2000,
    TOP = 10000,
    MANY = 1000000
};

/* One number of rows: what the children need and fill in. */
struct scale {
    struct rig *rig;
    struct scale_found *found; /* shared with them */
    int64_t rows;
};

/* ---- starting beside them ---- */

static bool first_job(struct rig *rig, int64_t from, struct scale_found *found,
                      struct error *error) {
    int64_t until = from + 60000000;
    while (atomic_load(&rig->first) == 0) {
        if (!place_goes_on(error) || !attached_engine_fine(rig->attached, error))
            return false;
        if (clock_monotonic_us() > until)
            return error_set(error, ERROR_FAILED, "scale: no job has begun for a minute");
        rig_pause(100);
    }
    found->start = (double)(atomic_load(&rig->first) - from) / 1000;
    return true;
}

/* Its memory while it works, until there is nothing left to do. */
static void watch(struct rig *rig, int64_t until, struct scale_found *found) {
    int64_t now, moved = 0, done = 0;
    while ((now = clock_monotonic_us()) < until && place_goes_on(NULL)) {
        int64_t memory = meter_memory("/proc/self/statm");
        found->memory = memory > found->memory ? memory : found->memory;
        executor_status(rig->executor, &rig->status);
        if (rig->status.done > done)
            moved = now;
        done = rig->status.done;
        if (done > 0 && now - moved > QUIET)
            return;
        rig_pause(LOOK_EVERY);
    }
}

bool scale_start(struct rig *rig, struct scale_found *found, struct error *error) {
    int64_t from = clock_monotonic_us();
    found->base = meter_memory("/proc/self/statm");
    if (!rig_start(rig, rig->bench->options->workers, error) || !first_job(rig, from, found, error))
        return false;
    watch(rig, from + WORKING, found);
    executor_free(rig->executor);
    rig->executor = NULL;
    return place_goes_on(error);
}

/* ---- what the children do, each beginning with an open store ---- */

static bool fill_and_acquire(struct scale *scale, struct error *error) {
    struct scale_rows rows = {.count = scale->rows, .doing = "filling"};
    int64_t from = clock_monotonic_us();
    if (!scale_fill(scale->rig, &rows, error))
        return false;
    scale->found->fill = meter_rate(scale->rows, clock_monotonic_us() - from);
    double met;
    return scale_acquire(scale->rig, &scale->found->ready, &met, error);
}

/* In place of those that have run meanwhile, where that matters. */
static bool top_up(struct scale *scale, struct error *error) {
    int64_t left = 0;
    if (scale->rows >= MANY)
        return true;
    struct store *store = engine_store(scale->rig->engine);
    if (!store_jobs_count(store, NULL, clock_now(clock_system()), &left, error))
        return false;
    struct scale_rows rows = {.count = scale->rows - left, .doing = "filling up"};
    return scale_fill(scale->rig, &rows, error);
}

static bool acquire_beside_lane(struct scale *scale, struct error *error) {
    struct scale_rows rows = {.count = SCALE_LANE, .lane = "one", .doing = "filling a lane"};
    return top_up(scale, error) && scale_fill(scale->rig, &rows, error) &&
           scale_acquire(scale->rig, &scale->found->lane, &scale->found->lane_met, error);
}

static bool acquire_beside_locked(struct scale *scale, struct error *error) {
    double met;
    return scale_lock(scale->rig, scale->rows / 2, error) &&
           scale_acquire(scale->rig, &scale->found->half_locked, &met, error);
}

static bool acquire_beside_timers(struct scale *scale, struct error *error) {
    struct scale_rows timers = {.count = scale->rows, .later = true, .doing = "filling timers"};
    struct scale_rows ready = {.count = TOP, .doing = "filling"};
    double met;
    return scale_fill(scale->rig, &timers, error) && scale_fill(scale->rig, &ready, error) &&
           scale_acquire(scale->rig, &scale->found->timers, &met, error);
}

static bool start_beside(struct scale *scale, struct error *error) {
    rig_release(scale->rig);
    return scale_start(scale->rig, scale->found, error);
}

/* ---- one after the other ---- */

struct step {
    struct scale *scale;
    bool (*run)(struct scale *scale, struct error *error);
};

static bool step_run(void *arg, struct error *error) {
    struct step *step = arg;
    if (!rig_engine(step->scale->rig, error) || !step->run(step->scale, error))
        return false;
    rig_release(step->scale->rig);
    return true;
}

static bool in_child(struct scale *scale, bool (*run)(struct scale *scale, struct error *error),
                     struct error *error) {
    struct step step = {scale, run};
    return client_group_alone(step_run, &step, error);
}

static bool put(struct bench *bench, const struct scale *scale, json_t *list) {
    char path[PATH_MAX];
    struct stat info = {0};
    const struct scale_found *found = scale->found;
    json_t *row = json_object();
    place_file(&bench->place, "bench.db", path);
    stat(path, &info);
    bool fine =
        row && json_put(row, "rows", json_integer(scale->rows)) &&
        meter_put(row, "fill_per_second", found->fill) &&
        meter_put(row, "ready_us", found->ready) && meter_put(row, "timers_us", found->timers) &&
        meter_put(row, "half_locked_us", found->half_locked) &&
        meter_put(row, "lane_us", found->lane) && meter_put(row, "start_ms", found->start) &&
        meter_put(row, "memory_kb", (double)found->memory) &&
        meter_put(row, "base_kb", (double)found->base) &&
        meter_put(row, "database_kb", (double)info.st_size / 1024);
    return json_array_append_new(list, row) == 0 && fine;
}

static bool measure_ready(struct scale *scale, struct error *error) {
    static bool (*const works[])(struct scale *, struct error *) = {
        fill_and_acquire, start_beside, acquire_beside_lane, acquire_beside_locked};
    bool fine = true;
    for (size_t i = 0; fine && i < sizeof works / sizeof *works; i++)
        fine = in_child(scale, works[i], error);
    return fine;
}

/* The store is made by a child, so that the parent never has it open. */
static bool measure(struct bench *bench, struct scale *scale, json_t *list, struct error *error) {
    struct rig rig;
    scale->rig = &rig;
    bool fine = rig_open(&rig, bench, 0, error);
    rig_release(&rig);
    fine = fine && in_child(scale, acquire_beside_timers, error);
    rig_close(&rig);
    fine = fine && rig_open(&rig, bench, 0, error);
    rig_release(&rig);
    fine =
        fine && measure_ready(scale, error) && (put(bench, scale, list) || error_no_memory(error));
    rig_close(&rig);
    return fine;
}

static bool has_room(const struct bench *bench, int64_t rows, struct error *error) {
    struct statvfs disk;
    if (statvfs(bench->place.path, &disk) != 0)
        return true;
    double free_mb = (double)disk.f_bavail * (double)disk.f_frsize / 1e6;
    double needed_mb = (double)(rows + SCALE_LANE) * (double)ROW_BYTES / 1e6;
    return free_mb > needed_mb ||
           error_set(error, ERROR_FULL,
                     "%lld rows need about %.0f MB on the disk, %.0f MB are free", (long long)rows,
                     needed_mb, free_mb);
}

/* How many times as much the last number of rows takes as the first. */
static bool put_ratio(json_t *report, const json_t *list) {
    static const char *const keys[] = {"ready_us", "timers_us", "half_locked_us", "lane_us"};
    const json_t *first = json_array_get(list, 0);
    const json_t *last = json_array_get(list, json_array_size(list) - 1);
    json_t *ratio = json_object();
    bool fine = ratio != NULL;
    for (size_t i = 0; fine && i < sizeof keys / sizeof *keys; i++) {
        double one = json_number_value(json_object_get(first, keys[i]));
        double other = json_number_value(json_object_get(last, keys[i]));
        fine = meter_put(ratio, keys[i], one > 0 ? other / one : 0);
    }
    return json_put(report, "ratio", ratio) && fine;
}

static bool measure_all(struct bench *bench, const int64_t *rows, size_t count,
                        struct error *error) {
    json_t *list = json_array();
    struct scale_found *found = mmap(NULL, sizeof *found * count, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!json_put(bench->report, "scale", list) || found == MAP_FAILED)
        return error_no_memory(error);
    bool fine = true;
    for (size_t i = 0; fine && i < count; i++) {
        struct scale scale = {.found = &found[i], .rows = rows[i]};
        fine = has_room(bench, rows[i], error) && measure(bench, &scale, list, error);
    }
    munmap(found, sizeof *found * count);
    return fine && (put_ratio(bench->report, list) || error_no_memory(error));
}

json_t *bench_scale(const struct bench_options *options, const int64_t *rows, size_t count,
                    struct error *error) {
    struct bench bench = {.options = options, .random = 12345, .report = json_object()};
    log_configure(LOG_LOGFMT, LOG_ERROR);
    bool fine = bench.report ? store_writes_start(options->sync, error) &&
                                   place_make(&bench.place, options->directory, error) &&
                                   measure_all(&bench, rows, count, error)
                             : error_no_memory(error);
    place_clear(&bench.place);
    return json_kept(bench.report, fine);
}
