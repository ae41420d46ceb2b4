/* pool_contract.c - workers behind the queue: order, lanes, limits, turns of several engines,
 * generations, stopping; with real scripts. */
#include "../store/contract.h"
#include "run/crew.h"
#include <fcntl.h>
#include <sys/stat.h>

static const char *const handlers[][2] = {
    {"handlers/good.lua", "return function(job) return job.id end"},
    {"handlers/bad.lua", "return function(job) error('no') end"},
    {"handlers/endless.lua",
     "return { timeout = 'PT0.2S', run = function() while true do end end }"},
    {"handlers/patient.lua", "return function() while true do end end"},
    {"handlers/reader.lua", "return { timeout = 'PT0.1S', run = function(job)\n"
                            "  io.open(job.payload.path):close()\nend }"},
};

struct site {
    struct generations *generations;
    struct pool *pool;
    struct client *client;
    struct mutex mutex; /* guards `rung` */
    struct condition rings;
    bool rung;
};

static void wake(void *arg) {
    struct site *site = arg;
    mutex_lock(&site->mutex);
    site->rung = true;
    condition_signal(&site->rings);
    mutex_unlock(&site->mutex);
}

static struct folder *folder_of(const char *const files[][2], size_t count, struct error *error) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{ssss}", "path", files[i][0], "text", files[i][1]));
    struct folder *folder = folder_from_json(list, "spec", error);
    json_decref(list);
    return folder;
}

/* Loaded, or, if it cannot be, as if it had been, with the handler `good`. */
static struct deployment *deployment_of(struct contract *c, const char *const files[][2],
                                        size_t count) {
    struct folder *folder = folder_of(files, count, &c->error);
    struct deployment *deployment =
        deployment_load(folder, &c->settings, clock_system(), false, &c->error);
    if (!deployment && (deployment = calloc(1, sizeof *deployment))) {
        json_t *list = json_pack("[{ss ss}]", "name", "good", "file", "handlers/good.lua");
        definitions_read(&deployment->definitions, list);
        deployment->folder = folder_retain(folder);
        json_decref(list);
    }
    folder_release(folder);
    return deployment;
}

static bool renew(struct contract *c, struct site *site, const char *const files[][2],
                  size_t count) {
    struct generations *before = site->generations;
    site->generations = generations_new(deployment_of(c, files, count), before);
    if (site->client)
        client_renew(site->client, site->generations);
    generations_free(before, site->generations);
    return site->generations != NULL;
}

static struct client *client_of(struct contract *c, struct site *site) {
    struct client_options options = {.pool = site->pool,
                                     .generations = site->generations,
                                     .settings = &c->settings,
                                     .clock = clock_system(),
                                     .store = c->store,
                                     .wake = wake,
                                     .wake_arg = site};
    return client_new(&options, &c->error);
}

static bool site_open(struct contract *c, struct site *site, int workers) {
    struct pool_options options = {.workers_min = 1,
                                   .workers_max = workers,
                                   .queue = 4,
                                   .keep_alive = c->settings.keep_alive,
                                   .grace = 100};
    memset(site, 0, sizeof *site);
    mutex_init(&site->mutex);
    condition_init(&site->rings);
    site->pool = pool_new(&options, &c->error);
    if (!site->pool || !renew(c, site, handlers, sizeof handlers / sizeof *handlers))
        return false;
    site->client = client_of(c, site);
    return site->client != NULL;
}

static bool site_close(struct site *site) {
    client_stop(site->client, true);
    bool ended = client_free(site->client);
    ended = pool_free(site->pool) && ended;
    generations_free(site->generations, NULL);
    condition_free(&site->rings);
    mutex_free(&site->mutex);
    return ended;
}

/* Jobs like this one, with the ids `first` to `last`, handed over as items. */
static bool submit_like(struct client *client, struct job job, int first, int last) {
    struct job *jobs = NULL, **end = &jobs;
    struct item *items;
    for (int id = first; id <= last; id++) {
        job.id = id;
        job.token = 100 + id;
        job.retries = 3;
        job.attempt = 1;
        *end = job_copy(&job);
        end = &(*end)->next;
    }
    if (!items_build(jobs, &items))
        return false;
    client_submit(client, items);
    return true;
}

/* Of one handler and lane (0: none). */
static bool submit_to(struct client *client, const char *handler, int first, int last, int lane) {
    return submit_like(client, (struct job){.handler = handler, .lane_id = lane}, first, last);
}

static bool submit(struct site *site, const char *handler, int first, int last, int lane) {
    return submit_to(site->client, handler, first, last, lane);
}

/* The next `count` outcomes; fewer if they take longer than ten seconds. */
static struct outcome *outcomes(struct site *site, int count) {
    struct outcome *list = NULL, **end = &list;
    time_ms until = clock_monotonic() + 10000;
    while (count > 0 && clock_monotonic() < until) {
        for (*end = client_outcomes(site->client); *end; end = &(*end)->next)
            count--;
        mutex_lock(&site->mutex);
        if (count > 0 && !site->rung)
            condition_wait_until(&site->rings, &site->mutex, clock_monotonic() + 50);
        site->rung = false;
        mutex_unlock(&site->mutex);
        client_tick(site->client);
    }
    return list;
}

#define OPEN(workers)                                                                              \
    struct site site;                                                                              \
    EXPECT(site_open(c, &site, workers))
#define CLOSE EXPECT(site_close(&site))

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

static void what_stands_before_what_waits_overtakes_it(struct contract *c) {
    static const int64_t order[] = {5, 2, 3, 4};
    OPEN(1);
    EXPECT(submit(&site, "endless", 1, 1, 0) && submit(&site, "good", 2, 4, 0));
    EXPECT(submit_like(site.client, (struct job){.handler = "good", .priority = 9}, 5, 5));
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
    EXPECT(client_room(site.client) == 6);
    EXPECT(submit(&site, "patient", 1, 2, 0) && submit(&site, "good", 3, 5, 9));
    EXPECT(client_room(site.client) == 1);
    int running, waiting;
    client_load(site.client, &running, &waiting);
    EXPECT(running + waiting == 5);
    client_stop(site.client, true);
    struct outcome *list = outcomes(&site, 5);
    EXPECT(client_room(site.client) == 6);
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
    struct item *items;
    jobs->next = job_copy(&second);
    EXPECT(items_build(jobs, &items));
    items->refused = 1;
    client_submit(site.client, items);
    struct outcome *list = outcomes(&site, 2);
    EXPECT(list && list->kind == OUTCOME_RETURNED && list->next->kind == OUTCOME_RETURNED);
    EXPECT(!list->lane_ends && list->next->lane_ends);
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
    EXPECT(other && client_room(site.client) == 3 && client_room(other) == 3);
    EXPECT(client_free(other) && client_room(site.client) == 6);
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
    EXPECT(list && client_quiet(site.client) && client_room(site.client) == 0);
    outcome_free_list(list);
    CLOSE;
}

/* So many run and wait, or come to within ten seconds. */
static bool loaded(struct site *site, int running, int waiting) {
    int runs, waits;
    time_ms until = clock_monotonic() + 10000;
    do
        client_load(site->client, &runs, &waits);
    while ((runs != running || waits != waiting) && clock_monotonic() < until);
    return runs == running && waits == waiting;
}

static void suspects_run_one_at_a_time(struct contract *c) {
    OPEN(4);
    for (int id = 1; id <= 2; id++) {
        struct job job = {.handler = "patient", .id = id, .token = 100 + id, .crashes = 1};
        struct item *items;
        EXPECT(items_build(job_copy(&job), &items));
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
    struct item item = {0};
    struct outcome *outcome = outcome_new(job_copy(&job), OUTCOME_SUCCESS);
    for (; created > 0; created--)
        outcome->created = job_copy(&job);
    site->rung = false;
    site->client->inside++;
    crew_deliver(site->client, &item, outcome);
    return site->rung;
}

/* One job runs on and so many wait behind it. */
static bool busy(struct site *site, int waiting) {
    return submit(site, "patient", 1, 1, 0) && loaded(site, 1, 0) &&
           submit(site, "good", 2, waiting + 1, 0);
}

static void outcomes_wait_for_more_while_items_wait(struct contract *c) {
    OPEN(1);
    EXPECT(busy(&site, 4) && deliver(&site, 0));
    EXPECT(client_patient(site.client, true));
    EXPECT(deliver(&site, 0) && !client_patient(site.client, true)); /* half of what waits */
    outcome_free_list(client_outcomes(site.client));
    EXPECT(deliver(&site, 0) && client_patient(site.client, true));
    outcome_free_list(client_outcomes(site.client));
    client_stop(site.client, true);
    outcome_free_list(outcomes(&site, 5));
    CLOSE;
}

static void what_was_created_does_not_wait(struct contract *c) {
    OPEN(1);
    EXPECT(busy(&site, 4) && deliver(&site, 0) && client_patient(site.client, false));
    EXPECT(deliver(&site, 1) && !client_patient(site.client, false));
    outcome_free_list(client_outcomes(site.client));
    client_stop(site.client, true);
    outcome_free_list(outcomes(&site, 5));
    CLOSE;
}

static void outcomes_do_not_wait_once_workers_might(struct contract *c) {
    OPEN(1);
    EXPECT(busy(&site, 3) && deliver(&site, 0) && !client_patient(site.client, false));
    outcome_free_list(client_outcomes(site.client));
    client_stop(site.client, true);
    outcome_free_list(outcomes(&site, 4));
    CLOSE;
}

static int nobody_holds(void *arg, int64_t job, int64_t token) {
    int *asked = arg;
    ++*asked;
    return job != 1 || token != 101;
}

static void a_run_that_lost_its_lock_is_cut_off(struct contract *c) {
    OPEN(1);
    int asked = 0;
    EXPECT(submit(&site, "patient", 1, 1, 0));
    EXPECT(loaded(&site, 1, 0));
    struct outcome *list = NULL;
    while (!list) {
        client_cut_lost(site.client, false, nobody_holds, &asked);
        list = client_outcomes(site.client);
    }
    EXPECT(asked > 0 && list->kind == OUTCOME_CANCELLED);
    outcome_free_list(list);
    CLOSE;
}

/* Neither the job that runs nor the first of those that wait. */
static int two_have_lost(void *arg, int64_t job, int64_t token) {
    (void)arg;
    return job > 2 || token != 100 + job;
}

static void what_lost_its_lock_does_not_begin(struct contract *c) {
    static const enum outcome_kind kinds[] = {OUTCOME_CANCELLED, OUTCOME_RETURNED, OUTCOME_SUCCESS};
    OPEN(1);
    EXPECT(busy(&site, 2));
    client_cut_lost(site.client, true, two_have_lost, NULL);
    struct outcome *list = outcomes(&site, 3);
    EXPECT(list && list->next && list->next->next);
    for (struct outcome *outcome = list; outcome; outcome = outcome->next)
        EXPECT(outcome->kind == kinds[outcome->job->id - 1]);
    outcome_free_list(list);
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
    c->settings.keep_alive = 5000;
    CLOSE;
}

/* ---- runs that do not end: they wait for somebody to write ---- */

static char pipe_name[160], pipe_payload[200];

static bool pipe_make(struct contract *c) {
    snprintf(pipe_name, sizeof pipe_name, "%s/pipe", c->directory);
    int size = snprintf(pipe_payload, sizeof pipe_payload, "{\"path\":\"%s\"}", pipe_name);
    return size > 0 && mkfifo(pipe_name, 0600) == 0;
}

/* Readers that wait now can go on; those that come later wait again. */
static bool pipe_let_go(void) {
    int end = open(pipe_name, O_WRONLY | O_NONBLOCK);
    return end >= 0 && close(end) == 0;
}

static bool submit_readers(struct client *client, int first, int last, int lane) {
    struct job job = {.handler = "reader", .lane_id = lane};
    job.payload = pipe_payload;
    job.payload_size = strlen(pipe_payload);
    return submit_like(client, job, first, last);
}

/* So many runs are stuck, or come to within ten seconds. */
static bool stuck(struct site *site, int count) {
    int found;
    time_ms until = clock_monotonic() + 10000;
    do {
        client_tick(site->client);
        client_exhausted(site->client, &found);
    } while (found != count && clock_monotonic() < until);
    return found == count;
}

/* So many workers are free, or come to be within ten seconds. */
static bool idle(struct site *site, int count) {
    time_ms until = clock_monotonic() + 10000;
    while (client_idle(site->client) != count && clock_monotonic() < until)
        continue;
    return client_idle(site->client) == count;
}

static void a_run_that_nothing_ends_fails_by_its_timeout(struct contract *c) {
    OPEN(1);
    EXPECT(pipe_make(c) && submit_readers(site.client, 1, 1, 9));
    struct outcome *list = outcomes(&site, 1);
    EXPECT(list && list->kind == OUTCOME_FAILURE && list->reason == REASON_TIMEOUT);
    EXPECT(list->stuck && !list->lane_ends && list->lane_token == 101);
    EXPECT(strcmp(list->message, "handler \"reader\" ran longer than its timeout of PT0.1S and does"
                                 " not end: before its first line") == 0);
    EXPECT(client_quiet(site.client) && list->ended - list->started >= 200);
    outcome_free_list(list);
    EXPECT(pipe_let_go());
    list = outcomes(&site, 1);
    EXPECT(list && list->outlived && list->lane_ends && list->lane_token == 101);
    outcome_free_list(list);
    EXPECT(client_quiet(site.client) && stuck(&site, 0));
    CLOSE;
}

static void another_takes_the_place_of_its_worker(struct contract *c) {
    OPEN(1);
    EXPECT(pipe_make(c) && submit_readers(site.client, 1, 1, 0) && submit(&site, "good", 2, 3, 0));
    struct outcome *list = outcomes(&site, 3);
    EXPECT(list && list->stuck && list->next->kind == OUTCOME_SUCCESS);
    EXPECT(idle(&site, 1) && client_room(site.client) == 5);
    outcome_free_list(list);
    EXPECT(pipe_let_go() && stuck(&site, 0));
    list = outcomes(&site, 1);
    EXPECT(list && list->outlived);
    outcome_free_list(list);
    EXPECT(submit(&site, "good", 4, 4, 0));
    outcome_free_list(outcomes(&site, 1));
    CLOSE;
}

static void what_waits_behind_it_in_its_item_comes_back(struct contract *c) {
    OPEN(1);
    EXPECT(pipe_make(c) && submit_readers(site.client, 1, 3, 9));
    struct outcome *list = outcomes(&site, 3);
    EXPECT(list && list->stuck && !list->lane_ends);
    for (struct outcome *outcome = list->next; outcome; outcome = outcome->next) {
        EXPECT(outcome->kind == OUTCOME_RETURNED && outcome->started == TIME_NONE);
        EXPECT(!outcome->lane_ends && outcome->lane_token == 101);
    }
    outcome_free_list(list);
    EXPECT(client_quiet(site.client) && pipe_let_go());
    list = outcomes(&site, 1);
    EXPECT(list && list->outlived && list->lane_ends && list->job->id == 1);
    outcome_free_list(list);
    EXPECT(stuck(&site, 0));
    CLOSE;
}

static void a_run_that_lost_its_lock_and_goes_on_is_given_up(struct contract *c) {
    OPEN(1);
    int asked = 0;
    struct outcome *list = NULL;
    EXPECT(pipe_make(c) && submit_readers(site.client, 1, 1, 0) && loaded(&site, 1, 0));
    while (!list) {
        client_cut_lost(site.client, false, nobody_holds, &asked);
        client_tick(site.client);
        list = client_outcomes(site.client);
    }
    EXPECT(asked > 0 && list->stuck);
    outcome_free_list(list);
    EXPECT(pipe_let_go());
    list = outcomes(&site, 1);
    EXPECT(list && list->outlived);
    outcome_free_list(list);
    EXPECT(stuck(&site, 0));
    CLOSE;
}

static void beyond_as_many_again_as_there_are_workers_there_is_no_room(struct contract *c) {
    OPEN(1);
    int count;
    EXPECT(pipe_make(c) && submit_readers(site.client, 1, 1, 0) && stuck(&site, 1));
    EXPECT(!client_exhausted(site.client, &count) && client_room(site.client) > 0);
    EXPECT(submit_readers(site.client, 2, 2, 0) && submit(&site, "good", 3, 3, 0));
    struct outcome *list = outcomes(&site, 3);
    EXPECT(list && list->next && list->next->next);
    EXPECT(list->next->stuck && list->next->next->kind == OUTCOME_RETURNED);
    EXPECT(client_exhausted(site.client, &count) && count == 2);
    EXPECT(client_room(site.client) == 0 && client_quiet(site.client));
    outcome_free_list(list);
    EXPECT(pipe_let_go() && stuck(&site, 0) && !client_exhausted(site.client, &count));
    outcome_free_list(outcomes(&site, 2));
    EXPECT(client_room(site.client) == 5 && submit(&site, "good", 4, 4, 0));
    list = outcomes(&site, 1);
    EXPECT(list && list->kind == OUTCOME_SUCCESS);
    outcome_free_list(list);
    CLOSE;
}

static void a_script_that_does_not_close_holds_up_nobody(struct contract *c) {
    char text[512];
    OPEN(1);
    EXPECT(pipe_make(c));
    snprintf(text, sizeof text,
             "local kept\nreturn function()\n"
             "  kept = setmetatable({}, { __gc = function() io.open('%s'):close() end })\nend",
             pipe_name);
    const char *const files[][2] = {{"handlers/good.lua", text}};
    EXPECT(renew(c, &site, files, 1) && submit(&site, "good", 1, 1, 0));
    outcome_free_list(outcomes(&site, 1));
    EXPECT(renew(c, &site, handlers, sizeof handlers / sizeof *handlers) && stuck(&site, 1));
    EXPECT(submit(&site, "good", 2, 2, 0));
    struct outcome *list = outcomes(&site, 1);
    EXPECT(list && list->kind == OUTCOME_SUCCESS);
    outcome_free_list(list);
    EXPECT(pipe_let_go() && stuck(&site, 0));
    CLOSE;
}

static const struct check checks[] = {
    {"a run that nothing ends fails by its timeout", a_run_that_nothing_ends_fails_by_its_timeout},
    {"another takes the place of its worker", another_takes_the_place_of_its_worker},
    {"what waits behind it in its item comes back", what_waits_behind_it_in_its_item_comes_back},
    {"a run that lost its lock and goes on is given up",
     a_run_that_lost_its_lock_and_goes_on_is_given_up},
    {"beyond as many again as there are workers there is no room",
     beyond_as_many_again_as_there_are_workers_there_is_no_room},
    {"a script that does not close holds up nobody", a_script_that_does_not_close_holds_up_nobody},
    {"jobs run in the order they came", jobs_run_in_the_order_they_came},
    {"what stands before what waits overtakes it", what_stands_before_what_waits_overtakes_it},
    {"a lane ends with its last job", a_lane_ends_with_its_last_job},
    {"there is room for the queue and the workers", there_is_room_for_the_queue_and_the_workers},
    {"what has not begun is given back", what_has_not_begun_is_given_back},
    {"a running handler is cut off", a_running_handler_is_cut_off},
    {"a handler past its time fails", a_handler_past_its_time_fails},
    {"one failure leaves the others alone", one_failure_leaves_the_others_alone},
    {"the rest of a refused item is given back", the_rest_of_a_refused_item_is_given_back},
    {"nothing begins after the lease", nothing_begins_after_the_lease},
    {"the next item runs on the new folder", the_next_item_runs_on_the_new_folder},
    {"what the new folder lacks runs on an older one",
     what_the_new_folder_lacks_runs_on_an_older_one},
    {"the places are shared by the engines", the_places_are_shared_by_the_engines},
    {"an engine leaves the others alone", an_engine_leaves_the_others_alone},
    {"a folder that cannot be loaded burns no job", a_folder_that_cannot_be_loaded_burns_no_job},
    {"a run that lost its lock is cut off", a_run_that_lost_its_lock_is_cut_off},
    {"what lost its lock does not begin", what_lost_its_lock_does_not_begin},
    {"what comes too late for its rate does not begin", what_comes_too_late_does_not_begin},
    {"threads that idle leave and others come", threads_that_idle_leave_and_others_come},
    {"outcomes wait for more while items wait", outcomes_wait_for_more_while_items_wait},
    {"what was created does not wait", what_was_created_does_not_wait},
    {"outcomes do not wait once workers might", outcomes_do_not_wait_once_workers_might},
    {"suspects run one at a time", suspects_run_one_at_a_time},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
