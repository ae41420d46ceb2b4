/* openmetrics_contract.c - the figures of a store as Prometheus reads them. */
#include "../../store/contract.h"
#include "http/api/openmetrics.h"
#include "http/api/route.h"

static const char stats[] =
    "{\"jobs\": {\"ready\": 3, \"dead\": 1}, \"oldest_ready_age\": 2.5, \"open_incidents\": 3,"
    " \"incidents\": {\"failedJob\": 2, \"handlerStuck\": 1},"
    " \"stuck_instances\": 0, \"log\": {\"bytes\": 4096},"
    " \"definitions\": [{\"name\": \"a\\\"b\\\\c\\nd\", \"metrics\": {\"successful\": 7, "
    "\"failed\":"
    " 2}}, {\"name\": \"idle\", \"metrics\": {\"successful\": 0, \"failed\": 0}}],"
    " \"executors\": [{\"state\": \"live\", \"workers\": 4, \"running\": 1}],"
    " \"gaps\": [{\"count\": 5}], \"metrics\": {\"acquired\": 9}}";

static struct durations *durations;
static struct request_metrics *requests;

static char *written(const json_t *figures, enum metrics_form form) {
    struct text out = {0};
    const struct metrics_source source = {figures, durations, requests, 8192};
    openmetrics_write(&out, &source, form);
    return out.data;
}

static char *of_stats(enum metrics_form form) {
    json_t *figures = json_loads(stats, 0, NULL);
    char *text = written(figures, form);
    json_decref(figures);
    return text;
}

static void open(struct contract *c) {
    char *text = of_stats(METRICS_OPEN);
    EXPECT(strstr(text, "# TYPE moonshift_jobs gauge\nmoonshift_jobs{state=\"ready\"} 3\n"));
    EXPECT(strstr(text, "moonshift_oldest_ready_seconds 2.5\n"));
    EXPECT(strstr(text, "moonshift_incidents_open{type=\"failedJob\"} 2\n"
                        "moonshift_incidents_open{type=\"handlerStuck\"} 1\n"));
    EXPECT(strstr(text, "# TYPE moonshift_jobs_ended counter\n"));
    EXPECT(strstr(text, "moonshift_workers{state=\"idle\"} 3\n"));
    EXPECT(strstr(text, "moonshift_gap_jobs 5\n") && strstr(text, "moonshift_executors 1\n"));
    EXPECT(strstr(text, "# TYPE moonshift_acquired counter\nmoonshift_acquired_total 9\n"));
    EXPECT(strstr(text, "moonshift_store_size_bytes{file=\"database\"} 8192\n"
                        "moonshift_store_size_bytes{file=\"log\"} 4096\n"));
    EXPECT(strcmp(text + strlen(text) - 6, "# EOF\n") == 0);
    free(text);
}

static void prometheus(struct contract *c) {
    char *text = of_stats(METRICS_PROMETHEUS);
    EXPECT(strstr(text, "# TYPE moonshift_jobs_ended_total counter\n"));
    EXPECT(strstr(text, "# TYPE moonshift_build_info gauge\n") && !strstr(text, "# EOF"));
    free(text);
}

static void spelled(struct contract *c) {
    char *text = of_stats(METRICS_OPEN);
    EXPECT(strstr(text, "moonshift_jobs_ended_total{handler=\"a\\\"b\\\\c\\nd\","
                        "outcome=\"successful\"} 7\n"));
    EXPECT(!strstr(text, "idle\",outcome"));
    free(text);
}

static void bounded(struct contract *c) {
    json_t *figures = json_loads(stats, 0, NULL), *list = json_array();
    for (int i = 0; i < 203; i++) {
        char name[16];
        snprintf(name, sizeof name, "h%d", i);
        json_array_append_new(list, json_pack("{ss s{si si}}", "name", name, "metrics",
                                              "successful", 1000 - i, "failed", 0));
    }
    json_object_set_new(figures, "definitions", list);
    char *text = written(figures, METRICS_OPEN);
    EXPECT(strstr(text, "handler=\"h199\"") && !strstr(text, "handler=\"h200\""));
    EXPECT(strstr(text, "{handler=\"other\",outcome=\"successful\"} 2397\n"));
    free(text);
    json_decref(figures);
}

/* So often the text has it. */
static int times(const char *text, const char *part) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); at++)
        count++;
    return count;
}

/* A handler of the name that stands for the rest is among them. */
static void one_other(struct contract *c) {
    json_t *figures = json_loads(stats, 0, NULL), *list = json_array();
    json_array_append_new(
        list, json_pack("{ss s{si si}}", "name", "other", "metrics", "successful", 3, "failed", 0));
    json_object_set_new(figures, "definitions", list);
    char *text = written(figures, METRICS_OPEN);
    EXPECT(strstr(text, "{handler=\"other\",outcome=\"successful\"} 3\n"));
    EXPECT(times(text, "handler=\"other\",outcome=\"failed\"") == 1);
    free(text);
    json_decref(figures);
}

static void of_runs(struct contract *c) {
    struct job job = {.handler = "a", .definition = 1, .due = TIME_NONE, .attempt = 1};
    const struct outcome outcome = {.job = &job, .started = 2, .took = 0.3};
    durations = durations_new();
    durations_run(durations, &outcome);
    char *text = of_stats(METRICS_OPEN);
    EXPECT(strstr(text, "# TYPE moonshift_job_run_seconds histogram\n"));
    EXPECT(strstr(text, "moonshift_job_run_seconds_bucket{le=\"0.0002\",handler=\"a\"} 0\n"
                        "moonshift_job_run_seconds_bucket{le=\"0.0005\",handler=\"a\"} 1\n"));
    EXPECT(strstr(text, "_seconds_bucket{le=\"1000.0\",handler=\"a\"} 1\n"));
    EXPECT(strstr(text, "moonshift_job_run_seconds_bucket{le=\"+Inf\",handler=\"a\"} 1\n"
                        "moonshift_job_run_seconds_count{handler=\"a\"} 1\n"
                        "moonshift_job_run_seconds_sum{handler=\"a\"} 0.0003\n"));
    EXPECT(strstr(text, "moonshift_job_start_delay_seconds_sum 0.002\n"));
    EXPECT(strstr(text, "moonshift_store_commit_seconds_count 0\n"));
    free(text);
    durations_free(durations);
    durations = NULL;
    text = of_stats(METRICS_OPEN);
    EXPECT(!strstr(text, "job_run_seconds") && strstr(text, "process_open_fds "));
    free(text);
}

/* A route has no name that a client could choose, and a status is one that was answered. */
static void of_requests(struct contract *c) {
    struct exchange exchange = {.status = 200, .began = clock_monotonic_us()};
    while (strcmp(routes[exchange.route].path, "/v1/jobs") != 0 ||
           strcmp(routes[exchange.route].method, "GET") != 0)
        exchange.route++;
    const size_t route = exchange.route + 1;
    exchange.route = 0;
    requests = request_metrics_new();
    request_metrics_answered(requests, &exchange);
    exchange.route = route;
    request_metrics_answered(requests, &exchange);
    exchange.status = 404;
    request_metrics_answered(requests, &exchange);
    request_metrics_answered(requests, &exchange);
    char *text = of_stats(METRICS_PROMETHEUS);
    EXPECT(strstr(text, "# TYPE moonshift_http_requests_total counter\n"));
    EXPECT(strstr(text, "{route=\"other\",status=\"200\"} 1\n"));
    EXPECT(strstr(text, "{route=\"GET /v1/jobs\",status=\"200\"} 1\n"));
    EXPECT(strstr(text, "{route=\"GET /v1/jobs\",status=\"404\"} 2\n"));
    EXPECT(strstr(text, "moonshift_http_request_seconds_count{route=\"GET /v1/jobs\"} 3\n"));
    free(text);
    request_metrics_free(requests);
    requests = NULL;
}

/* Workers choose the names of topics. */
static void of_topics(struct contract *c) {
    requests = request_metrics_new();
    json_t *one = json_pack("[ss]", "ocr", "other");
    request_metrics_parked(requests, one, 1);
    request_metrics_parked(requests, one, 1);
    for (int i = 0; i < 202; i++) {
        json_t *topic = json_pack("[o]", json_sprintf("t%d", i));
        request_metrics_parked(requests, topic, 1);
        json_decref(topic);
    }
    char *text = of_stats(METRICS_OPEN);
    EXPECT(strstr(text, "moonshift_fetches_parked{topic=\"ocr\"} 2\n"));
    EXPECT(strstr(text, "moonshift_fetches_parked{topic=\"other\"} 5\n"));
    EXPECT(times(text, "moonshift_fetches_parked{") == 201);
    free(text);
    request_metrics_parked(requests, one, -1);
    request_metrics_parked(requests, one, -1);
    text = of_stats(METRICS_OPEN);
    EXPECT(!strstr(text, "topic=\"ocr\""));
    free(text);
    json_decref(one);
    request_metrics_free(requests);
    requests = NULL;
}

static void chosen(struct contract *c) {
    EXPECT(metrics_form(NULL) == METRICS_PROMETHEUS);
    EXPECT(metrics_form("text/plain") == METRICS_PROMETHEUS);
    EXPECT(metrics_form("application/openmetrics-text;version=1.0.0,text/plain;q=0.5") ==
           METRICS_OPEN);
    EXPECT(strstr(metrics_type(METRICS_OPEN), "version=1.0.0"));
}

static const struct check checks[] = {
    {"every family has its type and its samples", open},
    {"Prometheus' own form has the names that it expects", prometheus},
    {"names of handlers are spelled out, and idle ones left out", spelled},
    {"two hundred handlers have their names, the rest is one", bounded},
    {"a handler that is called as the rest is of the rest", one_other},
    {"runs and commits are in classes, where an executor counts them", of_runs},
    {"requests are counted by route and status", of_requests},
    {"fetches that wait are counted by topic, and the names are bounded", of_topics},
    {"the form is what the caller asks for", chosen},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
