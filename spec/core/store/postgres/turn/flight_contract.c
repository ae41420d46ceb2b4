/* flight_contract.c - a turn or a list that writes units of many instances waits for the server as
 * often as one that writes a few, and sends as many statements. Run with spec/postgres/contracts.
 */
#include "../../process_many.h"
#include "asked.h"
#include "store/rules/job/locks.h"

enum { FEW = 100 };

static int64_t count_of(struct contract *c, const char *sql) {
    int64_t count = -1;
    return db_value(&c->store->db, &c->error, &count, sql, "") == YES ? count : -1;
}

/* ---- turns ---- */

static struct asked turn(struct contract *c, struct job *jobs, const char *frame) {
    struct asked before = asked_now(c);
    return asked_since(c, before, settle_many(c, jobs, frame));
}

static void as_often(struct contract *c, const char *frame) {
    int64_t of = order(c);
    EXPECT(of != 0);
    turn(c, begin_many(c, of, FEW), frame); /* definitions are known now */
    struct asked few = turn(c, begin_many(c, of, FEW), frame);
    struct asked many = turn(c, begin_many(c, of, MANY), frame);
    EXPECT(as_much(few, many));
}

static void ends(struct contract *c) {
    as_often(c, NULL);
    EXPECT(count_of(c, "SELECT count(*) FROM past") == 2 * FEW + MANY);
}

static void goes_on(struct contract *c) {
    as_often(c, F2);
    EXPECT(count_of(c, "SELECT count(*) FROM subscription") == FEW + MANY / 2);
    EXPECT(count_of(c, "SELECT count(*) FROM user_task") == FEW + MANY / 2);
}

/* ---- what follows in the lane ---- */

/* Each run creates the next job of its instance. Returns how many follow at once; -1: error. */
static int settle_followed(struct contract *c, struct job *jobs) {
    static struct outcome outcomes[MANY];
    static struct step steps[MANY];
    struct capacity capacity = {.acquire = &everything, .follows = MANY};
    enum settled settled = SETTLED;
    int count = 0, follow = 0;
    for (struct job *job = jobs; job; job = job->next, count++) {
        leave(&steps[count], job, F2, count);
        step_job(&steps[count], 0, "pack", 4);
        outcomes[count] = (struct outcome){.job = job,
                                           .kind = OUTCOME_SUCCESS,
                                           .started = NOW,
                                           .ended = NOW,
                                           .due = TIME_NONE,
                                           .lane_ends = true,
                                           .lane_token = job->token,
                                           .unit = step_unit(&steps[count]),
                                           .created = steps[count].jobs,
                                           .next = job->next ? &outcomes[count + 1] : NULL};
    }
    bool done = count && store_begin(c->store, STORE_TURN, &c->error);
    store_set_capacity(c->store, &capacity);
    done = done && store_settle_bulk(c->store, outcomes, &c->error);
    for (int i = 0; done && i < count; i++)
        done = store_settle(c->store, &outcomes[i], NOW, &settled, &c->error) && settled == SETTLED;
    done = done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
    for (int i = 0; i < count; i++) {
        follow += outcomes[i].follows != NULL;
        job_free_list(outcomes[i].follows);
    }
    job_free_list(jobs);
    return done ? follow : -1;
}

static struct asked followed(struct contract *c, int64_t of, int count) {
    bool done = store_begin(c->store, STORE_TURN, &c->error);
    for (int i = 0; done && i < count; i++)
        done = begin(c, of) != 0;
    struct job *jobs = done && store_commit(c->store, &c->error) ? take_many(c, count) : NULL;
    struct asked before = asked_now(c);
    return asked_since(c, before, settle_followed(c, jobs) == count);
}

static void follows(struct contract *c) {
    int64_t of = order(c);
    EXPECT(of != 0 && followed(c, of, 10).waits > 0);
    struct asked few = followed(c, of, 10);
    struct asked many = followed(c, of, FEW);
    EXPECT(as_much(few, many));
}

/* ---- several jobs of an instance ---- */

/* So many instances with two jobs each, beside their lanes. */
static bool make_pairs(struct contract *c, int64_t of, int count) {
    bool done = store_begin(c->store, STORE_TURN, &c->error);
    for (int i = 0; done && i < count; i++) {
        struct step step = step_of(store_reserve_ids(c->store, 1, &c->error), of, 0, F1);
        for (int at = 0; at < 2; at++) {
            step_job(&step, at, "ship", 3 + at);
            step.jobs[at].job.exclusive = false;
            step.jobs[at].job.lane_id = 0;
        }
        done = settle_step(c, NULL, &step, NULL) == SETTLED;
    }
    return done && store_commit(c->store, &c->error);
}

/* What is refused has failed, as the executor has it. */
static bool settle_or_fail(struct contract *c, struct outcome *outcome) {
    static char message[] = "it broke";
    enum settled settled = SETTLED;
    bool done = store_settle(c->store, outcome, NOW, &settled, &c->error);
    if (!done && outcome->undone) {
        outcome->kind = OUTCOME_FAILURE;
        outcome->message = message;
        outcome->created = NULL;
        outcome->unit = NULL;
        done = store_settle(c->store, outcome, NOW, &settled, &c->error);
    }
    return done && settled == SETTLED;
}

/* The runs end in one turn: the first of an instance as `first`, having created `child` (NULL:
 * nothing), and the second one ends it. */
static bool settle_pairs(struct contract *c, struct job *jobs, enum outcome_kind first,
                         struct job_spec *child) {
    static struct outcome outcomes[MANY];
    static struct step steps[MANY];
    struct capacity capacity = {.acquire = &everything};
    int count = 0;
    for (struct job *job = jobs; job; job = job->next, count++) {
        outcomes[count] = (struct outcome){.job = job,
                                           .kind = count % 2 ? OUTCOME_SUCCESS : first,
                                           .started = NOW,
                                           .ended = NOW,
                                           .due = TIME_NONE,
                                           .lane_ends = true,
                                           .next = job->next ? &outcomes[count + 1] : NULL};
        leave(&steps[count], job, NULL, count);
        outcomes[count].unit = step_unit(&steps[count]);
        steps[count].unit.instance_count = count % 2;
        outcomes[count].created = count % 2 ? NULL : child;
    }
    bool done = count && store_begin(c->store, STORE_TURN, &c->error);
    store_set_capacity(c->store, &capacity);
    done = done && store_settle_bulk(c->store, outcomes, &c->error);
    for (int i = 0; done && i < count; i++)
        done = settle_or_fail(c, &outcomes[i]);
    done = done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
    job_free_list(jobs);
    return done;
}

static struct asked turn_of_pairs(struct contract *c, int64_t of, int count,
                                  enum outcome_kind first) {
    struct job *jobs = make_pairs(c, of, count) ? take_many(c, 2 * count) : NULL;
    struct asked before = asked_now(c);
    return asked_since(c, before, settle_pairs(c, jobs, first, NULL));
}

static void pairs(struct contract *c) {
    int64_t of = order(c);
    EXPECT(of != 0 && turn_of_pairs(c, of, FEW, OUTCOME_SUCCESS).waits > 0);
    struct asked few = turn_of_pairs(c, of, FEW, OUTCOME_SUCCESS);
    struct asked many = turn_of_pairs(c, of, MANY / 2, OUTCOME_SUCCESS);
    EXPECT(as_much(few, many));
    EXPECT(count_of(c, "SELECT count(*) FROM past") == 2 * FEW + MANY / 2);
    EXPECT(count_of(c, "SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM locks)") == 0);
}

/* A job that goes back is one that waits: it is cancelled as its instance ends. */
static void half_ended(struct contract *c) {
    int64_t of = order(c);
    EXPECT(of != 0 && turn_of_pairs(c, of, 3, OUTCOME_RETURNED).waits > 0);
    EXPECT(count_of(c, "SELECT count(*) FROM past") == 3);
    EXPECT(count_of(c, "SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM ready)") == 0);
}

/* A success whose follow-up is refused is undone: its job waits again, until its instance ends. */
static void refused_ended(struct contract *c) {
    struct job_spec child = {
        .job = {.handler = "child", .unique_key = "key", .due = NOW + LEASE, .retries = 3},
        .on_conflict = ON_CONFLICT_REFUSE};
    int64_t of = order(c);
    struct job *jobs =
        of && create_spec(c, c->store, child, NOW) && make_pairs(c, of, 3) ? take_many(c, 6) : NULL;
    EXPECT(jobs && settle_pairs(c, jobs, OUTCOME_SUCCESS, &child));
    EXPECT(count_of(c, "SELECT count(*) FROM past") == 3);
    EXPECT(count_of(c, "SELECT count(*) FROM job WHERE instance_id<>0") == 0);
}

/* ---- jobs of instances are taken ---- */

/* Fewer than two pages of ready jobs. */
enum { PAGE = 900 };

/* Each job has the frame of its own instance. */
static bool are_framed(const struct job *jobs) {
    for (; jobs; jobs = jobs->next)
        if (!jobs->frame || strcmp(jobs->frame, F1) != 0 || !jobs->frame_rev)
            return false;
    return true;
}

static struct asked take_framed(struct contract *c, int64_t of, int count) {
    if (!make_many(c, of, count))
        return (struct asked){0, 0};
    struct asked before = asked_now(c);
    struct job *jobs = take_many(c, count);
    struct asked asked = asked_since(c, before, jobs && are_framed(jobs));
    return settle_many(c, jobs, NULL) ? asked : (struct asked){0, 0};
}

static void frames(struct contract *c) {
    int64_t of = order(c);
    EXPECT(of != 0);
    take_framed(c, of, FEW); /* the statements are known now, and that most jobs have lanes */
    struct asked few = take_framed(c, of, FEW);
    struct asked many = take_framed(c, of, PAGE);
    EXPECT(as_much(few, many));
}

/* ---- what an executor gives up ---- */

/* Takes so many of the jobs, each in a lane, and gives all up as one does that leaves or is dead.
 */
static struct asked give_up(struct contract *c, int count) {
    struct store_reaped reaped = {0};
    const struct locks_free all = {.owner = c->store->self.id, .now = NOW, .reaped = &reaped};
    struct job *jobs = take_many(c, count);
    bool own = false, taken = jobs != NULL;
    job_free_list(jobs);
    struct asked before = asked_now(c);
    bool done = taken && unit_begin(c->store, STORE_COMMAND, &own, &c->error) &&
                unit_end(c->store, own, locks_free(c->store, &all, &c->error), &c->error);
    return asked_since(c, before, done && reaped.freed == count);
}

static void given_up(struct contract *c) {
    int64_t of = order(c);
    EXPECT(of != 0 && make_many(c, of, PAGE));
    give_up(c, FEW); /* the statements are known now */
    struct asked few = give_up(c, FEW);
    struct asked many = give_up(c, PAGE);
    EXPECT(as_much(few, many));
    EXPECT(count_of(c, "SELECT count(*) FROM ready") == PAGE);
    EXPECT(count_of(c, "SELECT (SELECT count(*) FROM locks) + (SELECT count(*) FROM lane)") == 0);
}

/* ---- lists of commands ---- */

enum verb { START, COMPLETE, CORRELATE, SET, CANCEL, VERBS };

/* The task of an instance. */
static int64_t task_of(struct contract *c, int64_t instance) {
    int64_t id = 0;
    return db_value(&c->store->db, &c->error, &id, "SELECT id FROM user_task WHERE instance=?1",
                    "i", instance) == YES
               ? id
               : 0;
}

/* What a command leaves of an instance that has a task and waits for a message. */
static struct step step_of_verb(struct contract *c, enum verb verb, int64_t id, int64_t of,
                                int64_t rev) {
    struct step step = step_of(id, of, rev, verb == CANCEL ? NULL : F2);
    switch (verb) {
    case START:
        leave(&step, &(struct job){.instance_id = id, .version = of}, F1, 0);
        step.task = (struct unit_task){.instance = id,
                                       .token = 5,
                                       .activity = "approve",
                                       .candidates = "{}",
                                       .due = TIME_NONE};
        break;
    case COMPLETE:
        step.left = (struct unit_wait){id, 5, UNIT_TASK, task_of(c, id)};
        break;
    case CORRELATE:
        step.left = (struct unit_wait){id, 6, UNIT_SUBSCRIPTION, 0};
        break;
    case SET:
    case CANCEL:
    case VERBS:
        break;
    }
    return step;
}

/* A list that does this with each instance, whose revs it moves on. */
static struct asked command(struct contract *c, enum verb verb, int64_t of, const int64_t *ids,
                            int64_t *revs, int count) {
    static struct step steps[MANY];
    for (int i = 0; i < count; i++)
        steps[i] = step_of_verb(c, verb, ids[i], of, revs[i]);
    struct asked before = asked_now(c);
    struct asked asked = asked_since(c, before, command_many(c, steps, count));
    for (int i = 0; i < count; i++)
        revs[i] = steps[i].unit.rev;
    return asked;
}

/* All verbs, one after another. */
static bool command_all(struct contract *c, int64_t of, int count, struct asked *asked) {
    static int64_t ids[MANY], revs[MANY];
    int64_t first = store_reserve_ids(c->store, count, &c->error);
    for (int i = 0; i < count; i++) {
        ids[i] = first + i;
        revs[i] = 0;
    }
    for (int verb = 0; verb < VERBS; verb++)
        asked[verb] = command(c, (enum verb)verb, of, ids, revs, count);
    return first != 0;
}

static void lists(struct contract *c) {
    struct asked few[VERBS], many[VERBS];
    int64_t of = order(c);
    EXPECT(of != 0 && command_all(c, of, FEW, few)); /* the statements are known now */
    EXPECT(command_all(c, of, FEW, few) && command_all(c, of, MANY, many));
    for (int verb = 0; verb < VERBS; verb++)
        EXPECT(as_much(few[verb], many[verb]));
    EXPECT(count_of(c, "SELECT count(*) FROM past") == 2 * FEW + MANY);
    EXPECT(count_of(c, "SELECT count(*) FROM operation") == VERBS * (2 * FEW + MANY));
}

/* ---- what a list reads before it walks ---- */

static json_t *question_of(enum ask_kind kind, int64_t instance) {
    return kind == ASK_FRAME ? json_pack("{sI}", "instance", (json_int_t)instance)
                             : json_pack("{ss ss sI}", "name", "parcel", "key", "p-1", "instance",
                                         (json_int_t)instance);
}

/* Asks about so many instances; false: an answer is not of its instance. */
static bool ask_many(struct contract *c, enum ask_kind kind, const int64_t *ids, int count) {
    json_t *questions = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(questions, question_of(kind, ids[i]));
    json_t *answers = store_ask_many(c->store, kind, questions, NOW, &c->error);
    bool done = json_array_size(answers) == (size_t)count;
    for (int i = 0; done && i < count; i++) {
        const json_t *one = json_array_get(answers, (size_t)i);
        const json_t *found = kind == ASK_FRAME ? one : json_array_get(one, 0);
        const char *name = kind == ASK_FRAME ? "id" : "instance";
        done = json_integer_value(json_object_get(found, name)) == ids[i];
    }
    json_decref(questions);
    json_decref(answers);
    return done;
}

static bool hold_many(struct contract *c, const int64_t *ids, int count) {
    static struct lane_want wants[MANY];
    size_t held = 0;
    for (int i = 0; i < count; i++)
        wants[i] = (struct lane_want){
            {.lane = job_instance_lane(ids[i])}, ids[i], false, NOW, NOW + 1000, 0};
    bool done =
        store_lanes_hold(c->store, wants, (size_t)count, &held, &c->error) && held == (size_t)count;
    for (int i = 0; done && i < count; i++)
        done = wants[i].hold.token && wants[i].rev;
    done = done && store_begin(c->store, STORE_HOLD, &c->error);
    for (int i = 0; done && i < count; i++)
        done = store_lane_release(c->store, &wants[i].hold, &c->error);
    return done && store_commit(c->store, &c->error);
}

/* What is asked about instances that wait, and their lanes. */
static bool read_many(struct contract *c, const int64_t *ids, int count, struct asked *asked) {
    struct asked before = asked_now(c);
    asked[0] = asked_since(c, before, ask_many(c, ASK_FRAME, ids, count));
    before = asked_now(c);
    asked[1] = asked_since(c, before, ask_many(c, ASK_RECEIVERS, ids, count));
    before = asked_now(c);
    asked[2] = asked_since(c, before, hold_many(c, ids, count));
    return true;
}

static void reads(struct contract *c) {
    static int64_t ids[MANY], revs[MANY];
    struct asked few[3], many[3];
    int64_t of = order(c), first = store_reserve_ids(c->store, MANY, &c->error);
    EXPECT(of != 0 && first != 0);
    for (int i = 0; i < MANY; i++)
        ids[i] = first + i;
    EXPECT(command(c, START, of, ids, revs, MANY).waits > 0);
    read_many(c, ids, FEW, few); /* the statements are known now */
    read_many(c, ids, FEW, few);
    read_many(c, ids, MANY, many);
    for (int i = 0; i < 3; i++)
        EXPECT(as_much(few[i], many[i]));
}

/* Behind one that is taken no lane is held: lists wait for each other in one order. */
static void one_taken(struct contract *c) {
    struct lane_want wants[3], taken;
    size_t held = 9;
    int64_t of = order(c), ids[3];
    for (int i = 0; i < 3; i++) {
        EXPECT((ids[i] = begin(c, of)) != 0);
        wants[i] = (struct lane_want){
            {.lane = job_instance_lane(ids[i])}, ids[i], false, NOW, NOW + 1000, 0};
    }
    taken = wants[1];
    EXPECT(store_lane_hold(c->store, &taken, &c->error) == YES);
    EXPECT(store_lanes_hold(c->store, wants, 3, &held, &c->error) && held == 1);
    EXPECT(wants[0].hold.token && wants[0].rev && !wants[1].hold.token && !wants[2].hold.token);
    EXPECT(store_lane_hold(c->store, &wants[2], &c->error) == YES);
    wants[0].now = NOW + 1001; /* what a command has held too long is free */
    wants[1].now = NOW + 1001;
    EXPECT(store_lanes_hold(c->store, wants, 2, &held, &c->error) && held == 2);
}

/* ---- one job ---- */

enum { WARM = 17 }; /* behind so many jobs ids are drawn for as many more */

/* Waits for the creation of one job; 0: that is not what has become of it. */
static int64_t waits_to_create(struct contract *c, const char *key, time_ms until,
                               enum creation wanted) {
    char name[16];
    snprintf(name, sizeof name, "%s", key ? key : "");
    struct job_spec spec =
        completed((struct job_spec){.job = {.unique_key = key ? name : NULL, .retries = 3}});
    spec.unique_until = until;
    struct asked before = asked_now(c);
    bool done = store_enqueue(c->store, &spec, NOW, &c->error);
    return asked_since(c, before, done && spec.reply.creation == wanted).waits;
}

static void alone(struct contract *c) {
    for (int i = 0; i < WARM; i++) { /* statements and definitions are known now */
        char key[16];
        snprintf(key, sizeof key, "before %d", i);
        EXPECT(waits_to_create(c, key, NOW + 1000, CREATION_CREATED));
    }
    EXPECT(waits_to_create(c, NULL, TIME_NONE, CREATION_CREATED) == 2);
    EXPECT(waits_to_create(c, "a", TIME_NONE, CREATION_CREATED) == 2);
    EXPECT(waits_to_create(c, "b", NOW + 1000, CREATION_CREATED) == 2);
    EXPECT(waits_to_create(c, "a", TIME_NONE, CREATION_KEPT) > 2);
    EXPECT(waits_to_create(c, "b", NOW + 1000, CREATION_KEPT) > 2);
    EXPECT(count_of(c, "SELECT count(*) FROM job") == WARM + 3);
    EXPECT(count_of(c, "SELECT count(*) FROM unique_key u JOIN job j ON j.id=u.job"
                       " AND j.unique_key=u.key") == WARM + 2);
}

/* ---- jobs that go with a unit ---- */

/* An instance with two jobs in its lane, of which the second is parked, and one beside the lane,
 * which runs. NULL: error. */
static struct job *begin_parked(struct contract *c, int64_t of) {
    struct step step = step_of(store_reserve_ids(c->store, 1, &c->error), of, 0, F1);
    for (int at = 0; at < 3; at++)
        step_job(&step, at, "ship", 3 + at);
    step.jobs[2].job.exclusive = false;
    step.jobs[2].job.lane_id = 0;
    step.jobs[2].job.priority = 5;
    step.jobs[2].priority_given = true;
    bool done =
        settle_step(c, NULL, &step, NULL) == SETTLED &&
        store_begin(c->store, STORE_TURN, &c->error) &&
        db_run(&c->store->db, &c->error,
               "WITH gone AS (DELETE FROM ready WHERE id=(SELECT id FROM job WHERE"
               " execution=4) RETURNING *) INSERT INTO parked(lane, stream, rank, place, id)"
               " SELECT lane, stream, rank, place, id FROM gone",
               "") &&
        store_commit(c->store, &c->error);
    return done ? take_many(c, 1) : NULL;
}

static void shows_the_next(struct contract *c) {
    int64_t of = order(c);
    struct job *job = of ? begin_parked(c, of) : NULL;
    EXPECT(job && job->execution == 5);
    struct step step = step_of(job->instance_id, of, job->frame_rev, F2);
    step.left = (struct unit_wait){job->instance_id, 3, UNIT_JOB, 0};
    struct outcome end = {.job = job,
                          .kind = OUTCOME_SUCCESS,
                          .started = NOW,
                          .ended = NOW,
                          .due = TIME_NONE,
                          .lane_ends = true,
                          .unit = step_unit(&step)};
    struct capacity capacity = {.acquire = &everything};
    enum settled settled = SETTLED;
    EXPECT(store_begin(c->store, STORE_TURN, &c->error));
    store_set_capacity(c->store, &capacity);
    EXPECT(store_settle_bulk(c->store, &end, &c->error) &&
           store_settle(c->store, &end, NOW, &settled, &c->error) && settled == SETTLED);
    EXPECT(end.way == WAY_KEPT);
    EXPECT(store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error));
    job_free_list(job);
    EXPECT(count_of(c, "SELECT count(*) FROM job") == 1);
    EXPECT(count_of(c, "SELECT count(*) FROM ready r JOIN job j ON j.id=r.id WHERE execution=4") ==
           1);
    EXPECT(count_of(c, "SELECT count(*) FROM parked") == 0);
    EXPECT(count_of(c, "SELECT count(*) FROM ended WHERE outcome=3") == 1);
}

/* Its end is told to whoever runs it. */
static void goes_alone(struct contract *c) {
    int64_t of = order(c);
    struct job *job = of && make_pairs(c, of, 1) ? take_many(c, 2) : NULL;
    EXPECT(job && job->next);
    struct step step;
    leave(&step, job, NULL, 0);
    EXPECT(settle_step(c, job_copy(job), &step, NULL) == SETTLED);
    EXPECT(count_of(c, "SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM locks)") == 0);
    EXPECT(count_of(c, "SELECT count(*) FROM ended WHERE outcome=3") == 1);
    EXPECT(count_of(c, "SELECT value FROM meta WHERE key='cuts'") == 1);
    job_free_list(job);
}

static const struct check checks[] = {
    {"a job is created in two waits, with a unique key that is free as without", alone},
    {"what a list reads and the lanes that it holds cost as many waits for many", reads},
    {"a list holds no lane behind one that is taken", one_taken},
    {"a list of commands waits as often for many as for a few, whatever they do", lists},
    {"the frames for a page of jobs cost as many waits for many", frames},
    {"what an executor holds goes back with as many waits for many", given_up},
    {"a turn in which instances end waits as often for many as for a few", ends},
    {"a turn whose runs are followed in their lanes waits as often for many as for a few", follows},
    {"a turn in which all jobs of instances end waits as often for many as for a few", pairs},
    {"a job that goes back in the turn in which its instance ends is cancelled", half_ended},
    {"so is one whose success is undone", refused_ended},
    {"what is parked behind a job that goes with a unit is shown", shows_the_next},
    {"a job that runs loses its lock as its instance ends", goes_alone},
    {"a turn in which instances go on waits as often for many as for a few", goes_on},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
