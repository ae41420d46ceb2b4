/* flight_contract.c - a turn or a list that writes units of many instances waits for the server as
 * often as one that writes a few, and sends as many statements. Run with spec/postgres/contracts.
 */
#include "../../process_many.h"
#include "store/postgres/db/connection.h"

enum { FEW = 100 };

static int64_t count_of(struct contract *c, const char *sql) {
    int64_t count = -1;
    return db_value(&c->store->db, &c->error, &count, sql, "") == YES ? count : -1;
}

/* What has been asked of the server; waits 0: what was to be asked has failed. */
struct asked {
    int64_t waits, statements;
};

static struct asked asked_now(struct contract *c) {
    const struct session *session = &postgres_of(c->store)->session;
    return (struct asked){session->waits, session->statements};
}

static struct asked asked_since(struct contract *c, struct asked before, bool done) {
    const struct asked now = asked_now(c);
    const struct asked none = {0};
    return done ? (struct asked){now.waits - before.waits, now.statements - before.statements}
                : none;
}

static bool as_much(struct asked few, struct asked many) {
    return few.waits > 0 && few.waits == many.waits && few.statements == many.statements;
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

static const struct check checks[] = {
    {"a list of commands waits as often for many as for a few, whatever they do", lists},
    {"a turn in which instances end waits as often for many as for a few", ends},
    {"a turn in which instances go on waits as often for many as for a few", goes_on},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
