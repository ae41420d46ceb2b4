/* process_contract.c - instances of processes: what a unit writes, whole or not at all. */
#include "job/unit.h"
#include "process_site.h"

/* Frames of a later program: the store does not look into their shape. */
#define F1 "{\"v\":9,\"f\":1}"
#define F2 "{\"v\":9,\"f\":2}"
#define F3 "{\"v\":9,\"f\":3}"

#define INSTANCE(id, key, text)                                                                    \
    EXPECT(strcmp(answer(c, ASK_INSTANCE, json_of("{'id': %d}", (int)(id)), key), text) == 0)
#define FRAME(id, text)                                                                            \
    EXPECT(strcmp(answer(c, ASK_FRAME, json_of("{'instance': %d}", (int)(id)), "frame"), text) == 0)

/* ---- units ---- */

/* A unit with one instance, and what else a check puts into it. */
struct step {
    struct unit unit;
    struct unit_instance instance;
    struct unit_wait left;
    struct unit_subscription subscription;
    struct unit_task task;
    struct unit_trail trail;
    struct job_spec jobs[3];
};

static struct step step_of(int64_t id, int64_t of, int64_t rev, const char *frame) {
    struct step step = {.instance = {.id = id,
                                     .version = of,
                                     .rev = rev,
                                     .started = NOW,
                                     .frame = frame,
                                     .key = "o-7",
                                     .ended = frame ? NULL : "completed",
                                     .variables = frame ? NULL : "{\"amount\":1}"},
                        .trail = {id, "[[\"s\",1]]"}};
    return step;
}

/* Adds a job of a token. */
static void step_job(struct step *step, int at, const char *activity, int64_t token) {
    static char handlers[8][64];
    static int next;
    char *handler = handlers[next++ % 8];
    snprintf(handler, 64, "process/order/%s", activity);
    int64_t id = step->instance.id;
    step->jobs[at] = (struct job_spec){.job = {.handler = handler,
                                               .activity = activity,
                                               .instance_id = id,
                                               .execution = token,
                                               .exclusive = true,
                                               .lane_id = job_instance_lane(id),
                                               .due = TIME_NONE}};
    if (at)
        step->jobs[at - 1].next = &step->jobs[at];
}

static struct unit *step_unit(struct step *step) {
    struct unit *unit = &step->unit;
    unit->instances = &step->instance;
    unit->left = &step->left;
    unit->subscriptions = &step->subscription;
    unit->tasks = &step->task;
    unit->trail = &step->trail;
    unit->instance_count = unit->trail_count = 1;
    unit->left_count = step->left.instance != 0;
    unit->subscription_count = step->subscription.instance != 0;
    unit->task_count = step->task.instance != 0;
    return unit;
}

/* Settles the step as the end of the job, which it frees; NULL: a command. -1: error. *newer: of a
 * step that is behind. */
static int settle_step(struct contract *c, struct job *job, struct step *step, struct job **newer) {
    struct job none = {0};
    enum settled settled = SETTLED;
    struct outcome end = {.job = job ? job : &none,
                          .kind = OUTCOME_SUCCESS,
                          .started = NOW,
                          .ended = NOW,
                          .due = TIME_NONE,
                          .lane_ends = true,
                          .lane_token = job ? job->token : 0,
                          .unit = step_unit(step),
                          .created = step->jobs[0].job.handler ? step->jobs : NULL};
    bool done = store_settle(c->store, &end, NOW, &settled, &c->error);
    if (newer)
        *newer = end.newer;
    else
        job_free(end.newer);
    job_free(job);
    return done ? (int)settled : -1;
}

/* Begins an instance that stands before "ship"; 0: error. */
static int64_t begin(struct contract *c, int64_t of) {
    int64_t id = store_reserve_ids(c->store, 1, &c->error);
    struct step step = step_of(id, of, 0, F1);
    step_job(&step, 0, "ship", 3);
    return settle_step(c, NULL, &step, NULL) == SETTLED ? id : 0;
}

static void begins(struct contract *c) {
    int64_t of = order(c), id = begin(c, of);
    EXPECT(of && id);
    INSTANCE(id, "state", "active");
    INSTANCE(id, "key", "o-7");
    INSTANCE(id, "process", "order");
    EXPECT(rows(c, ASK_TRAIL, json_of("{'instance': %d}", (int)id)) == 1);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job && job->instance_id == id && job->execution == 3 && job->version == of);
    EXPECT(job->frame && strcmp(job->frame, F1) == 0 && job->frame_rev > 0);
    EXPECT(strcmp(job->activity, "ship") == 0 && atoll(job->instance) == id);
    struct step end = step_of(id, of, job->frame_rev, NULL);
    EXPECT(settle_step(c, job, &end, NULL) == SETTLED);
    INSTANCE(id, "state", "completed");
    EXPECT(rows(c, ASK_PROCESS_INSTANCES, NULL) == 0 && rows(c, ASK_JOBS, NULL) == 0);
    EXPECT(rows(c, ASK_TRAIL, json_of("{'instance': %d}", (int)id)) == 2);
    EXPECT(rows(c, ASK_LOG, json_of("{'instance': '%d', 'activity': 'ship'}", (int)id)) == 2);
}

/* An instance with a frame of so many bytes, which names it, and a job. */
static bool begin_large(struct contract *c, int64_t of, int size) {
    char frame[2048];
    int64_t id = store_reserve_ids(c->store, 1, &c->error);
    int at = snprintf(frame, sizeof frame, "{\"v\":9,\"f\":%lld,\"x\":\"", (long long)id);
    memset(frame + at, 'x', (size_t)(size - at - 2));
    memcpy(frame + size - 2, "\"}", 3);
    struct step step = step_of(id, of, 0, frame);
    step_job(&step, 0, "ship", 3);
    return settle_step(c, NULL, &step, NULL) == SETTLED;
}

/* How many jobs a page of so many bytes has; -1: a job has not the frame of its instance. */
static int page_of(struct contract *c, int64_t bytes) {
    struct acquire page = everything;
    struct job *jobs = NULL, *job;
    int count = 0;
    bool more = false, fine = true;
    page.bytes = bytes;
    if (!store_acquire(c->store, &page, NOW, &jobs, &count, &more, &c->error))
        return -1;
    for (job = jobs; job; job = job->next) {
        json_t *frame = job->frame ? json_loads(job->frame, 0, NULL) : NULL;
        fine = fine && job->frame_rev > 0 &&
               json_integer_value(json_object_get(frame, "f")) == job->instance_id;
        json_decref(frame);
    }
    job_free_list(jobs);
    return fine ? count : -1;
}

static void paged(struct contract *c) {
    int64_t of = order(c);
    for (int i = 0; i < 150; i++)
        EXPECT(begin_large(c, of, 1000));
    int part = page_of(c, 50000); /* frames are read 32 at a time */
    EXPECT(part >= 50 && part <= 50 + 32);
    EXPECT(page_of(c, 0) == 150 - part);
}

static void at_once(struct contract *c) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct step step = step_of(id, of, 0, NULL);
    EXPECT(settle_step(c, NULL, &step, NULL) == SETTLED);
    INSTANCE(id, "state", "completed");
    EXPECT(rows(c, ASK_PROCESS_INSTANCES, NULL) == 0 && rows(c, ASK_PAST, NULL) == 1);
}

static void stale(struct contract *c) {
    int64_t of = order(c), id = begin(c, of);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job);
    job->token++;
    struct step end = step_of(id, of, job->frame_rev, NULL);
    EXPECT(settle_step(c, job, &end, NULL) == SETTLED_STALE);
    INSTANCE(id, "state", "active");
}

static void behind(struct contract *c) {
    struct job *newer = NULL;
    int64_t of = order(c), id = begin(c, of);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job);
    int64_t rev = job->frame_rev, token = job->token, at = job->id;
    struct step set = step_of(id, of, rev, F2);
    EXPECT(settle_step(c, NULL, &set, NULL) == SETTLED);
    struct step end = step_of(id, of, rev, NULL);
    EXPECT(settle_step(c, job, &end, &newer) == SETTLED_BEHIND && newer);
    bool same = newer->id == at && newer->token == token && strcmp(newer->frame, F2) == 0 &&
                newer->frame_rev == set.unit.rev && newer->frame_rev != rev;
    EXPECT(same && store_holds(c->store, at, token, &c->error) == YES);
    INSTANCE(id, "state", "active");
    struct step again = step_of(id, of, newer->frame_rev, NULL);
    EXPECT(settle_step(c, newer, &again, NULL) == SETTLED);
    INSTANCE(id, "state", "completed");
}

/* Two jobs of one work item: the second has walked on the frame of the first. */
/* A run outside of the lane, and an exclusive job that comes meanwhile. */
static void insists(struct contract *c) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct step step = step_of(id, of, 0, F1);
    step_job(&step, 0, "count", 3);
    step.jobs[0].job.exclusive = false;
    step.jobs[0].job.lane_id = 0;
    EXPECT(settle_step(c, NULL, &step, NULL) == SETTLED);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job && !job->lane_id);
    for (int i = 1; i <= 10; i++) {
        struct job *newer = NULL;
        struct step set = step_of(id, of, job->frame_rev, F2);
        EXPECT(settle_step(c, NULL, &set, NULL) == SETTLED);
        struct step end = step_of(id, of, job->frame_rev, F3);
        EXPECT(settle_step(c, job, &end, &newer) == SETTLED_BEHIND && newer);
        EXPECT((newer->lane_held == job_instance_lane(id)) == (i == 10));
        job = newer;
    }
    struct step more = step_of(id, of, job->frame_rev, F2);
    step_job(&more, 0, "ship", 4);
    EXPECT(settle_step(c, NULL, &more, NULL) == SETTLED);
    EXPECT(!acquire_one(c, c->store, NOW));
    struct job *newer = NULL;
    struct step late = step_of(id, of, job->frame_rev, F3);
    EXPECT(settle_step(c, job, &late, &newer) == SETTLED_BEHIND && newer);
    struct step end = step_of(id, of, newer->frame_rev, F3);
    EXPECT(settle_step(c, newer, &end, NULL) == SETTLED);
    job = acquire_one(c, c->store, NOW);
    EXPECT(job && strcmp(job->activity, "ship") == 0);
    job_free(job);
}

/* They are read along with their neighbours. */
static void unlaned(struct contract *c) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct step step = step_of(id, of, 0, F1);
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    for (int i = 0; i < 3; i++) {
        step_job(&step, i, "count", 3 + i);
        step.jobs[i].job.exclusive = false;
        step.jobs[i].job.lane_id = 0;
    }
    EXPECT(settle_step(c, NULL, &step, NULL) == SETTLED);
    EXPECT(store_acquire(c->store, &everything, NOW, &jobs, &count, &more, &c->error));
    EXPECT(count == 3);
    for (struct job *job = jobs; job; job = job->next)
        EXPECT(job->frame_rev == 1);
    job_free_list(jobs);
}

static void chain(struct contract *c, bool first_is_behind) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct step start = step_of(id, of, 0, F1);
    step_job(&start, 0, "pack", 3);
    step_job(&start, 1, "ship", 4);
    EXPECT(settle_step(c, NULL, &start, NULL) == SETTLED);
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    EXPECT(store_acquire(c->store, &everything, NOW, &jobs, &count, &more, &c->error));
    EXPECT(count == 2 && jobs->lane_id == jobs->next->lane_id);
    struct job *first = jobs, *second = jobs->next, *newer[2] = {NULL, NULL};
    first->next = NULL;
    struct step one = step_of(id, of, first->frame_rev + first_is_behind, F2);
    struct step two = step_of(id, of, first->token, F3);
    step_job(&two, 0, "end", 5);
    EXPECT(store_begin(c->store, STORE_TURN, &c->error));
    int settled[2] = {settle_step(c, first, &one, &newer[0]),
                      settle_step(c, second, &two, &newer[1])};
    EXPECT(store_commit(c->store, &c->error));
    int wanted = first_is_behind ? SETTLED_BEHIND : SETTLED;
    job_free(newer[0]);
    job_free(newer[1]);
    EXPECT(settled[0] == wanted && settled[1] == wanted);
    FRAME(id, first_is_behind ? F1 : F3);
    EXPECT(rows(c, ASK_JOBS, NULL) == (first_is_behind ? 2 : 1));
}

static void chain_written(struct contract *c) {
    chain(c, false);
}

static void chain_behind(struct contract *c) {
    chain(c, true);
}

/* An instance with a running job, one beside it, a task and a subscription. */
static struct job *crowd(struct contract *c, int64_t of, int64_t id) {
    struct step start = step_of(id, of, 0, F1);
    step_job(&start, 0, "pack", 3);
    step_job(&start, 1, "ship", 4);
    start.jobs[1].job.exclusive = false;
    start.jobs[1].job.lane_id = 0;
    start.task = (struct unit_task){.instance = id,
                                    .token = 5,
                                    .activity = "approve",
                                    .name = "Approve",
                                    .assignee = "boss",
                                    .candidates = "{\"groups\":[\"clerks\"]}",
                                    .due = TIME_NONE,
                                    .priority = 50};
    start.subscription = (struct unit_subscription){id, 6, of, "message", "parcel", "p-1", "wait"};
    return settle_step(c, NULL, &start, NULL) == SETTLED ? acquire_one(c, c->store, NOW) : NULL;
}

static void waits(struct contract *c) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct job *job = crowd(c, of, id);
    EXPECT(job);
    EXPECT(rows(c, ASK_TASKS, json_of("{'assignee': 'boss', 'candidate': 'clerks'}")) == 1);
    EXPECT(rows(c, ASK_SUBSCRIPTIONS, json_of("{'name': 'parcel', 'key': 'p-1'}")) == 1);
    EXPECT(rows(c, ASK_PROCESS_INSTANCES, json_of("{'activity': 'approve'}")) == 1);
    EXPECT(rows(c, ASK_JOBS, json_of("{'instance': '%d'}", (int)id)) == 2);
    struct step leaves = step_of(id, of, job->frame_rev, F2);
    leaves.left = (struct unit_wait){id, 5, UNIT_TASK, 0};
    EXPECT(settle_step(c, job, &leaves, NULL) == SETTLED);
    EXPECT(rows(c, ASK_TASKS, NULL) == 0 && rows(c, ASK_SUBSCRIPTIONS, NULL) == 1);
    struct step gone = step_of(id, of, leaves.unit.rev, F3);
    gone.left = (struct unit_wait){id, 6, UNIT_SUBSCRIPTION | UNIT_JOB, 0};
    EXPECT(settle_step(c, NULL, &gone, NULL) == SETTLED);
    EXPECT(rows(c, ASK_SUBSCRIPTIONS, NULL) == 0 && rows(c, ASK_JOBS, NULL) == 1);
}

/* A loop has come back to the activity: what was asked for was the task before. */
static void completes(struct contract *c) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct job *job = crowd(c, of, id);
    EXPECT(job);
    int64_t rev = job->frame_rev;
    job_free(job);
    int64_t task = contract_number(c, "SELECT id FROM user_task");
    struct step late = step_of(id, of, rev, F2), fine = late;
    late.left = (struct unit_wait){id, 5, UNIT_TASK, task - 1};
    EXPECT(settle_step(c, NULL, &late, NULL) == -1);
    EXPECT(strstr(c->error.text, "that is open"));
    EXPECT(rows(c, ASK_TASKS, NULL) == 1);
    fine.left = (struct unit_wait){id, 5, UNIT_TASK, task};
    EXPECT(settle_step(c, NULL, &fine, NULL) == SETTLED);
    EXPECT(rows(c, ASK_TASKS, NULL) == 0);
}

static void ends_all(struct contract *c) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct job *job = crowd(c, of, id);
    EXPECT(job);
    int64_t runs = job->id, token = job->token, rev = job->frame_rev;
    struct step cancel = step_of(id, of, rev, NULL);
    cancel.instance.ended = "cancelled";
    cancel.instance.reason = "no more";
    EXPECT(settle_step(c, NULL, &cancel, NULL) == SETTLED);
    EXPECT(rows(c, ASK_JOBS, NULL) == 0 && rows(c, ASK_TASKS, NULL) == 0 &&
           rows(c, ASK_SUBSCRIPTIONS, NULL) == 0);
    INSTANCE(id, "reason", "no more");
    EXPECT(store_holds(c->store, runs, token, &c->error) == NO);
    struct step late = step_of(id, of, rev, F2);
    EXPECT(settle_step(c, job, &late, NULL) == SETTLED_STALE);
}

static void ends_many(struct contract *c) {
    enum { MANY = 1100 };
    static struct job_spec jobs[MANY];
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct step start = step_of(id, of, 0, F1);
    step_job(&start, 0, "pack", 3);
    for (int i = 0; i < MANY; i++) {
        jobs[i] = start.jobs[0];
        jobs[i].job.execution = 3 + i;
        jobs[i].next = i + 1 < MANY ? &jobs[i + 1] : NULL;
    }
    EXPECT(store_create(c->store, jobs, 0, NOW, &c->error));
    start.jobs[0].job.handler = NULL;
    EXPECT(settle_step(c, NULL, &start, NULL) == SETTLED && matches(c, "{}") == MANY);
    struct step cancel = step_of(id, of, start.unit.rev, NULL);
    EXPECT(settle_step(c, NULL, &cancel, NULL) == SETTLED && matches(c, "{}") == 0);
}

/* What check --store finds of an instance with the frame, whose job waits for token 3. */
static size_t problems(struct contract *c, int64_t of, const char *frame, const char *first) {
    int64_t id = store_reserve_ids(c->store, 1, &c->error);
    struct step start = step_of(id, of, 0, frame);
    step_job(&start, 0, "ship", 3);
    settle_step(c, NULL, &start, NULL);
    json_t *found = store_verify(c->store, NULL, &c->error);
    size_t count = json_array_size(found);
    const char *text = json_string_value(json_array_get(found, 0));
    if (count && (!first || !strstr(text, first)))
        count = 99;
    json_decref(found);
    struct step cancel = step_of(id, of, start.unit.rev, NULL);
    return settle_step(c, NULL, &cancel, NULL) == SETTLED ? count : 98;
}

#define SHAPE1 "{\"v\":1,\"next\":9,\"scopes\":[%s],\"tokens\":[%s]}"
#define BODY "[2,1,\"ship#multiInstanceBody\",null,[%d,0,%d,[[3,%d,0]]]]"

static void verified(struct contract *c) {
    char frame[256], body[64];
    int64_t of = order(c);
    snprintf(frame, sizeof frame, SHAPE1, "", "[3,1,\"ship\",\"before\"],[4,1,\"all\",\"join\"]");
    EXPECT(problems(c, of, frame, NULL) == 0);
    snprintf(frame, sizeof frame, SHAPE1, "", "[3,1,\"ship\",\"before\"],[4,1,\"ask\",\"task\"]");
    EXPECT(problems(c, of, frame, "waits at token 4 for a task that is gone") == 1);
    snprintf(frame, sizeof frame, SHAPE1, "", "[4,1,\"all\",\"join\"]");
    EXPECT(problems(c, of, frame, "has no token 3, yet a job waits for it") == 1);
    snprintf(frame, sizeof frame, SHAPE1, "", "[3,1,\"ship\",\"join\"]");
    EXPECT(problems(c, of, frame, "waits at token 3 for something else than its job") == 1);
    snprintf(body, sizeof body, BODY, 1, 1, 1);
    snprintf(frame, sizeof frame, SHAPE1, body, "");
    EXPECT(problems(c, of, frame, NULL) == 0);
    snprintf(body, sizeof body, BODY, 2, 2, 2);
    snprintf(frame, sizeof frame, SHAPE1, body, "");
    EXPECT(problems(c, of, frame, "waits at token 3 for a job that is gone") == 1);
    snprintf(frame, sizeof frame, SHAPE1, "", "[3,1,\"ship\",\"before\",null,null,{\"big\":7}]");
    EXPECT(problems(c, of, frame, "the variable big has no row") == 1);
    EXPECT(problems(c, of, "nothing", "has a frame that cannot be read") == 1);
    EXPECT(problems(c, of, "{}", "has a frame that cannot be read") == 1);
}

/* What the unit creates for its own lane runs next, with the frame that the unit leaves. */
static void follows(struct contract *c) {
    int64_t of = order(c), id = begin(c, of);
    struct job *job = acquire_one(c, c->store, NOW), *follower = NULL;
    struct capacity capacity = {
        .acquire = &everything, .room = 4, .follows = 4, .ready = {.blind = false}};
    EXPECT(job);
    struct step next = step_of(id, of, job->frame_rev, F2);
    step_job(&next, 0, "end", 4);
    EXPECT(store_begin(c->store, STORE_TURN, &c->error));
    store_set_capacity(c->store, &capacity);
    enum settled settled = SETTLED;
    struct outcome end = {.job = job,
                          .kind = OUTCOME_SUCCESS,
                          .started = NOW,
                          .ended = NOW,
                          .due = TIME_NONE,
                          .lane_ends = true,
                          .lane_token = job->token,
                          .unit = step_unit(&next),
                          .created = next.jobs};
    EXPECT(store_settle(c->store, &end, NOW, &settled, &c->error) && settled == SETTLED);
    follower = end.follows;
    EXPECT(follower && strcmp(follower->frame, F2) == 0 && follower->frame_rev == job->token &&
           follower->version == of && atoll(follower->instance) == id);
    EXPECT(store_commit(c->store, &c->error));
    FRAME(id, F2);
    job_free_list(follower);
    job_free(job);
}

static void incidents(struct contract *c) {
    int64_t of = order(c), id = begin(c, of);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job && settle(c, c->store, job,
                         (struct outcome){.kind = OUTCOME_FAILURE,
                                          .permanent = true,
                                          .message = (char *)(uintptr_t) "no"},
                         NOW) == SETTLED_DEAD);
    EXPECT(rows(c, ASK_INCIDENTS, json_of("{'instance': '%d', 'activity': 'ship'}", (int)id)) == 1);
    EXPECT(rows(c, ASK_PROCESS_INSTANCES, json_of("{'with_incidents': true}")) == 1);
    json_t *question = json_of("{'id': %d}", (int)id);
    json_t *why = store_ask(c->store, ASK_WHY_INSTANCE, question, NOW, &c->error);
    bool told = json_array_size(json_object_get(why, "jobs")) == 1 &&
                json_array_size(json_object_get(why, "incidents")) == 1 &&
                json_object_get(why, "frame");
    json_decref(question);
    json_decref(why);
    EXPECT(told);
}

/* ---- messages ---- */

static int receivers(struct contract *c, const char *text) {
    json_t *question = json_of("%s", text);
    json_t *found = store_ask(c->store, ASK_RECEIVERS, question, NOW, &c->error);
    int count = found ? (int)json_array_size(found) : -1;
    json_decref(question);
    json_decref(found);
    return count;
}

static void messages(struct contract *c) {
    EXPECT(deploy(c, "a",
                  json_of("[" ORDER "]", "one", "",
                          "{'kind': 'message', 'name': 'ordered', 'activity': 'start'}"),
                  NOW));
    int64_t of = version(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct job *job = crowd(c, of, id);
    job_free(job);
    EXPECT(receivers(c, "{'name': 'parcel', 'key': 'p-1'}") == 1);
    EXPECT(receivers(c, "{'name': 'parcel', 'key': 'p-2'}") == 0);
    EXPECT(receivers(c, "{'name': 'parcel', 'key': 'p-1', 'business_key': 'o-7'}") == 1);
    EXPECT(receivers(c, "{'name': 'parcel', 'key': 'p-1', 'business_key': 'o-8'}") == 0);
    EXPECT(receivers(c, "{'name': 'parcel', 'key': 'p-1', 'instance': 99}") == 0);
    EXPECT(receivers(c, "{'name': 'ordered'}") == 1);
}

/* Settles the job of an order with a message to others. */
static int say(struct contract *c, struct job *job, int64_t of, const char *name, const char *key) {
    struct unit_message message = {
        .name = name, .key = key, .variables = "{\"paid\":true}", .until = TIME_NONE};
    struct step step = step_of(job->instance_id, of, job->frame_rev, NULL);
    step.unit.messages = &message;
    step.unit.message_count = 1;
    return settle_step(c, job, &step, NULL);
}

static void said(struct contract *c) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct job *beside = crowd(c, of, id), *job = NULL;
    EXPECT(beside && begin(c, of) && (job = acquire_one(c, c->store, NOW)));
    while (job && job->instance_id == id) { /* the other job of the crowd */
        job_free(job);
        job = acquire_one(c, c->store, NOW);
    }
    EXPECT(job && say(c, job_copy(job), of, "parcel", "p-2") == -1);
    EXPECT_ERROR("message \"parcel\" with key \"p-2\": nothing waits for it");
    EXPECT(say(c, job_copy(job), of, "parcel", "p-1") == SETTLED);
    job_free(job);
    job_free(beside);
    json_t *filters = json_of("{'handler': 'process/order:command'}");
    struct store_page page = {.limit = 10};
    json_t *jobs = store_jobs(c->store, filters, &page, NOW, &c->error);
    const json_t *cause = json_object_get(json_array_get(jobs, 0), "payload");
    bool told = json_array_size(jobs) == 1 &&
                json_integer_value(json_object_get(cause, "instance")) == id &&
                json_integer_value(json_object_get(cause, "token")) == 6 &&
                json_is_true(json_object_get(json_object_get(cause, "variables"), "paid"));
    json_decref(filters);
    json_decref(jobs);
    EXPECT(told);
}

/* Keeps a message for a second: YES, NO or FAILED. */
static enum answer keep(struct contract *c, const char *key) {
    struct unit_message message = {
        .name = "parcel", .key = key, .variables = "{\"paid\":true}", .until = NOW + 1000};
    if (!store_begin(c->store, STORE_COMMAND, &c->error))
        return FAILED;
    enum answer kept = store_message_keep(c->store, &message, NOW, &c->error);
    return store_commit(c->store, &c->error) ? kept : FAILED;
}

static void kept(struct contract *c) {
    struct command_run run = {0};
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    EXPECT(keep(c, "p-1") == YES && keep(c, "p-1") == YES && keep(c, "p-2") == YES);
    EXPECT(rows(c, ASK_KEPT_MESSAGES, json_of("{'key': 'p-1'}")) == 2);
    struct job *job = crowd(c, of, id);
    EXPECT(job);
    job_free(job);
    EXPECT(rows(c, ASK_KEPT_MESSAGES, json_of("{'key': 'p-1'}")) == 1);
    EXPECT(rows(c, ASK_JOBS, json_of("{'handler': 'process/order:command'}")) == 1);
    EXPECT(keep(c, "p-1") == NO);
    json_t *clean = json_of("{'verb': 'clean_history', 'plan': {'on_demand': true}}");
    EXPECT(store_command(c->store, clean, &run, NOW + 1000, &c->error));
    json_decref(clean);
    EXPECT(rows(c, ASK_KEPT_MESSAGES, NULL) == 0);
}

/* ---- suspension, tasks ---- */

static void held_instance(struct contract *c) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct job *job = crowd(c, of, id);
    EXPECT(job);
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)id);
    int64_t rev = job->frame_rev;
    EXPECT(contract_operate(c, "{ss ss}", "verb", "suspend_instance", "instance", text));
    INSTANCE(id, "state", "suspended");
    EXPECT(acquire_count(c, c->store, NOW) == 0);
    struct step late = step_of(id, of, rev, F2);
    EXPECT(settle_step(c, job, &late, NULL) == SETTLED_STALE);
    struct step set = step_of(id, of, rev, F2);
    step_job(&set, 0, "more", 9);
    EXPECT(settle_step(c, NULL, &set, NULL) == -1);
    char refused[64];
    snprintf(refused, sizeof refused, "instance %s is suspended", text);
    EXPECT_ERROR(refused);
    EXPECT(contract_operate(c, "{ss ss}", "verb", "activate_instance", "instance", text));
    INSTANCE(id, "state", "active");
    EXPECT(acquire_count(c, c->store, NOW) == 2);
    EXPECT(contract_operate(c, "{ss ss}", "verb", "suspend_instance", "instance", text));
    struct step cancel = step_of(id, of, rev, NULL);
    EXPECT(settle_step(c, NULL, &cancel, NULL) == -1); /* it would be completed */
    cancel.instance.ended = "cancelled";
    EXPECT(settle_step(c, NULL, &cancel, NULL) == SETTLED);
    json_t *question = json_of("{'limit': 10}");
    json_t *left = store_ask(c->store, ASK_INSTANCES, question, NOW, &c->error);
    size_t count = json_array_size(left);
    json_decref(question);
    json_decref(left);
    EXPECT(count == 0);
}

static void held_process(struct contract *c) {
    int64_t of = order(c), id = begin(c, of);
    EXPECT(contract_operate(c, "{ss ss}", "verb", "suspend_process", "process", "order"));
    struct step start = step_of(store_reserve_ids(c->store, 1, &c->error), of, 0, F1);
    EXPECT(settle_step(c, NULL, &start, NULL) == -1);
    EXPECT_ERROR("the process is suspended");
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job && job->instance_id == id);
    struct step next = step_of(id, of, job->frame_rev, F2);
    step_job(&next, 0, "pack", 4);
    EXPECT(settle_step(c, job, &next, NULL) == SETTLED && acquire_count(c, c->store, NOW) == 0);
    EXPECT(contract_operate(c, "{ss ss sb}", "verb", "activate_process", "process", "order",
                            "include_instances", 1));
    EXPECT(acquire_count(c, c->store, NOW) == 1);
    EXPECT(!contract_operate(c, "{ss ss}", "verb", "suspend_process", "process", "offer"));
    EXPECT_ERROR("unknown process \"offer\"");
}

static void assigned(struct contract *c) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct job *job = crowd(c, of, id);
    job_free(job);
    json_t *question = json_of("{'limit': 1}");
    json_t *tasks = store_ask(c->store, ASK_TASKS, question, NOW, &c->error);
    int64_t task = json_integer_value(json_object_get(json_array_get(tasks, 0), "id"));
    json_decref(question);
    json_decref(tasks);
    EXPECT(!contract_operate(c, "{ss sI ss sb}", "verb", "set_assignee", "task", (json_int_t)task,
                             "assignee", "clerk", "claim", 1));
    char claimed[64];
    snprintf(claimed, sizeof claimed, "task %lld is claimed by \"boss\"", (long long)task);
    EXPECT_ERROR(claimed);
    EXPECT(contract_operate(c, "{ss sI ss}", "verb", "set_assignee", "task", (json_int_t)task,
                            "assignee", "clerk"));
    EXPECT(rows(c, ASK_TASKS, json_of("{'assignee': 'clerk'}")) == 1);
}

/* ---- who serves them ---- */

static void by_key(struct contract *c) {
    int64_t of = order(c), id = begin(c, of);
    json_t *names = json_of("[{'name': 'process/order/other', 'properties': {}}]");
    json_t *keys = json_of("['offer']");
    struct definitions has = {0}, lacks = {0};
    EXPECT(of && id && definitions_read(&has, names) && definitions_read(&lacks, NULL) &&
           definitions_add_processes(&lacks, keys));
    struct acquire without = everything, with = everything;
    without.handlers = &lacks;
    with.handlers = &has;
    struct job *job = NULL;
    int count = 0;
    bool more = false;
    time_ms next = 0;
    EXPECT(store_acquire(c->store, &without, NOW, &job, &count, &more, &c->error) && !count);
    EXPECT(!store_misses(c->store, &without));
    EXPECT(store_missing(c->store, &without, NOW + 1000, 1, &next, &c->error));
    EXPECT(rows(c, ASK_INCIDENTS, NULL) == 0);
    json_t *profile = json_of("{'handlers': [], 'processes': ['offer']}");
    EXPECT(store_publish(c->store, profile, NOW, &c->error));
    json_t *gaps = store_unserved(c->store, NOW, &c->error);
    const char *text = json_string_value(json_object_get(json_array_get(gaps, 0), "text"));
    EXPECT(text && strcmp(text, "no live executor serves process \"order\"") == 0);
    json_decref(gaps);
    json_decref(profile);
    EXPECT(store_acquire(c->store, &with, NOW, &job, &count, &more, &c->error) && count == 1);
    job_free_list(job);
    definitions_clear(&has);
    definitions_clear(&lacks);
    json_decref(names);
    json_decref(keys);
}

/* ---- cleanup ---- */

static void cleanup(struct contract *c) {
    bool more = false;
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct step step = step_of(id, of, 0, NULL);
    EXPECT(settle_step(c, NULL, &step, NULL) == SETTLED);
    EXPECT(store_file_ended(c->store, 1000, &more, &c->error) && !more);
    EXPECT(rows(c, ASK_TRAIL, json_of("{'instance': %d}", (int)id)) == 1);
    INSTANCE(id, "removal_time", "2026-01-02T00:00:00.000Z");
    struct command_run run = {0};
    json_t *clean = json_of("{'verb': 'clean_history', 'plan': {'on_demand': true}}");
    EXPECT(store_command(c->store, clean, &run, NOW + 3600000, &c->error));
    EXPECT(rows(c, ASK_PAST, NULL) == 1);
    EXPECT(store_command(c->store, clean, &run, NOW + 86400000, &c->error));
    json_decref(clean);
    EXPECT(rows(c, ASK_PAST, NULL) == 0 && rows(c, ASK_TRAIL, NULL) == 0);
}

static const struct check checks[] = {
    {"an instance is a row with a frame, which its job is acquired with, and ends with its unit",
     begins},
    {"each job of a page has the frame of its instance, and frames count for the size of a page",
     paged},
    {"jobs outside of the lane of their instance have its frame, too", unlaned},
    {"an instance that begins and ends in one unit leaves history only", at_once},
    {"a unit whose lock is lost writes nothing", stale},
    {"a unit is behind a newer frame, gets it, and keeps its lock", behind},
    {"the units of one work item are written one after the other, with one frame", chain_written},
    {"a unit that was behind ten times has the lane of its instance until it ends", insists},
    {"the second unit of a work item is behind if the first one is", chain_behind},
    {"what waited for a token goes with it", waits},
    {"a task that a token no longer waits for is not completed in its name", completes},
    {"an instance that ends takes all that waits with it; what runs loses its lock", ends_all},
    {"what the frame says and what waits are held against each other", verified},
    {"more than a thousand jobs go with their instance", ends_many},
    {"a follow-up in the lane of its instance has the frame at hand", follows},
    {"an incident names the instance, and the question why tells it", incidents},
    {"the receivers of a message are found by name, key, instance and business key", messages},
    {"a message of a unit becomes a job of the receiver; without one the unit is refused", said},
    {"a message is kept for the next that waits for it, and not beyond its time", kept},
    {"the jobs of a suspended instance wait, and commands on it are refused, but for its end",
     held_instance},
    {"of a suspended process nothing starts, and jobs that are made wait", held_process},
    {"a task is given to somebody, and claimed only where it is nobody else's", assigned},
    {"jobs of a process are taken by its key, also those of activities that the folder lacks",
     by_key},
    {"an ended instance goes with its trail when its time to live is over", cleanup},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
