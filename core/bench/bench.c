#include "bench/bench.h"
#include "base/json.h"
#include "base/log.h"
#include "bench/phases.h"
#include <stdio.h>
#include <string.h>

static bool put_asked(json_t *report, const struct bench_options *options) {
    return json_put(report, "jobs", json_integer(options->jobs)) &&
           json_put(report, "workers", json_integer(options->workers)) &&
           json_put_text(report, "history", rig_history(options)) &&
           json_put(report, "priorities", json_integer(options->priorities)) &&
           json_put(report, "payload", json_integer(options->payload)) &&
           (options->store || json_put_text(report, "synchronous", "FULL")) &&
           json_put(report, "sync_ms", json_integer(options->sync));
}

/* Those that fork come first: the fewer pages a child inherits, the better. */
static const struct {
    const char *name;
    bool (*run)(struct bench *bench, struct error *error);
} phases[] = {
    {"idle", phase_idle}, {"clients", phase_clients}, {"latency", phase_latency},
    {"from", phase_from}, {"drain", phase_drain},     {"chains", phase_chains},
    {"life", phase_life}, {"workers", phase_workers},
};
enum { PHASES = sizeof phases / sizeof *phases };

bool bench_wants(const char *only, const char *name) {
    size_t size = strlen(name);
    for (const char *at = only; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, size) == 0 && (at[size] == ',' || at[size] == '\0'))
            return true;
    }
    return !only;
}

/* False: a phase of the list is none. */
static bool check(const char *only, struct error *error) {
    char name[64];
    for (const char *at = only; at; at = strchr(at, ',')) {
        at += *at == ',';
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        int i = 0;
        while (i < PHASES && strcmp(phases[i].name, name) != 0)
            i++;
        if (i == PHASES)
            return error_set(error, ERROR_USAGE,
                             "--only \"%s\": expected idle, clients, latency, from, drain, chains, "
                             "life or workers",
                             name);
    }
    return true;
}

static bool all_phases(struct bench *bench, struct error *error) {
    for (int i = 0; i < PHASES; i++)
        if (bench_wants(bench->options->only, phases[i].name) &&
            (!place_goes_on(error) || !phases[i].run(bench, error)))
            return false;
    return true;
}

static bool measure(struct bench *bench, bool (*run)(struct bench *bench, struct error *error),
                    struct error *error) {
    struct meter from = meter_read();
    if (!put_asked(bench->report, bench->options))
        return error_no_memory(error);
    if (!run(bench, error))
        return false;
    struct meter used = meter_since(&from);
    return (json_put(bench->report, "peak_kb", json_integer(used.peak)) &&
            meter_put(bench->report, "seconds", (double)used.at / 1e6)) ||
           error_no_memory(error);
}

static json_t *report(const struct bench_options *options,
                      bool (*run)(struct bench *bench, struct error *error), struct error *error) {
    struct bench bench = {.options = options, .random = 12345};
    log_configure(LOG_LOGFMT, LOG_WARN);
    bench.report = json_object();
    bool fine = bench.report ? store_writes_start(options->sync, error) &&
                                   place_make(&bench.place, options->directory, error) &&
                                   measure(&bench, run, error)
                             : error_no_memory(error);
    place_clear(&bench.place);
    return json_kept(bench.report, fine);
}

json_t *bench_run(const struct bench_options *options, struct error *error) {
    return check(options->only, error) ? report(options, all_phases, error) : NULL;
}

json_t *bench_http(const struct bench_options *options, struct error *error) {
    return report(options, phase_http, error);
}
