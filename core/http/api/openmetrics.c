#include "http/api/openmetrics.h"
#include "base/json.h"
#include "base/process_usage.h"
#include "http/api/route.h"
#include "job/ask.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OTHER DURATIONS_OTHER

enum { HANDLERS_MOST = DURATIONS_HANDLERS, TOPICS_MOST = 200, LABEL_SIZE = 256 };

enum metrics_form metrics_form(const char *accept) {
    return accept && strstr(accept, "application/openmetrics-text") ? METRICS_OPEN
                                                                    : METRICS_PROMETHEUS;
}

const char *metrics_type(enum metrics_form form) {
    return form == METRICS_OPEN ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                : "text/plain; version=0.0.4; charset=utf-8";
}

/* ---- lines ---- */

struct page {
    struct text *out;
    enum metrics_form form;
    const char *prefix; /* of all names */
};

/* A counter's family has no "_total" in OpenMetrics, and has it in Prometheus' form. */
static void family(const struct page *page, const char *name, const char *type, const char *help) {
    const bool counter = strcmp(type, "counter") == 0;
    const char *total = counter && page->form == METRICS_PROMETHEUS ? "_total" : "";
    text_add(page->out, "# HELP %s%s%s %s\n# TYPE %s%s%s %s\n", page->prefix, name, total, help,
             page->prefix, name, total, type);
}

/* A value of a label: a backslash, a quote and a line break are spelled out. */
static void add_value(struct text *out, const char *value) {
    for (const char *at = value; *at; at++) {
        if (*at == '\\' || *at == '"')
            text_append(out, "\\", 1);
        if (*at == '\n')
            text_append(out, "\\n", 2);
        else
            text_append(out, at, 1);
    }
}

/* `labels`: pairs of a name and a value, ended by NULL. */
static void sample(const struct page *page, const char *name, const char *const *labels,
                   const json_t *value) {
    text_add(page->out, "%s%s", page->prefix, name);
    for (size_t i = 0; labels[i]; i += 2) {
        text_add(page->out, "%s%s=\"", i ? "," : "{", labels[i]);
        add_value(page->out, labels[i + 1]);
        text_append(page->out, "\"", 1);
    }
    text_append(page->out, labels[0] ? "} " : " ", labels[0] ? 2 : 1);
    if (json_is_real(value))
        json_add_real(page->out, json_real_value(value));
    else
        text_add(page->out, "%" PRId64, (int64_t)json_integer_value(value));
    text_append(page->out, "\n", 1);
}

static void number(const struct page *page, const char *name, const char *const *labels,
                   int64_t value) {
    json_t *number = json_integer(value);
    sample(page, name, labels, number);
    json_decref(number);
}

static void real(const struct page *page, const char *name, const char *const *labels,
                 double value) {
    json_t *number = json_real(value);
    sample(page, name, labels, number);
    json_decref(number);
}

/* The bound of a class in seconds, as a label has it. */
static void bound_write(int class, char text[LABEL_SIZE]) {
    if (class < HISTOGRAM_BOUNDS)
        text[json_write_real(text, (double)histogram_bounds[class] / 1e6)] = '\0';
    else
        strcpy(text, "+Inf");
}

/* A class counts what took as long or less. Their sum is the count, also while others add.
 * `label`: NULL: it has none. */
static void histogram(const struct page *page, const char *name, const char *label,
                      const char *value, const struct histogram *histogram) {
    char sampled[LABEL_SIZE], bound[LABEL_SIZE];
    const char *const labels[] = {label, value, NULL};
    const double sum = (double)atomic_load(&histogram->sum) / 1e6;
    int64_t count = 0;
    snprintf(sampled, sizeof sampled, "%s_bucket", name);
    for (int i = 0; i <= HISTOGRAM_BOUNDS; i++) {
        const char *const classed[] = {"le", bound, label, value, NULL};
        bound_write(i, bound);
        count += atomic_load(&histogram->counts[i]);
        number(page, sampled, classed, count);
    }
    snprintf(sampled, sizeof sampled, "%s_count", name);
    number(page, sampled, labels, count);
    snprintf(sampled, sizeof sampled, "%s_sum", name);
    real(page, sampled, labels, sum);
}

/* A family with one sample. */
static void single(const struct page *page, const char *name, const char *type, const char *help,
                   const json_t *value) {
    static const char *const none[] = {NULL};
    char sampled[64];
    bool counter = strcmp(type, "counter") == 0;
    snprintf(sampled, sizeof sampled, "%s%s", name, counter ? "_total" : "");
    family(page, name, type, help);
    sample(page, sampled, none, value);
}

/* ---- families ---- */

/* A gauge with a sample for each member, whose name is the label. */
static void write_counts(const struct page *page, const char *name, const char *label,
                         const char *help, const json_t *counts) {
    const char *value;
    json_t *count;
    family(page, name, "gauge", help);
    json_object_foreach(json_unchanged(counts), value, count) {
        const char *const labels[] = {label, value, NULL};
        sample(page, name, labels, count);
    }
}

struct ended {
    const char *handler;
    int64_t successful, failed;
};

static int more_runs(const void *left, const void *right) {
    const struct ended *a = left, *b = right;
    int64_t first = a->successful + a->failed, second = b->successful + b->failed;
    if (first != second)
        return first < second ? 1 : -1;
    return strcmp(a->handler, b->handler);
}

static void write_ended(const struct page *page, const struct ended *ended) {
    const char *const good[] = {"handler", ended->handler, "outcome", "successful", NULL};
    const char *const bad[] = {"handler", ended->handler, "outcome", "failed", NULL};
    number(page, "jobs_ended_total", good, ended->successful);
    number(page, "jobs_ended_total", bad, ended->failed);
}

static void write_handlers(const struct page *page, const json_t *definitions) {
    size_t i, count = 0;
    const json_t *definition;
    struct ended *list = calloc(json_array_size(definitions) + 1, sizeof *list);
    struct ended other = {.handler = OTHER};
    page->out->failed |= !list;
    json_array_foreach(definitions, i, definition) {
        const json_t *metrics = json_object_get(definition, "metrics");
        struct ended ended = {json_text(definition, "name"), json_int(metrics, "successful"),
                              json_int(metrics, "failed")};
        bool ran = list && ended.handler && ended.successful + ended.failed > 0;
        if (ran && strcmp(ended.handler, OTHER) == 0)
            other = ended;
        else if (ran)
            list[count++] = ended;
    }
    if (list)
        qsort(list, count, sizeof *list, more_runs);
    family(page, "jobs_ended", "counter",
           "Runs by executors that have ended, by handler and outcome.");
    for (i = 0; list && i < count; i++) {
        if (i < HANDLERS_MOST)
            write_ended(page, &list[i]);
        other.successful += i < HANDLERS_MOST ? 0 : list[i].successful;
        other.failed += i < HANDLERS_MOST ? 0 : list[i].failed;
    }
    if (other.successful + other.failed > 0)
        write_ended(page, &other);
    free(list);
}

/* Of executors in this program's store: what works and what could. */
static void write_workers(const struct page *page, const json_t *executors) {
    size_t i;
    const json_t *executor;
    int64_t workers = 0, running = 0, live = 0;
    json_array_foreach(executors, i, executor) {
        if (!ask_is_executor(executor, NULL))
            continue;
        workers += json_int(executor, "workers");
        running += json_int(executor, "running");
        live += ask_is_executor(executor, "live");
    }
    const char *const busy[] = {"state", "running", NULL}, *const idle[] = {"state", "idle", NULL};
    const char *const none[] = {NULL};
    family(page, "workers", "gauge", "Threads of executors by what they do.");
    number(page, "workers", busy, running);
    number(page, "workers", idle, workers > running ? workers - running : 0);
    family(page, "executors", "gauge", "Executors that live.");
    number(page, "executors", none, live);
}

static void write_gaps(const struct page *page, const json_t *gaps) {
    size_t i;
    const json_t *gap;
    int64_t jobs = 0;
    const char *const none[] = {NULL};
    json_array_foreach(gaps, i, gap)
        jobs += json_int(gap, "count");
    family(page, "gap_jobs", "gauge", "Jobs that no live executor would take.");
    number(page, "gap_jobs", none, jobs);
}

static void write_counters(const struct page *page, const json_t *metrics) {
    static const struct {
        const char *name, *help;
    } counters[] = {
        {"acquisitions", "Looks for jobs."},
        {"acquired", "Jobs that were locked."},
        {"lock_failures", "Jobs that another executor has locked meanwhile."},
        {"rejected", "Jobs given back as the queue was full."},
        {"stale_commits", "Results refused as the lock was lost."},
        {"conflicts", "Runs that ended with a conflict."},
    };
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        single(page, counters[i].name, "counter", counters[i].help,
               json_object_get(metrics, counters[i].name));
}

/* Those of a store that is a file. */
static void write_size(const struct page *page, const struct metrics_source *source) {
    const char *const database[] = {"file", "database", NULL}, *const log[] = {"file", "log", NULL};
    family(page, "store_size_bytes", "gauge", "Bytes of the store's files.");
    if (source->database == 0)
        return;
    number(page, "store_size_bytes", database, source->database);
    number(page, "store_size_bytes", log, json_int(json_object_get(source->stats, "log"), "bytes"));
}

/* ---- of this program ---- */

static void write_durations(const struct page *page, const struct durations *durations) {
    const char *handler;
    const struct histogram *runs;
    family(page, "job_start_delay_seconds", "histogram", "From due to the start of a run.");
    histogram(page, "job_start_delay_seconds", NULL, NULL, durations_start_delay(durations));
    family(page, "job_run_seconds", "histogram", "How long runs took, by handler.");
    for (size_t i = 0; i <= DURATIONS_HANDLERS; i++)
        if ((runs = durations_runs(durations, i, &handler)))
            histogram(page, "job_run_seconds", "handler", handler, runs);
    family(page, "store_commit_seconds", "histogram", "How long commits of turns took.");
    histogram(page, "store_commit_seconds", NULL, NULL, durations_commits(durations));
}

/* "GET /v1/jobs/{id}"; false: there is no such route. */
static bool route_label(size_t at, char label[LABEL_SIZE]) {
    if (at > 0 && !routes[at - 1].method)
        return false;
    if (at > 0)
        snprintf(label, LABEL_SIZE, "%s %s", routes[at - 1].method, routes[at - 1].path);
    else
        strcpy(label, OTHER);
    return true;
}

static void write_statuses(const struct page *page, const char *label,
                           const struct route_requests *requests) {
    int64_t status;
    char text[24];
    const char *const labels[] = {"route", label, "status", text, NULL};
    for (int i = 0; i < REQUEST_STATUSES; i++) {
        if (!(status = atomic_load(&requests->answered[i].status)))
            return;
        snprintf(text, sizeof text, "%" PRId64, status);
        number(page, "http_requests_total", labels, atomic_load(&requests->answered[i].count));
    }
}

static void write_requests(const struct page *page, const struct request_metrics *metrics) {
    char label[LABEL_SIZE];
    const struct route_requests *requests;
    family(page, "http_requests", "counter", "Requests that were answered, by route and status.");
    for (size_t i = 0; route_label(i, label); i++)
        if ((requests = request_metrics_route(metrics, i)))
            write_statuses(page, label, requests);
    family(page, "http_request_seconds", "histogram", "From a request's first byte to its answer.");
    for (size_t i = 0; route_label(i, label); i++)
        if ((requests = request_metrics_route(metrics, i)))
            histogram(page, "http_request_seconds", "route", label, &requests->seconds);
}

static void write_parked(const struct page *page, struct request_metrics *metrics) {
    json_t *waiting = request_metrics_waiting(metrics), *count;
    int64_t named = 0, others = 0;
    const char *topic;
    page->out->failed |= !waiting;
    family(page, "fetches_parked", "gauge", "Fetches that wait for jobs of a topic.");
    json_object_foreach(waiting, topic, count) {
        const char *const labels[] = {"topic", topic, NULL};
        if (named < TOPICS_MOST && strcmp(topic, OTHER) != 0) {
            sample(page, "fetches_parked", labels, count);
            named++;
        } else
            others += json_integer_value(count);
    }
    const char *const rest[] = {"topic", OTHER, NULL};
    if (others > 0)
        number(page, "fetches_parked", rest, others);
    json_decref(waiting);
}

/* By the names that all programs have. */
static void write_process(const struct page *page) {
    const struct process_usage usage = process_usage();
    const struct page bare = {page->out, page->form, ""};
    const char *const none[] = {NULL};
    family(&bare, "process_cpu_seconds", "counter", "Processor time.");
    real(&bare, "process_cpu_seconds_total", none, usage.cpu);
    family(&bare, "process_start_time_seconds", "gauge", "When the process began, since 1970.");
    real(&bare, "process_start_time_seconds", none, usage.started);
    family(&bare, "process_resident_memory_bytes", "gauge", "Memory.");
    number(&bare, "process_resident_memory_bytes", none, usage.memory);
    family(&bare, "process_open_fds", "gauge", "Open descriptors.");
    number(&bare, "process_open_fds", none, usage.files);
    family(&bare, "process_max_fds", "gauge", "Descriptors that may be open.");
    number(&bare, "process_max_fds", none, usage.files_most);
}

static void write_program(const struct page *page) {
    static const char *const labels[] = {"version", MOONSHIFT_VERSION, NULL};
    const bool open = page->form == METRICS_OPEN;
    family(page, open ? "build" : "build_info", open ? "info" : "gauge", "The program.");
    number(page, "build_info", labels, 1);
}

/* Those of the store. */
static void write_stats(const struct page *page, const json_t *stats) {
    write_counts(page, "jobs", "state", "Jobs by state.", json_object_get(stats, "jobs"));
    single(page, "oldest_ready_seconds", "gauge", "Age of the oldest ready job.",
           json_object_get(stats, "oldest_ready_age"));
    write_counts(page, "incidents_open", "type", "Open incidents by type.",
                 json_object_get(stats, "incidents"));
    single(page, "instances_stuck", "gauge", "Instances that nothing can move.",
           json_object_get(stats, "stuck_instances"));
    write_handlers(page, json_object_get(stats, "definitions"));
    write_workers(page, json_object_get(stats, "executors"));
    write_gaps(page, json_object_get(stats, "gaps"));
    write_counters(page, json_object_get(stats, "metrics"));
}

void openmetrics_write(struct text *out, const struct metrics_source *source,
                       enum metrics_form form) {
    const struct page page = {out, form, "moonshift_"};
    write_stats(&page, source->stats);
    write_size(&page, source);
    if (source->durations)
        write_durations(&page, source->durations);
    if (source->requests) {
        write_requests(&page, source->requests);
        write_parked(&page, source->requests);
    }
    write_process(&page);
    write_program(&page);
    if (form == METRICS_OPEN)
        text_add(out, "# EOF\n");
}
