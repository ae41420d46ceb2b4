/* work.c - jobs run by the executor: a backlog, chains, beside their creation. */
#include "base/clamp.h"
#include "bench/phases.h"
#include "lua/lua_program.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { CHAINS = 1000 };

static int64_t file_size(const struct rig *rig, const char *name) {
    char path[PATH_MAX];
    struct stat info;
    place_file(&rig->bench->place, name, path);
    return stat(path, &info) == 0 ? (int64_t)info.st_size / 1024 : 0;
}

static bool put_rate(struct bench *bench, const char *key, int64_t jobs, int64_t span,
                     struct error *error) {
    return meter_put(bench->report, key, meter_rate(jobs, span)) || error_no_memory(error);
}

/* ---- a backlog ---- */

/* What is written by this process; a server writes by itself. */
static bool put_written(struct rig *rig, double per, int64_t jobs, const struct meter *used) {
    json_t *report = rig->bench->report;
    if (rig->bench->options->store)
        return used->server == 0 ||
               meter_put(report, "server_cpu_seconds_per_10000", used->server * per);
    return meter_put(report, "syncs_per_10000", (double)used->writes.syncs * per) &&
           meter_put(report, "commits_per_10000", (double)used->writes.commits * per) &&
           meter_put(report, "log_bytes_per_job", (double)used->writes.log / (double)jobs);
}

static bool put_drain(struct rig *rig, int64_t jobs, const struct meter *used,
                      struct error *error) {
    json_t *report = rig->bench->report;
    double per = 10000 / (double)jobs;
    return (meter_put(report, "drain_per_second", meter_rate(jobs, used->at)) &&
            meter_put(report, "cpu_seconds_per_10000", used->cpu * per) &&
            put_written(rig, per, jobs, used)) ||
           error_no_memory(error);
}

static bool put_sizes(struct rig *rig, struct error *error) {
    json_t *report = rig->bench->report;
    if (rig->bench->options->store)
        return true;
    return (meter_put(report, "database_kb", (double)file_size(rig, "bench.db")) &&
            meter_put(report, "log_kb", (double)file_size(rig, "bench.db-wal"))) ||
           error_no_memory(error);
}

static bool bulk_tell(void *arg, int64_t done) {
    const struct rig *rig = arg;
    rig_tell(rig, "enqueueing in bulk", done, rig->bench->options->jobs);
    return place_goes_on(NULL);
}

/* By a Lua program: its tables are part of what it takes. */
static bool enqueue_many(struct rig *rig, int64_t jobs, struct error *error) {
    json_t *asked =
        json_pack("{ss ss ss sO sI si}", "store", rig->settings.store, "scripts",
                  rig->bench->place.path, "handler", "noop", "payload", rig->payload, "jobs",
                  (json_int_t)jobs, "priorities", rig->bench->options->priorities);
    struct lua_program program = {
        .path = "core/bench/bulk.lua", .asked = asked, .tell = bulk_tell, .arg = rig};
    json_t *span = asked ? lua_program_run(&program, error) : NULL;
    bool fine =
        (asked || error_no_memory(error)) && span && place_goes_on(error) &&
        put_rate(rig->bench, "enqueue_bulk_per_second", jobs, json_integer_value(span), error);
    json_decref(span);
    json_decref(asked);
    return fine;
}

bool phase_drain(struct bench *bench, struct error *error) {
    struct rig rig;
    struct meter used;
    int64_t jobs = bench->options->jobs;
    bool fine = rig_open(&rig, bench, jobs, error);
    rig_release(&rig);
    fine = fine && enqueue_many(&rig, jobs, error) &&
           rig_drain(&rig, "draining", bench->options->workers, jobs, &used, error);
    fine = fine && put_drain(&rig, jobs, &used, error) && put_sizes(&rig, error);
    rig_close(&rig);
    return fine;
}

/* ---- chains ---- */

bool phase_chains(struct bench *bench, struct error *error) {
    struct rig rig;
    struct meter used;
    int64_t size = bench->options->payload;
    int64_t chains = bench->options->jobs < CHAINS * 10 ? 10 : CHAINS;
    int64_t links = bench->options->jobs / chains;
    bool fine = rig_open(&rig, bench, chains * links, error);
    if (fine && links > 0) {
        char text[256];
        snprintf(text, sizeof text, "%08lld%.*s", (long long)links - 1,
                 (int)clamp(size - 10, 0, 190),
                 json_string_value(rig.payload) ? json_string_value(rig.payload) : "");
        json_t *payload = json_string(text);
        fine = payload ? rig_feed(&rig, "chain", payload, chains, error) : error_no_memory(error);
        json_decref(payload);
        rig_release(&rig);
        fine = fine &&
               rig_drain(&rig, "chains", bench->options->workers, chains * links, &used, error) &&
               put_rate(bench, "chains_per_second", chains * links, used.at, error);
    }
    rig_close(&rig);
    return fine;
}

/* ---- the whole life ---- */

bool phase_life(struct bench *bench, struct error *error) {
    struct rig rig;
    int64_t jobs = bench->options->jobs;
    bool fine =
        rig_open(&rig, bench, jobs, error) && rig_start(&rig, bench->options->workers, error);
    struct meter from = meter_read(), used = {0};
    fine = fine && rig_feed(&rig, "noop", rig.payload, jobs, error) &&
           rig_await(&rig, "the whole life", jobs, error);
    used = meter_since(&from);
    fine = fine && rig_finish(&rig, "the whole life", jobs, error) &&
           put_rate(bench, "life_per_second", jobs, used.at, error);
    rig_close(&rig);
    return fine;
}
