#include "bench/bench.h"
#include "base/json.h"
#include "base/log.h"
#include "bench/phases.h"

static bool put_asked(json_t *report, const struct bench_options *options) {
    static const char *const levels[] = {"none", "failures", "full"};
    return json_put(report, "jobs", json_integer(options->jobs)) &&
           json_put(report, "workers", json_integer(options->workers)) &&
           json_put_text(report, "history", levels[options->history]) &&
           json_put(report, "payload", json_integer(options->payload)) &&
           json_put_text(report, "synchronous", "FULL");
}

/* Those that fork come first: the fewer pages a child inherits, the better. */
static bool all_phases(struct bench *bench, struct error *error) {
    static bool (*const phases[])(struct bench * bench, struct error * error) = {
        phase_clients, phase_drain, phase_chains, phase_life, phase_latency, phase_workers,
    };
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        if (!place_goes_on(error) || !phases[i](bench, error))
            return false;
    return true;
}

static bool measure(struct bench *bench, struct error *error) {
    struct meter from = meter_read();
    if (!put_asked(bench->report, bench->options))
        return rig_no_memory(error);
    if (!all_phases(bench, error))
        return false;
    struct meter used = meter_since(&from);
    return (json_put(bench->report, "peak_kb", json_integer(meter_memory_peak())) &&
            meter_put(bench->report, "seconds", (double)used.at / 1e6)) ||
           rig_no_memory(error);
}

json_t *bench_run(const struct bench_options *options, struct error *error) {
    struct bench bench = {.options = options, .random = 12345, .report = json_object()};
    log_configure(LOG_LOGFMT, LOG_WARN);
    bool fine = bench.report ? store_writes_start(error) &&
                                   place_make(&bench.place, options->directory, error) &&
                                   measure(&bench, error)
                             : rig_no_memory(error);
    place_clear(&bench.place);
    if (fine)
        return bench.report;
    json_decref(bench.report);
    return NULL;
}
