/* process_step.h - a unit with one instance of a process, and what a check puts into it. For the
 * contracts of processes. */
#ifndef MOONSHIFT_SPEC_STORE_PROCESS_STEP_H
#define MOONSHIFT_SPEC_STORE_PROCESS_STEP_H

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

/* A unit with one instance, and what else a check puts into it. */
struct step {
    struct unit unit;
    struct unit_instance instance, second; /* second: id 0: there is none */
    struct unit_wait left;
    struct unit_subscription subscription;
    struct unit_task task;
    struct unit_trail trail;
    struct job_spec jobs[3];
    struct unit_instance both[2];
    bool goes_on; /* its job is not the last of its item */
};

static inline struct step step_of(int64_t id, int64_t of, int64_t rev, const char *frame) {
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
static inline void step_job(struct step *step, int at, const char *activity, int64_t token) {
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

static inline struct unit *step_unit(struct step *step) {
    struct unit *unit = &step->unit;
    step->both[0] = step->instance;
    step->both[1] = step->second;
    unit->instances = step->both;
    unit->left = &step->left;
    unit->subscriptions = &step->subscription;
    unit->tasks = &step->task;
    unit->trail = &step->trail;
    unit->trail_count = 1;
    unit->instance_count = step->second.id ? 2 : 1;
    unit->left_count = step->left.instance != 0;
    unit->subscription_count = step->subscription.instance != 0;
    unit->task_count = step->task.instance != 0;
    return unit;
}

/* Settles the step as the end of the job, which it frees; NULL: a command. -1: error. *newer: of a
 * step that is behind. */
static inline int settle_step(struct contract *c, struct job *job, struct step *step,
                              struct job **newer) {
    struct job none = {0};
    enum settled settled = SETTLED;
    struct outcome end = {.job = job ? job : &none,
                          .kind = OUTCOME_SUCCESS,
                          .started = NOW,
                          .ended = NOW,
                          .due = TIME_NONE,
                          .lane_ends = !step->goes_on,
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
static inline int64_t begin(struct contract *c, int64_t of) {
    int64_t id = store_reserve_ids(c->store, 1, &c->error);
    struct step step = step_of(id, of, 0, F1);
    step_job(&step, 0, "ship", 3);
    return settle_step(c, NULL, &step, NULL) == SETTLED ? id : 0;
}

/* An instance with a running job, one beside it, a task and a subscription. */
static inline struct job *crowd(struct contract *c, int64_t of, int64_t id) {
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

#endif
