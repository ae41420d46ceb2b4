/* ways_contract.c - runs that end in one turn, each in another way: of each is written what its way
 * says, the same as if it had ended alone, and in the order in which they ended. Whatever is
 * written with others, later or behind a savepoint. */
#include "contract.h"
#include "process_step.h"

enum way { PLAIN, FAILS, DIES, SNOOZES, CONFLICTS, KEYED, REFUSED, UNIT, WAYS };
enum { FILL = 4 }; /* plain runs beside them: so many are fenced with others */

/* The ends of a turn: those of the pair, then the others. */
struct ends {
    struct outcome list[2 + FILL];
    struct step steps[2];
    struct job_spec children[2];
    char keys[2][32];
    int64_t ids[2];
};

static int64_t process; /* a version of it */

/* ---- runs ---- */

static bool start(struct contract *c, enum way way) {
    if (way == UNIT)
        return begin(c, process) > 0;
    return create(c, c->store, (struct job){.handler = "work", .payload = "1", .payload_size = 1},
                  NOW) > 0;
}

static void create_child(struct ends *ends, int at, enum way way) {
    static int number;
    if (way == KEYED)
        number++;
    snprintf(ends->keys[at], sizeof ends->keys[at], "key %d", way == KEYED ? number : 0);
    ends->children[at] = (struct job_spec){
        .job = {.handler = "child", .unique_key = ends->keys[at], .due = NOW + LEASE, .retries = 3},
        .on_conflict = ON_CONFLICT_REFUSE};
    ends->list[at].created = &ends->children[at];
}

static void fail(struct outcome *outcome) {
    static char message[] = "it broke";
    outcome->kind = OUTCOME_FAILURE;
    outcome->message = message;
    outcome->created = NULL;
}

static void end(struct ends *ends, int at, enum way way) {
    struct outcome *outcome = &ends->list[at];
    ends->ids[at] = outcome->job->id;
    if (way == FAILS || way == DIES)
        fail(outcome);
    outcome->permanent = way == DIES;
    if (way == SNOOZES || way == CONFLICTS) {
        outcome->kind = way == SNOOZES ? OUTCOME_SNOOZE : OUTCOME_CONFLICT;
        outcome->due = NOW + LEASE;
    }
    if (way == KEYED || way == REFUSED)
        create_child(ends, at, way);
    if (way == UNIT) {
        const struct job *job = outcome->job;
        ends->steps[at] = step_of(job->instance_id, process, job->frame_rev, F2);
        step_job(&ends->steps[at], 0, "next", 9);
        ends->steps[at].jobs[0].job.due = NOW + LEASE;
        outcome->unit = step_unit(&ends->steps[at]);
        outcome->created = ends->steps[at].jobs;
    }
}

static bool take_one(struct contract *c, struct outcome *outcome, enum way way) {
    if (!start(c, way))
        return false;
    struct job *job = acquire_one(c, c->store, NOW);
    if (!job)
        return false;
    *outcome = (struct outcome){.job = job,
                                .lane_ends = true,
                                .lane_token = job->token,
                                .started = NOW,
                                .ended = NOW,
                                .ended_by = NOW,
                                .due = TIME_NONE};
    return true;
}

static bool run(struct contract *c, struct ends *ends, const enum way ways[2]) {
    bool done = true;
    for (int i = 0; done && i < 2 + FILL; i++)
        done = take_one(c, &ends->list[i], i < 2 ? ways[i] : PLAIN);
    for (int i = 0; done && i < 2; i++)
        end(ends, i, ways[i]);
    return done;
}

/* ---- turns ---- */

/* What is refused has failed, as the executor has it. */
static bool settle_one(struct contract *c, struct outcome *outcome) {
    if (store_settle(c->store, outcome, NOW, &outcome->settled, &c->error))
        return true;
    if (!outcome->undone)
        return false;
    fail(outcome);
    return store_settle(c->store, outcome, NOW, &outcome->settled, &c->error);
}

/* The ends from `from` up to `to`, in one turn. */
static bool turn(struct contract *c, struct ends *ends, int from, int to) {
    for (int i = from; i < to; i++)
        ends->list[i].next = i + 1 < to ? &ends->list[i + 1] : NULL;
    bool done = store_begin(c->store, STORE_TURN, &c->error) &&
                store_settle_bulk(c->store, &ends->list[from], &c->error);
    for (int i = from; done && i < to; i++)
        done = settle_one(c, &ends->list[i]);
    return done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
}

static void forget(struct ends *ends) {
    for (int i = 0; i < 2 + FILL; i++)
        job_free(ends->list[i].job);
}

/* ---- what is written ---- */

/* Numbers that two jobs never share go. */
static json_t *strip(json_t *of) {
    static const char *const own[] = {"id",  "job", "instance", "root",
                                      "key", "seq", "cause",    "root_cause"};
    size_t at;
    json_t *value;
    const char *name;
    void *next;
    json_array_foreach(of, at, value)
        strip(value);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        json_object_del(of, own[i]);
    json_object_foreach_safe(of, next, name, value) strip(value);
    return of;
}

/* Its row, its history and its incidents, as text; the caller's. */
static char *story(struct contract *c, int64_t id) {
    static const struct store_page page = {.limit = 100};
    json_t *of = json_pack("{sI}", "job", (json_int_t)id);
    json_t *here = json_pack("{sI}", "id", (json_int_t)id);
    json_t *all = json_pack("[ooo]", strip(store_jobs(c->store, here, &page, NOW, &c->error)),
                            strip(store_log(c->store, of, &page, &c->error)),
                            strip(store_incidents(c->store, of, &page, &c->error)));
    char *text = all ? json_dumps(all, JSON_SORT_KEYS) : NULL;
    json_decref(all);
    json_decref(here);
    json_decref(of);
    return text;
}

static bool same(struct contract *c, int64_t one, int64_t other) {
    char *left = story(c, one), *right = story(c, other);
    bool equal = left && right && strcmp(left, right) == 0;
    if (!equal)
        printf("# alone:    %s\n# together: %s\n", left ? left : "", right ? right : "");
    free(left);
    free(right);
    return equal;
}

/* What is left of a run, whichever is beside it. */
static const struct rest {
    const char *outcome; /* of its newest entry in the log */
    int64_t rows, retries, incidents;
} rests[WAYS] = {
    [PLAIN] = {"successful", 0, 0, 0},  [FAILS] = {"failed", 1, 2, 0},
    [DIES] = {"failed", 1, 0, 1},       [SNOOZES] = {"snoozed", 1, 3, 0},
    [CONFLICTS] = {"created", 1, 3, 0}, [KEYED] = {"successful", 0, 0, 0},
    [REFUSED] = {"failed", 1, 2, 0},    [UNIT] = {"successful", 0, 0, 0},
};

/* Of the rows of the job in a table. */
static int64_t number_of(struct contract *c, const char *what, const char *table,
                         const char *column, int64_t id) {
    char sql[160];
    snprintf(sql, sizeof sql, "SELECT %s FROM %s WHERE %s=%lld", what, table, column,
             (long long)id);
    return contract_number(c, sql);
}

static bool has_newest(struct contract *c, int64_t id, const char *outcome) {
    static const struct store_page page = {.limit = 100};
    json_t *of = json_pack("{sI}", "job", (json_int_t)id);
    json_t *log = store_log(c->store, of, &page, &c->error);
    const char *found = json_string_value(json_object_get(json_array_get(log, 0), "outcome"));
    bool fits = found && strcmp(found, outcome) == 0;
    if (!fits)
        printf("# job %lld: %s, expected %s\n", (long long)id, found ? found : "none", outcome);
    json_decref(log);
    json_decref(of);
    return fits;
}

static bool fits(struct contract *c, int64_t id, enum way way) {
    const struct rest *rest = &rests[way];
    return has_newest(c, id, rest->outcome) &&
           number_of(c, "count(*)", "live", "id", id) == rest->rows &&
           number_of(c, "coalesce(max(retries), 0)", "live", "id", id) == rest->retries &&
           number_of(c, "count(*)", "incident", "job", id) == rest->incidents &&
           number_of(c, "count(*)", "locks", "id", id) == 0;
}

/* Those that have ended for good stand in the history in their order. */
static bool in_order(struct contract *c, const struct ends *ends) {
    int64_t last = 0, seq;
    for (int i = 0; i < 2 + FILL; i++) {
        seq = number_of(c, "coalesce(max(CASE WHEN outcome=1 THEN seq END), 0)", "ended", "job",
                        ends->list[i].job->id);
        if (seq && seq < last)
            return false;
        last = seq ? seq : last;
    }
    return true;
}

static bool pair(struct contract *c, enum way first, enum way second) {
    struct ends alone = {0}, together = {0};
    const enum way ways[2] = {first, second};
    bool done = run(c, &alone, ways) && turn(c, &alone, 0, 1) && turn(c, &alone, 1, 2) &&
                turn(c, &alone, 2, 2 + FILL);
    done = done && run(c, &together, ways) && turn(c, &together, 0, 2 + FILL);
    for (int i = 0; done && i < 2; i++)
        done = same(c, alone.ids[i], together.ids[i]) && fits(c, together.ids[i], ways[i]);
    done = done && in_order(c, &together);
    if (!done)
        printf("# the pair %d, %d\n", first, second);
    forget(&alone);
    forget(&together);
    return done;
}

static void pairs(struct contract *c) {
    process = order(c);
    struct job_spec taken = {
        .job = {.handler = "child", .unique_key = "key 0", .due = NOW + LEASE, .retries = 3}};
    EXPECT(process && create_spec(c, c->store, taken, NOW));
    c->settings.failed_job_wait = LEASE; /* what has failed does not run beside the next pair */
    for (int first = 0; first < WAYS; first++)
        for (int second = 0; second < WAYS; second++)
            EXPECT(pair(c, (enum way)first, (enum way)second));
    c->settings.failed_job_wait = 0;
    EXPECT(matches(c, "{\"handler\":\"child\"}") == 1 + 2 * 2 * WAYS);
}

static const struct check checks[] = {
    {"what ends in one turn is written as if it had ended alone", pairs},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
