/* pool_contract.c - workers behind the queue: order, lanes, limits, turns of several engines,
 * generations, stopping; with real scripts. */
#include "site.h"
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic int readings; /* of the clocks, by the workers */
static _Thread_local bool uncounted;

/* Goes before the C library's. */
int clock_gettime(clockid_t clock, struct timespec *time) {
    atomic_fetch_add(&readings, !uncounted);
    return (int)syscall(SYS_clock_gettime, clock, time);
}

static void jobs_run_in_the_order_they_came(struct contract *c) {
    OPEN(1);
    EXPECT(submit(&site, "good", 1, 5, 0));
    struct outcome *list = outcomes(&site, 5);
    int64_t id = 0;
    for (struct outcome *outcome = list; outcome; outcome = outcome->next) {
        EXPECT(outcome->job->id == ++id && outcome->kind == OUTCOME_SUCCESS);
        EXPECT(atoi(outcome->result) == id);
    }
    EXPECT(id == 5 && client_quiet(site.client));
    outcome_free_list(list);
    CLOSE;
}

/* Both clocks as it begins and as it ends, and once more for each sleep of the worker. */
static void a_run_reads_the_clocks_four_times(struct contract *c) {
    enum { JOBS = 400 };
    OPEN(1);
    uncounted = true;
    EXPECT(submit(&site, "good", 1, 1, 0)); /* opens the script */
    outcome_free_list(outcomes(&site, 1));
    int before = readings;
    EXPECT(submit(&site, "good", 2, JOBS + 1, 0));
    outcome_free_list(outcomes(&site, JOBS));
    EXPECT(client_quiet(site.client));
    EXPECT(readings - before >= 4 * JOBS && readings - before < 5 * JOBS);
    uncounted = false;
    CLOSE;
}

static void what_stands_before_what_waits_overtakes_it(struct contract *c) {
    static const int64_t order[] = {5, 2, 3, 4};
    OPEN(1);
    EXPECT(submit_gated(c, &site, 1) && loaded(&site, 1, 0) && submit(&site, "good", 2, 4, 0));
    EXPECT(submit_like(site.client, (struct job){.handler = "good", .priority = 9}, 5, 5));
    EXPECT(let_go(c));
    struct outcome *list = outcomes(&site, 5);
    int at = 0;
    for (struct outcome *outcome = list; outcome && at < 4; outcome = outcome->next)
        EXPECT(outcome->job->id == 1 || outcome->job->id == order[at++]);
    EXPECT(at == 4);
    outcome_free_list(list);
    CLOSE;
}

static void a_lane_ends_with_its_last_job(struct contract *c) {
    OPEN(4);
    EXPECT(submit(&site, "good", 1, 3, 9));
    struct outcome *list = outcomes(&site, 3);
    for (struct outcome *outcome = list; outcome; outcome = outcome->next)
        EXPECT(outcome->lane_token == 101 && outcome->lane_ends == (outcome->job->id == 3));
    EXPECT(list && list->next && list->next->next && list->next->next->job->id == 3);
    outcome_free_list(list);
    CLOSE;
}

static void there_is_room_for_the_queue_and_the_workers(struct contract *c) {
    OPEN(2);
    EXPECT(client_room(site.client).places == 6);
    EXPECT(submit(&site, "patient", 1, 2, 0) && submit(&site, "good", 3, 5, 9));
    int running, waiting;
    client_load(site.client, &running, &waiting);
    EXPECT(running + waiting == 5);
    client_stop(site.client, true);
    EXPECT(room_for(site.client, 1)); /* while the outcomes are not taken */
    struct outcome *list = outcomes(&site, 5);
    EXPECT(list && room_for(site.client, 6));
    outcome_free_list(list);
    CLOSE;
}

static void what_has_not_begun_is_given_back(struct contract *c) {
    OPEN(1);
    EXPECT(submit(&site, "patient", 1, 1, 0) && submit(&site, "good", 2, 4, 9));
    client_stop(site.client, false);
    struct outcome *list = outcomes(&site, 3);
    int64_t last = 0;
    for (struct outcome *outcome = list; outcome; outcome = outcome->next) {
        EXPECT(outcome->kind == OUTCOME_RETURNED);
        if (outcome->job->lane_id)
            EXPECT(outcome->lane_ends == ((last = outcome->job->id) == 4));
    }
    EXPECT(last == 4);
    outcome_free_list(list);
    client_stop(site.client, true);
    outcome_free_list(outcomes(&site, client_quiet(site.client) ? 0 : 1));
    CLOSE;
}

static void a_running_handler_is_cut_off(struct contract *c) {
    OPEN(2);
    EXPECT(submit(&site, "patient", 1, 1, 0));
    client_stop(site.client, true);
    struct outcome *list = outcomes(&site, 1);
    EXPECT(list && list->kind == OUTCOME_RETURNED && list->lane_ends);
    EXPECT(client_quiet(site.client));
    outcome_free_list(list);
    CLOSE;
}

static void a_handler_past_its_time_fails(struct contract *c) {
    OPEN(1);
    EXPECT(submit(&site, "endless", 1, 1, 0));
    struct outcome *list = outcomes(&site, 1);
    EXPECT(list && list->kind == OUTCOME_FAILURE && list->reason == REASON_TIMEOUT);
    EXPECT(list->took > 199 && list->took <= (double)(list->ended - list->started) + 1000);
    outcome_free_list(list);
    CLOSE;
}

/* The rest of an item that came before the lease had lapsed is given back; what comes later runs.
 */
static void nothing_begins_from_before_a_lapse(struct contract *c) {
    OPEN(1);
    EXPECT(
        submit_with(c, site.client, (struct job){.handler = "gated", .lane_id = 9}, "open", 1, 3));
    EXPECT(loaded(&site, 1, 2));
    client_lapse(site.client);
    EXPECT(submit(&site, "good", 4, 4, 0) && let_go(c));
    struct outcome *list = outcomes(&site, 4);
    EXPECT(list && list->next && list->next->next && list->next->next->next);
    for (struct outcome *outcome = list; outcome; outcome = outcome->next) {
        const bool before = outcome->job->id == 2 || outcome->job->id == 3;
        EXPECT(outcome->kind == (before ? OUTCOME_RETURNED : OUTCOME_SUCCESS));
    }
    outcome_free_list(list);
    CLOSE;
}

static void one_failure_leaves_the_others_alone(struct contract *c) {
    OPEN(2);
    EXPECT(submit(&site, "bad", 1, 1, 0) && submit(&site, "good", 2, 4, 0));
    struct outcome *list = outcomes(&site, 4);
    int failed = 0, done = 0;
    for (struct outcome *outcome = list; outcome; outcome = outcome->next) {
        failed += outcome->kind == OUTCOME_FAILURE && outcome->job->id == 1;
        done += outcome->kind == OUTCOME_SUCCESS;
    }
    EXPECT(failed == 1 && done == 3);
    outcome_free_list(list);
    CLOSE;
}

static void the_rest_of_a_refused_item_is_given_back(struct contract *c) {
    OPEN(1);
    struct job first = {.handler = "good", .id = 1, .token = 101, .lane_id = 9};
    struct job second = {.handler = "good", .id = 2, .token = 102, .lane_id = 9};
    struct job *jobs = job_copy(&first);
    struct work_item *items;
    jobs->next = job_copy(&second);
    EXPECT(work_items_build(jobs, &items));
    items->refused = 1;
    client_submit(site.client, items);
    struct outcome *list = outcomes(&site, 2);
    EXPECT(list && list->kind == OUTCOME_RETURNED && list->next->kind == OUTCOME_RETURNED);
    EXPECT(!list->lane_ends && list->next->lane_ends);
    outcome_free_list(list);
    CLOSE;
}

/* Jobs that share a place run one after the other, but not behind a run that takes long. */
static void what_waits_behind_a_long_run_is_given_back(struct contract *c) {
    OPEN(1);
    struct job gated = {.handler = "gated", .permit = 9};
    EXPECT(submit_with(c, site.client, gated, "open", 1, 3) && loaded(&site, 1, 2));
    time_ms until = clock_monotonic() + HORIZON + 1;
    while (clock_monotonic() <= until)
        EXPECT(loaded(&site, 1, 2));
    EXPECT(let_go(c));
    struct outcome *list = outcomes(&site, 3);
    EXPECT(list && list->job->id == 1 && list->kind == OUTCOME_SUCCESS && !list->lane_ends);
    EXPECT(list->next->kind == OUTCOME_RETURNED && list->next->late && !list->next->lane_ends);
    EXPECT(list->next->next->kind == OUTCOME_RETURNED && list->next->next->lane_ends);
    outcome_free_list(list);
    CLOSE;
}

static void jobs_that_share_a_place_run_one_after_the_other(struct contract *c) {
    OPEN(4);
    EXPECT(submit_like(site.client, (struct job){.handler = "good", .permit = 9}, 1, 3));
    struct outcome *list = outcomes(&site, 3);
    int64_t id = 1;
    for (struct outcome *outcome = list; outcome; outcome = outcome->next, id++)
        EXPECT(outcome->job->id == id && outcome->lane_ends == (id == 3));
    EXPECT(id == 4);
    outcome_free_list(list);
    CLOSE;
}

static void nothing_begins_after_the_lease(struct contract *c) {
    OPEN(1);
    client_lease(site.client, clock_monotonic() - 1);
    EXPECT(submit(&site, "good", 1, 1, 0));
    struct outcome *list = outcomes(&site, 1);
    EXPECT(list && list->kind == OUTCOME_RETURNED && list->started == TIME_NONE);
    outcome_free_list(list);
    CLOSE;
}

static void the_next_item_runs_on_the_new_folder(struct contract *c) {
    static const char *const newer[][2] = {
        {"handlers/good.lua", "return function() return -1 end"}};
    OPEN(1);
    EXPECT(submit(&site, "good", 1, 1, 0));
    outcome_free_list(outcomes(&site, 1));
    EXPECT(renew(c, &site, newer, 1));
    EXPECT(submit(&site, "good", 2, 2, 0));
    struct outcome *list = outcomes(&site, 1);
    EXPECT(list && list->result && strcmp(list->result, "-1") == 0);
    outcome_free_list(list);
    CLOSE;
}

static void what_the_new_folder_lacks_runs_on_an_older_one(struct contract *c) {
    static const char *const newer[][2] = {
        {"handlers/good.lua", "return function() return -1 end"}};
    static const char *const newest[][2] = {{"handlers/bad.lua", "return function() end"}};
    OPEN(1);
    EXPECT(renew(c, &site, newer, 1) && renew(c, &site, newest, 1));
    EXPECT(site.generations->count == 3);
    EXPECT(definitions_find(&site.generations->served, "patient"));
    EXPECT(submit(&site, "good", 1, 1, 0) && submit(&site, "bad", 2, 2, 0));
    struct outcome *list = outcomes(&site, 2);
    EXPECT(list && list->result && strcmp(list->result, "-1") == 0);
    EXPECT(list->next->kind == OUTCOME_SUCCESS);
    outcome_free_list(list);
    EXPECT(renew(c, &site, handlers, sizeof handlers / sizeof *handlers));
    EXPECT(site.generations->count == 1);
    CLOSE;
}

static void the_places_are_shared_by_the_engines(struct contract *c) {
    OPEN(2);
    struct client *other = client_of(c, &site);
    EXPECT(other && client_room(site.client).places == 3 && client_room(other).places == 3);
    EXPECT(client_free(other) && client_room(site.client).places == 6);
    CLOSE;
}

static void an_engine_leaves_the_others_alone(struct contract *c) {
    OPEN(1);
    struct client *other = client_of(c, &site);
    EXPECT(other && submit(&site, "patient", 1, 1, 0) && submit_to(other, "good", 2, 3, 0));
    client_stop(other, false);
    struct outcome *back = client_outcomes(other);
    EXPECT(back && back->kind == OUTCOME_RETURNED && back->next);
    EXPECT(client_quiet(other) && !client_quiet(site.client) && client_free(other));
    outcome_free_list(back);
    client_stop(site.client, true);
    outcome_free_list(outcomes(&site, 1));
    CLOSE;
}

static void a_folder_that_cannot_be_loaded_burns_no_job(struct contract *c) {
    static const char *const broken[][2] = {{"handlers/good.lua", "return"}};
    OPEN(1);
    EXPECT(renew(c, &site, broken, 1));
    EXPECT(submit(&site, "good", 1, 3, 0));
    struct outcome *list = outcomes(&site, 3);
    for (struct outcome *outcome = list; outcome; outcome = outcome->next)
        EXPECT(outcome->kind == OUTCOME_RETURNED);
    EXPECT(list && client_quiet(site.client) && client_room(site.client).places == 0);
    outcome_free_list(list);
    CLOSE;
}

static void suspects_run_one_at_a_time(struct contract *c) {
    OPEN(4);
    for (int id = 1; id <= 2; id++) {
        struct job job = {.handler = "patient", .id = id, .token = 100 + id, .crashes = 1};
        struct work_item *items;
        EXPECT(work_items_build(job_copy(&job), &items));
        client_submit(site.client, items);
    }
    EXPECT(submit(&site, "good", 3, 3, 0)); /* neighbours go on beside them */
    outcome_free_list(outcomes(&site, 1));
    EXPECT(loaded(&site, 1, 1));
    client_stop(site.client, true);
    struct outcome *list = outcomes(&site, 2);
    EXPECT(list && list->next);
    outcome_free_list(list);
    CLOSE;
}

/* As a worker does at the end of a job that creates so many; true: the loop was woken. */
static bool deliver(struct site *site, int created) {
    struct job job = {.handler = "good", .id = 9};
    struct work_item item = {0};
    struct outcome *outcome = outcome_new(job_copy(&job), OUTCOME_SUCCESS);
    for (; created > 0; created--)
        outcome->created = job_spec_copy(&(struct job_spec){.job = job});
    site->rung = false;
    site->client->inside++;
    threads_deliver(site->client, &item, outcome);
    return site->rung;
}

static void outcomes_wait_for_more_while_items_wait(struct contract *c) {
    OPEN(1);
    EXPECT(busy(&site, 4) && deliver(&site, 0));
    EXPECT(client_patient(site.client, true, 16));
    /* half of what waits */
    EXPECT(deliver(&site, 0) && !client_patient(site.client, true, 16));
    outcome_free_list(client_outcomes(site.client));
    EXPECT(deliver(&site, 0) && client_patient(site.client, true, 16));
    outcome_free_list(client_outcomes(site.client));
    client_stop(site.client, true);
    outcome_free_list(outcomes(&site, 5));
    CLOSE;
}

/* What the only worker would do at the end of an item in whose lane more may come. */
static bool awaits(struct site *site) {
    struct outcome outcome = {0};
    threads_await(site->pool->workers[0], site->client, &outcome);
    return outcome.awaited == 1;
}

static void a_worker_awaits_what_follows_unless_brief_work_waits(struct contract *c) {
    struct job job = {.handler = "good", .definition = 7};
    OPEN(1);
    EXPECT(submit(&site, "patient", 1, 1, 0) && loaded(&site, 1, 0) && awaits(&site));
    EXPECT(submit_like(site.client, job, 2, 2) && !awaits(&site));
    client_lapse(site.client);
    outcome_free_list(outcomes(&site, 1));
    estimate_note(&site.client->estimate, 7, 250);
    EXPECT(submit_like(site.client, job, 3, 3) && awaits(&site));
    client_stop(site.client, true);
    outcome_free_list(outcomes(&site, 2));
    CLOSE;
}

/* Jobs of this definition that wait behind a run come back unrun. */
static bool give_back(struct site *site, int64_t definition) {
    struct job job = {.handler = "good", .definition = definition};
    if (!submit(site, "patient", 1, 1, 0) || !loaded(site, 1, 0) ||
        !submit_like(site->client, job, 2, 4))
        return false;
    client_lapse(site->client);
    struct outcome *list = outcomes(site, 3);
    bool unrun = list && list->kind == OUTCOME_RETURNED && list->job->definition == definition;
    outcome_free_list(list);
    return unrun;
}

static bool is_third(void *arg, const struct job *job) {
    return job->id == *(const int64_t *)arg;
}

/* The job stands in an item between others; what runs is not asked for. */
static void what_is_asked_back_comes_with_its_item(struct contract *c) {
    int64_t third = 3;
    OPEN(1);
    EXPECT(submit(&site, "patient", 1, 1, 0) && loaded(&site, 1, 0));
    EXPECT(submit(&site, "good", 2, 4, 9) && submit(&site, "good", 5, 6, 0));
    client_return(site.client, is_third, &third);
    struct outcome *list = outcomes(&site, 3);
    for (struct outcome *outcome = list; outcome; outcome = outcome->next)
        EXPECT(outcome->kind == OUTCOME_RETURNED && outcome->job->lane_id == 9);
    EXPECT(list && loaded(&site, 1, 2));
    outcome_free_list(list);
    client_stop(site.client, true);
    outcome_free_list(outcomes(&site, 3));
    CLOSE;
}

static void what_is_given_back_teaches_nothing_of_its_time(struct contract *c) {
    OPEN(1);
    estimate_note(&site.client->estimate, 7, 250);
    EXPECT(give_back(&site, 7) && estimate_run(&site.client->estimate, 7) == 250);
    client_stop(site.client, true);
    outcome_free_list(outcomes(&site, 1));
    EXPECT(estimate_run(&site.client->estimate, 0) > 0); /* as the run does that was cut off */
    CLOSE;
}

static void what_was_created_does_not_wait(struct contract *c) {
    OPEN(1);
    EXPECT(busy(&site, 4) && deliver(&site, 0) && client_patient(site.client, false, 16));
    EXPECT(deliver(&site, 1) && !client_patient(site.client, false, 16));
    outcome_free_list(client_outcomes(site.client));
    client_stop(site.client, true);
    outcome_free_list(outcomes(&site, 5));
    CLOSE;
}

/* As many as wait while the store is locked: their weights must not add up to nothing. */
static void however_many_are_urgent_none_waits(struct contract *c) {
    enum { JOBS = 4096 };
    OPEN(1);
    EXPECT(busy(&site, 4));
    for (int i = 0; i < JOBS; i++)
        deliver(&site, 1);
    deliver(&site, 0);
    EXPECT(!client_patient(site.client, false, 16));
    outcome_free_list(client_outcomes(site.client));
    client_stop(site.client, true);
    outcome_free_list(outcomes(&site, 5));
    CLOSE;
}

static void outcomes_do_not_wait_once_workers_might(struct contract *c) {
    OPEN(1);
    EXPECT(busy(&site, 3) && deliver(&site, 0) && !client_patient(site.client, false, 16));
    outcome_free_list(client_outcomes(site.client));
    client_stop(site.client, true);
    outcome_free_list(outcomes(&site, 4));
    CLOSE;
}

static void what_comes_too_late_does_not_begin(struct contract *c) {
    OPEN(1);
    struct job late = {.handler = "good", .begin_by = clock_monotonic() - 1};
    EXPECT(submit_like(site.client, late, 1, 1));
    struct outcome *list = outcomes(&site, 1);
    EXPECT(list && list->kind == OUTCOME_RETURNED);
    outcome_free_list(list);
    CLOSE;
}

static void large_payloads_fill_the_memory(struct contract *c) {
    OPEN(1);
    size_t size = 9 << 20;
    struct job large = {.handler = "patient", .payload = calloc(size, 1), .payload_size = size};
    EXPECT(large.payload && submit_like(site.client, large, 1, 1));
    struct client_room room = client_room(site.client);
    EXPECT(room.places > 0 && room.bytes == 7 << 20);
    EXPECT(submit_like(site.client, large, 2, 2) && client_room(site.client).places == 0);
    client_stop(site.client, true);
    outcome_free_list(outcomes(&site, 2));
    EXPECT(client_room(site.client).bytes == 16 << 20);
    free((void *)(uintptr_t)large.payload);
    CLOSE;
}

static void threads_that_idle_leave_and_others_come(struct contract *c) {
    c->settings.keep_alive = 0;
    OPEN(4);
    for (int round = 0; round < 20; round++) {
        EXPECT(submit(&site, "good", round * 4 + 1, round * 4 + 4, 0));
        struct outcome *list = outcomes(&site, 4);
        EXPECT(list && client_quiet(site.client));
        outcome_free_list(list);
        client_tick(site.client);
    }
    time_ms until = clock_monotonic() + LIMIT;
    while (site.pool->threads > 1 && clock_monotonic() < until)
        client_tick(site.client);
    for (int i = 0; i < 20; i++)
        client_tick(site.client);
    EXPECT(site.pool->threads == 1); /* workers_min */
    c->settings.keep_alive = 5000;
    CLOSE;
}

static const struct check checks[] = {
    {"jobs run in the order they came", jobs_run_in_the_order_they_came},
    {"a run reads the clocks four times", a_run_reads_the_clocks_four_times},
    {"what stands before what waits overtakes it", what_stands_before_what_waits_overtakes_it},
    {"a lane ends with its last job", a_lane_ends_with_its_last_job},
    {"there is room for the queue and the workers", there_is_room_for_the_queue_and_the_workers},
    {"what has not begun is given back", what_has_not_begun_is_given_back},
    {"a running handler is cut off", a_running_handler_is_cut_off},
    {"a handler past its time fails", a_handler_past_its_time_fails},
    {"nothing begins from before a lapse", nothing_begins_from_before_a_lapse},
    {"one failure leaves the others alone", one_failure_leaves_the_others_alone},
    {"the rest of a refused item is given back", the_rest_of_a_refused_item_is_given_back},
    {"jobs that share a place run one after the other",
     jobs_that_share_a_place_run_one_after_the_other},
    {"what waits behind a long run is given back", what_waits_behind_a_long_run_is_given_back},
    {"nothing begins after the lease", nothing_begins_after_the_lease},
    {"the next item runs on the new folder", the_next_item_runs_on_the_new_folder},
    {"what the new folder lacks runs on an older one",
     what_the_new_folder_lacks_runs_on_an_older_one},
    {"the places are shared by the engines", the_places_are_shared_by_the_engines},
    {"an engine leaves the others alone", an_engine_leaves_the_others_alone},
    {"a folder that cannot be loaded burns no job", a_folder_that_cannot_be_loaded_burns_no_job},
    {"what comes too late for its rate does not begin", what_comes_too_late_does_not_begin},
    {"large payloads fill the memory", large_payloads_fill_the_memory},
    {"threads that idle leave and others come", threads_that_idle_leave_and_others_come},
    {"outcomes wait for more while items wait", outcomes_wait_for_more_while_items_wait},
    {"a worker awaits what follows, unless brief work waits",
     a_worker_awaits_what_follows_unless_brief_work_waits},
    {"what is asked back comes with its item", what_is_asked_back_comes_with_its_item},
    {"what is given back teaches nothing of its time",
     what_is_given_back_teaches_nothing_of_its_time},
    {"what was created does not wait", what_was_created_does_not_wait},
    {"however many are urgent, none waits", however_many_are_urgent_none_waits},
    {"outcomes do not wait once workers might", outcomes_do_not_wait_once_workers_might},
    {"suspects run one at a time", suspects_run_one_at_a_time},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
