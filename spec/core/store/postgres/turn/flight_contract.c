/* flight_contract.c - a turn that writes units of many instances waits for the server as often as
 * one that writes a few. Run with spec/postgres/contracts. */
#include "../../process_step.h"
#include "store/postgres/db/connection.h"

enum { FEW = 8, MANY = 64 };

/* So many instances, each with a job that runs. NULL: error. */
static struct job *begin_many(struct contract *c, int64_t of, int count) {
    struct acquire all = everything;
    struct job *jobs = NULL;
    int taken = 0;
    bool more = false;
    all.want = count;
    for (int i = 0; i < count; i++)
        if (!begin(c, of))
            return NULL;
    bool done = store_acquire(c->store, &all, NOW, &jobs, &taken, &more, &c->error);
    return done && taken == count ? jobs : NULL;
}

/* What the unit of a job leaves: its instance ends, or waits for a message or with a task. */
static void leave(struct step *step, const struct job *job, const char *frame, int at) {
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

/* How often the turn waits that settles these runs; -1: it has not settled all of them. */
static int64_t turn(struct contract *c, struct job *jobs, const char *frame) {
    static struct outcome outcomes[MANY];
    static struct step steps[MANY];
    const struct session *session = &postgres_of(c->store)->session;
    int64_t before = session->waits;
    enum settled settled = SETTLED;
    int count = 0;
    for (struct job *job = jobs; job; job = job->next, count++) {
        leave(&steps[count], job, frame, count);
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
    struct capacity capacity = {.acquire = &everything}; /* as an executor has it, without room */
    bool done = count && store_begin(c->store, STORE_TURN, &c->error);
    store_set_capacity(c->store, &capacity);
    done = done && store_settle_bulk(c->store, outcomes, &c->error);
    for (int i = 0; done && i < count; i++)
        done = store_settle(c->store, &outcomes[i], NOW, &settled, &c->error) && settled == SETTLED;
    done = done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
    job_free_list(jobs);
    return done ? session->waits - before : -1;
}

/* The same number of waits for a few and for many. */
static void as_often(struct contract *c, const char *frame) {
    int64_t of = order(c);
    EXPECT(of != 0);
    turn(c, begin_many(c, of, FEW), frame); /* definitions are known now */
    int64_t few = turn(c, begin_many(c, of, FEW), frame);
    int64_t many = turn(c, begin_many(c, of, MANY), frame);
    EXPECT(few > 0 && many == few);
}

static void ends(struct contract *c) {
    as_often(c, NULL);
    EXPECT(rows(c, ASK_PAST, NULL) == 2 * FEW + MANY);
}

static void goes_on(struct contract *c) {
    as_often(c, F2);
    EXPECT(rows(c, ASK_SUBSCRIPTIONS, NULL) == FEW + MANY / 2);
    EXPECT(rows(c, ASK_TASKS, NULL) == FEW + MANY / 2);
}

static const struct check checks[] = {
    {"a turn in which instances end waits as often for many as for a few", ends},
    {"a turn in which instances go on waits as often for many as for a few", goes_on},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
