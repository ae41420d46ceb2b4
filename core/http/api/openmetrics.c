#include "http/api/openmetrics.h"
#include "base/json.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HANDLERS_MOST = 200 };

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
};

/* A counter's family has no "_total" in OpenMetrics, and has it in Prometheus' form. */
static void family(const struct page *page, const char *name, const char *type, const char *help) {
    const bool counter = strcmp(type, "counter") == 0;
    const char *total = counter && page->form == METRICS_PROMETHEUS ? "_total" : "";
    text_add(page->out, "# HELP moonshift_%s%s %s\n# TYPE moonshift_%s%s %s\n", name, total, help,
             name, total, type);
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
    text_add(page->out, "moonshift_%s", name);
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

static void write_states(const struct page *page, const json_t *jobs) {
    const char *state;
    json_t *count;
    family(page, "jobs", "gauge", "Jobs by state.");
    json_object_foreach(json_unchanged(jobs), state, count) {
        const char *const labels[] = {"state", state, NULL};
        sample(page, "jobs", labels, count);
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
    struct ended other = {.handler = "other"};
    page->out->failed |= !list;
    json_array_foreach(definitions, i, definition) {
        const json_t *metrics = json_object_get(definition, "metrics");
        struct ended ended = {json_text(definition, "name"), json_int(metrics, "successful"),
                              json_int(metrics, "failed")};
        if (list && ended.handler && ended.successful + ended.failed > 0)
            list[count++] = ended;
    }
    if (list)
        qsort(list, count, sizeof *list, more_runs);
    family(page, "jobs_ended", "counter", "Runs that have ended, by handler and outcome.");
    for (i = 0; list && i < count; i++) {
        if (i < HANDLERS_MOST)
            write_ended(page, &list[i]);
        other.successful += i < HANDLERS_MOST ? 0 : list[i].successful;
        other.failed += i < HANDLERS_MOST ? 0 : list[i].failed;
    }
    if (count > HANDLERS_MOST)
        write_ended(page, &other);
    free(list);
}

/* Of executors in this program's store: what works and what could. */
static void write_workers(const struct page *page, const json_t *executors) {
    size_t i;
    const json_t *executor;
    int64_t workers = 0, running = 0, live = 0;
    json_array_foreach(executors, i, executor) {
        workers += json_int(executor, "workers");
        running += json_int(executor, "running");
        live +=
            strcmp(json_text(executor, "state") ? json_text(executor, "state") : "", "live") == 0;
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

static void write_program(const struct page *page) {
    static const char *const labels[] = {"version", MOONSHIFT_VERSION, NULL};
    const bool open = page->form == METRICS_OPEN;
    family(page, open ? "build" : "build_info", open ? "info" : "gauge", "The program.");
    number(page, "build_info", labels, 1);
}

void openmetrics_write(struct text *out, const json_t *stats, enum metrics_form form) {
    const struct page page = {out, form};
    const json_t *log = json_object_get(stats, "log");
    write_states(&page, json_object_get(stats, "jobs"));
    single(&page, "oldest_ready_seconds", "gauge", "Age of the oldest ready job.",
           json_object_get(stats, "oldest_ready_age"));
    single(&page, "incidents_open", "gauge", "Open incidents.",
           json_object_get(stats, "open_incidents"));
    single(&page, "instances_stuck", "gauge", "Instances that nothing can move.",
           json_object_get(stats, "stuck_instances"));
    write_handlers(&page, json_object_get(stats, "definitions"));
    write_workers(&page, json_object_get(stats, "executors"));
    write_gaps(&page, json_object_get(stats, "gaps"));
    write_counters(&page, json_object_get(stats, "metrics"));
    single(&page, "store_log_bytes", "gauge", "Bytes of the write-ahead log.",
           json_object_get(log, "bytes"));
    write_program(&page);
    if (form == METRICS_OPEN)
        text_add(out, "# EOF\n");
}
