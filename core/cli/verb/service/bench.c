#include "bench/bench.h"
#include "cli/cli.h"
#include "cli/shown/output.h"
#include "cli/shown/progress.h"
#include "cli/shown/table.h"
#include "cli/verb/jobs/bulk.h"
#include "job/store_url.h"
#include "time/span.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* WORK_JOBS, INSTANCES: of each kind; SYNC_MAX: milliseconds. */
enum {
    SCALES_MAX = 16,
    SCALE_LEAST = 10000,
    WORK_JOBS = 40000,
    INSTANCES = 5000,
    SYNC_MAX = 1000,
    LINE_MAX_BYTES = 1 << 20
};

static const struct flag bench_flags[] = {
    {"--jobs", "N", "so many jobs (200000)"},
    {"--workers", "N", "worker threads (else one per processor)"},
    {"--history", "LEVEL", "none, failures or full; full unless told"},
    {"--priorities", "N", "so many different ones, at random (10)"},
    {"--payload", "BYTES", "of each job, as JSON (100)"},
    {"--scale", "[ROWS,…]", "instead: an acquisition beside so many rows (10000 to 10000000)"},
    {"--work", NULL, "instead: jobs of many kinds, each beside a no-op"},
    {"--processes", NULL, "instead: instances of processes of several kinds"},
    {"--http", NULL, "instead: the network face, beside the same work without it"},
    {"--only", "NAME,…",
     "idle, clients, latency, from, drain, chains, life, workers; or kinds (all)"},
    {"--sync", "SPAN", "each sync takes so much longer (5ms): a slower disk"},
    {"--dir", "DIR", "where the temporary store lies (the working directory)"},
    {0},
};

static void bench_tell(void *arg, const char *doing, int64_t done, int64_t of) {
    progress_show(arg, doing, done, of);
}

/* In a child process, whose memory and answer nobody else has. */
static bool enqueue_from(struct engine *engine, const char *path, struct error *error) {
    struct bulk_options options = {.path = path, .line_max = LINE_MAX_BYTES};
    struct receipt receipt = {0};
    bool fine = bulk_enqueue(engine, &options, &receipt, error);
    receipt_clear(&receipt);
    return fine;
}

static bool sync_read(const char *text, int64_t *sync, struct error *error) {
    struct error why = {0};
    if (!text || (span_parse_ms(text, sync, &why) && *sync >= 0 && *sync <= SYNC_MAX))
        return true;
    return error_set(error, ERROR_USAGE,
                     "--sync \"%s\": expected a span up to a second, such as 5ms", text);
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

static int64_t jobs_of(const struct flags *flags) {
    if (flags_has(flags, "--processes"))
        return INSTANCES;
    return flags_has(flags, "--work") ? WORK_JOBS : 200000;
}

static bool options_read(struct bench_options *options, const struct flags *flags,
                         struct error *error) {
    int64_t workers = sysconf(_SC_NPROCESSORS_ONLN), priorities = 10;
    *options = (struct bench_options){.jobs = jobs_of(flags),
                                      .history = HISTORY_FULL,
                                      .payload = 100,
                                      .only = flags_text(flags, "--only"),
                                      .directory = flags_text(flags, "--dir"),
                                      .tell = bench_tell,
                                      .enqueue_from = enqueue_from};
    if (!options->directory)
        options->directory = ".";
    bool fine = sync_read(flags_text(flags, "--sync"), &options->sync, error) &&
                flags_integer(flags, "--jobs", 1, 100000000, &options->jobs, error) &&
                flags_integer(flags, "--workers", 1, 1024, &workers, error);
    fine = fine && flags_integer(flags, "--priorities", 1, 1000, &priorities, error) &&
           flags_integer(flags, "--payload", 0, BENCH_PAYLOAD_MAX, &options->payload, error) &&
           history_read(flags_text(flags, "--history"), &options->history, error);
    options->workers = (int)workers;
    options->priorities = (int)priorities;
    return fine;
}

/* ---- for people ---- */

static const struct column columns[] = {
    {"what", "WHAT", COLUMN_LEFT},
    {"figure", "FIGURE", COLUMN_RIGHT},
    {"unit", "", COLUMN_LEFT},
    {0},
};

static const struct line {
    const char *key, *what, *unit;
} lines[] = {
    {"enqueue_one_per_second", "enqueue, one client", "jobs/s, one a call"},
    {"enqueue_processes_per_second", "enqueue, 16 processes", "jobs/s, one a call"},
    {"enqueue_bulk_per_second", "enqueue in bulk", "jobs/s, 1000 a call"},
    {"enqueue_from_per_second", "enqueue --from", "jobs/s"},
    {"drain_per_second", "drain", "jobs/s"},
    {"chains_per_second", "chains", "jobs/s"},
    {"life_per_second", "enqueue and drain at once", "jobs/s"},
    {"latency_p50_ms", "latency, median", "ms from acknowledgement to start"},
    {"latency_p99_ms", "latency, 99 of 100", "ms"},
    {"latency_max_ms", "latency, longest", "ms"},
    {"latency_process_p50_ms", "from another process, median", "ms"},
    {"latency_process_p99_ms", "from another process, 99 of 100", "ms"},
    {"latency_process_max_ms", "from another process, longest", "ms"},
    {"workers_speedup", "two workers against one", "times as fast, 1 ms of CPU a job"},
    {"workers_ceiling", "two processes against one", "times as fast, without an executor"},
    {"http_create_per_second", "enqueue over HTTP", "jobs/s, 64 connections, one a call"},
    {"http_create_ratio", "against 16 processes", "times as fast"},
    {"http_jobs_per_sync", "jobs by sync over HTTP", "jobs"},
    {"external_per_second", "work over HTTP", "jobs/s, 16 workers, ten a call"},
    {"external_ratio", "against the drain", "times as fast"},
    {"cpu_seconds_per_10000", "CPU, draining", "s per 10 000 jobs"},
    {"server_cpu_seconds_per_10000", "CPU of the server, draining", "s per 10 000 jobs"},
    {"commits_per_10000", "commits, draining", "per 10 000 jobs"},
    {"syncs_per_10000", "syncs, draining", "per 10 000 jobs"},
    {"log_bytes_per_job", "write-ahead log, draining", "bytes a job"},
    {"database_kb", "database afterwards", "KB"},
    {"log_kb", "write-ahead log afterwards", "KB"},
    {"peak_kb", "memory, at most", "KB"},
    {"idle_kb", "memory, idle", "KB"},
    {"idle_cpu_percent", "CPU, idle", "% of a core"},
    {"idle_wakes_per_second", "wake-ups, idle", "a second"},
    {"seconds", "all this took", "s"},
};

static json_t *row_make(const json_t *report, const struct line *line) {
    json_t *figure = json_object_get(report, line->key);
    return json_pack("{ss sO ss}", "what", line->what, "figure", figure, "unit", line->unit);
}

static bool report_print(const json_t *report, struct error *error) {
    json_t *rows = json_array();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (json_object_get(report, lines[i].key))
            json_array_append_new(rows, row_make(report, &lines[i]));
    const bool file = json_object_get(report, "synchronous");
    output_add("%lld jobs of %lld bytes, %lld workers, history %s%s\n\n",
               (long long)json_integer_value(json_object_get(report, "jobs")),
               (long long)json_integer_value(json_object_get(report, "payload")),
               (long long)json_integer_value(json_object_get(report, "workers")),
               json_string_value(json_object_get(report, "history")),
               file ? ", synchronous=FULL" : ", on a server");
    bool fine = table_print(columns, rows, output_width(), error);
    json_decref(rows);
    return fine;
}

/* ---- beside many rows ---- */

static const struct column scale_columns[] = {
    {"rows", "ROWS", COLUMN_RIGHT},
    {"ready_us", "READY", COLUMN_RIGHT},
    {"timers_us", "TIMERS", COLUMN_RIGHT},
    {"half_locked_us", "HALF LOCKED", COLUMN_RIGHT},
    {"lane_us", "ONE LANE", COLUMN_RIGHT},
    {"start_ms", "FIRST JOB MS", COLUMN_RIGHT},
    {"memory_kb", "MEMORY KB", COLUMN_RIGHT},
    {"fill_per_second", "FILLED /S", COLUMN_RIGHT},
    {"database_kb", "DATABASE KB", COLUMN_RIGHT},
    {0},
};

static bool rows_read(const char *text, int64_t *rows, size_t *count, struct error *error) {
    char one[32];
    for (*count = 0; text && *count < SCALES_MAX; text = strchr(text, ','), ++*count) {
        text += *text == ',';
        snprintf(one, sizeof one, "%.*s", (int)strcspn(text, ","), text);
        if (!flags_number("--scale", one, SCALE_LEAST, 1000000000, &rows[*count], error))
            return false;
    }
    return !text || error_set(error, ERROR_USAGE, "--scale: more than %d numbers", SCALES_MAX);
}

static json_t *scale_run(const struct bench_options *options, const char *text,
                         struct error *error) {
    int64_t rows[SCALES_MAX];
    size_t count;
    if (!rows_read(text ? text : "10000,100000,1000000,10000000", rows, &count, error))
        return NULL;
    return bench_scale(options, rows, count, error);
}

static bool scale_print(const json_t *report, struct error *error) {
    json_t *list = json_object_get(report, "scale"), *ratio = json_object_get(report, "ratio");
    output_add("microseconds of an acquisition, by job; the last line: the last against the first\n"
               "\n");
    if (json_array_size(list) > 1)
        json_array_append(list, ratio);
    return table_print(scale_columns, list, output_width(), error);
}

/* ---- by kind of work ---- */

static const struct column work_columns[] = {
    {"what", "WORK", COLUMN_LEFT},
    {"per_second", "JOBS/S", COLUMN_RIGHT},
    {"ratio", "RATIO", COLUMN_RIGHT},
    {"cpu_us", "CPU US", COLUMN_RIGHT},
    {"server_cpu_us", "SERVER CPU US", COLUMN_RIGHT},
    {"log_bytes", "LOG BYTES", COLUMN_RIGHT},
    {"syncs_per_10000", "SYNCS /10000", COLUMN_RIGHT},
    {"peak_kb", "MEMORY KB", COLUMN_RIGHT},
    {"kind", "KIND", COLUMN_LEFT},
    {0},
};

enum { COLUMNS_MAX = 16 };

/* The server's column stands only where one was measured on this machine, and what is written to
 * the log only where this program writes it. */
static bool rows_print(const struct column *all, json_t *list, struct error *error) {
    struct column some[COLUMNS_MAX] = {{0}};
    const json_t *first = json_array_get(list, 0);
    for (size_t count = 0; all->key; all++)
        if (json_object_get(first, all->key))
            some[count++] = *all;
    return table_print(some, list, output_width(), error);
}

static bool work_print(const json_t *report, struct error *error) {
    output_add("runs a second (of the last rows: creations), beside the first row of their kind;"
               " CPU, log and syncs by run\n\n");
    return rows_print(work_columns, json_object_get(report, "work"), error);
}

/* ---- by kind of process ---- */

static const struct column process_columns[] = {
    {"what", "PROCESS", COLUMN_LEFT},
    {"per_second", "INSTANCES/S", COLUMN_RIGHT},
    {"units_per_second", "UNITS/S", COLUMN_RIGHT},
    {"cpu_us", "CPU US", COLUMN_RIGHT},
    {"server_cpu_us", "SERVER CPU US", COLUMN_RIGHT},
    {"log_bytes", "LOG BYTES", COLUMN_RIGHT},
    {"commands_per_second", "COMMANDS/S", COLUMN_RIGHT},
    {"peak_kb", "MEMORY KB", COLUMN_RIGHT},
    {"kind", "KIND", COLUMN_LEFT},
    {0},
};

static bool processes_print(const json_t *report, struct error *error) {
    output_add("instances that were started, and are run by an executor: a second; CPU and log by "
               "instance\n\n");
    return rows_print(process_columns, json_object_get(report, "processes"), error);
}

/* ---- the verb ---- */

enum measured { PHASES, SCALE, WORK, PROCESSES, HTTP };

static bool measured_read(const struct flags *flags, enum measured *measured, struct error *error) {
    static const char *const names[] = {NULL, "--scale", "--work", "--processes", "--http"};
    *measured = PHASES;
    for (int i = SCALE; i <= HTTP; i++) {
        if (!flags_has(flags, names[i]))
            continue;
        if (*measured != PHASES)
            return error_set(error, ERROR_USAGE, "%s and %s: expected one of them",
                             names[*measured], names[i]);
        *measured = (enum measured)i;
    }
    return true;
}

/* A store with jobs in it is none to measure with: each phase makes a schema of its own. */
static bool store_read(struct bench_options *options, enum measured measured,
                       const struct flags *flags, struct error *error) {
    char shown[STORE_SHOWN];
    options->store = flags_text(flags, "--store");
    if (options->store && !store_url_server(options->store))
        return error_set(error, ERROR_USAGE,
                         "--store \"%s\": expected a server, postgres://… (else the store is a "
                         "temporary file in --dir)",
                         store_url_show(options->store, shown));
    return !options->store || measured != SCALE ||
           error_set(error, ERROR_USAGE, "--scale: measures a file (expected no --store)");
}

static json_t *measure(enum measured measured, const struct bench_options *options,
                       const struct flags *flags, struct error *error) {
    switch (measured) {
    case SCALE:
        return scale_run(options, flags_text(flags, "--scale"), error);
    case WORK:
        return bench_work(options, error);
    case PROCESSES:
        return bench_processes(options, error);
    case HTTP:
        return bench_http(options, error);
    case PHASES:
        break;
    }
    return bench_run(options, error);
}

static bool bench_run_verb(struct cli *cli, const struct flags *flags, struct error *error) {
    static bool (*const prints[])(const json_t *report,
                                  struct error *error) = {[PHASES] = report_print,
                                                          [SCALE] = scale_print,
                                                          [WORK] = work_print,
                                                          [PROCESSES] = processes_print,
                                                          [HTTP] = report_print};
    struct bench_options options;
    struct progress progress = {.on = cli->interactive};
    enum measured measured;
    if (!options_read(&options, flags, error) || !measured_read(flags, &measured, error))
        return false;
    if (!store_read(&options, measured, flags, error))
        return false;
    options.arg = &progress;
    json_t *report = measure(measured, &options, flags, error);
    progress_end(&progress);
    if (!report)
        return false;
    if (cli->json)
        return output_json(report, error);
    bool fine = prints[measured](report, error);
    json_decref(report);
    return fine;
}

const struct cli_command bench_commands[] = {
    {"bench", "[--jobs N] [--workers N] [--history LEVEL] [--payload BYTES] …",
     "measure what this machine reaches",
     "Real handlers on a temporary store, every commit synced; it is removed at the end.\n"
     "With --store the stores are on that server, in schemas of their own, which are\n"
     "dropped again. A store that is there is never written to, nor dropped.",
     bench_flags, 0, 0, false, false, bench_run_verb},
    {0},
};
