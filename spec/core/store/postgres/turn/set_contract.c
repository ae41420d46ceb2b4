/* set_contract.c - a command on many jobs, and a turn that settles many, wait for the server a few
 * times, not once a job. Run with spec/postgres/contracts. */
#include "../../contract.h"
#include "store/postgres/db/connection.h"

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

/* How often a turn waits that settles these jobs, each as `end` describes it; -1: it has not
 * settled all of them. */
static int64_t settle_waits(struct contract *c, struct job *jobs, struct outcome end) {
    static struct outcome outcomes[MANY];
    const struct session *session = &postgres_of(c->store)->session;
    int64_t before = session->waits, count = 0;
    bool dies = end.kind == OUTCOME_FAILURE && end.retries == 0;
    enum settled settled = SETTLED, wanted = dies ? SETTLED_DEAD : SETTLED;
    end.started = end.ended = NOW;
    for (struct job *job = jobs; job && count < MANY; job = job->next, count++) {
        outcomes[count] = end;
        outcomes[count].job = job;
        outcomes[count].next = job->next ? &outcomes[count + 1] : NULL;
    }
    bool done = store_begin(c->store, STORE_TURN, &c->error) &&
                store_settle_bulk(c->store, outcomes, &c->error);
    for (int64_t i = 0; done && i < count; i++)
        done = store_settle(c->store, &outcomes[i], NOW, &settled, &c->error) && settled == wanted;
    done = done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
    return done && count > FEW ? session->waits - before : -1;
}

/* Takes half of the jobs; NULL: not as many. */
static struct job *take_half(struct contract *c, time_ms now) {
    struct acquire all = everything;
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    all.want = MANY / 2;
    if (store_acquire(c->store, &all, now, &jobs, &count, &more, &c->error) && count == MANY / 2)
        return jobs;
    job_free_list(jobs);
    return NULL;
}

static void limited(struct contract *c) {
    EXPECT(limit(c, MANY));
    EXPECT(make(c, (struct job){.handler = "work"}));
    struct job *jobs = take_half(c, NOW);
    int64_t waits = settle_waits(c, jobs, (struct outcome){0});
    EXPECT(waits > 0 && waits <= FEW);
    job_free_list(jobs);
    EXPECT(matches(c, "{}") == MANY - 500);
}

/* How a run ends that is tried again after so many ms; -1: at once. */
static struct outcome failure(int32_t retries, time_ms wait) {
    static char message[] = "no answer", stack[] = "work.lua:1: no answer";
    return (struct outcome){.kind = OUTCOME_FAILURE,
                            .decided = true,
                            .retries = retries,
                            .due = wait < 0 ? TIME_NONE : NOW + wait,
                            .message = message,
                            .stack = stack,
                            .lane_ends = true};
}

#define ROWS(of) contract_number(c, "SELECT count(*) FROM " of)

static void tried_again(struct contract *c) {
    struct command_run run = {0};
    EXPECT(make(c, (struct job){.retries = 3}));
    struct job *jobs = take_half(c, NOW);
    json_t *command = json_pack("{ss, s[I], si}", "verb", "set_retries", "ids",
                                (json_int_t)(jobs ? jobs->id : 0), "retries", 7);
    EXPECT(jobs && store_command(c->store, command, &run, NOW, &c->error));
    json_decref(command);
    int64_t waits = settle_waits(c, jobs, failure(2, 60000));
    EXPECT(waits > 0 && waits <= FEW);
    job_free_list(jobs);
    EXPECT(matches(c, "{\"state\":\"scheduled\"}") == MANY / 2);
    EXPECT(ROWS("job WHERE retries=2 AND attempt=2 AND rev=2") == MANY / 2 - 1);
    EXPECT(ROWS("job WHERE retries=7 AND attempt=2 AND message='no answer'") == 1);
    EXPECT(ROWS("job WHERE message='no answer'") == MANY / 2);
    EXPECT(ROWS("attempt WHERE n=1 AND retries=3 AND message='no answer'"
                " AND stack LIKE 'work.lua:1:%'") == MANY / 2 - 1);
}

static void tried_again_at_once(struct contract *c) {
    EXPECT(make(c, (struct job){.retries = 3}));
    struct job *jobs = take_half(c, NOW);
    int64_t waits = settle_waits(c, jobs, failure(2, -1));
    EXPECT(waits > 0 && waits <= FEW);
    job_free_list(jobs);
    EXPECT(ROWS("job WHERE retries=2 AND due IS NULL") == MANY / 2);
    EXPECT(matches(c, "{\"state\":\"scheduled\"}") == 0);
    jobs = take_half(c, NOW);
    EXPECT(jobs && jobs->attempt == 2);
    job_free_list(jobs);
}

static void failed_for_good(struct contract *c) {
    EXPECT(make(c, (struct job){.retries = 1, .tenant = "t"}));
    struct job *jobs = take_half(c, NOW);
    int64_t waits = settle_waits(c, jobs, failure(0, -1));
    EXPECT(waits > 0 && waits <= FEW);
    job_free_list(jobs);
    EXPECT(matches(c, "{\"state\":\"dead\"}") == MANY / 2);
    EXPECT(ROWS("attempt WHERE n=1 AND retries=1 AND tenant='t'") == MANY / 2);
    EXPECT(ROWS("incident i JOIN job j ON j.id=i.job JOIN stream s ON s.id=j.stream"
                " WHERE i.type='failedJob' AND i.ended IS NULL AND i.message='no answer'"
                " AND i.tenant='t' AND i.definition=s.definition") == MANY / 2);
}

static void died(struct contract *c) {
    struct outcome end = failure(0, -1);
    end.reason = REASON_WORKER_DIED;
    EXPECT(make(c, (struct job){.retries = 1}));
    struct job *jobs = take_half(c, NOW);
    int64_t waits = settle_waits(c, jobs, end);
    EXPECT(waits > 0 && waits <= FEW);
    job_free_list(jobs);
    EXPECT(ROWS("incident WHERE type='workerDied'") == MANY / 2);
    EXPECT(ROWS("incident") == MANY / 2);
}

static char keys[MANY][16];

/* A list of jobs with these keys, from this one on. */
static struct job_spec *keyed(int from, enum on_conflict on_conflict) {
    static struct job_spec specs[MANY];
    for (int i = 0; i < MANY; i++) {
        snprintf(keys[i], sizeof keys[i], "key %d", from + i);
        specs[i] = completed((struct job_spec){.job = {.unique_key = keys[i]}});
        specs[i].on_conflict = on_conflict;
        specs[i].next = i + 1 < MANY ? &specs[i + 1] : NULL;
    }
    return specs;
}

static int replies(const struct job_spec *specs, enum creation creation) {
    int count = 0;
    for (const struct job_spec *spec = specs; spec; spec = spec->next)
        count += spec->reply.creation == creation && spec->reply.id > 0;
    return count;
}

static void unique(struct contract *c) {
    const struct session *session = &postgres_of(c->store)->session;
    struct job first = {.handler = "work"}; /* the handler is known then */
    EXPECT(create(c, c->store, first, NOW) != 0);
    struct job_spec *specs = keyed(0, ON_CONFLICT_KEEP);
    specs[7].job.unique_key = specs[3].job.unique_key;
    specs[9].job.unique_key = NULL;
    int64_t before = session->waits;
    EXPECT(store_create(c->store, specs, 0, NOW, &c->error));
    EXPECT(session->waits - before <= FEW);
    EXPECT(replies(specs, CREATION_CREATED) == MANY - 1);
    EXPECT(specs[7].reply.creation == CREATION_KEPT && specs[7].reply.id == specs[3].reply.id);
    EXPECT(specs[8].reply.id < specs[9].reply.id && specs[9].reply.id < specs[10].reply.id);
    EXPECT(ROWS("unique_key u JOIN job j ON j.id=u.job AND j.unique_key=u.key") == MANY - 2);
    EXPECT(ROWS("ready") == MANY);
    int64_t last = specs[MANY - 1].reply.id;
    specs = keyed(MANY / 2, ON_CONFLICT_KEEP);
    before = session->waits;
    EXPECT(store_create(c->store, specs, 0, NOW, &c->error));
    EXPECT(session->waits - before <= FEW);
    EXPECT(specs[MANY - 1].reply.id == last + MANY / 2);
    EXPECT(replies(specs, CREATION_KEPT) == MANY / 2 &&
           replies(specs, CREATION_CREATED) == MANY / 2);
    EXPECT(ROWS("ready") == MANY + MANY / 2);
    specs = keyed(MANY, ON_CONFLICT_REFUSE);
    EXPECT(!store_create(c->store, specs, 0, NOW, &c->error));
    EXPECT(specs[0].reply.creation == CREATION_REFUSED);
    EXPECT(ROWS("ready") == MANY + MANY / 2);
}

/* Every second key is kept beyond the end of its job. */
static void unique_ends(struct contract *c) {
    struct job_spec *specs = keyed(0, ON_CONFLICT_KEEP);
    for (int i = 0; i < MANY; i += 2)
        specs[i].unique_until = NOW + 60000;
    EXPECT(store_create(c->store, specs, 0, NOW, &c->error));
    struct job *jobs = take_half(c, NOW);
    int64_t waits = settle_waits(c, jobs, (struct outcome){.lane_ends = true});
    EXPECT(waits > 0 && waits <= FEW);
    job_free_list(jobs);
    EXPECT(ROWS("job") == MANY - MANY / 2);
    EXPECT(ROWS("unique_key u WHERE NOT EXISTS(SELECT 1 FROM job j WHERE j.id=u.job)") == 250);
    EXPECT(ROWS("unique_key u JOIN job j ON j.id=u.job") == MANY - MANY / 2);
    jobs = take_half(c, NOW);
    waits = settle_waits(c, jobs, failure(2, 60000));
    EXPECT(waits > 0 && waits <= FEW);
    job_free_list(jobs);
    EXPECT(ROWS("unique_key u JOIN job j ON j.id=u.job") == MANY - MANY / 2);
}

/* ---- pages of large jobs ---- */

enum { LARGE = 100000, BOUND = 1 << 20 };

static int64_t asked; /* jobs of the last page */
static bool (*ready_page)(struct store *store, struct ready_page *page, struct error *error);

static bool count_asked(struct store *store, struct ready_page *page, struct error *error) {
    asked = 0;
    for (size_t i = 0; i < page->count; i++)
        asked += page->lists[i].quota;
    return ready_page(store, page, error);
}

/* Takes as many as fit into the bound; -1: error. */
static int take_bounded(struct contract *c) {
    struct acquire all = everything;
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    all.want = MANY;
    all.bytes = BOUND;
    bool done = store_acquire(c->store, &all, NOW, &jobs, &count, &more, &c->error);
    job_free_list(jobs);
    return done ? count : -1;
}

/* What an acquisition reads at once is bounded by bytes, as far as is known. */
static void large(struct contract *c) {
    static char payload[LARGE + 1];
    static struct store_engine counting;
    const struct store_engine *own = c->store->engine;
    memset(payload, '1', LARGE);
    EXPECT(make(c, (struct job){.payload = payload, .payload_size = LARGE}));
    counting = *own;
    ready_page = own->ready_page;
    counting.ready_page = count_asked;
    c->store->engine = &counting;
    EXPECT(take_bounded(c) == BOUND / LARGE + 1 && asked < MANY / 10);
    EXPECT(take_bounded(c) == BOUND / LARGE + 1 && asked <= BOUND / LARGE + 2);
    EXPECT(make(c, (struct job){.priority = 5}) && make(c, (struct job){.priority = 5}));
    int64_t before = postgres_of(c->store)->session.waits;
    EXPECT(take_bounded(c) == MANY);
    EXPECT(postgres_of(c->store)->session.waits - before <= FEW); /* small ones follow */
    EXPECT(take_bounded(c) == MANY && asked >= MANY);
    c->store->engine = own;
}

static const struct check checks[] = {
    {"a page of large jobs is bounded by bytes", large},
    {"the ends of runs under a limit", limited},
    {"the ends of runs that failed", tried_again},
    {"the ends of runs that failed for good", failed_for_good},
    {"the ends of runs whose workers died", died},
    {"the ends of runs that failed and begin again at once", tried_again_at_once},
    {"the creation of jobs with unique keys", unique},
    {"the ends of runs of jobs with unique keys", unique_ends},
    {"those that end or revive jobs", dead},
    {"those on jobs of a lane", lanes},
    {"the commands of operators on jobs", plain},
};

int main(void) {
    return contract_run_of_server(checks, sizeof checks / sizeof *checks);
}
