/* kinds.c - what jobs of each kind of work cost, beside a job that does nothing. kinds.lua says
 * which there are. Each is created and run by processes of its own: so their memory is its own. */
#include "base/json.h"
#include "base/log.h"
#include "bench/client_group.h"
#include "bench/phases.h"
#include "lua/lua_program.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PROGRAM "core/bench/kinds.lua"
enum { FILES_MAX = 4 };

struct kind {
    struct bench *bench;
    const json_t *row; /* as kinds.lua has it */
    int64_t jobs;
    struct rig rig;
    struct found { /* shared with the child processes */
        struct meter created, ran;
    } * found;
};

static const char *text_of(const struct kind *kind, const char *key) {
    return json_string_value(json_object_get(kind->row, key));
}

/* So many of the jobs. */
static int64_t part_of(const struct kind *kind, const char *key) {
    return llround(json_number_value(json_object_get(kind->row, key)) * (double)kind->jobs);
}

static bool is_created(const struct kind *kind) {
    return json_is_true(json_object_get(kind->row, "created"));
}

/* ---- in child processes ---- */

static bool write_lines(void *arg, struct error *error) {
    struct kind *kind = arg;
    char path[PATH_MAX];
    place_file(&kind->bench->place, "jobs.jsonl", path);
    json_t *asked = json_pack("{ss ss sI}", "kind", text_of(kind, "kind"), "path", path, "jobs",
                              (json_int_t)kind->jobs);
    struct lua_program program = {.path = PROGRAM, .asked = asked};
    json_t *list = asked ? lua_program_run(&program, error) : NULL;
    bool fine = list || (asked ? false : error_no_memory(error));
    json_decref(list);
    json_decref(asked);
    return fine;
}

static bool create(void *arg, struct error *error) {
    struct kind *kind = arg;
    char path[PATH_MAX];
    place_file(&kind->bench->place, "jobs.jsonl", path);
    if (!rig_engine(&kind->rig, error))
        return false;
    struct meter from = meter_read();
    bool fine = kind->bench->options->enqueue_from(kind->rig.engine, path, error);
    kind->found->created = meter_since(&from);
    rig_release(&kind->rig);
    return fine;
}

/* As `moonshift run` does, with its log in a file. */
static bool run(void *arg, struct error *error) {
    struct kind *kind = arg;
    char path[PATH_MAX];
    place_file(&kind->bench->place, "log", path);
    if (!freopen(path, "w", stderr))
        return error_set(error, ERROR_IO, "bench: \"%s\": cannot be opened", path);
    log_configure(LOG_LOGFMT, LOG_INFO);
    return rig_drain(&kind->rig, text_of(kind, "what"), kind->bench->options->workers,
                     kind->jobs + part_of(kind, "follows"), &kind->found->ran, error);
}

/* ---- the table ---- */

static bool put(struct kind *kind, json_t *list, double *base) {
    bool created = is_created(kind);
    const struct meter *used = created ? &kind->found->created : &kind->found->ran;
    int64_t runs = kind->jobs;
    if (!created)
        runs += part_of(kind, "follows") + part_of(kind, "fails");
    double rate = meter_rate(runs, used->at);
    if (*base == 0)
        *base = rate;
    json_t *row = json_object();
    bool fine = row && json_put_text(row, "kind", text_of(kind, "kind")) &&
                json_put_text(row, "what", text_of(kind, "what")) &&
                json_put(row, "runs", json_integer(runs)) && meter_put(row, "per_second", rate) &&
                meter_put(row, "ratio", rate / *base);
    fine =
        fine && meter_put(row, "cpu_us", used->cpu * 1e6 / (double)runs) &&
        (used->server == 0 || meter_put(row, "server_cpu_us", used->server * 1e6 / (double)runs)) &&
        meter_put_written(row, used, (double)runs, kind->bench->options->store) &&
        meter_put(row, "peak_kb", (double)used->peak);
    return json_array_append_new(list, row) == 0 && fine;
}

bool kinds_folder(const struct bench *bench, const json_t *row, struct error *error) {
    const char *names[FILES_MAX];
    size_t count = 0;
    const json_t *files = json_object_get(row, "files");
    for (; count < FILES_MAX && count < json_array_size(files); count++)
        names[count] = json_string_value(json_array_get(files, count));
    return place_folder(&bench->place, names, count, error);
}

static bool work(struct kind *kind, struct error *error) {
    struct rig *rig = &kind->rig;
    if (!kinds_folder(kind->bench, kind->row, error) ||
        !rig_open(rig, kind->bench, kind->jobs + part_of(kind, "follows"), error))
        return false;
    rig->failing = part_of(kind, "fails") + part_of(kind, "dies");
    rig->dying = part_of(kind, "dies");
    rig_release(rig);
    rig_tell(rig, text_of(kind, "what"), 0, 0);
    return client_group_alone(write_lines, kind, error) &&
           client_group_alone(create, kind, error) &&
           (is_created(kind) || client_group_alone(run, kind, error));
}

/* A whole hundred of jobs, so that parts of them are whole. */
static bool measure(struct bench *bench, const json_t *row, struct found *found, json_t *list,
                    double *base, struct error *error) {
    struct kind kind = {.bench = bench, .row = row, .found = found};
    json_t *share = json_object_get(row, "share");
    double jobs = (double)bench->options->jobs * (share ? json_number_value(share) : 1);
    kind.jobs = (llround(jobs) + 99) / 100 * 100;
    bool fine = place_goes_on(error) && work(&kind, error);
    rig_close(&kind.rig);
    return fine && (put(&kind, list, base) || error_no_memory(error));
}

static const char *name_of(const json_t *row) {
    return json_string_value(json_object_get(row, "kind"));
}

static bool is_wanted(const json_t *kinds, const char *only, bool created) {
    json_t *row;
    size_t i;
    json_array_foreach(kinds, i, row)
        if (json_is_true(json_object_get(row, "created")) == created &&
            bench_wants(only, name_of(row)))
            return true;
    return false;
}

/* The first kind that is run and the first that is created are what the others are compared with:
 * they are measured whenever one of these is. */
static bool measure_all(struct bench *bench, const json_t *kinds, struct found *found,
                        struct error *error) {
    const char *only = bench->options->only;
    double base[2] = {0};
    json_t *list = json_array(), *row;
    size_t i;
    if (!json_put(bench->report, "work", list))
        return error_no_memory(error);
    json_array_foreach(kinds, i, row) {
        bool created = json_is_true(json_object_get(row, "created"));
        bool wanted =
            base[created] > 0 ? bench_wants(only, name_of(row)) : is_wanted(kinds, only, created);
        if (wanted && !measure(bench, row, found, list, &base[created], error))
            return false;
    }
    return true;
}

static bool kinds_check(const json_t *kinds, const char *only, struct error *error) {
    char name[64], known[512] = "";
    json_t *row;
    size_t i;
    json_array_foreach(kinds, i, row) {
        size_t size = strlen(known);
        snprintf(known + size, sizeof known - size, "%s%s", size ? ", " : "", name_of(row));
    }
    for (const char *at = only; at; at = strchr(at, ',')) {
        at += *at == ',';
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (!is_wanted(kinds, name, false) && !is_wanted(kinds, name, true))
            return error_set(error, ERROR_USAGE, "--only \"%s\": expected %s", name, known);
    }
    return true;
}

bool kinds_put_asked(struct bench *bench) {
    const struct bench_options *options = bench->options;
    return json_put(bench->report, "jobs", json_integer(options->jobs)) &&
           json_put(bench->report, "workers", json_integer(options->workers)) &&
           json_put_text(bench->report, "history", rig_history(options)) &&
           json_put(bench->report, "sync_ms", json_integer(options->sync));
}

static bool kinds_run(struct bench *bench, const json_t *kinds, struct error *error) {
    struct found *found =
        mmap(NULL, sizeof *found, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED)
        return error_no_memory(error);
    int64_t from = clock_monotonic_us();
    bool fine = (kinds_put_asked(bench) || error_no_memory(error)) &&
                measure_all(bench, kinds, found, error);
    munmap(found, sizeof *found);
    double seconds = (double)(clock_monotonic_us() - from) / 1e6;
    return fine && (meter_put(bench->report, "seconds", seconds) || error_no_memory(error));
}

json_t *kinds_bench(const struct bench_options *options, const char *program,
                    bool (*each)(struct bench *bench, const json_t *kinds, struct error *error),
                    struct error *error) {
    struct bench bench = {.options = options, .random = 12345, .report = json_object()};
    struct lua_program listed = {.path = program};
    json_t *kinds = lua_program_run(&listed, error);
    log_configure(LOG_LOGFMT, LOG_ERROR);
    bool fine = kinds && kinds_check(kinds, options->only, error) &&
                store_writes_start(options->sync, error);
    fine =
        fine && place_make(&bench.place, options->directory, error) && each(&bench, kinds, error);
    place_clear(&bench.place);
    json_decref(kinds);
    return json_kept(bench.report, fine);
}

json_t *bench_work(const struct bench_options *options, struct error *error) {
    return kinds_bench(options, PROGRAM, kinds_run, error);
}
