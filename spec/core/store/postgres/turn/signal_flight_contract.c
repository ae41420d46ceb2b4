/* signal_flight_contract.c - turns whose units give signals: what they ask of the server, and whom
 * the signals reach. Run with spec/postgres/contracts. */
#include "../../process_many.h"
#include "asked.h"

enum { FEW = 100 };

static int64_t count_of(struct contract *c, const char *sql) {
    int64_t count = -1;
    return db_value(&c->store->db, &c->error, &count, sql, "") == YES ? count : -1;
}

static struct unit_signal signal_of(const char *name) {
    return (struct unit_signal){.name = name, .until = TIME_NONE, .priority = TIME_NONE};
}

static struct asked turn_giving(struct contract *c, int64_t of, int count,
                                struct unit_signal *signal) {
    struct job *jobs = begin_many(c, of, count);
    struct asked before = asked_now(c);
    return asked_since(c, before, settle_giving(c, jobs, F2, signal));
}

static void unheard(struct contract *c) {
    int64_t of = order(c);
    struct unit_signal signal = signal_of("shipped");
    EXPECT(of != 0);
    turn_giving(c, of, FEW, &signal); /* definitions are known now */
    struct asked few = turn_giving(c, of, FEW, &signal);
    struct asked many = turn_giving(c, of, MANY, &signal);
    EXPECT(as_much(few, many));
}

static int64_t bringers(struct contract *c) {
    return count_of(c, "SELECT count(*) FROM job j JOIN stream s ON s.id=j.stream JOIN definition"
                       " d ON d.id=s.definition WHERE d.name='process/order:command'");
}

/* So many instances begin to wait for the signal. */
static bool wait_for_signal(struct contract *c, int64_t of, int count) {
    bool done = true;
    for (int i = 0; done && i < count; i++) {
        int64_t id = store_reserve_ids(c->store, 1, &c->error);
        struct step step = step_of(id, of, 0, F1);
        step.subscription = (struct unit_subscription){id, 6, of, "signal", "shipped", "", "wait"};
        done = settle_step(c, NULL, &step, NULL) == SETTLED;
    }
    return done;
}

/* waits 0: it was not brought to three instances by each. The next turn takes none of the jobs. */
static struct asked turn_bringing(struct contract *c, int64_t of, int count,
                                  struct unit_signal *signal) {
    struct asked asked = turn_giving(c, of, count, signal);
    bool done = bringers(c) == 3 * count &&
                db_execute(&c->store->db, "DELETE FROM ready; DELETE FROM parked; DELETE FROM job",
                           &c->error);
    return done ? asked : (struct asked){0};
}

/* Each unit brings it to three instances. What is asked of the server is that of one unit. */
static void heard_often(struct contract *c) {
    enum { SOME = 30, MORE = 300 };
    int64_t of = order(c);
    struct unit_signal signal = signal_of("shipped");
    EXPECT(of != 0 && wait_for_signal(c, of, 3));
    turn_bringing(c, of, 10, &signal); /* definitions are known now */
    struct asked few = turn_bringing(c, of, SOME, &signal);
    struct asked many = turn_bringing(c, of, MORE, &signal);
    EXPECT(few.waits > 0 && few.waits == many.waits);
}

/* Three units that give the signal and go on; each may be changed before they are settled. */
struct three {
    struct step steps[3];
    struct outcome outcomes[3];
};

static void fill(struct three *three, struct job *jobs, struct unit_signal *signal) {
    int at = 0;
    for (struct job *job = jobs; job; job = job->next, at++) {
        struct step *step = &three->steps[at];
        leave(step, job, F2, 1);
        step->unit.signals = signal;
        step->unit.signal_count = 1;
        three->outcomes[at] = (struct outcome){.job = job,
                                               .started = NOW,
                                               .ended = NOW,
                                               .due = TIME_NONE,
                                               .lane_ends = true,
                                               .lane_token = job->token,
                                               .next = job->next ? &three->outcomes[at + 1] : NULL};
    }
}

static void give_none(struct three *three, int at) {
    three->steps[at].unit.signals = NULL;
    three->steps[at].unit.signal_count = 0;
}

/* In one turn; the jobs are freed. */
static bool settle_three(struct contract *c, struct three *three) {
    struct capacity capacity = {.acquire = &everything};
    enum settled settled = SETTLED;
    for (int i = 0; i < 3; i++)
        three->outcomes[i].unit = step_unit(&three->steps[i]);
    bool done = store_begin(c->store, STORE_TURN, &c->error);
    store_set_capacity(c->store, &capacity);
    done = done && store_settle_bulk(c->store, three->outcomes, &c->error);
    for (int i = 0; done && i < 3; i++)
        done = store_settle(c->store, &three->outcomes[i], NOW, &settled, &c->error);
    done = done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
    job_free_list(three->outcomes[0].job);
    return done;
}

/* Half of the instances are there for each of them, and one that began to wait in the same turn. */
static void heard(struct contract *c) {
    static struct three three;
    int64_t of = order(c);
    struct unit_signal signal = signal_of("shipped");
    EXPECT(of != 0 && turn_giving(c, of, 10, &signal).waits > 0 && bringers(c) == 0);
    struct job *jobs = begin_many(c, of, 3);
    EXPECT(jobs);
    fill(&three, jobs, &signal);
    give_none(&three, 0);
    three.steps[0].subscription = (struct unit_subscription){
        jobs->instance_id, 6, jobs->version, "signal", "shipped", "", "wait"};
    EXPECT(settle_three(c, &three) && bringers(c) == 2);
}

/* An instance that waits for the signal and has a job. */
static bool begin_waiting(struct contract *c, int64_t of) {
    int64_t id = store_reserve_ids(c->store, 1, &c->error);
    struct step step = step_of(id, of, 0, F1);
    step_job(&step, 0, "ship", 3);
    step.subscription = (struct unit_subscription){id, 6, of, "signal", "shipped", "", "wait"};
    return settle_step(c, NULL, &step, NULL) == SETTLED;
}

/* The second of three units leaves what waits for the signal that the others give. Three others
 * wait all the time; the definition of the jobs is known. */
static void left_between(struct contract *c) {
    static struct three three;
    int64_t of = order(c);
    struct unit_signal signal = signal_of("shipped");
    EXPECT(of != 0 && wait_for_signal(c, of, 3) && turn_bringing(c, of, 10, &signal).waits > 0);
    EXPECT(begin(c, of) && begin_waiting(c, of) && begin(c, of));
    struct job *jobs = take_many(c, 3);
    EXPECT(jobs);
    fill(&three, jobs, &signal);
    give_none(&three, 1);
    three.steps[1].left = (struct unit_wait){jobs->next->instance_id, 6, UNIT_SUBSCRIPTION, 0};
    EXPECT(settle_three(c, &three) && bringers(c) == 2 * 3 + 1);
}

static const struct check checks[] = {
    {"a turn whose signals nothing waits for waits as often for many as for a few", unheard},
    {"a turn whose signals are heard waits as often for many as for a few", heard_often},
    {"what begins to wait for a signal in the turn in which it is given gets it", heard},
    {"what ceases to wait for a signal between two that give it does not get the second",
     left_between},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
