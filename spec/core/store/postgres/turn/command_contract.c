/* command_contract.c - a command is written with one wait, as if nothing had changed since it was
 * read; and as ever if something has. Run with spec/postgres/contracts. */
#include "../../process_step.h"
#include "store/postgres/db/connection.h"

/* Reads what the command is about, as every program does in front of its walk. */
static bool reach(struct contract *c, struct store_reach *to, int64_t instance) {
    store_reach_clear(to);
    *to = (struct store_reach){.instance = instance, .now = NOW, .until = NOW + 60000};
    return store_reach(c->store, to, &c->error) == YES;
}

static enum answer give_unit(struct contract *c, struct step *step, const struct store_reach *to,
                             const char *verb) {
    struct job none = {0};
    const struct store_entry entry = {verb, "instance", NULL, NULL, step->instance.id, {to->hold}};
    struct outcome end = {.job = &none,
                          .kind = OUTCOME_SUCCESS,
                          .started = NOW,
                          .ended = NOW,
                          .due = TIME_NONE,
                          .unit = step_unit(step),
                          .created = step->jobs[0].job.handler ? step->jobs : NULL};
    enum answer done = store_unit(c->store, &end, &entry, NOW, &c->error);
    job_free(end.newer);
    return done;
}

static int64_t rev_of(const struct store_reach *to) {
    return json_integer_value(json_object_get(to->frame, "rev"));
}

/* Puts this frame into the place of the one that was read. */
static enum answer set_frame(struct contract *c, const struct store_reach *to, int64_t of,
                             const char *frame) {
    struct step step =
        step_of(json_integer_value(json_object_get(to->frame, "id")), of, rev_of(to), frame);
    return give_unit(c, &step, to, "set_variables");
}

/* Gives two commands: what the next one builds on is known. 0: error. */
static int64_t learn(struct contract *c, int64_t of, int64_t id, struct store_reach *to) {
    for (int i = 0; id && i < 2; i++)
        id = reach(c, to, id) && set_frame(c, to, of, F1) == YES ? id : 0;
    return id;
}

/* An instance behind two commands. */
static int64_t known(struct contract *c, int64_t of, struct store_reach *to) {
    return learn(c, of, begin(c, of), to);
}

static int64_t waits(struct contract *c) {
    return postgres_of(c->store)->session.waits;
}

/* Does it in a store of another program. */
static bool elsewhere(struct contract *c, bool (*change)(struct contract *c, int64_t id),
                      int64_t id) {
    struct store *own = c->store;
    c->store = store_open(c->url, STORE_WRITE, &c->settings, &c->error);
    bool done = c->store && change(c, id);
    store_close(c->store);
    c->store = own;
    return done;
}

static void unchanged(struct contract *c) {
    struct store_reach to = {0};
    int64_t of = order(c), id = known(c, of, &to), before = waits(c);
    EXPECT(reach(c, &to, id) && waits(c) == before + 1);
    EXPECT(set_frame(c, &to, of, F2) == YES && waits(c) == before + 2);
    FRAME(id, F2);
    EXPECT(reach(c, &to, id) && to.hold.token != 0); /* the lane was given back */
    store_reach_clear(&to);
}

static bool move_frame(struct contract *c, int64_t id) {
    json_t *question = json_of("{'instance': %d}", (int)id);
    json_t *frame = store_ask(c->store, ASK_FRAME, question, NOW, &c->error);
    struct step step = step_of(id, json_integer_value(json_object_get(frame, "version")),
                               json_integer_value(json_object_get(frame, "rev")), F3);
    json_decref(question);
    json_decref(frame);
    return settle_step(c, NULL, &step, NULL) == SETTLED;
}

/* One more instance, into which the walk has come. */
static bool reach_beside(struct contract *c, struct store_reach *to, int64_t instance) {
    *to = (struct store_reach){
        .instance = instance, .beside = true, .now = NOW, .until = NOW + 60000};
    return store_reach(c->store, to, &c->error) == YES;
}

/* What was read of both is built on. */
static void unchanged_beside(struct contract *c) {
    struct store_reach to = {0}, other = {0};
    int64_t of = order(c), id = known(c, of, &to), second = begin(c, of), before = waits(c);
    EXPECT(second != 0 && learn(c, of, id, &to) == id);
    before = waits(c);
    EXPECT(reach(c, &to, id) && reach_beside(c, &other, second) && waits(c) == before + 2);
    EXPECT(set_frame(c, &other, of, F2) == YES && waits(c) == before + 3);
    FRAME(second, F2);
    store_reach_clear(&to);
    store_reach_clear(&other);
}

/* The frame of either one moves on before the unit of the second one is written. */
static void behind_beside(struct contract *c) {
    struct store_reach to = {0}, other = {0};
    int64_t of = order(c), id = known(c, of, &to), second = begin(c, of);
    for (int i = 0; i < 2; i++) {
        EXPECT(second != 0 && learn(c, of, id, &to) == id);
        EXPECT(reach(c, &to, id) && reach_beside(c, &other, second));
        EXPECT(elsewhere(c, move_frame, i ? second : id));
        int64_t before = waits(c);
        EXPECT(set_frame(c, &other, of, F2) == (i ? NO : YES) && waits(c) > before + 1);
        FRAME(second, i ? F3 : F2);
        store_reach_clear(&to);
        store_reach_clear(&other);
    }
}

static void behind(struct contract *c) {
    struct store_reach to = {0};
    int64_t of = order(c), id = known(c, of, &to);
    const int entries = rows(c, ASK_OPERATIONS, NULL);
    EXPECT(reach(c, &to, id) && elsewhere(c, move_frame, id));
    EXPECT(set_frame(c, &to, of, F2) == NO);
    FRAME(id, F3);
    EXPECT(rows(c, ASK_OPERATIONS, NULL) == entries);
    store_reach_clear(&to);
}

/* It leaves the frame as it is. */
static bool add_job(struct contract *c, int64_t id) {
    json_t *cause = json_of("{'kind': 'set', 'instance': %d, 'variables': {}}", (int)id);
    struct store_order given = {.key = "order", .instance = id, .activity = "ship", .cause = cause};
    bool done = store_begin(c->store, STORE_COMMAND, &c->error) &&
                store_order(c->store, &given, NOW, &c->error) && store_commit(c->store, &c->error);
    json_decref(cause);
    return done;
}

static void waits_more(struct contract *c) {
    struct store_reach to = {0};
    int64_t of = order(c), id = known(c, of, &to);
    EXPECT(reach(c, &to, id) && elsewhere(c, add_job, id));
    EXPECT(rows(c, ASK_JOBS, NULL) == 2);
    EXPECT(set_frame(c, &to, of, NULL) == YES);
    EXPECT(rows(c, ASK_JOBS, NULL) == 0 && rows(c, ASK_PAST, NULL) == 1);
    store_reach_clear(&to);
}

static bool suspend(struct contract *c, int64_t id) {
    struct command_run run = {0};
    json_t *object = json_of("{'verb': 'suspend_instance', 'instance': '%d'}", (int)id);
    bool done = store_command(c->store, object, &run, NOW, &c->error);
    json_decref(object);
    return done;
}

static void suspended(struct contract *c) {
    struct store_reach to = {0};
    int64_t of = order(c), id = known(c, of, &to);
    EXPECT(reach(c, &to, id) && elsewhere(c, suspend, id));
    struct step step = step_of(id, of, rev_of(&to), F2);
    EXPECT(give_unit(c, &step, &to, "complete") == FAILED);
    EXPECT(strstr(c->error.text, "is suspended"));
    FRAME(id, F1);
    store_reach_clear(&to);
}

/* Reads what a new instance begins with. */
static bool reach_start(struct contract *c, struct store_reach *to) {
    store_reach_clear(to);
    *to = (struct store_reach){.process = "order", .now = NOW, .until = NOW + 60000};
    return store_reach(c->store, to, &c->error) == YES;
}

static enum answer start(struct contract *c, int64_t of, int64_t id, const struct store_reach *to) {
    struct step step = step_of(id, of, 0, F1);
    step_job(&step, 0, "ship", 3);
    return give_unit(c, &step, to, "start");
}

static bool suspend_process(struct contract *c, int64_t id) {
    (void)id;
    return contract_operate(c, "{ss ss}", "verb", "suspend_process", "process", "order");
}

static void process_suspended(struct contract *c) {
    struct store_reach to = {0};
    int64_t of = order(c), id = known(c, of, &to);
    int64_t first = store_reserve_ids(c->store, 2, &c->error);
    EXPECT(id && learn(c, of, id, &to) == id && reach_start(c, &to));
    int64_t before = waits(c);
    EXPECT(start(c, of, first, &to) == YES && waits(c) == before + 1);
    EXPECT(reach_start(c, &to) && elsewhere(c, suspend_process, 0));
    EXPECT(start(c, of, first + 1, &to) == FAILED);
    EXPECT_ERROR("the process is suspended");
    store_reach_clear(&to);
}

/* More than were drawn. */
static void many_numbers(struct contract *c) {
    enum { TASKS = 200 };
    static struct unit_task tasks[TASKS];
    struct store_reach to = {0};
    int64_t of = order(c), id = known(c, of, &to);
    EXPECT(reach(c, &to, id));
    struct step step = step_of(id, of, rev_of(&to), F2);
    struct unit *unit = step_unit(&step);
    for (int i = 0; i < TASKS; i++)
        tasks[i] = (struct unit_task){.instance = id,
                                      .token = 10 + i,
                                      .activity = "approve",
                                      .name = "Approve",
                                      .candidates = "{}",
                                      .due = TIME_NONE};
    unit->tasks = tasks;
    unit->task_count = TASKS;
    struct job none = {0};
    const struct store_entry entry = {"set_variables", "instance", NULL, NULL, id, {to.hold}};
    struct outcome end = {.job = &none, .kind = OUTCOME_SUCCESS, .due = TIME_NONE, .unit = unit};
    EXPECT(store_unit(c->store, &end, &entry, NOW, &c->error) == YES);
    EXPECT(rows(c, ASK_TASKS, NULL) == TASKS);
    EXPECT(contract_number(c, "SELECT max(id) FROM user_task") <
           contract_number(c, "SELECT value FROM meta WHERE key='next_id'"));
    store_reach_clear(&to);
}

static int64_t pages(struct contract *c) {
    return contract_number(c, "SELECT count(*) FROM lock_page");
}

/* Locks of other runs are none of its business, unless jobs go with it. */
static void pages_stay(struct contract *c) {
    enum { PAGE = 100 };
    struct acquire all = everything;
    struct store_reach to = {0};
    struct job *jobs = NULL;
    int taken = 0;
    bool more = false;
    int64_t of = order(c), id = begin(c, of);
    struct job *own = acquire_one(c, c->store, NOW); /* those in a lane are in no page */
    for (int i = 0; i < PAGE; i++)
        create(c, c->store, (struct job){0}, NOW);
    EXPECT(learn(c, of, id, &to) == id);
    all.want = PAGE;
    EXPECT(store_acquire(c->store, &all, NOW, &jobs, &taken, &more, &c->error) && pages(c) == 1);
    EXPECT(reach(c, &to, id) && set_frame(c, &to, of, F2) == YES && pages(c) == 1);
    EXPECT(reach(c, &to, id) && set_frame(c, &to, of, NULL) == YES && pages(c) == 0);
    job_free_list(jobs);
    job_free(own);
    store_reach_clear(&to);
}

/* Ends the connection of the store under test. */
static bool cut(struct contract *c, int64_t backend) {
    int64_t ended = 0;
    db_value(&c->store->db, &c->error, &ended, "SELECT pg_terminate_backend(?1::int, 60000)", "i",
             backend);
    return ended;
}

static void lost(struct contract *c) {
    struct store_reach to = {0};
    int64_t of = order(c), id = known(c, of, &to);
    EXPECT(reach(c, &to, id));
    EXPECT(elsewhere(c, cut, PQbackendPID(postgres_of(c->store)->session.link)));
    EXPECT(set_frame(c, &to, of, F2) == YES);
    FRAME(id, F2);
    EXPECT(reach(c, &to, id) && set_frame(c, &to, of, F3) == YES);
    FRAME(id, F3);
    store_reach_clear(&to);
}

/* As if another server had written last. */
static bool move_server(struct contract *c, int64_t id) {
    return id &&
           db_run(&c->store->db, &c->error, "UPDATE meta SET value=1 WHERE key='timeline'", "");
}

/* It moves all numbers on: those that were drawn before may be given a second time. */
static void another_server(struct contract *c) {
    struct store_reach to = {0};
    int64_t of = order(c), id = known(c, of, &to);
    EXPECT(reach(c, &to, id) && elsewhere(c, move_server, id));
    EXPECT(set_frame(c, &to, of, F2) == YES);
    for (int i = 0; i < 3; i++) {
        EXPECT(reach(c, &to, id) && rev_of(&to) > 1000000);
        EXPECT(set_frame(c, &to, of, F1) == YES);
    }
    store_reach_clear(&to);
}

static const struct check checks[] = {
    {"a command waits once to read, and once to write", unchanged},
    {"a command reads one more instance with one more wait", unchanged_beside},
    {"a frame that has moved meanwhile stays as it is", behind},
    {"so does that of one more instance", behind_beside},
    {"a job that was created meanwhile goes with its instance", waits_more},
    {"an instance that was suspended meanwhile is not moved", suspended},
    {"of a process that was suspended meanwhile no instance begins", process_suspended},
    {"a command that makes more than numbers were drawn for is written", many_numbers},
    {"a command leaves the locks of other runs as they are", pages_stay},
    {"a command that meets another server draws its numbers anew", another_server},
    {"a command whose connection is lost meanwhile is written once", lost},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
