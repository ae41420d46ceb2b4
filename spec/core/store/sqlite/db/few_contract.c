/* few_contract.c - a question for few jobs costs what they cost, in steps of the database's
 * machine, however many others there are; and its answer is the one of a look at every row. */
#include "../../contract.h"
#include "store/sqlite/db/connection.h"

#define MANY 9000

static int64_t steps; /* of all statements that have ended */

static int count_steps(unsigned kind, void *arg, void *statement, void *took) {
    (void)kind;
    (void)arg;
    (void)took;
    steps += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
    return 0;
}

static bool make(struct contract *c, int count, const struct job *job) {
    bool done = store_begin(c->store, STORE_COMMAND, &c->error);
    for (int i = 0; done && i < count; i++)
        done = create(c, c->store, *job, NOW) != 0;
    return store_commit(c->store, &c->error) && done;
}

/* The number of jobs, and what it took; -1: error. */
static int64_t ask(struct contract *c, json_t *filters) {
    int64_t count = -1;
    steps = 0;
    sqlite3_trace_v2(c->store->db.handle, SQLITE_TRACE_PROFILE, count_steps, NULL);
    json_t *list = store_jobs(c->store, filters, NULL, NOW, &c->error);
    bool fine = list && store_jobs_count(c->store, filters, NOW, &count, &c->error);
    sqlite3_trace_v2(c->store->db.handle, 0, NULL, NULL);
    if (fine && count != (int64_t)json_array_size(list))
        count = -1;
    json_decref(list);
    json_decref(filters);
    return count;
}

/* Less than one step a row of the others. */
#define CHEAP EXPECT(steps > 0 && steps < MANY)

static void few_of_a_handler(struct contract *c) {
    EXPECT(make(c, MANY, &(struct job){.handler = "many"}));
    EXPECT(make(c, 3, &(struct job){.handler = "few"}));
    EXPECT(make(c, 2, &(struct job){.handler = "few", .suspended = true}));
    EXPECT(ask(c, json_pack("{ss}", "handler", "few")) == 5);
    CHEAP;
    EXPECT(ask(c, json_pack("{s[ss]}", "handler", "few", "none")) == 5);
    CHEAP;
    EXPECT(ask(c, json_pack("{ssss}", "handler", "few", "state", "ready")) == 3);
    CHEAP;
    EXPECT(ask(c, json_pack("{ss}", "handler", "none")) == 0);
    CHEAP;
}

static void few_suspended(struct contract *c) {
    EXPECT(make(c, MANY, &(struct job){.handler = "many"}));
    EXPECT(make(c, 2, &(struct job){.handler = "many", .suspended = true}));
    EXPECT(ask(c, json_pack("{ss}", "state", "suspended")) == 2);
    CHEAP;
    EXPECT(ask(c, json_pack("{sb}", "suspended", 1)) == 2);
    CHEAP;
    EXPECT(ask(c, json_pack("{ss}", "suspended_by", "job")) == 2);
    CHEAP;
    EXPECT(ask(c, json_pack("{sb}", "suspended", 0)) == MANY);
}

/* A job of the handler in every place: ready, timer, parked, locked, dead, suspended. */
static void every_place(struct contract *c) {
    int64_t dead = 0;
    int count = 0;
    bool more = false;
    struct job *list = NULL;
    struct acquire command = everything;
    command.want = 1;
    EXPECT(make(c, 3, &(struct job){.handler = "few", .lane = "a", .priority = 9}));
    EXPECT((dead = create(c, c->store, (struct job){.handler = "few"}, NOW)));
    EXPECT(make(c, 1, &(struct job){.handler = "few", .due = NOW + 1000}));
    EXPECT(make(c, 1, &(struct job){.handler = "few", .suspended = true}));
    EXPECT(store_begin(c->store, STORE_COMMAND, &c->error) &&
           store_acquire(c->store, &command, NOW, &list, &count, &more, &c->error) &&
           store_commit(c->store, &c->error) && count == 1);
    json_t *verb = json_pack("{ss,s[I]}", "verb", "dead_letter", "ids", (json_int_t)dead);
    struct command_run run = {0};
    EXPECT(store_command(c->store, verb, &run, NOW, &c->error));
    json_decref(verb);
    EXPECT(ask(c, json_pack("{ss}", "handler", "few")) == 6);
    for (int state = JOB_READY; state <= JOB_DEAD; state++) {
        int64_t found = ask(c, json_pack("{ssss}", "handler", "few", "state",
                                         job_state_name((enum job_state)state)));
        EXPECT(found == 1 + (state == JOB_WAITING) - (state == JOB_READY));
    }
    job_free(list);
}

static const struct check checks[] = {
    {"few jobs of a handler are found at their own cost", few_of_a_handler},
    {"few suspended jobs are found at their own cost", few_suspended},
    {"a handler's jobs are found in every place", every_place},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
