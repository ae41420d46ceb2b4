/* turn_contract.c - one turn: outcomes in, work items out, one transaction or none. */
#include "site.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/running.h"
#include "store/rules/ground/state.h"

/* A turn with room for `room` jobs; what the last one handed out is forgotten. */
static bool turn(struct contract *c, struct site *site, struct outcome *outcomes, int room) {
    work_items_free(site->turn.items);
    site->turn = (struct turn){.outcomes = outcomes, .room = room, .acquiring = room > 0};
    return turns_take(site->turns, &site->turn, &c->error);
}

static bool quiet_turn(struct contract *c, struct site *site) {
    work_items_free(site->turn.items);
    site->turn = (struct turn){.room = 10, .acquiring = true, .quiet = true};
    return turns_take(site->turns, &site->turn, &c->error);
}

/* The next job of the turn's items as a worker would hand it back. */
static struct outcome *ended(struct site *site, enum outcome_kind kind) {
    struct work_item *item = site->turn.items;
    struct job *job = work_item_take(item);
    struct outcome *outcome = outcome_new(job, kind);
    outcome->lane_ends = !item->jobs;
    outcome->lane_token = item->lane_token;
    outcome->started = outcome->ended = NOW;
    if (!item->jobs) {
        site->turn.items = item->next;
        work_item_free(item);
    }
    return outcome;
}

static int items_count(const struct site *site) {
    int count = 0;
    for (const struct work_item *item = site->turn.items; item; item = item->next)
        count++;
    return count;
}

#define JOB(...) EXPECT(create(c, c->store, (struct job){__VA_ARGS__, .retries = 3}, NOW))

static void a_turn_settles_and_acquires(struct contract *c) {
    OPEN;
    JOB(.payload = "1", .payload_size = 1);
    EXPECT(turn(c, &site, NULL, 10));
    EXPECT(site.turn.acquired == 1 && site.turn.items->count == 1 && !site.turn.again);
    JOB(.payload = "2", .payload_size = 1);
    EXPECT(turn(c, &site, ended(&site, OUTCOME_SUCCESS), 10));
    EXPECT(site.turn.settled == 1 && site.turn.done == 1 && site.turn.acquired == 1);
    EXPECT(matches(c, "{}") == 1);
    site_close(&site);
}

static void a_quiet_turn_writes_nothing(struct contract *c) {
    OPEN;
    EXPECT(turn(c, &site, NULL, 10));
    EXPECT(site.turn.written && !site.turn.again && site.turn.next == TIME_NEVER);
    EXPECT(quiet_turn(c, &site));
    EXPECT(!site.turn.written && site.turn.next == TIME_NEVER);
    site_close(&site);
}

static void a_quiet_turn_looks_when_something_falls_due(struct contract *c) {
    OPEN;
    JOB(.due = NOW + 1000);
    EXPECT(turn(c, &site, NULL, 10) && site.turn.acquired == 0 && site.turn.next == NOW + 1000);
    clock_advance(site.clock, 999);
    EXPECT(quiet_turn(c, &site) && !site.turn.written);
    clock_advance(site.clock, 1);
    EXPECT(quiet_turn(c, &site) && site.turn.promoted == 1 && site.turn.acquired == 1);
    site_close(&site);
}

static void work_is_left_for_lack_of_room(struct contract *c) {
    OPEN;
    for (int i = 0; i < 3; i++)
        JOB(.priority = i);
    EXPECT(turn(c, &site, NULL, 2) && site.turn.acquired == 2 && site.turn.again);
    EXPECT(site.turn.items->jobs->priority == 2);
    EXPECT(quiet_turn(c, &site) && site.turn.acquired == 1 && !site.turn.again);
    site_close(&site);
}

/* A job has ended that creates one of this priority; the priority of what runs next, -1: nothing.
 */
static int64_t next_beside(struct contract *c, struct site *site, struct outcome *outcome,
                           int64_t priority) {
    struct job_spec spec = {
        .job = {.handler = "work", .priority = priority, .due = TIME_NONE, .retries = 3}};
    outcome->created = job_spec_copy(&spec);
    work_items_free(site->turn.items);
    site->turn = (struct turn){.outcomes = outcome, .room = 1, .acquiring = true, .quiet = true};
    bool done = turns_take(site->turns, &site->turn, &c->error) && items_count(site) == 1;
    return done ? site->turn.items->jobs->priority : -1;
}

static void what_is_created_waits_behind_what_is_better(struct contract *c) {
    OPEN;
    for (int i = 0; i < 4; i++)
        JOB(.priority = 5);
    EXPECT(turn(c, &site, NULL, 1) && site.turn.acquired == 1 && site.turn.again);
    EXPECT(next_beside(c, &site, ended(&site, OUTCOME_SUCCESS), 9) == 9);
    EXPECT(next_beside(c, &site, ended(&site, OUTCOME_SUCCESS), 1) == 5);
    site_close(&site);
}

static void what_is_created_is_taken_in_the_range(struct contract *c) {
    c->settings.priority_min = 3;
    c->settings.priority_max = 5;
    OPEN;
    JOB(.priority = 4);
    EXPECT(turn(c, &site, NULL, 1) && site.turn.acquired == 1);
    EXPECT(next_beside(c, &site, ended(&site, OUTCOME_SUCCESS), 3) == 3);
    EXPECT(next_beside(c, &site, ended(&site, OUTCOME_SUCCESS), 5) == 5);
    struct outcome *last = ended(&site, OUTCOME_SUCCESS);
    last->created = job_spec_copy(&(struct job_spec){
        .job = {.handler = "work", .priority = 2, .due = TIME_NONE, .retries = 3}});
    last->created->next = job_spec_copy(&(struct job_spec){
        .job = {.handler = "work", .priority = 6, .due = TIME_NONE, .retries = 3}});
    EXPECT(turn(c, &site, last, 9) && !site.turn.items);
    c->settings.priority_min = INT64_MIN;
    c->settings.priority_max = INT64_MAX;
    site_close(&site);
}

/* A job has ended that creates so many with a payload of 400 bytes, where there is room for 1000;
 * so many are acquired. */
static int taken_beside(struct contract *c, struct site *site, int count) {
    char payload[401];
    struct job_spec spec = {.job = {.handler = "work",
                                    .due = TIME_NONE,
                                    .retries = 3,
                                    .payload = payload,
                                    .payload_size = sizeof payload - 1}};
    memset(payload, '1', sizeof payload - 1);
    payload[sizeof payload - 1] = 0;
    struct outcome *outcome = ended(site, OUTCOME_SUCCESS);
    for (struct job_spec **end = &outcome->created; count > 0; count--, end = &(*end)->next)
        *end = job_spec_copy(&spec);
    work_items_free(site->turn.items);
    site->turn = (struct turn){
        .outcomes = outcome, .room = 9, .bytes = 1000, .acquiring = true, .quiet = true};
    return turns_take(site->turns, &site->turn, &c->error) ? items_count(site) : -1;
}

/* The job that reaches the bound is the last that is acquired. */
static void what_is_created_fills_the_memory(struct contract *c) {
    OPEN;
    JOB(.priority = 5);
    EXPECT(turn(c, &site, NULL, 1) && site.turn.acquired == 1);
    EXPECT(taken_beside(c, &site, 2) == 2 && site.turn.acquired == 0);
    EXPECT(taken_beside(c, &site, 6) == 3 && site.turn.acquired == 3);
    site_close(&site);
}

static void who_drains_takes_nothing_that_is_created(struct contract *c) {
    OPEN;
    size_t touched = 0;
    JOB(.priority = 5);
    EXPECT(turn(c, &site, NULL, 1) && site.turn.acquired == 1);
    EXPECT(give_drain(c->store, c->settings.name, true, &touched, NOW, &c->error));
    struct outcome *outcome = ended(&site, OUTCOME_SUCCESS);
    EXPECT(quiet_turn(c, &site) && site.turn.draining);
    EXPECT(next_beside(c, &site, outcome, 9) == -1 && !site.turn.items && site.turn.settled == 1);
    site_close(&site);
}

static void a_lane_is_one_item(struct contract *c) {
    OPEN;
    for (int i = 0; i < 3; i++)
        JOB(.lane = "a", .lane_id = job_lane_id("a"));
    for (int i = 0; i < 2; i++)
        JOB(.priority = 0);
    EXPECT(turn(c, &site, NULL, 10) && site.turn.acquired == 5 && items_count(&site) == 3);
    struct work_item *item = site.turn.items;
    EXPECT(item->count == 3 && item->lane_token == item->jobs->token);
    site_close(&site);
}

static void the_rest_of_a_lost_lane_is_refused(struct contract *c) {
    OPEN;
    for (int i = 0; i < 3; i++)
        JOB(.lane = "a", .lane_id = job_lane_id("a"));
    EXPECT(turn(c, &site, NULL, 10) && site.turn.items->count == 3);
    struct work_item *item = site.turn.items;
    struct outcome *outcome = ended(&site, OUTCOME_SUCCESS);
    site.turn.items = NULL;
    EXPECT(give_set_suspended(c->store, IDS(outcome->job->id), true, NOW, &c->error));
    EXPECT(turn(c, &site, outcome, 0) && site.turn.stale == 1 && site.turn.done == 0);
    EXPECT(item->refused == 1);
    work_item_free(item);
    site_close(&site);
}

static void a_failure_is_decided_by_the_standard_strategy(struct contract *c) {
    OPEN;
    c->settings.failed_job_wait = 10000;
    JOB(.priority = 0);
    EXPECT(turn(c, &site, NULL, 10));
    struct outcome *outcome = ended(&site, OUTCOME_FAILURE);
    int64_t id = outcome->job->id;
    EXPECT(turn(c, &site, outcome, 10) && site.turn.failed == 1);
    EXPECT(site.turn.acquired == 0 && site.turn.next == NOW + 10000);
    FIELD(id, "retries", NOW, "2");
    c->settings.failed_job_wait = 0;
    site_close(&site);
}

static void a_failed_turn_keeps_its_outcomes(struct contract *c) {
    OPEN;
    JOB(.priority = 0);
    EXPECT(turn(c, &site, NULL, 10));
    struct outcome *outcome = ended(&site, OUTCOME_SUCCESS);
    EXPECT(store_begin(c->store, STORE_TURN, &c->error)); /* in the turn's way */
    EXPECT(!turn(c, &site, outcome, 10) && turns_pending(site.turns));
    store_rollback(c->store);
    EXPECT(turn(c, &site, NULL, 0) && site.turn.done == 1 && !turns_pending(site.turns));
    EXPECT(matches(c, "{}") == 0);
    site_close(&site);
}

static void a_stopping_executor_acquires_nothing(struct contract *c) {
    OPEN;
    JOB(.priority = 0);
    EXPECT(turn(c, &site, NULL, 0) && site.turn.acquired == 0 && !site.turn.again);
    EXPECT(quiet_turn(c, &site) && site.turn.acquired == 1);
    site_close(&site);
}

static void what_is_given_back_runs_again_uncounted(struct contract *c) {
    OPEN;
    JOB(.priority = 0);
    EXPECT(turn(c, &site, NULL, 10));
    EXPECT(turn(c, &site, ended(&site, OUTCOME_RETURNED), 10));
    EXPECT(site.turn.acquired == 1 && site.turn.items->jobs->attempt == 1);
    EXPECT(site.turn.items->jobs->retries == 3);
    site_close(&site);
}

static void an_executor_that_goes_gives_its_locks_back(struct contract *c) {
    OPEN;
    JOB(.priority = 0);
    EXPECT(turn(c, &site, NULL, 10) && matches(c, "{\"locked\":true}") == 1);
    site_close(&site);
    EXPECT(matches(c, "{\"locked\":true}") == 0 && matches(c, "{\"state\":\"ready\"}") == 1);
}

/* One start of a handler with a rate fits at once, as long as a worker is idle. */
static bool deploy_rate(struct contract *c) {
    static char name[] = "paced", file[] = "handlers/paced.lua", text[] = "9/PT1M";
    struct definition paced = {.name = name, .file = file, .rate_text = text, .rate = {9, 60000}};
    struct definitions all = {.count = 1, .list = &paced};
    struct store_deployment deployment = {.name = "x", .hash = "h", .definitions = &all};
    int64_t id = 0;
    paced.properties = json_object();
    bool done = store_deploy(c->store, &deployment, NULL, NOW, &id, &c->error);
    json_decref(paced.properties);
    return done;
}

static void what_is_created_takes_the_idle_worker(struct contract *c) {
    OPEN;
    EXPECT(deploy_rate(c));
    JOB(.priority = 5);
    EXPECT(turn(c, &site, NULL, 1) && site.turn.acquired == 1);
    struct outcome *outcome = ended(&site, OUTCOME_SUCCESS);
    struct job_spec paced = {.job = {.handler = "paced", .due = TIME_NONE, .retries = 3}};
    struct job_spec spec = {
        .job = {.handler = "work", .priority = 9, .due = TIME_NONE, .retries = 3}};
    outcome->created = job_spec_copy(&spec);
    outcome->created->next = job_spec_copy(&paced);
    site.turn =
        (struct turn){.outcomes = outcome, .room = 2, .idle = 1, .acquiring = true, .quiet = true};
    EXPECT(turns_take(site.turns, &site.turn, &c->error) && items_count(&site) == 1);
    EXPECT(site.turn.acquired == 0 && site.turn.starved);
    site_close(&site);
}

/* Another executor has made the job ready; this one has not looked for it. */
static void a_date_stays_until_the_next_look(struct contract *c) {
    OPEN;
    int promoted = 0;
    JOB(.priority = 5);
    EXPECT(turn(c, &site, NULL, 1) && site.turn.acquired == 1);
    struct outcome *outcome = ended(&site, OUTCOME_SUCCESS);
    JOB(.due = NOW + 1000);
    EXPECT(turn(c, &site, NULL, 1) && site.turn.next == NOW + 1000);
    EXPECT(store_promote(c->store, NOW + 1000, 10, &promoted, &c->error) && promoted == 1);
    EXPECT(turn(c, &site, outcome, 0) && site.turn.done == 1 && site.turn.next == NOW + 1000);
    site_close(&site);
}

/* The only job with a date is deleted. */
static void a_date_is_forgotten_with_its_job(struct contract *c) {
    OPEN;
    int64_t id = create(c, c->store, (struct job){.due = NOW + 1000}, NOW);
    EXPECT(id && turn(c, &site, NULL, 10) && site.turn.next == NOW + 1000);
    EXPECT(contract_operate(c, "{ss s[I]}", "verb", "cancel", "ids", (json_int_t)id));
    EXPECT(turn(c, &site, NULL, 10) && site.turn.next == TIME_NEVER);
    site_close(&site);
}

static void the_loop_has_a_crash_slot_of_its_own(struct contract *c) {
    OPEN;
    const int64_t executor = turns_id(site.turns);
    struct running found = {0};
    JOB(.priority = 5);
    for (int worker = 0; worker < 2; worker++)
        store_slot_set(c->store, worker, 7 + worker, 9, NOW);
    EXPECT(turn(c, &site, NULL, 1) && site.turn.acquired == 1);
    EXPECT(!store_name(c->store) || c->store->engine->running(c->store, executor, &found));
    EXPECT(!store_name(c->store) || (running_has(&found, 7, 9) && running_has(&found, 8, 9)));
    running_clear(&found);
    site_close(&site);
}

/* Real clocks, which only go on while this runs: within a second nothing is looked for again. */
static void missing_handlers_are_looked_for_once_a_second(struct contract *c) {
    struct site site = {.clock = clock_system()};
    struct definitions none = {0};
    EXPECT(store_leave(c->store, &c->error));
    EXPECT((site.turns = turns_new(c->store, &c->settings, site.clock, 2, &c->error)));
    turns_serve(site.turns, &none);
    const time_ms begun = clock_monotonic();
    JOB(.priority = 5);
    site.turn = (struct turn){.room = 9, .acquiring = true, .grace = 60000};
    EXPECT(turns_take(site.turns, &site.turn, &c->error));
    const int64_t looks = c->store->looks;
    for (int i = 0; i < 3; i++)
        EXPECT(turns_take(site.turns, &site.turn, &c->error) && site.turn.written);
    EXPECT(looks > 0);
    EXPECT(clock_monotonic() - begun >= 1000 || c->store->looks == looks);
    turns_free(site.turns);
}

static void a_missing_handler_is_told_of_after_its_grace(struct contract *c) {
    OPEN;
    struct definitions none = {0};
    turns_serve(site.turns, &none);
    JOB(.priority = 5);
    for (int i = 0; i < 2; i++) {
        site.turn = (struct turn){.room = 9, .acquiring = true, .grace = 60000};
        EXPECT(turns_take(site.turns, &site.turn, &c->error));
        EXPECT(contract_number(c, "SELECT count(*) FROM incident") == i);
        EXPECT(i == 1 || site.turn.next == NOW + 60000);
        clock_advance(site.clock, 60000);
    }
    site_close(&site);
}

enum { WAITED = 700 }; /* ms that a turn waits for its transaction */

static const struct store_ops *prompt;
static struct clock *waiting;

static bool begin_late(struct store *store, enum store_purpose purpose, struct error *error) {
    clock_advance(waiting, WAITED);
    return prompt->begin(store, purpose, error);
}

/* What the turn waited for is no part of the lease. */
static void a_lease_is_renewed_from_when_its_transaction_has_begun(struct contract *c) {
    OPEN;
    const time_ms span = c->settings.lock_time;
    prompt = c->store->ops;
    struct store_ops late = *prompt;
    late.begin = begin_late;
    waiting = site.clock;
    clock_advance(site.clock, span / 2);
    c->store->ops = &late;
    bool done = turn(c, &site, NULL, 0);
    c->store->ops = prompt;
    EXPECT(done && site.turn.written);
    EXPECT(contract_number(c, "SELECT lease FROM executor WHERE state=1") ==
           NOW + span / 2 + WAITED + span);
    site_close(&site);
}

static void it_serves_only_the_handlers_it_has(struct contract *c) {
    OPEN;
    struct definitions none = {0};
    turns_serve(site.turns, &none);
    JOB(.priority = 0);
    EXPECT(turn(c, &site, NULL, 10) && site.turn.acquired == 0);
    turns_serve(site.turns, NULL);
    EXPECT(quiet_turn(c, &site) && site.turn.acquired == 1);
    site_close(&site);
}

static void metrics_are_written_when_nothing_is_left(struct contract *c) {
    OPEN;
    JOB(.priority = 0);
    EXPECT(turn(c, &site, NULL, 10));
    EXPECT(turn(c, &site, ended(&site, OUTCOME_SUCCESS), 10));
    json_t *stats = store_stats(c->store, NOW, &c->error);
    json_t *metrics = json_object_get(stats, "metrics");
    int64_t done = json_integer_value(json_object_get(metrics, metric_name(METRIC_SUCCESSFUL)));
    json_decref(stats);
    EXPECT(done == 1);
    site_close(&site);
}

static const struct check checks[] = {
    {"a lease is renewed from when its transaction has begun",
     a_lease_is_renewed_from_when_its_transaction_has_begun},
    {"a turn settles what has ended and acquires", a_turn_settles_and_acquires},
    {"a quiet turn writes nothing", a_quiet_turn_writes_nothing},
    {"a quiet turn looks when something falls due", a_quiet_turn_looks_when_something_falls_due},
    {"work is left for lack of room", work_is_left_for_lack_of_room},
    {"what is created waits behind what is better", what_is_created_waits_behind_what_is_better},
    {"what is created is taken in the range of the executor",
     what_is_created_is_taken_in_the_range},
    {"what is created fills the memory", what_is_created_fills_the_memory},
    {"who drains takes nothing that is created", who_drains_takes_nothing_that_is_created},
    {"the jobs of a lane are one item", a_lane_is_one_item},
    {"the rest of a lost lane is refused", the_rest_of_a_lost_lane_is_refused},
    {"a failure nobody decided follows the standard strategy",
     a_failure_is_decided_by_the_standard_strategy},
    {"a failed turn keeps its outcomes", a_failed_turn_keeps_its_outcomes},
    {"a stopping executor acquires nothing", a_stopping_executor_acquires_nothing},
    {"what is given back runs again uncounted", what_is_given_back_runs_again_uncounted},
    {"an executor that goes gives its locks back", an_executor_that_goes_gives_its_locks_back},
    {"what is created takes the idle worker from a job with a rate",
     what_is_created_takes_the_idle_worker},
    {"a date that another executor has met stays until the next look",
     a_date_stays_until_the_next_look},
    {"a date is forgotten with its job", a_date_is_forgotten_with_its_job},
    {"the loop has a crash slot of its own", the_loop_has_a_crash_slot_of_its_own},
    {"missing handlers are looked for once a second",
     missing_handlers_are_looked_for_once_a_second},
    {"a missing handler is told of after its grace, when the turn has said so",
     a_missing_handler_is_told_of_after_its_grace},
    {"it serves only the handlers it has", it_serves_only_the_handlers_it_has},
    {"metrics are written when nothing is left", metrics_are_written_when_nothing_is_left},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
