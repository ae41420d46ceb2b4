/* process_version_contract.c - versions of processes, and what starts them. */
#include "process_site.h"

#define HOURLY "{'activity': 'start', 'text': 'R/PT1H', 'spec': {'cycle': '%s'}}"

static void versions(struct contract *c) {
    int64_t one = order(c);
    EXPECT(one && deploy(c, "b", json_of("[" ORDER "]", "two", "", ""), NOW + 1));
    int64_t two = version(c);
    EXPECT(two && two != one && rows(c, ASK_VERSIONS, json_of("{'key': 'order'}")) == 2);
    EXPECT(deploy(c, "c", json_of("[" ORDER "]", "two", "", ""), NOW + 2) && version(c) == two);
    EXPECT(deploy(c, "d", json_of("[" ORDER "]", "one", "", ""), NOW + 3) && version(c) == one);
    EXPECT(rows(c, ASK_VERSIONS, json_of("{'key': 'order'}")) == 2);
    EXPECT(rows(c, ASK_PROCESSES, json_of("{'key': 'order'}")) == 1);
    EXPECT(strcmp(answer(c, ASK_VERSION, json_of("{'key': 'order', 'number': 2}"), "hash"),
                  "two") == 0);
    EXPECT(strcmp(answer(c, ASK_VERSION, json_of("{'id': %d}", (int)one), "text"),
                  "<definitions/>") == 0);
    EXPECT(strcmp(answer(c, ASK_VERSION, json_of("{'key': 'order', 'text': false}"), "text"), "") ==
           0);
    EXPECT(strcmp(answer(c, ASK_VERSION, json_of("{'key': 'offer'}"), "id"), "") == 0);
    EXPECT_ERROR("no process \"offer\" is deployed");
}

/* The only job, as JSON. */
static json_t *only_job(struct contract *c) {
    json_t *jobs = store_jobs(c->store, NULL, NULL, NOW, &c->error);
    json_t *job = json_array_size(jobs) == 1 ? json_incref(json_array_get(jobs, 0)) : NULL;
    json_decref(jobs);
    return job;
}

static bool starts(struct contract *c, const char *due, int64_t of) {
    json_t *job = only_job(c);
    int64_t version =
        json_integer_value(json_object_get(json_object_get(job, "payload"), "version"));
    const char *text = json_string_value(json_object_get(job, "due"));
    const char *handler = json_string_value(json_object_get(job, "handler"));
    bool same = text && strcmp(text, due) == 0 && version == of &&
                strcmp(handler, "process/order/start:timer") == 0;
    json_decref(job);
    return same;
}

static void start_timers(struct contract *c) {
    char hourly[256];
    snprintf(hourly, sizeof hourly, HOURLY, "R/PT1H");
    EXPECT(deploy(c, "a", json_of("[" ORDER "]", "one", hourly, ""), NOW));
    int64_t one = version(c);
    EXPECT(starts(c, "2026-01-01T01:00:00.000Z", one));
    /* The same text keeps its date, and starts the new version. */
    EXPECT(deploy(c, "b", json_of("[" ORDER "]", "two", hourly, ""), NOW + 60000));
    EXPECT(starts(c, "2026-01-01T01:00:00.000Z", version(c)));
    EXPECT(deploy(c, "c", json_of("[" ORDER "]", "one", hourly, ""), NOW + 120000));
    EXPECT(starts(c, "2026-01-01T01:00:00.000Z", one));
    /* Another text begins anew; a process without the timer has no job. */
    EXPECT(
        deploy(c, "d",
               json_of("[" ORDER "]", "three",
                       "{'activity': 'start', 'text': 'R/PT2H', 'spec': {'cycle': 'R/PT2H'}}", ""),
               NOW + 180000));
    EXPECT(starts(c, "2026-01-01T02:03:00.000Z", version(c)));
    EXPECT(deploy(c, "e", json_of("[" ORDER "]", "four", "", ""), NOW + 240000));
    EXPECT(rows(c, ASK_JOBS, NULL) == 0);
}

static void start_events(struct contract *c) {
    const char *event = "{'kind': 'message', 'name': 'ordered', 'activity': 'start'}";
    EXPECT(deploy(c, "a", json_of("[" ORDER "]", "one", "", event), NOW));
    EXPECT(rows(c, ASK_SUBSCRIPTIONS, json_of("{'starts': true}")) == 1);
    EXPECT(deploy(c, "b", json_of("[" ORDER "]", "two", "", event), NOW));
    EXPECT(rows(c, ASK_SUBSCRIPTIONS, json_of("{'starts': true}")) == 1);
    EXPECT(deploy(c, "c", json_of("[" ORDER "]", "three", "", ""), NOW));
    EXPECT(rows(c, ASK_SUBSCRIPTIONS, NULL) == 0);
}

static const struct check checks[] = {
    {"a text makes one version, and going back to it makes it current again", versions},
    {"a start timer moves with the current version, and keeps its date if its text is the same",
     start_timers},
    {"start events are those of the current version", start_events},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
