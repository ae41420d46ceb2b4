/* process_turn_contract.c - what a run of a turn, or a command of a list, sees of those before it:
 * jobs that are created and not written yet, and jobs that were changed. */
#include "process_many.h"

enum { LATER = 3600000 };

/* ---- jobs that are not written yet ---- */

static bool keep(struct contract *c) {
    struct unit_message message = {.name = "parcel", .key = "p-1", .until = NOW + LATER};
    size_t at = 0;
    return store_begin(c->store, STORE_COMMAND, &c->error) &&
           store_messages_keep(c->store, &message, 1, &at, NOW, &c->error) == YES &&
           store_commit(c->store, &c->error);
}

#define BRINGERS                                                                                   \
    "SELECT count(*) FROM job j JOIN stream s ON s.id=j.stream JOIN definition d"                  \
    " ON d.id=s.definition WHERE d.name='process/order:command'"

/* Two instances begin to wait for it in one turn, or by one list. */
static void kept_in_a_turn(struct contract *c) {
    int64_t of = order(c);
    EXPECT(of && keep(c));
    struct job *jobs = make_many(c, of, 4) ? take_many(c, 4) : NULL;
    EXPECT(jobs && settle_many(c, jobs, F2)); /* every other one waits for a message */
    EXPECT(contract_number(c, "SELECT count(*) FROM subscription") == 2);
    EXPECT(contract_number(c, BRINGERS) == 1);
}

static void kept_in_a_list(struct contract *c) {
    static struct step steps[2];
    int64_t of = order(c);
    EXPECT(of && keep(c));
    for (int i = 0; i < 2; i++) {
        const struct job begun = {.instance_id = store_reserve_ids(c->store, 1, &c->error),
                                  .version = of};
        leave(&steps[i], &begun, F2, 0);
    }
    EXPECT(command_many(c, steps, 2));
    EXPECT(contract_number(c, "SELECT count(*) FROM subscription") == 2);
    EXPECT(contract_number(c, BRINGERS) == 1);
}

/* ---- jobs that were changed ---- */

/* An instance with a job that runs and one that waits with its lane: until later, or since now
 * (`due`: TIME_NONE). NULL: error. */
static struct job *begin_pair(struct contract *c, int64_t of, time_ms due) {
    struct step step = step_of(store_reserve_ids(c->store, 1, &c->error), of, 0, F1);
    step_job(&step, 0, "ship", 3);
    step_job(&step, 1, "late", 4);
    step.jobs[0].job.exclusive = false;
    step.jobs[0].job.lane_id = 0;
    step.jobs[0].job.priority = 5;
    step.jobs[0].priority_given = true;
    step.jobs[1].job.due = due;
    return settle_step(c, NULL, &step, NULL) == SETTLED ? acquire_one(c, c->store, NOW) : NULL;
}

/* In one turn a job gives this command to the job that waits, and the instance ends. */
static bool ends_behind(struct contract *c, struct job *worker, json_t *effects, struct job *job) {
    struct step step;
    enum settled settled = SETTLED;
    leave(&step, job, NULL, 0);
    struct outcome outcomes[2] = {{.job = worker, .effects = effects},
                                  {.job = job, .unit = step_unit(&step)}};
    outcomes[0].next = &outcomes[1];
    bool done = store_begin(c->store, STORE_COMMAND, &c->error);
    struct capacity capacity = {.acquire = &everything};
    store_set_capacity(c->store, &capacity);
    for (int i = 0; i < 2; i++) {
        outcomes[i].started = outcomes[i].ended = NOW;
        outcomes[i].due = TIME_NONE;
        outcomes[i].lane_ends = true;
    }
    done = done && store_settle_bulk(c->store, outcomes, &c->error);
    for (int i = 0; done && i < 2; i++)
        done = store_settle(c->store, &outcomes[i], NOW, &settled, &c->error) && settled == SETTLED;
    return done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
}

/* Nothing is left of the instance. */
static void gives(struct contract *c, time_ms due, const char *command) {
    int64_t of = order(c);
    struct job *job = of ? begin_pair(c, of, due) : NULL;
    EXPECT(job && job->execution == 3);
    int64_t waits = contract_number(c, "SELECT id FROM job WHERE execution=4");
    EXPECT(create(c, c->store, (struct job){.retries = 3, .priority = 9}, NOW));
    struct job *worker = acquire_one(c, c->store, NOW);
    EXPECT(worker && !worker->instance_id);
    json_t *effects = json_of(command, (int)waits);
    bool done = effects && ends_behind(c, worker, effects, job);
    json_decref(effects);
    job_free(worker);
    job_free(job);
    EXPECT(done);
    EXPECT(contract_number(c, "SELECT count(*) FROM live") == 0);
    EXPECT(contract_number(c, "SELECT count(*) FROM incident WHERE ended IS NULL") == 0);
    EXPECT(contract_number(c, "SELECT count(*) FROM ended WHERE outcome=3") == 1);
}

static void dead_letter(struct contract *c) {
    gives(c, NOW + LATER, "[{'verb': 'dead_letter', 'ids': %d}]");
}

static void no_retries(struct contract *c) {
    gives(c, TIME_NONE, "[{'verb': 'set_retries', 'ids': %d, 'retries': 0}]");
}

static void suspended(struct contract *c) {
    gives(c, NOW + LATER, "[{'verb': 'suspend', 'ids': %d}]");
}

static void sooner(struct contract *c) {
    gives(c, NOW + LATER, "[{'verb': 'set_due', 'ids': %d, 'due': '2026-01-01T00:00:00Z'}]");
}

static const struct check checks[] = {
    {"a kept message is given once to those that begin to wait for it in one turn", kept_in_a_turn},
    {"… and to those of one list", kept_in_a_list},
    {"a job that was dead-lettered goes with its instance in the same turn, and so does its"
     " incident",
     dead_letter},
    {"… and one whose retries were taken", no_retries},
    {"… and one that was suspended", suspended},
    {"… and a timer that became due", sooner},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
