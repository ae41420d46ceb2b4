/* process_contract.c - instances of processes: what a unit writes, whole or not at all. */
#include "process_step.h"
#include "store/rules/process/lane.h"

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

/* Settles a run that found nothing to do on the frame that it had. */
static int skip(struct contract *c, struct job *job, struct job **newer) {
    enum settled settled = SETTLED;
    struct unit nothing = {0};
    struct outcome end = {.job = job,
                          .kind = OUTCOME_SKIPPED,
                          .unit = &nothing,
                          .started = NOW,
                          .ended = NOW,
                          .due = TIME_NONE,
                          .lane_ends = true,
                          .lane_token = job->token};
    bool done = store_settle(c->store, &end, NOW, &settled, &c->error);
    *newer = end.newer;
    job_free(job);
    return done ? (int)settled : -1;
}

static void skips(struct contract *c) {
    struct job *newer = NULL, *none = NULL;
    int64_t of = order(c), id = begin(c, of);
    struct job *job = acquire_one(c, c->store, NOW);
    EXPECT(job);
    struct step set = step_of(id, of, job->frame_rev, F2);
    step_job(&set, 0, "pack", 4);
    EXPECT(settle_step(c, NULL, &set, NULL) == SETTLED);
    EXPECT(skip(c, job, &newer) == SETTLED_BEHIND && newer && strcmp(newer->frame, F2) == 0);
    EXPECT(skip(c, newer, &none) == SETTLED && !none);
    EXPECT(matches(c, "{}") == 1);
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

/* Begins an instance (of a root, or 0) with a job outside of its lane, which is locked. */
static struct job *count_beside(struct contract *c, int64_t of, int64_t id, int64_t root) {
    struct step step = step_of(id, of, 0, F1);
    step.instance.root = step.instance.parent = root;
    step_job(&step, 0, "count", 3);
    step.jobs[0].job.exclusive = false;
    step.jobs[0].job.lane_id = 0;
    return settle_step(c, NULL, &step, NULL) == SETTLED ? acquire_one(c, c->store, NOW) : NULL;
}

/* A run outside of the lane, and an exclusive job that comes meanwhile. */
static void insists(struct contract *c) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct job *job = count_beside(c, of, id, 0);
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

/* Two runs outside of the lane, whose handlers have read what they write. */
static void contends(struct contract *c) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct step step = step_of(id, of, 0, F1);
    struct job *jobs[2], *newer = NULL;
    for (int i = 0; i < 2; i++) {
        step_job(&step, i, "count", 3 + i);
        step.jobs[i].job.exclusive = false;
        step.jobs[i].job.lane_id = 0;
    }
    EXPECT(settle_step(c, NULL, &step, NULL) == SETTLED);
    for (int i = 0; i < 2; i++)
        EXPECT((jobs[i] = acquire_one(c, c->store, NOW)));
    struct job *second = job_copy(jobs[1]);
    int64_t rev = jobs[0]->frame_rev;
    struct step set = step_of(id, of, rev, F2);
    EXPECT(settle_step(c, NULL, &set, NULL) == SETTLED);
    struct step behind = step_of(id, of, rev, F3);
    behind.unit.contends = true;
    EXPECT(settle_step(c, jobs[0], &behind, &newer) == SETTLED_BEHIND && newer);
    EXPECT(newer->lane_held == job_instance_lane(id));
    struct step waits = step_of(id, of, newer->frame_rev, F1); /* on the newest frame */
    EXPECT(settle_step(c, jobs[1], &waits, NULL) == SETTLED_WAITS);
    FRAME(id, F2);
    struct step again = step_of(id, of, newer->frame_rev, F3);
    EXPECT(settle_step(c, newer, &again, NULL) == SETTLED);
    FRAME(id, F3);
    struct step late = step_of(id, of, rev, F1);
    late.unit.contends = true;
    EXPECT(settle_step(c, second, &late, &newer) == SETTLED_BEHIND && newer);
    EXPECT(newer->lane_held == job_instance_lane(id));
    struct step last = step_of(id, of, newer->frame_rev, NULL);
    EXPECT(settle_step(c, newer, &last, NULL) == SETTLED);
    INSTANCE(id, "state", "completed");
}

/* An exclusive run whose handler has read what it writes has its lane already. */
static void contends_in_lane(struct contract *c) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct step step = step_of(id, of, 0, F1);
    struct job *jobs[2], *newer = NULL;
    step_job(&step, 0, "count", 3);
    step_job(&step, 1, "count", 4);
    step.jobs[1].job.exclusive = false;
    step.jobs[1].job.lane_id = 0;
    EXPECT(settle_step(c, NULL, &step, NULL) == SETTLED);
    for (int i = 0; i < 2; i++)
        EXPECT((jobs[i] = acquire_one(c, c->store, NOW)));
    const int in_lane = jobs[0]->lane_id ? 0 : 1;
    struct job *outside = jobs[1 - in_lane], *later = job_copy(outside);
    int64_t rev = outside->frame_rev;
    struct step set = step_of(id, of, rev, F2);
    EXPECT(settle_step(c, NULL, &set, NULL) == SETTLED);
    struct step waits =
        step_of(id, of, rev, F3); /* for the lane that runs, before it walks again */
    waits.unit.contends = true;
    EXPECT(settle_step(c, outside, &waits, NULL) == SETTLED_WAITS);
    struct step behind = step_of(id, of, rev, F3);
    behind.unit.contends = true;
    EXPECT(settle_step(c, jobs[in_lane], &behind, &newer) == SETTLED_BEHIND && newer);
    EXPECT(newer->lane_held == newer->lane_id);
    struct job *now = job_copy(later);
    struct step fine = step_of(id, of, newer->frame_rev, F1);
    EXPECT(settle_step(c, now, &fine, NULL) == SETTLED_WAITS);
    struct step again = step_of(id, of, newer->frame_rev, F3);
    EXPECT(settle_step(c, newer, &again, NULL) == SETTLED);
    struct step last = step_of(id, of, again.unit.rev, NULL);
    EXPECT(settle_step(c, later, &last, NULL) == SETTLED);
    INSTANCE(id, "state", "completed");
}

/* An exclusive run of one instance, which ends with another one. */
static struct step end_both(const struct job *job, int64_t of, int64_t other, int64_t rev) {
    struct step step = step_of(job->instance_id, of, job->frame_rev, NULL);
    step.second = step_of(other, of, rev, NULL).instance;
    return step;
}

static void insists_on_second(struct contract *c) {
    int64_t of = order(c), above = store_reserve_ids(c->store, 1, &c->error);
    struct job *run = count_beside(c, of, above, 0), *newer = NULL, *again = NULL;
    EXPECT(run);
    int64_t rev = run->frame_rev;
    struct step set = step_of(above, of, rev, F2);
    EXPECT(settle_step(c, NULL, &set, NULL) == SETTLED);
    struct step behind = step_of(above, of, rev, F3);
    behind.unit.contends = true;
    EXPECT(settle_step(c, run, &behind, &newer) == SETTLED_BEHIND && newer);
    int64_t below = begin(c, of);
    struct job *job = below ? acquire_one(c, c->store, NOW) : NULL;
    EXPECT(job && job->lane_id == job_instance_lane(below));
    struct step waits = end_both(job, of, above, newer->frame_rev);
    EXPECT(settle_step(c, job_copy(job), &waits, NULL) == SETTLED_WAITS);
    struct step first = end_both(job, of, above, newer->frame_rev); /* of several */
    first.goes_on = true;
    EXPECT(settle_step(c, job_copy(job), &first, &again) == SETTLED_BEHIND && again);
    EXPECT(!again->lane_held);
    job_free(again);
    FRAME(above, F2);
    struct step end = step_of(above, of, newer->frame_rev, F1);
    EXPECT(settle_step(c, newer, &end, NULL) == SETTLED);
    struct step late = end_both(job, of, above, end.unit.rev);
    EXPECT(settle_step(c, job, &late, NULL) == SETTLED);
    INSTANCE(above, "state", "completed");
    EXPECT(contract_number(c, "SELECT count(*) FROM lane") == 0);
}

/* A command insists with the lane beside the one that it holds. */
static void command_insists(struct contract *c) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct job *job = count_beside(c, of, id, 0);
    struct lane_want want = {
        .hold = {job_instance_lane(id), 0}, .instance = id, .now = NOW, .until = NOW + LEASE};
    struct lane_hold beside;
    EXPECT(job && store_lane_hold(c->store, &want, &c->error) == YES && want.rev == job->frame_rev);
    EXPECT(store_begin(c->store, STORE_HOLD, &c->error) &&
           store_lane_insist(c->store, &want.hold, &beside, &c->error) &&
           store_commit(c->store, &c->error));
    struct step waits = step_of(id, of, job->frame_rev, F2);
    EXPECT(settle_step(c, job_copy(job), &waits, NULL) == SETTLED_WAITS);
    EXPECT(store_begin(c->store, STORE_HOLD, &c->error) &&
           store_lane_release(c->store, &want.hold, &c->error) &&
           store_lane_release(c->store, &beside, &c->error));
    EXPECT(store_commit(c->store, &c->error));
    struct step fine = step_of(id, of, job->frame_rev, NULL);
    EXPECT(settle_step(c, job, &fine, NULL) == SETTLED);
    EXPECT(contract_number(c, "SELECT count(*) FROM lane") == 0);
}

/* What ends an instance waits for no run, also for none that insists. */
static void ends_beside(struct contract *c) {
    int64_t of = order(c), id = store_reserve_ids(c->store, 1, &c->error);
    struct job *job = count_beside(c, of, id, 0), *newer = NULL;
    EXPECT(job);
    struct step set = step_of(id, of, job->frame_rev, F2);
    EXPECT(settle_step(c, NULL, &set, NULL) == SETTLED);
    struct step behind = step_of(id, of, job->frame_rev, F3);
    behind.unit.contends = true;
    EXPECT(settle_step(c, job, &behind, &newer) == SETTLED_BEHIND && newer->lane_held);
    struct lane_want want = {.hold = {newer->lane_held, 0},
                             .instance = id,
                             .ends = true,
                             .now = NOW,
                             .until = NOW + LEASE};
    EXPECT(store_lane_hold(c->store, &want, &c->error) == YES);
    EXPECT(want.hold.lane == ~newer->lane_held);
    EXPECT(store_begin(c->store, STORE_HOLD, &c->error) &&
           store_lane_release(c->store, &want.hold, &c->error) &&
           store_commit(c->store, &c->error));
    struct step end = step_of(id, of, newer->frame_rev, NULL);
    EXPECT(settle_step(c, newer, &end, NULL) == SETTLED);
}

static void insists_on_root(struct contract *c) {
    int64_t of = order(c), root = store_reserve_ids(c->store, 1, &c->error);
    struct step above = step_of(root, of, 0, F1);
    EXPECT(settle_step(c, NULL, &above, NULL) == SETTLED);
    struct job *job = count_beside(c, of, store_reserve_ids(c->store, 1, &c->error), root);
    EXPECT(job && !job->lane_id);
    const struct write_rules *own = c->store->rules;
    struct write_rules rules = *own;
    const struct outcome run = {.job = job, .lane_token = job->token};
    rules.lane_of_root = true;
    job->behind = 9;
    EXPECT(store_begin(c->store, STORE_TURN, &c->error));
    c->store->rules = &rules;
    enum answer insists = lane_insist(c->store, &run, job, &c->error);
    c->store->rules = own;
    EXPECT(insists == YES && job->lane_held == job_instance_lane(root));
    EXPECT(lane_give_back(c->store, &run, &c->error) && store_commit(c->store, &c->error));
    EXPECT(contract_number(c, "SELECT count(*) FROM lane") == 0);
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

#define SHAPE1 "{\"v\":1,\"next\":9,\"scopes\":[[1,0,\"\"]%s],\"tokens\":[%s]}"
#define BODY ",[2,1,\"ship#multiInstanceBody\",null,[%d,0,%d,[[3,%d,0]]]]"

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

/* What the unit creates for its own lane runs next. Its frame is the lane's: see lane_frames.h. */
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
    EXPECT(follower && !follower->frame && follower->version == of &&
           atoll(follower->instance) == id);
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

static const struct check checks[] = {
    {"an instance is a row with a frame, which its job is acquired with, and ends with its unit",
     begins},
    {"each job of a page has the frame of its instance, and frames count for the size of a page",
     paged},
    {"jobs outside of the lane of their instance have its frame, too", unlaned},
    {"an instance that begins and ends in one unit leaves history only", at_once},
    {"a unit whose lock is lost writes nothing", stale},
    {"a unit is behind a newer frame, gets it, and keeps its lock", behind},
    {"a run that found nothing to do is right about the newest frame alone", skips},
    {"the units of one work item are written one after the other, with one frame", chain_written},
    {"a unit that was behind ten times has the lane of its instance until it ends", insists},
    {"… or of its root, if lanes are those of roots", insists_on_root},
    {"a unit that has read what it writes has it with the first conflict; others wait", contends},
    {"an exclusive one insists on the lane in which it runs", contends_in_lane},
    {"… and waits where it moves another instance on whose lane a run insists", insists_on_second},
    {"a command insists on a lane that it holds", command_insists},
    {"one that ends an instance has the lane beside a run that insists", ends_beside},
    {"the second unit of a work item is behind if the first one is", chain_behind},
    {"what waited for a token goes with it", waits},
    {"a task that a token no longer waits for is not completed in its name", completes},
    {"an instance that ends takes all that waits with it; what runs loses its lock", ends_all},
    {"what the frame says and what waits are held against each other", verified},
    {"more than a thousand jobs go with their instance", ends_many},
    {"a follow-up in the lane of its instance has the frame at hand", follows},
    {"an incident names the instance, and the question why tells it", incidents},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
