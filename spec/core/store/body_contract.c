/* body_contract.c - bodies whose turns stand outside of the frame: their rows, what guards them,
 * how they are counted, left and cleared, and that a turn costs the same in a large one. */
#include "process_step.h"
#include "store/postgres/db/connection.h"
#include "store/rules/process/turn.h"
#include <sqlite3.h>

enum { FEW = 100, MANY = 1000, TOKEN = 2 };
#define ACTIVITY "ship#multiInstanceBody"

/* A body, and a unit for it. */
struct body {
    int64_t instance, id, of;
    struct unit unit;
    struct unit_instance instance_row;
    struct unit_body row;
    struct unit_turn turns[MANY];
    struct job_spec jobs[MANY];
};

static int settle_body(struct contract *c, struct job *job, struct body *body,
                       struct job_spec *created) {
    struct job none = {0};
    enum settled settled = SETTLED;
    body->unit.instances = &body->instance_row;
    body->unit.turns = body->turns;
    body->unit.bodies = &body->row;
    struct outcome end = {.job = job ? job : &none,
                          .kind = OUTCOME_SUCCESS,
                          .started = NOW,
                          .ended = NOW,
                          .due = TIME_NONE,
                          .unit = &body->unit,
                          .created = created};
    bool done = store_settle(c->store, &end, NOW, &settled, &c->error);
    job_free(end.newer);
    return done ? (int)settled : -1;
}

/* An instance with a body of so many turns, each with a job. False: error. */
static bool begin_body(struct contract *c, struct body *body, int count) {
    static struct unit_turn turn;
    *body = (struct body){.of = order(c)};
    body->instance = store_reserve_ids(c->store, 1, &c->error);
    body->id = store_reserve_ids(c->store, 1, &c->error);
    int64_t first = store_reserve_ids(c->store, count, &c->error);
    body->instance_row = (struct unit_instance){
        .id = body->instance, .version = body->of, .started = NOW, .frame = F1};
    body->row = (struct unit_body){.id = body->id,
                                   .instance = body->instance,
                                   .token = TOKEN,
                                   .activity = ACTIVITY,
                                   .version = body->of,
                                   .turns = count};
    for (int i = 0; i < count; i++) {
        turn = (struct unit_turn){.id = first + i,
                                  .instance = body->instance,
                                  .body = body->id,
                                  .body_token = TOKEN,
                                  .version = body->of,
                                  .frame = F1};
        body->turns[i] = turn;
        body->jobs[i] = (struct job_spec){.job = {.handler = "process/order/ship",
                                                  .activity = "ship",
                                                  .instance_id = body->instance,
                                                  .execution = turn_token(turn.id, 2),
                                                  .due = TIME_NONE},
                                          .next = i + 1 < count ? &body->jobs[i + 1] : NULL};
    }
    body->unit = (struct unit){.instance_count = 1, .turn_count = (size_t)count, .body_count = 1};
    return body->of && settle_body(c, NULL, body, body->jobs) == SETTLED;
}

/* Jobs of turns that run; NULL: there are not so many. */
static struct job *take(struct contract *c, int count) {
    struct acquire some = everything;
    struct job *jobs = NULL;
    int taken = 0;
    bool more = false;
    some.want = count;
    bool done = store_acquire(c->store, &some, NOW, &jobs, &taken, &more, &c->error);
    return done && taken == count ? jobs : NULL;
}

/* What the end of a job's turn leaves; `seen` as in struct unit_body. */
static int end_turn(struct contract *c, struct body *body, struct job *job, int64_t seen) {
    body->turns[0] = (struct unit_turn){.id = turn_of_token(job->execution),
                                        .instance = body->instance,
                                        .body = body->id,
                                        .rev = job->frame_rev,
                                        .version = body->of};
    body->row =
        (struct unit_body){.id = body->id, .instance = body->instance, .ended = 1, .seen = seen};
    body->unit = (struct unit){.turn_count = 1, .body_count = 1};
    return settle_body(c, job, body, NULL);
}

/* Ends the turns of these jobs in one transaction. */
static bool end_turns(struct contract *c, struct body *body, struct job *jobs) {
    bool done = jobs && store_begin(c->store, STORE_TURN, &c->error);
    for (struct job *job = jobs; done && job; job = job->next)
        done = end_turn(c, body, job, 0) == SETTLED;
    done = done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
    job_free_list(jobs);
    return done;
}

static int64_t ended(struct contract *c) {
    return contract_number(c, "SELECT ended FROM body");
}

static int64_t leavers(struct contract *c) {
    return contract_number(c, "SELECT count(*) FROM live WHERE execution=2");
}

/* ---- counting ---- */

static void counts(struct contract *c) {
    static struct body body;
    EXPECT(begin_body(c, &body, FEW));
    EXPECT(end_turns(c, &body, take(c, 10)));
    EXPECT(ended(c) == 10 && leavers(c) == 0);
    EXPECT(contract_number(c, "SELECT count(*) FROM body_turn") == FEW - 10);
    EXPECT(end_turns(c, &body, take(c, FEW - 11)));
    EXPECT(ended(c) == FEW - 1 && leavers(c) == 0);
    EXPECT(end_turns(c, &body, take(c, 1)));
    EXPECT(ended(c) == FEW && leavers(c) == 1);
    struct job *job = take(c, 1);
    EXPECT(job && job->execution == TOKEN && strcmp(job->activity, "ship") == 0);
    EXPECT(strcmp(job->handler, "process/order/" ACTIVITY) == 0);
    EXPECT(job->lane_id == job_instance_lane(body.instance));
    job_free(job);
}

static void behind(struct contract *c) {
    static struct body body;
    EXPECT(begin_body(c, &body, FEW));
    struct job *job = take(c, 1), older = {0};
    EXPECT(job != NULL);
    older = *job;
    older.frame_rev = job->frame_rev + 1;
    EXPECT(end_turn(c, &body, &older, 0) == SETTLED_BEHIND);
    EXPECT(end_turn(c, &body, job, 2) == SETTLED_BEHIND); /* one has ended, it says */
    EXPECT(end_turn(c, &body, job, 1) == SETTLED && ended(c) == 1);
    job_free(job);
}

/* The end of one turn and of a second that says how many had ended before it, in one transaction.
 */
static void behind_together(struct contract *c) {
    static struct body body;
    EXPECT(begin_body(c, &body, FEW));
    struct job *jobs = take(c, 2);
    EXPECT(jobs && store_begin(c->store, STORE_TURN, &c->error));
    int first = end_turn(c, &body, jobs, 0);
    int none = end_turn(c, &body, jobs->next, 1), one = end_turn(c, &body, jobs->next, 2);
    job_free_list(jobs);
    EXPECT(store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error));
    EXPECT(first == SETTLED && none == SETTLED_BEHIND && one == SETTLED && ended(c) == 2);
}

/* A command ends a turn, as by the task in it. */
static void suspended(struct contract *c) {
    static struct body body;
    char text[24], refused[64];
    EXPECT(begin_body(c, &body, FEW));
    struct job *job = take(c, 1);
    EXPECT(job != NULL);
    snprintf(text, sizeof text, "%lld", (long long)body.instance);
    snprintf(refused, sizeof refused, "instance %s is suspended", text);
    EXPECT(contract_operate(c, "{ss ss}", "verb", "suspend_instance", "instance", text));
    struct job command = {.execution = job->execution, .frame_rev = job->frame_rev};
    job_free(job);
    EXPECT(end_turn(c, &body, &command, 0) == -1);
    EXPECT_ERROR(refused);
    EXPECT(contract_operate(c, "{ss ss}", "verb", "activate_instance", "instance", text));
    EXPECT(end_turn(c, &body, &command, 0) == SETTLED && ended(c) == 1);
}

/* ---- the end ---- */

/* A unit of the instance closes the body, and leaves a task. */
static bool close_body(struct contract *c, struct body *body) {
    body->instance_row =
        (struct unit_instance){.id = body->instance,
                               .version = body->of,
                               .rev = contract_number(c, "SELECT rev FROM instance"),
                               .started = NOW,
                               .frame = F2};
    body->row = (struct unit_body){.id = body->id, .instance = body->instance, .closed = 1};
    struct unit_task task = {.instance = body->instance,
                             .token = 5,
                             .activity = "approve",
                             .candidates = "{}",
                             .due = TIME_NONE};
    body->unit =
        (struct unit){.instance_count = 1, .body_count = 1, .tasks = &task, .task_count = 1};
    return settle_body(c, NULL, body, NULL) == SETTLED;
}

static void closes(struct contract *c) {
    static struct body body;
    EXPECT(begin_body(c, &body, FEW));
    struct job *job = take(c, 1);
    EXPECT(job && close_body(c, &body));
    EXPECT(end_turn(c, &body, job, 0) == SETTLED_BEHIND && ended(c) == 0 && leavers(c) == 0);
    job_free(job);
    EXPECT(contract_number(c, "SELECT closed FROM body") == 1);
    EXPECT(contract_number(c, "SELECT count(*) FROM body_turn") == FEW);
}

/* A unit moves a turn on, another one of the same transaction may close the body, and a third ends
 * the turn on the frame that the first has left. */
static int end_moved(struct contract *c, bool closed) {
    static struct body body;
    struct job *job = begin_body(c, &body, FEW) ? take(c, 1) : NULL;
    if (!job || !store_begin(c->store, STORE_TURN, &c->error))
        return -1;
    struct job command = {.execution = job->execution};
    body.turns[0] = (struct unit_turn){.id = turn_of_token(job->execution),
                                       .instance = body.instance,
                                       .body = body.id,
                                       .rev = job->frame_rev,
                                       .version = body.of,
                                       .frame = F2};
    body.unit = (struct unit){.turn_count = 1};
    bool done = settle_body(c, job, &body, NULL) == SETTLED;
    command.frame_rev = body.unit.rev;
    job_free(job);
    done = done && (!closed || close_body(c, &body));
    int settled = done ? end_turn(c, &body, &command, 0) : -1;
    return store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error) ? settled
                                                                                      : -1;
}

static void moves_on(struct contract *c) {
    EXPECT(end_moved(c, false) == SETTLED && ended(c) == 1);
    EXPECT(contract_number(c, "SELECT count(*) FROM body_turn") == FEW - 1);
}

static void closes_meanwhile(struct contract *c) {
    EXPECT(end_moved(c, true) == SETTLED_BEHIND && ended(c) == 0);
    EXPECT(contract_number(c, "SELECT count(*) FROM body_turn") == FEW);
}

/* Runs the job that clears a page. */
static bool clear_page(struct contract *c, struct body *body, struct job *jobs) {
    struct job *job = jobs;
    while (job && job->execution)
        job = job->next;
    body->row = (struct unit_body){.id = body->id, .clear = 1};
    body->unit = (struct unit){.body_count = 1};
    bool done = job && settle_body(c, job, body, NULL) == SETTLED;
    job_free_list(jobs);
    return done;
}

/* What may wait for the token of a turn, beside its job. */
static bool wait_for(struct contract *c, const struct body *body, int64_t turn) {
    char sql[512];
    const long long instance = body->instance, token = turn_token(turn, 2);
    snprintf(
        sql, sizeof sql,
        "INSERT INTO user_task(instance, token, activity, priority, created)"
        " VALUES(%lld, %lld, 'ship', 0, 1);"
        "INSERT INTO large_value(instance, n, name, data) VALUES(%lld, %lld, 'x', '1');"
        "INSERT INTO subscription(instance, token, version, kind, name, key, activity, created)"
        " VALUES(%lld, %lld, 1, 'message', 'm', '', 'ship', 1)",
        instance, token, instance, token, instance, token);
    return db_execute(&c->store->db, sql, &c->error);
}

static void clears(struct contract *c) {
    static struct body body;
    EXPECT(begin_body(c, &body, MANY));
    for (int i = 0; i < MANY; i += MANY / 5)
        EXPECT(wait_for(c, &body, body.turns[i].id));
    EXPECT(close_body(c, &body));
    EXPECT(clear_page(c, &body, take(c, MANY + 1)));
    EXPECT(contract_number(c, "SELECT count(*) FROM body_turn") == MANY - TURNS_AT_ONCE);
    EXPECT(contract_number(c, "SELECT count(*) FROM live") == MANY - TURNS_AT_ONCE + 1);
    for (int left = MANY - 2 * TURNS_AT_ONCE; left >= 0; left -= TURNS_AT_ONCE) {
        EXPECT(clear_page(c, &body, take(c, 1)));
        EXPECT(contract_number(c, "SELECT count(*) FROM body_turn") == left);
    }
    EXPECT(contract_number(c, "SELECT count(*) FROM body") == 0);
    EXPECT(contract_number(c, "SELECT count(*) FROM live") == 0);
    EXPECT(contract_number(c, "SELECT (SELECT count(*) FROM large_value)"
                              " + (SELECT count(*) FROM subscription)") == 0);
    EXPECT(contract_number(c, "SELECT token FROM user_task") == 5); /* of the instance */
}

/* What is to clear it finds nothing, and comes again. */
static void clears_not(struct contract *c) {
    static struct body body;
    EXPECT(begin_body(c, &body, FEW));
    body.row = (struct unit_body){.id = body.id, .clear = 1};
    body.unit = (struct unit){.body_count = 1};
    EXPECT(settle_body(c, NULL, &body, NULL) == SETTLED);
    EXPECT(contract_number(c, "SELECT count(*) FROM body_turn") == FEW);
}

/* What leaves it is of where it stands by now. */
static void moved(struct contract *c) {
    static struct body body;
    EXPECT(begin_body(c, &body, 1));
    body.row = (struct unit_body){.id = body.id,
                                  .instance = body.instance,
                                  .token = 9,
                                  .activity = "pack#multiInstanceBody",
                                  .version = body.of,
                                  .migrates = 1};
    body.unit = (struct unit){.body_count = 1};
    EXPECT(settle_body(c, NULL, &body, NULL) == SETTLED);
    EXPECT(end_turns(c, &body, take(c, 1)));
    struct job *job = take(c, 1);
    EXPECT(job && job->execution == 9 && strcmp(job->activity, "pack") == 0);
    EXPECT(strcmp(job->handler, "process/order/pack#multiInstanceBody") == 0);
    job_free(job);
}

/* ---- the work of a turn ---- */

static int counted(void *arg) {
    ++*(int64_t *)arg;
    return 0;
}

/* What it takes to end so many turns: statements of a server, steps of SQLite's machine. */
static int64_t work(struct contract *c, struct body *body, struct job *jobs) {
    const bool served = c->store->engine->sets;
    int64_t steps = 0, before = served ? postgres_of(c->store)->session.statements : 0;
    if (!served)
        sqlite3_progress_handler(c->store->db.handle, 1, counted, &steps);
    bool done = end_turns(c, body, jobs);
    if (!served)
        sqlite3_progress_handler(c->store->db.handle, 0, NULL, NULL);
    steps = served ? postgres_of(c->store)->session.statements - before : steps;
    return done ? steps : 0;
}

static void costs(struct contract *c) {
    static struct body few, many;
    EXPECT(begin_body(c, &few, FEW));
    EXPECT(end_turns(c, &few, take(c, 10))); /* the statements are known now */
    int64_t of_few = work(c, &few, take(c, 50));
    EXPECT(end_turns(c, &few, take(c, FEW - 60)));
    job_free(take(c, 1));
    EXPECT(begin_body(c, &many, MANY));
    int64_t of_many = work(c, &many, take(c, 50));
    EXPECT(of_few > 0 && of_many > 0 && of_many <= of_few + of_few / 20);
}

int main(void) {
    static const struct check checks[] = {
        {"turns that have ended are counted, and the last one orders what leaves the body", counts},
        {"a turn is behind another change to it, and behind a count that it has read", behind},
        {"a count that was read is behind the ends of its own transaction", behind_together},
        {"a command on a turn of a suspended instance is refused", suspended},
        {"a turn of a closed body is behind", closes},
        {"a turn ends on the frame that its transaction has left", moves_on},
        {"a turn of a body that its transaction has closed is behind", closes_meanwhile},
        {"the turns of a closed body go a page at a time, with what waits for them", clears},
        {"the turns of a body that is open are cleared by nothing", clears_not},
        {"a body that has moved is left where it stands by now", moved},
        {"a turn of a large body costs what one of a small body does", costs}};
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
