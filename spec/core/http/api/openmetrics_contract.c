/* openmetrics_contract.c - the figures of a store as Prometheus reads them. */
#include "../../store/contract.h"
#include "http/api/openmetrics.h"

static const char stats[] =
    "{\"jobs\": {\"ready\": 3, \"dead\": 1}, \"oldest_ready_age\": 2.5, \"open_incidents\": 1,"
    " \"stuck_instances\": 0, \"log\": {\"bytes\": 4096},"
    " \"definitions\": [{\"name\": \"a\\\"b\\\\c\\nd\", \"metrics\": {\"successful\": 7, "
    "\"failed\":"
    " 2}}, {\"name\": \"idle\", \"metrics\": {\"successful\": 0, \"failed\": 0}}],"
    " \"executors\": [{\"state\": \"live\", \"workers\": 4, \"running\": 1}],"
    " \"gaps\": [{\"count\": 5}], \"metrics\": {\"acquired\": 9}}";

static char *written(const json_t *figures, enum metrics_form form) {
    struct text out = {0};
    openmetrics_write(&out, figures, form);
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
    EXPECT(strstr(text, "# TYPE moonshift_jobs_ended counter\n"));
    EXPECT(strstr(text, "moonshift_workers{state=\"idle\"} 3\n"));
    EXPECT(strstr(text, "moonshift_gap_jobs 5\n") && strstr(text, "moonshift_executors 1\n"));
    EXPECT(strstr(text, "# TYPE moonshift_acquired counter\nmoonshift_acquired_total 9\n"));
    EXPECT(strstr(text, "moonshift_store_log_bytes 4096\n"));
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
    {"the form is what the caller asks for", chosen},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
