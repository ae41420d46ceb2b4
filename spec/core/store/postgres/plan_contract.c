/* plan_contract.c - no statement of a turn or a creation reads or sorts a whole table, whatever the
 * tables hold. Run with spec/postgres/contracts. */
#include "../process_many.h"
#include "base/json.h"

#define LIST 500     /* jobs that are created at once */
#define SORTED 10000 /* rows; estimates for what comes from arrays are a thousand or less */

/* ---- the work whose statements are looked at ---- */

static bool declare(struct contract *c) {
    static char names[2][8] = {"work", "narrow"}, file[] = "handlers/work.lua";
    struct definition list[2] = {{.name = names[0], .file = file, .properties = json_object()},
                                 {.name = names[1],
                                  .file = file,
                                  .limit = 100,
                                  .rate = {.count = 1000, .window = 60000},
                                  .properties = json_object()}};
    struct definitions definitions = {.count = 2, .list = list};
    struct store_deployment deployment = {.name = "x", .hash = "h", .definitions = &definitions};
    int64_t id = 0;
    bool done = store_deploy(c->store, &deployment, NULL, NOW, &id, &c->error);
    json_decref(list[0].properties);
    json_decref(list[1].properties);
    return done;
}

/* A list with jobs of all kinds. */
static bool create_list(struct contract *c) {
    static struct job_spec specs[LIST];
    static char texts[LIST][2][16];
    static int key;
    for (int i = 0; i < LIST; i++) {
        struct job job = {.retries = 3, .priority = i % 3};
        snprintf(texts[i][0], sizeof texts[i][0], "lane %d", i % 40);
        snprintf(texts[i][1], sizeof texts[i][1], "key %d", key++);
        job.lane = i % 5 == 0 ? texts[i][0] : NULL;
        job.unique_key = i % 7 == 0 ? texts[i][1] : NULL;
        job.due = i % 11 == 0 ? NOW + i : 0;
        job.tenant = i % 13 == 0 ? texts[i][0] : NULL;
        job.handler = i % 9 == 0 ? "narrow" : NULL;
        specs[i] = completed((struct job_spec){.job = job});
        specs[i].next = i + 1 < LIST ? &specs[i + 1] : NULL;
    }
    return store_create(c->store, specs, 0, NOW, &c->error) &&
           create(c, c->store, (struct job){.retries = 3}, NOW);
}

static struct outcome end_of(struct job *job, int i) {
    static char message[] = "no answer", result[] = "1";
    struct outcome outcome = {.job = job,
                              .started = NOW,
                              .ended = NOW,
                              .due = TIME_NONE,
                              .lane_ends = true,
                              .lane_token = job->token};
    if (i % 6 == 0 && i % 7 != 1)
        outcome.result = result;
    if (i % 7 == 1)
        outcome.kind = OUTCOME_RETURNED;
    if (i % 3 == 0 || i % 7 == 1)
        return outcome;
    outcome.kind = OUTCOME_FAILURE;
    outcome.decided = true;
    outcome.message = message;
    outcome.retries = i % 3 == 1 ? job->retries - 1 : 0;
    outcome.due = i % 4 == 1 ? NOW + 1 : TIME_NONE;
    return outcome;
}

static bool settle_all(struct contract *c, struct job *jobs) {
    static struct outcome outcomes[LIST];
    enum settled settled = SETTLED;
    int count = 0;
    for (struct job *job = jobs; job && count < LIST; job = job->next, count++) {
        outcomes[count] = end_of(job, count);
        outcomes[count].next = job->next && count + 1 < LIST ? &outcomes[count + 1] : NULL;
    }
    bool done = count == 0 || store_settle_bulk(c->store, outcomes, &c->error);
    for (int i = 0; done && i < count; i++)
        done = store_settle(c->store, &outcomes[i], NOW, &settled, &c->error);
    return done && store_settle_end(c->store, &c->error);
}

/* Every second time as an executor does beside others. */
static bool take(struct contract *c, struct job **taken) {
    static int turns;
    struct acquire all = everything;
    time_ms at = 0;
    int count = 0;
    bool more = false;
    all.want = LIST;
    all.unread = ++turns % 2;
    return store_promote(c->store, NOW + LIST, LIST, &count, &c->error) &&
           store_acquire(c->store, &all, NOW + LIST, taken, &count, &more, &c->error) &&
           store_next(c->store, NOW, &at, &c->error);
}

/* Settles the jobs and takes others. */
static bool turn(struct contract *c, struct job **jobs) {
    struct job *taken = NULL;
    bool done = store_begin(c->store, STORE_TURN, &c->error) &&
                store_renew(c->store, NOW, LEASE, &c->error) && settle_all(c, *jobs);
    done = done && take(c, &taken) && store_commit(c->store, &c->error);
    job_free_list(*jobs);
    *jobs = taken;
    return done;
}

static bool work(struct contract *c) {
    struct job *jobs = NULL;
    bool done = true;
    for (int i = 0; done && i < 20; i++)
        done = create_list(c);
    for (int i = 0; done && i < 6; i++)
        done = turn(c, &jobs);
    job_free_list(jobs);
    return done;
}

/* ---- the same of instances ---- */

/* What a command writes of the variables of an instance: in all types, or nothing any more. */
static void put_variables(struct step *step, int at, bool are_there) {
    static const char *const values[] = {"\"blue\"", "1.5", "7"};
    static struct unit_searched searched[MANY];
    static struct unit_value large[MANY];
    struct unit *unit = &step->unit;
    const int64_t id = step->instance.id;
    searched[at] = (struct unit_searched){id, "colour", are_there ? values[at % 3] : NULL};
    large[at] = (struct unit_value){id, 1, "text", are_there ? "\"long\"" : NULL};
    unit->searched = &searched[at];
    unit->values = &large[at];
    unit->searched_count = unit->value_count = 1;
}

static void steps_make(struct step *steps, int64_t first, int64_t of, int part) {
    for (int i = 0; i < LIST; i++) {
        const int64_t id = first + i, rev = part ? steps[i].unit.rev : 0;
        const struct job at = {.instance_id = id, .version = of, .frame_rev = rev};
        leave(&steps[i], &at, part < 3 ? F1 : NULL, i);
        put_variables(&steps[i], i, part == 0);
        if (part == 2)
            steps[i].left =
                (struct unit_wait){id, i % 2 ? 5 : 6, UNIT_SUBSCRIPTION | UNIT_TASK | UNIT_JOB, 0};
        if (part)
            steps[i].task = (struct unit_task){0};
        if (part)
            steps[i].subscription = (struct unit_subscription){0};
    }
}

/* Takes the questions over. */
static bool ask_many(struct contract *c, enum ask_kind kind, json_t *questions) {
    json_t *answers = store_ask_many(c->store, kind, questions, NOW, &c->error);
    bool done = answers != NULL;
    json_decref(questions);
    json_decref(answers);
    return done;
}

/* What a list of commands reads, and the lanes that it holds. The token is that of a turn. */
static bool ask_list(struct contract *c, int64_t instance) {
    struct lane_want wants[2] = {{.hold = {.lane = 1}}, {.hold = {.lane = 2}}};
    size_t held = 0;
    const json_int_t id = instance, token = turn_token(1, 1);
    return ask_many(c, ASK_FRAME, json_pack("[{sI sI}]", "instance", id, "token", token)) &&
           ask_many(c, ASK_RECEIVERS, json_pack("[{ss ss}]", "name", "none", "key", "none")) &&
           ask_many(c, ASK_TASK, json_pack("[{sI}]", "id", id)) &&
           ask_many(c, ASK_VERSION, json_pack("[{ss ss}]", "key", "order", "unique", "none")) &&
           store_lanes_hold(c->store, wants, 2, &held, &c->error);
}

/* Messages that nothing waits for. */
static bool keep_list(struct contract *c) {
    const struct unit_message list[2] = {{.name = "none", .key = "1", .until = NOW + LEASE},
                                         {.name = "none", .key = "2", .until = NOW + LEASE}};
    size_t at = 0;
    return store_begin(c->store, STORE_COMMAND, &c->error) &&
           store_messages_keep(c->store, list, 2, &at, NOW, &c->error) == YES && at == 2 &&
           store_commit(c->store, &c->error);
}

/* A turn whose signals something waits for, and one of those that nothing waits for. */
static bool signals(struct contract *c, int64_t of) {
    struct unit_signal heard = {.name = "shipped", .until = TIME_NONE, .priority = TIME_NONE};
    struct unit_signal unheard = {.name = "lost", .until = TIME_NONE, .priority = TIME_NONE};
    struct step waits = step_of(store_reserve_ids(c->store, 1, &c->error), of, 0, F1);
    waits.subscription =
        (struct unit_subscription){waits.instance.id, 6, of, "signal", "shipped", "", "wait"};
    return settle_step(c, NULL, &waits, NULL) == SETTLED &&
           settle_giving(c, begin_many(c, of, 10), F2, &unheard) &&
           settle_giving(c, begin_many(c, of, 10), F2, &heard);
}

/* The turns of a body go on outside of the frame, and then end. */
static bool body(struct contract *c, int64_t of) {
    enum { TURNS = 2 };
    struct unit_turn turns[TURNS];
    int64_t rev = 0, id = store_reserve_ids(c->store, 2 + TURNS, &c->error);
    for (int part = 0; part < 3; part++) {
        struct step step = step_of(id, of, rev, F1);
        struct unit_body row = {.id = id + 1,
                                .instance = id,
                                .token = 2,
                                .activity = "ship#multiInstanceBody",
                                .version = of,
                                .turns = part ? 0 : TURNS,
                                .ended = part == 2 ? TURNS : 0};
        for (int i = 0; i < TURNS; i++)
            turns[i] = (struct unit_turn){.id = id + 2 + i,
                                          .instance = id,
                                          .body = id + 1,
                                          .rev = rev,
                                          .body_token = 2,
                                          .version = of,
                                          .frame = part < 2 ? F1 : NULL};
        step.unit = (struct unit){
            .turns = turns, .turn_count = TURNS, .bodies = &row, .body_count = part != 1};
        if (settle_step(c, NULL, &step, NULL) != SETTLED)
            return false;
        rev = step.unit.rev;
    }
    return true;
}

/* Instances end for which jobs wait. */
static bool jobs_go(struct contract *c, int64_t of) {
    enum { ENDS = 3 };
    static struct step steps[MANY];
    for (int i = 0; i < ENDS; i++) {
        struct step step = step_of(store_reserve_ids(c->store, 1, &c->error), of, 0, F1);
        step_job(&step, 0, "ship", 3);
        if (settle_step(c, NULL, &step, NULL) != SETTLED)
            return false;
        steps[i] = step_of(step.instance.id, of, step.unit.rev, NULL);
    }
    return command_many(c, steps, ENDS);
}

/* Instances begin, lose their variables, leave what they wait for, and end; and a turn of others.
 */
static bool command(struct contract *c) {
    static struct step steps[MANY];
    int64_t of = order(c), first = store_reserve_ids(c->store, LIST, &c->error);
    bool done = of && first;
    for (int part = 0; done && part < 4; part++) {
        steps_make(steps, first, of, part);
        done = command_many(c, steps, LIST) && (part || ask_list(c, first));
    }
    return done && settle_many(c, begin_many(c, of, LIST), F2) && keep_list(c) && signals(c, of) &&
           body(c, of) && jobs_go(c, of);
}

/* ---- how it is done ---- */

/* Tables that grow with the jobs. */
static bool is_large(const char *table) {
    static const char *const large[] = {
        "job",     "ready",    "timer",        "parked",    "locked",     "lane",
        "limited", "ended",    "attempt",      "incident",  "unique_key", "line",
        "snooze",  "instance", "subscription", "user_task", "searched",   "large_value",
        "past",    "trail",    "operation",    "conflicts", "body",       "body_turn"};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        if (table && strcmp(table, large[i]) == 0)
            return true;
    return false;
}

static const char *text_of(const json_t *node, const char *key) {
    return json_string_value(json_object_get(node, key));
}

static bool has(const char *text, const char *part) {
    return text && strstr(text, part);
}

/* What is wrong with the node itself; NULL: nothing. `ends`: one above it stops when it has enough,
 * as one row does for an EXISTS. */
static const char *fault_of(const json_t *node, bool hot, bool ends) {
    const char *type = text_of(node, "Node Type");
    bool large = hot && is_large(text_of(node, "Relation Name"));
    if (has(type, "Gather"))
        return "starts helpers";
    if (hot && has(type, "Sort") && json_number_value(json_object_get(node, "Plan Rows")) > SORTED)
        return "sorts a table";
    if (large && has(type, "Seq Scan"))
        return "reads a table";
    if (large && has(type, "Index") && !json_object_get(node, "Index Cond") && !ends)
        return "reads an index from end to end";
    if (large && has(text_of(node, "Filter"), "= ANY (ARRAY["))
        return "leaves a list of keys to a filter";
    return NULL;
}

static const char *fault_in(const json_t *node, bool hot, bool ends) {
    bool asks = has(text_of(node, "Parent Relationship"), "InitPlan");
    const char *fault = fault_of(node, hot, ends || asks);
    const json_t *part;
    size_t i;
    ends = ends || has(text_of(node, "Node Type"), "Limit");
    json_array_foreach(json_object_get(node, "Plans"), i, part) {
        fault = fault ? fault : fault_in(part, hot, ends);
    }
    return fault;
}

/* The plan of a kept statement, as JSON; NULL: error. */
static json_t *plan_of(struct contract *c, const char *name, int64_t parameters) {
    char sql[1000];
    size_t at = (size_t)snprintf(sql, sizeof sql, "EXPLAIN (FORMAT JSON) EXECUTE \"%s\"", name);
    for (int64_t i = 0; i < parameters && at + 10 < sizeof sql; i++)
        at += (size_t)snprintf(sql + at, sizeof sql - at, i ? ", NULL" : "(NULL");
    snprintf(sql + at, sizeof sql - at, parameters ? ")" : "");
    struct row *row = db_prepare(&c->store->db, sql, NULL, 0, &c->error);
    json_t *plan = NULL;
    if (row && db_step(&c->store->db, row, &c->error) == YES)
        plan = json_loads(row_text(row, 0), 0, NULL);
    db_forget(&c->store->db, row);
    return plan;
}

/* A turn or a creation has asked it if it was prepared behind the statement `begun`. */
#define KEPT                                                                                       \
    "SELECT json_agg(json_build_object('name', name, 'sql', statement, 'parameters',"              \
    " cardinality(parameter_types), 'hot', prepare_time > (SELECT prepare_time"                    \
    " FROM pg_prepared_statements WHERE name='begun'))) FROM pg_prepared_statements"               \
    " WHERE statement ~ '^(SELECT|WITH|INSERT|UPDATE|DELETE)' AND statement !~ 'pg_prepared'"

static json_t *kept(struct contract *c) {
    struct row *row = db_prepare(&c->store->db, KEPT, NULL, 0, &c->error);
    json_t *list = NULL;
    if (row && db_step(&c->store->db, row, &c->error) == YES)
        list = json_loads(row_text(row, 0), 0, NULL);
    db_forget(&c->store->db, row);
    return list;
}

/* What is wrong with the statement; NULL: nothing. */
static const char *fault_of_statement(struct contract *c, const json_t *statement) {
    bool hot = json_is_true(json_object_get(statement, "hot"));
    json_t *plan = plan_of(c, text_of(statement, "name"),
                           json_integer_value(json_object_get(statement, "parameters")));
    const json_t *top = json_object_get(json_array_get(plan, 0), "Plan");
    const char *fault = top ? fault_in(top, hot, false) : "no plan";
    json_decref(plan);
    return fault;
}

/* How many statements were looked at; -1: one has a fault, which the error says. */
static int look(struct contract *c) {
    json_t *list = kept(c);
    const json_t *statement;
    const char *fault = NULL;
    size_t i;
    json_array_foreach(list, i, statement) {
        fault = fault_of_statement(c, statement);
        if (fault)
            break;
    }
    int count = fault ? -1 : (int)json_array_size(list);
    if (fault)
        error_set(&c->error, ERROR_FAILED, "%s: %s", fault, text_of(statement, "sql"));
    json_decref(list);
    return count;
}

static bool run(struct contract *c, const char *sql) {
    return db_execute(&c->store->db, sql, &c->error);
}

static void plans(struct contract *c) {
    EXPECT(declare(c));
    EXPECT(run(c, "PREPARE begun AS SELECT 1")); /* what comes behind it is looked at */
    EXPECT(command(c) && work(c));
    EXPECT(run(c, "ANALYZE"));
    EXPECT(look(c) > 40);
    EXPECT(run(c,
               "TRUNCATE job, ready, timer, parked, occupancy, locked, lock_page, lane, limited, "
               "ended, attempt,"
               " incident, unique_key, line, snooze,"
               " instance, subscription, user_task, searched, large_value, past, trail, operation,"
               " body, body_turn"));
    EXPECT(run(c, "ANALYZE"));
    EXPECT(look(c) > 40);
}

static const struct check checks[] = {
    {"the statements of turns and creations go by keys, in full tables and in empty ones", plans},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
