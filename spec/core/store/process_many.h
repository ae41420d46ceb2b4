/* process_many.h - many instances, whose units are settled in one turn or written as one list. For
 * the contracts of a server. */
#ifndef MOONSHIFT_SPEC_STORE_PROCESS_MANY_H
#define MOONSHIFT_SPEC_STORE_PROCESS_MANY_H

#include "process_step.h"

enum { MANY = 1000 };

/* Begins an instance whose job does not keep its lane. */
static inline bool begin_beside(struct contract *c, int64_t of) {
    int64_t id = store_reserve_ids(c->store, 1, &c->error);
    struct step step = step_of(id, of, 0, F1);
    step_job(&step, 0, "ship", 3);
    step.jobs[0].job.exclusive = false;
    step.jobs[0].job.lane_id = 0;
    return settle_step(c, NULL, &step, NULL) == SETTLED;
}

/* So many instances, each with a job; every third one not in its lane. */
static inline bool make_many(struct contract *c, int64_t of, int count) {
    bool done = store_begin(c->store, STORE_TURN, &c->error);
    for (int i = 0; done && i < count; i++)
        done = i % 3 ? begin(c, of) != 0 : begin_beside(c, of);
    return done && store_commit(c->store, &c->error);
}

/* Takes so many jobs. NULL: there are not as many. */
static inline struct job *take_many(struct contract *c, int count) {
    struct acquire all = everything;
    struct job *jobs = NULL;
    int taken = 0;
    bool more = false;
    all.want = count;
    bool done = store_acquire(c->store, &all, NOW, &jobs, &taken, &more, &c->error);
    return done && taken == count ? jobs : NULL;
}

/* The same with jobs that run. NULL: error. */
static inline struct job *begin_many(struct contract *c, int64_t of, int count) {
    return make_many(c, of, count) ? take_many(c, count) : NULL;
}

/* What the unit of a job leaves: its instance ends, or waits for a message or with a task. */
static inline void leave(struct step *step, const struct job *job, const char *frame, int at) {
    *step = step_of(job->instance_id, job->version, job->frame_rev, frame);
    if (frame && at % 2)
        step->task = (struct unit_task){.instance = job->instance_id,
                                        .token = 5,
                                        .activity = "approve",
                                        .name = "Approve",
                                        .candidates = "{}",
                                        .due = TIME_NONE};
    else if (frame)
        step->subscription = (struct unit_subscription){
            job->instance_id, 6, job->version, "message", "parcel", "p-1", "wait"};
}

/* Settles these runs in one turn, and frees them. Each gives the signal; NULL: none. */
static inline bool settle_giving(struct contract *c, struct job *jobs, const char *frame,
                                 struct unit_signal *signal) {
    static struct outcome outcomes[MANY];
    static struct step steps[MANY];
    struct capacity capacity = {.acquire = &everything}; /* as an executor has it, without room */
    enum settled settled = SETTLED;
    int count = 0;
    for (struct job *job = jobs; job; job = job->next, count++) {
        leave(&steps[count], job, frame, count);
        steps[count].unit.signals = signal;
        steps[count].unit.signal_count = signal != NULL;
        outcomes[count] = (struct outcome){.job = job,
                                           .kind = OUTCOME_SUCCESS,
                                           .started = NOW,
                                           .ended = NOW,
                                           .due = TIME_NONE,
                                           .lane_ends = true,
                                           .lane_token = job->token,
                                           .unit = step_unit(&steps[count]),
                                           .next = job->next ? &outcomes[count + 1] : NULL};
    }
    bool done = count && store_begin(c->store, STORE_TURN, &c->error);
    store_set_capacity(c->store, &capacity);
    done = done && store_settle_bulk(c->store, outcomes, &c->error);
    for (int i = 0; done && i < count; i++)
        done = store_settle(c->store, &outcomes[i], NOW, &settled, &c->error) && settled == SETTLED;
    done = done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
    job_free_list(jobs);
    return done;
}

/* The same without a signal. */
static inline bool settle_many(struct contract *c, struct job *jobs, const char *frame) {
    return settle_giving(c, jobs, frame, NULL);
}

/* Writes the steps of commands as one list; the revs of their units are those that they write. */
static inline bool command_many(struct contract *c, struct step *steps, int count) {
    static struct outcome outcomes[MANY], *list[MANY];
    static struct job none;
    const struct store_entry entry = {.verb = "command", .entity = "instance"};
    for (int i = 0; i < count; i++) {
        outcomes[i] = (struct outcome){.job = &none,
                                       .kind = OUTCOME_SUCCESS,
                                       .started = NOW,
                                       .ended = NOW,
                                       .due = TIME_NONE,
                                       .unit = step_unit(&steps[i])};
        list[i] = &outcomes[i];
    }
    bool done = store_begin(c->store, STORE_COMMAND, &c->error) &&
                store_units_ahead(c->store, list, (size_t)count, &c->error);
    for (int i = 0; done && i < count; i++)
        done = store_unit(c->store, list[i], &entry, NOW, &c->error) == YES;
    return done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
}

#endif
