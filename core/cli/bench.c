#include "bench/bench.h"
#include "base/json.h"
#include "cli/flags.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/table.h"
#include <string.h>
#include <unistd.h>

static const struct flag bench_flags[] = {
    {"--jobs", "N", "so many jobs (200000)"},
    {"--workers", "N", "worker threads (else one per processor)"},
    {"--history", "LEVEL", "none, failures or full (full)"},
    {"--payload", "BYTES", "of each job, as JSON (100)"},
    {"--dir", "DIR", "where the temporary store lies (the working directory)"},
    {0},
};

static void tell(void *arg, const char *doing, int64_t done, int64_t of) {
    progress_show(arg, doing, done, of);
}

static bool history_read(const char *text, enum history_level *level, struct error *error) {
    static const char *const names[] = {"none", "failures", "full"};
    for (int i = 0; text && i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *level = (enum history_level)i;
            return true;
        }
    return !text ||
           error_set(error, ERROR_USAGE, "--history \"%s\": expected none, failures or full", text);
}

static bool options_read(struct bench_options *options, const struct flags *flags,
                         struct error *error) {
    int64_t workers = sysconf(_SC_NPROCESSORS_ONLN);
    *options = (struct bench_options){.jobs = 200000,
                                      .history = HISTORY_FULL,
                                      .payload = 100,
                                      .directory = flags_text(flags, "--dir"),
                                      .tell = tell};
    if (!options->directory)
        options->directory = ".";
    bool fine = flags_integer(flags, "--jobs", 1, 100000000, &options->jobs, error) &&
                flags_integer(flags, "--workers", 1, 1024, &workers, error) &&
                flags_integer(flags, "--payload", 0, BENCH_PAYLOAD_MAX, &options->payload, error) &&
                history_read(flags_text(flags, "--history"), &options->history, error);
    options->workers = (int)workers;
    return fine;
}

static bool bench_run_verb(struct cli *cli, const struct flags *flags, struct error *error) {
    struct bench_options options;
    struct progress progress = {.on = cli->interactive};
    if (!options_read(&options, flags, error))
        return false;
    options.arg = &progress;
    json_t *report = bench_run(&options, error);
    progress_end(&progress);
    if (!report)
        return false;
    if (cli->json)
        return output_json(report, error);
    output_fields(report);
    json_decref(report);
    return true;
}

const struct cli_command bench_commands[] = {
    {"bench", "[--jobs N] [--workers N] [--history LEVEL] [--payload BYTES] …",
     "measure what this machine reaches",
     "Real handlers on a temporary store, every commit synced; it is removed at the end.",
     bench_flags, 0, 0, false, false, bench_run_verb},
    {0},
};
