/* set_contract.c - a command on many jobs, and a turn that settles many, wait for the server a few
 * times, not once a job. Run with spec/postgres/contracts. */
#include "../contract.h"
#include "store/postgres/connection.h"

#define MANY 1000
#define FEW 40 /* waits of a whole command: a flight has some hundred statements */

static bool make(struct contract *c, struct job job) {
    bool fine = store_begin(c->store, STORE_COMMAND, &c->error);
    for (int i = 0; fine && i < MANY; i++)
        fine = create(c, c->store, job, NOW) != 0;
    return fine && store_commit(c->store, &c->error);
}

/* How often a command on all jobs waits; -1: it has not touched all of them. */
static int64_t waits(struct contract *c, json_t *command) {
    struct command_run run = {0};
    const struct session *session = &postgres_of(c->store)->session;
    int64_t before = session->waits;
    json_object_set_new(command, "query", json_object());
    bool done = store_command(c->store, command, &run, NOW, &c->error);
    json_decref(command);
    json_decref(run.rest);
    return done && run.touched == MANY ? session->waits - before : -1;
}

#define WAITS_FEW(...)                                                                             \
    do {                                                                                           \
        int64_t count = waits(c, json_pack(__VA_ARGS__));                                          \
        EXPECT(count > 0 && count <= FEW);                                                         \
    } while (0)

static void plain(struct contract *c) {
    EXPECT(make(c, (struct job){.retries = 3}));
    WAITS_FEW("{ss}", "verb", "suspend");
    EXPECT(matches(c, "{\"suspended\":true}") == MANY);
    WAITS_FEW("{ss}", "verb", "activate");
    EXPECT(matches(c, "{\"suspended\":true}") == 0);
    WAITS_FEW("{ss,si}", "verb", "set_priority", "priority", 7);
    WAITS_FEW("{ss,si}", "verb", "set_retries", "retries", 5);
    WAITS_FEW("{ss,ss}", "verb", "set_due", "due", "2030-01-01T00:00:00Z");
    EXPECT(matches(c, "{\"state\":\"scheduled\"}") == MANY);
    WAITS_FEW("{ss}", "verb", "delete");
    EXPECT(matches(c, "{}") == 0);
}

static void dead(struct contract *c) {
    EXPECT(make(c, (struct job){.retries = 3}));
    WAITS_FEW("{ss}", "verb", "dead_letter");
    EXPECT(matches(c, "{\"state\":\"dead\"}") == MANY);
    WAITS_FEW("{ss}", "verb", "retry");
    EXPECT(matches(c, "{\"state\":\"ready\"}") == MANY);
    WAITS_FEW("{ss}", "verb", "cancel");
    EXPECT(matches(c, "{}") == 0);
}

static void lanes(struct contract *c) {
    EXPECT(make(c, (struct job){.retries = 3, .lane = "one"}));
    WAITS_FEW("{ss}", "verb", "suspend");
    WAITS_FEW("{ss}", "verb", "activate");
    WAITS_FEW("{ss}", "verb", "delete");
    EXPECT(matches(c, "{}") == 0);
}

/* "work" may run so many times at once. */
static bool limit(struct contract *c, int runs) {
    static char name[] = "work", file[] = "handlers/work.lua";
    struct definition declared = {
        .name = name, .file = file, .limit = runs, .properties = json_object()};
    struct definitions definitions = {.count = 1, .list = &declared};
    struct store_deployment deployment = {.name = "x", .hash = "h", .definitions = &definitions};
    int64_t id = 0;
    bool done = store_deploy(c->store, &deployment, NULL, NOW, &id, &c->error);
    json_decref(declared.properties);
    return done;
}

/* How often a turn waits that settles these jobs; -1: it has not settled all of them. */
static int64_t settle_waits(struct contract *c, struct job *jobs) {
    static struct outcome outcomes[MANY];
    const struct session *session = &postgres_of(c->store)->session;
    int64_t before = session->waits, count = 0;
    enum settled settled = SETTLED;
    for (struct job *job = jobs; job && count < MANY; job = job->next, count++) {
        outcomes[count] = (struct outcome){.job = job, .started = NOW, .ended = NOW};
        outcomes[count].next = job->next ? &outcomes[count + 1] : NULL;
    }
    bool done = store_begin(c->store, STORE_TURN, &c->error) &&
                store_settle_bulk(c->store, outcomes, &c->error);
    for (int64_t i = 0; done && i < count; i++)
        done = store_settle(c->store, &outcomes[i], NOW, &settled, &c->error) && settled == SETTLED;
    done = done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
    return done && count > FEW ? session->waits - before : -1;
}

static void limited(struct contract *c) {
    struct acquire all = everything;
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    EXPECT(limit(c, MANY));
    EXPECT(make(c, (struct job){.handler = "work"}));
    all.want = 500;
    EXPECT(store_acquire(c->store, &all, NOW, &jobs, &count, &more, &c->error));
    EXPECT(count == 500);
    int64_t waits = settle_waits(c, jobs);
    EXPECT(waits > 0 && waits <= FEW);
    job_free_list(jobs);
    EXPECT(matches(c, "{}") == MANY - 500);
}

static const struct check checks[] = {
    {"the ends of runs under a limit", limited},
    {"those that end or revive jobs", dead},
    {"those on jobs of a lane", lanes},
    {"the commands of operators on jobs", plain},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
