/* stuck_contract.c - runs that were given up because nothing ends them: their job has failed, their
 * lane is held, an incident tells of them until they end. */
#include "contract.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"

#define LATER (NOW + 2000)

/* The job as its run was given up; the run itself ends later. */
static int give_up(struct contract *c, const struct job *job, time_ms now) {
    struct outcome outcome = {.kind = OUTCOME_FAILURE, .reason = REASON_TIMEOUT, .due = TIME_NONE};
    enum settled settled = SETTLED;
    outcome.job = (struct job *)(uintptr_t)job;
    outcome.stuck = (char[]){"handlers/work.lua:3 (in find)"};
    outcome.message = (char[]){"does not end"};
    outcome.lane_token = job->token;
    outcome.started = now - 1000;
    outcome.ended = now;
    return store_settle(c->store, &outcome, now, &settled, &c->error) ? (int)settled : -1;
}

static int end_after_all(struct contract *c, struct job *job, time_ms now) {
    return settle(c, c->store, job, (struct outcome){.kind = OUTCOME_FAILURE, .outlived = true},
                  now);
}

/* The incidents that match, as "type job message|…". */
static const char *incidents(struct contract *c, const char *filters) {
    static char text[1024];
    json_t *wanted = json_loads(filters, 0, NULL), *one;
    struct store_page page = {.limit = 10};
    json_t *list = query_list(c->store, &incident_table, wanted, &page, &c->error);
    size_t i, used = 0;
    text[0] = 0;
    json_array_foreach(list, i, one) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %lld %s", i ? "|" : "",
                                 json_string_value(json_object_get(one, "type")),
                                 (long long)json_integer_value(json_object_get(one, "job")),
                                 json_string_value(json_object_get(one, "message")));
    }
    json_decref(list);
    json_decref(wanted);
    return text;
}

static const char *why(struct contract *c, int64_t id, time_ms now) {
    static char text[512];
    json_t *answer = store_why(c->store, id, now, &c->error);
    snprintf(text, sizeof text, "%s", json_string_value(json_object_get(answer, "text")));
    json_decref(answer);
    return text;
}

#define OPEN_INCIDENTS "{\"open\":true}"
#define STORY                                                                                      \
    "handlerStuck 1 a run of handler \"work\" (job 1) on node/1 does not end: "                    \
    "handlers/work.lua:3 (in find)"

static void its_job_fails_and_its_later_result_is_stale(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW) == 1);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job && give_up(c, job, LATER) == SETTLED);
    FIELD(1, "retries", LATER, "2");
    FIELD(1, "attempt", LATER, "2");
    FIELD(1, "crashes", LATER, "0");
    FIELD(1, "state", LATER, "ready");
    EXPECT(settle(c, c->store, job, (struct outcome){.kind = OUTCOME_SUCCESS, .outlived = true},
                  LATER) == SETTLED_STALE);
    FIELD(1, "retries", LATER, "2");
}

static void its_lane_is_held_until_it_ends(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){.retries = 3, .lane = "a"}, NOW) == 1);
    EXPECT(create(c, c->store, (struct job){.retries = 3, .lane = "a"}, NOW) == 2);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job && job->id == 1 && give_up(c, job, LATER) == SETTLED);
    EXPECT(acquire_count(c, c->store, LATER) == 0);
    EXPECT(strcmp(why(c, 2, LATER),
                  "job 2 waits for its lane \"a\": a run of job 1 on node/1, begun at "
                  "2026-01-01T00:00:01.000Z, does not end (handlers/work.lua:3 (in find))") == 0);
    EXPECT(end_after_all(c, job, LATER) == SETTLED_STALE);
    EXPECT(acquire_count(c, c->store, LATER) == 2);
    EXPECT(store_leave(c->store, &c->error));
}

static void an_incident_tells_of_it_until_it_ends(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW) == 1);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job && give_up(c, job, LATER) == SETTLED);
    EXPECT(strcmp(incidents(c, OPEN_INCIDENTS), STORY) == 0);
    struct job *again = acquire_one(c, c->store, LATER);
    EXPECT(again && settle(c, c->store, again, (struct outcome){0}, LATER) == SETTLED);
    EXPECT(strcmp(incidents(c, OPEN_INCIDENTS), STORY) == 0); /* though its job has succeeded */
    EXPECT(end_after_all(c, job, LATER) == SETTLED_STALE);
    EXPECT(strcmp(incidents(c, OPEN_INCIDENTS), "") == 0);
}

static void two_runs_of_a_job_share_it(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW) == 1);
    struct job *first = acquire_one(c, c->store, NOW);
    EXPECT(first && give_up(c, first, LATER) == SETTLED);
    struct job *second = acquire_one(c, c->store, LATER);
    EXPECT(second && give_up(c, second, LATER) == SETTLED);
    EXPECT(strcmp(incidents(c, OPEN_INCIDENTS), STORY) == 0);
    EXPECT(end_after_all(c, first, LATER) == SETTLED_STALE);
    EXPECT(strcmp(incidents(c, OPEN_INCIDENTS), STORY) == 0);
    EXPECT(end_after_all(c, second, LATER) == SETTLED_STALE);
    EXPECT(strcmp(incidents(c, OPEN_INCIDENTS), "") == 0);
}

static void a_job_without_retries_has_its_own_beside_it(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){.retries = 1}, NOW) == 1);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job && give_up(c, job, LATER) == SETTLED_DEAD);
    EXPECT(strcmp(incidents(c, OPEN_INCIDENTS), "failedJob 1 does not end|" STORY) == 0);
    EXPECT(strcmp(why(c, 1, LATER),
                  "job 1 has no retries left (incident 1, failedJob): does not end") == 0);
    EXPECT(give_set_retries(c->store, IDS(1), 1, false, TIME_NONE, LATER, &c->error));
    EXPECT(strcmp(incidents(c, OPEN_INCIDENTS), STORY) == 0);
    EXPECT(end_after_all(c, job, LATER) == SETTLED_STALE);
}

static void whoever_cancels_the_job_hears_of_it(struct contract *c) {
    struct command_run run = {0};
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW) == 1);
    EXPECT(create(c, c->store, (struct job){.retries = 3}, NOW) == 2);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job && give_up(c, job, LATER) == SETTLED);
    json_t *command = json_pack("{ss s[ii]}", "verb", "cancel", "ids", 1, 2);
    EXPECT(store_command(c->store, command, &run, LATER, &c->error));
    json_decref(command);
    EXPECT(run.touched == 2 && run.stuck.count == 1 && run.stuck.job == 1);
    EXPECT(strcmp(run.stuck.at, "a run of job 1 on node/1, begun at 2026-01-01T00:00:01.000Z, "
                                "at handlers/work.lua:3 (in find)") == 0);
    EXPECT(strcmp(incidents(c, OPEN_INCIDENTS), STORY) == 0);
    EXPECT(end_after_all(c, job, LATER) == SETTLED_STALE);
    EXPECT(strcmp(incidents(c, OPEN_INCIDENTS), "") == 0);
}

static void it_ends_with_its_executor(struct contract *c) {
    EXPECT(create(c, c->store, (struct job){.retries = 3, .lane = "a"}, NOW) == 1);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job && give_up(c, job, LATER) == SETTLED);
    job_free(job);
    EXPECT(store_leave(c->store, &c->error));
    EXPECT(strcmp(incidents(c, OPEN_INCIDENTS), "") == 0);
    struct store_executor self = {.name = "other", .workers = 1, .serves = &everything};
    EXPECT(store_join(c->store, &self, LATER, LEASE, &c->error));
    EXPECT(acquire_count(c, c->store, LATER) == 1);
    EXPECT(store_leave(c->store, &c->error));
}

static const struct check checks[] = {
    {"its job fails, and its later result is stale", its_job_fails_and_its_later_result_is_stale},
    {"its lane is held until it ends", its_lane_is_held_until_it_ends},
    {"an incident tells of it until it ends", an_incident_tells_of_it_until_it_ends},
    {"two runs of a job share it", two_runs_of_a_job_share_it},
    {"a job without retries has its own beside it", a_job_without_retries_has_its_own_beside_it},
    {"whoever cancels the job hears of it", whoever_cancels_the_job_hears_of_it},
    {"it ends with its executor", it_ends_with_its_executor},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
