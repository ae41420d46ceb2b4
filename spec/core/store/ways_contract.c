/* ways_contract.c - runs that end in one turn, each in another way: of each is written what its way
 * says, the same as if it had ended alone, and in the order in which they ended. Whatever is
 * written with others, later or behind a savepoint. What an earlier one keeps back is there for a
 * later one that asks, and stays if that one is refused. */
#include "contract.h"
#include "process_step.h"
#include "store/rules/ground/kinds.h"
#include "store/rules/ground/query.h"

enum ending {
    PLAIN,
    CREATES,
    FAILS,
    DIES,
    SNOOZES,
    CONFLICTS,
    KEYED,
    REFUSED,
    UNIT,
    WAYS,
    RETURNS = WAYS, /* and more, of runs whose job goes beside them */
    CANCELS,
    SKIPS,
    FAILS_WITHIN, /* at another activity than its own */
    DIES_WITHIN,
    WAYS_BESIDE
};
enum { FILL = 4 }; /* plain runs before them: so many are fenced with others */

/* The ends of a turn: those of many that end together, then those of the pair. */
enum { ALL = FILL + 2 };
struct ends {
    struct outcome list[ALL], *pair;
    struct step steps[2];
    struct job_spec children[2];
    char keys[2][32];
    int64_t ids[2];
};

static int64_t process; /* a version of it */

/* ---- runs ---- */

static bool start(struct contract *c, enum ending way) {
    if (way == UNIT)
        return begin(c, process) > 0;
    return create(c, c->store, (struct job){.handler = "work", .payload = "1", .payload_size = 1},
                  NOW) > 0;
}

static void create_child(struct ends *ends, int at, enum ending way) {
    static int number;
    if (way == KEYED)
        number++;
    snprintf(ends->keys[at], sizeof ends->keys[at], "key %d", way == KEYED ? number : 0);
    ends->children[at] = (struct job_spec){
        .job = {.handler = "child", .unique_key = ends->keys[at], .due = NOW + LEASE, .retries = 3},
        .on_conflict = ON_CONFLICT_REFUSE};
    if (way == CREATES)
        ends->children[at].job.unique_key = NULL;
    ends->pair[at].created = &ends->children[at];
}

static void fail(struct outcome *outcome) {
    static char message[] = "it broke";
    outcome->kind = OUTCOME_FAILURE;
    outcome->message = message;
    outcome->created = NULL;
}

static void end(struct ends *ends, int at, enum ending way) {
    struct outcome *outcome = &ends->pair[at];
    ends->ids[at] = outcome->job->id;
    static char within[] = "within";
    static const enum outcome_kind kinds[WAYS_BESIDE] = {
        [RETURNS] = OUTCOME_RETURNED, [CANCELS] = OUTCOME_CANCELLED, [SKIPS] = OUTCOME_SKIPPED};
    outcome->kind = kinds[way];
    if (way == FAILS || way == DIES || way == FAILS_WITHIN || way == DIES_WITHIN)
        fail(outcome);
    outcome->permanent = way == DIES || way == DIES_WITHIN;
    outcome->failed_activity = way == FAILS_WITHIN || way == DIES_WITHIN ? within : NULL;
    if (way == SNOOZES || way == CONFLICTS) {
        outcome->kind = way == SNOOZES ? OUTCOME_SNOOZE : OUTCOME_CONFLICT;
        outcome->due = NOW + LEASE;
    }
    if (way == CREATES || way == KEYED || way == REFUSED)
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

/* As it succeeds. */
static struct outcome end_of(struct job *job) {
    return (struct outcome){.job = job,
                            .lane_ends = true,
                            .lane_token = job->token,
                            .started = NOW,
                            .ended = NOW,
                            .ended_by = NOW,
                            .due = TIME_NONE};
}

static bool take(struct contract *c, struct outcome *outcome) {
    struct job *job = acquire_one(c, c->store, NOW);
    if (job)
        *outcome = end_of(job);
    return job != NULL;
}

static bool take_one(struct contract *c, struct outcome *outcome, enum ending way) {
    return start(c, way) && take(c, outcome);
}

static bool run(struct contract *c, struct ends *ends, const enum ending ways[2]) {
    bool done = true;
    ends->pair = &ends->list[FILL];
    for (int i = 0; done && i < ALL; i++)
        done = take_one(c, &ends->list[i], i < FILL ? PLAIN : ways[i - FILL]);
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

/* The ends from `from` up to `to`, in one turn; and behind them one that is not of their list. */
static bool turn_with(struct contract *c, struct ends *ends, int from, int to,
                      struct outcome *behind) {
    struct capacity capacity = {.acquire = &everything}; /* without room: nothing is locked ahead */
    for (int i = from; i < to; i++)
        ends->list[i].next = i + 1 < to ? &ends->list[i + 1] : NULL;
    bool done = store_begin(c->store, STORE_COMMAND, &c->error);
    store_set_capacity(c->store, &capacity);
    done = done && store_settle_bulk(c->store, &ends->list[from], &c->error);
    for (int i = from; done && i < to; i++)
        done = settle_one(c, &ends->list[i]);
    done = done && (!behind || settle_one(c, behind));
    return done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
}

static bool turn(struct contract *c, struct ends *ends, int from, int to) {
    return turn_with(c, ends, from, to, NULL);
}

static void forget(struct ends *ends) {
    for (int i = 0; i < ALL; i++) {
        job_free(ends->list[i].job);
        job_free(ends->list[i].newer);
    }
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
                            strip(query_list(c->store, &incident_table, of, &page, &c->error)));
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
    int64_t rows, retries, incidents, conflicts;
} rests[WAYS] = {
    [PLAIN] = {"successful", 0, 0, 0}, [CREATES] = {"successful", 0, 0, 0},
    [FAILS] = {"failed", 1, 2, 0},     [DIES] = {"failed", 1, 0, 1},
    [SNOOZES] = {"snoozed", 1, 3, 0},  [CONFLICTS] = {"created", 1, 3, 0, 1},
    [KEYED] = {"successful", 0, 0, 0}, [REFUSED] = {"failed", 1, 2, 0},
    [UNIT] = {"successful", 0, 0, 0},
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

static bool fits(struct contract *c, int64_t id, enum ending way) {
    const struct rest *rest = &rests[way];
    return has_newest(c, id, rest->outcome) &&
           number_of(c, "count(*)", "live", "id", id) == rest->rows &&
           number_of(c, "coalesce(max(retries), 0)", "live", "id", id) == rest->retries &&
           number_of(c, "coalesce(max(n), 0)", "conflicts", "job", id) == rest->conflicts &&
           number_of(c, "count(*)", "incident", "job", id) == rest->incidents &&
           number_of(c, "count(*)", "locks", "id", id) == 0;
}

/* Those that have ended for good stand in the history in their order. */
static bool in_order(struct contract *c, const struct ends *ends) {
    int64_t last = 0, seq;
    for (int i = 0; i < ALL; i++) {
        seq = number_of(c, "coalesce(max(CASE WHEN outcome=1 THEN seq END), 0)", "ended", "job",
                        ends->list[i].job->id);
        if (seq && seq < last)
            return false;
        last = seq ? seq : last;
    }
    return true;
}

static bool pair(struct contract *c, enum ending first, enum ending second) {
    struct ends alone = {0}, together = {0};
    const enum ending ways[2] = {first, second};
    bool done = run(c, &alone, ways) && turn(c, &alone, 0, FILL) &&
                turn(c, &alone, FILL, ALL - 1) && turn(c, &alone, ALL - 1, ALL);
    done = done && run(c, &together, ways) && turn(c, &together, 0, ALL);
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
            EXPECT(pair(c, (enum ending)first, (enum ending)second));
    c->settings.failed_job_wait = 0;
    EXPECT(matches(c, "{\"handler\":\"child\"}") == 1 + 2 * 2 * 2 * WAYS);
}

/* ---- what one asks of another ---- */

/* A verb of the second run concerns the job that the first one has created. */
static void verb_ahead(struct contract *c) {
    static const enum ending ways[2] = {CREATES, PLAIN};
    struct ends ends = {0};
    int64_t child = store_reserve_ids(c->store, 1, &c->error);
    EXPECT(child && run(c, &ends, ways));
    ends.children[0].job.id = child;
    ends.pair[1].effects = json_pack("[{s:s, s:[I]}]", "verb", "cancel", "ids", (json_int_t)child);
    bool done = turn(c, &ends, 0, ALL);
    json_decref(ends.pair[1].effects);
    EXPECT(done && ends.pair[1].settled == SETTLED && !ends.pair[1].undone);
    EXPECT(has_newest(c, child, "cancelled") && in_order(c, &ends));
    EXPECT(number_of(c, "count(*)", "live", "id", child) == 0);
    forget(&ends);
}

/* One run of an instance creates a job, and what ends behind it ends the instance: another run, or
 * a command. */
static bool ends_instance(struct contract *c, bool by_command) {
    struct ends ends = {.pair = ends.list};
    struct job none = {0};
    int64_t id = store_reserve_ids(c->store, 1, &c->error);
    struct job *jobs[2] = {crowd(c, process, id), acquire_one(c, c->store, NOW)};
    bool done = jobs[0] && jobs[1];
    for (int i = 0; done && i < 2; i++)
        ends.list[i] = end_of(jobs[i]);
    if (done) {
        end(&ends, 0, UNIT);
        ends.steps[1] = step_of(id, process, jobs[0]->token, NULL);
        ends.list[1].unit = step_unit(&ends.steps[1]);
        ends.list[1].job = by_command ? &none : jobs[1];
        done = turn_with(c, &ends, 0, by_command ? 1 : 2, by_command ? &ends.list[1] : NULL) &&
               ends.list[1].settled == SETTLED && fits(c, jobs[0]->id, UNIT) &&
               number_of(c, "count(*)", "ended", "job", jobs[0]->id) == 1 &&
               number_of(c, "count(*)", "job", "instance_id", id) == 0;
    }
    job_free(jobs[0]);
    job_free(jobs[1]);
    return done;
}

/* A job of an instance fails, and a run behind it ends the instance. */
static bool ends_failed(struct contract *c) {
    struct ends ends = {.pair = &ends.list[FILL]};
    int64_t id = store_reserve_ids(c->store, 1, &c->error);
    struct job *fails = crowd(c, process, id), *other = acquire_one(c, c->store, NOW);
    bool done = fails && other;
    for (int i = 0; done && i < FILL; i++)
        done = take_one(c, &ends.list[i], PLAIN);
    if (!done)
        return false;
    ends.pair[0] = end_of(fails);
    ends.pair[1] = end_of(other);
    fail(&ends.pair[0]);
    ends.steps[1] = step_of(id, process, other->frame_rev, NULL);
    ends.pair[1].unit = step_unit(&ends.steps[1]);
    done = turn(c, &ends, 0, ALL) && ends.pair[1].settled == SETTLED &&
           has_newest(c, fails->id, "cancelled") &&
           number_of(c, "max(attempt)", "ended", "job", fails->id) == 2 &&
           number_of(c, "count(*)", "job", "instance_id", id) == 0;
    forget(&ends);
    return done;
}

static void units(struct contract *c) {
    process = order(c);
    EXPECT(process && ends_instance(c, false));
    EXPECT(ends_instance(c, true));
    EXPECT(ends_failed(c));
}

/* A list of which one has failed and the last one gives a key free, and behind it a run that is not
 * of the list. */
struct behind {
    struct ends ends;
    struct outcome outcome;
    struct job_spec child;
};

static bool behind_take(struct contract *c, struct behind *behind) {
    static const enum ending ways[2] = {FAILS, PLAIN};
    struct job job = {.handler = "work", .unique_key = "own"};
    *behind =
        (struct behind){.child = {.job = {.handler = "child", .due = NOW + LEASE, .retries = 3}}};
    c->settings.failed_job_wait = LEASE;
    if (!run(c, &behind->ends, ways) || !create(c, c->store, job, NOW))
        return false;
    struct job *keyed = acquire_one(c, c->store, NOW);
    behind->outcome = behind->ends.pair[1];
    if (keyed)
        behind->ends.pair[1] = end_of(keyed);
    return keyed != NULL;
}

static bool behind_fits(struct contract *c, struct behind *behind) {
    bool done = turn_with(c, &behind->ends, 0, ALL, &behind->outcome) && in_order(c, &behind->ends);
    for (int i = 0; done && i < ALL; i++)
        done = i == FILL || fits(c, behind->ends.list[i].job->id, PLAIN);
    return done;
}

static void behind_end(struct contract *c, struct behind *behind) {
    forget(&behind->ends);
    job_free(behind->outcome.job);
    c->settings.failed_job_wait = 0;
}

static void refused(struct contract *c) {
    struct behind behind;
    struct job_spec taken = {
        .job = {.handler = "child", .unique_key = "key", .due = NOW + LEASE, .retries = 3}};
    EXPECT(create_spec(c, c->store, taken, NOW) && behind_take(c, &behind));
    behind.child.job.unique_key = "key";
    behind.child.on_conflict = ON_CONFLICT_REFUSE;
    behind.outcome.created = &behind.child;
    EXPECT(behind_fits(c, &behind) && behind.outcome.kind == OUTCOME_FAILURE);
    EXPECT(fits(c, behind.ends.ids[0], FAILS) && fits(c, behind.outcome.job->id, FAILS));
    EXPECT(matches(c, "{\"handler\":\"child\"}") == 1);
    behind_end(c, &behind);
}

static void key(struct contract *c) {
    struct behind behind;
    EXPECT(behind_take(c, &behind));
    behind.child.job.handler = "work";
    behind.child.job.unique_key = "own";
    behind.outcome.created = &behind.child;
    EXPECT(behind_fits(c, &behind) && behind.child.reply.creation == CREATION_CREATED);
    EXPECT(fits(c, behind.ends.ids[0], FAILS) && matches(c, "{}") == 2);
    behind_end(c, &behind);
}

static void verb_behind(struct contract *c) {
    struct behind behind;
    EXPECT(behind_take(c, &behind));
    behind.outcome.effects =
        json_pack("[{s:s, s:[I]}]", "verb", "cancel", "ids", (json_int_t)behind.ends.ids[0]);
    bool done = behind_fits(c, &behind);
    json_decref(behind.outcome.effects);
    EXPECT(done && behind.outcome.settled == SETTLED && !behind.outcome.undone);
    EXPECT(has_newest(c, behind.ends.ids[0], "cancelled") && matches(c, "{}") == 0);
    behind_end(c, &behind);
}

/* ---- what cuts a run off, in the turn in which that ends ---- */

/* Two runs of one instance: the unit of that at `cuts` removes the job of the other one. */
static bool run_cut(struct contract *c, struct ends *ends, int cuts, enum ending way) {
    int64_t id = store_reserve_ids(c->store, 1, &c->error);
    struct step start = step_of(id, process, 0, F1);
    ends->pair = &ends->list[FILL];
    for (int i = 0; i < 2; i++) {
        step_job(&start, i, "side", 3 + i);
        start.jobs[i].job.exclusive = false;
        start.jobs[i].job.lane_id = 0;
    }
    bool done = settle_step(c, NULL, &start, NULL) == SETTLED;
    for (int i = 0; done && i < 2; i++)
        done = take(c, &ends->pair[i]);
    for (int i = 0; done && i < FILL; i++)
        done = take_one(c, &ends->list[i], PLAIN);
    if (!done)
        return false;
    end(ends, cuts, UNIT);
    end(ends, 1 - cuts, way);
    ends->steps[cuts].left =
        (struct unit_wait){id, ends->pair[1 - cuts].job->execution, UNIT_JOB, 0};
    step_unit(&ends->steps[cuts]);
    return true;
}

/* Nothing of the job is left, in whichever place. */
static bool is_gone(struct contract *c, int64_t id) {
    static const char *const places[] = {"live", "job", "ready", "timer", "locks"};
    int64_t left = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        left += number_of(c, "count(*)", places[i], "id", id);
    return left == 0;
}

static bool cut(struct contract *c, int cuts, enum ending way) {
    struct ends alone = {0}, together = {0};
    const int other = 1 - cuts;
    bool done = run_cut(c, &alone, cuts, way) && turn(c, &alone, 0, FILL) &&
                turn(c, &alone, FILL, ALL - 1) && turn(c, &alone, ALL - 1, ALL);
    done = done && run_cut(c, &together, cuts, way) && turn(c, &together, 0, ALL);
    done = done && same(c, alone.ids[other], together.ids[other]) &&
           alone.pair[other].settled == together.pair[other].settled &&
           is_gone(c, together.ids[other]);
    if (!done)
        printf("# way %d, cut off %s\n", way, cuts ? "behind it" : "before it");
    forget(&alone);
    forget(&together);
    return done;
}

static void cuts_off(struct contract *c) {
    static const enum ending ways[] = {FAILS,   DIES,    SNOOZES, CONFLICTS,    UNIT,
                                       RETURNS, CANCELS, SKIPS,   FAILS_WITHIN, DIES_WITHIN};
    process = order(c);
    c->settings.failed_job_wait = LEASE;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        EXPECT(cut(c, 0, ways[i]));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        EXPECT(cut(c, 1, ways[i]));
    c->settings.failed_job_wait = 0;
}

static const struct check checks[] = {
    {"what is cut off in the turn in which it ends is written as if that had come before",
     cuts_off},
    {"what ends in one turn is written as if it had ended alone", pairs},
    {"a verb of a run finds the job that an earlier run has created", verb_ahead},
    {"what ends an instance finds what an earlier run of it has left and created", units},
    {"a run that is refused takes nothing of the runs before it along", refused},
    {"a run may take the key that an earlier run of the turn has given free", key},
    {"a verb of a run finds a job that has failed in the turn", verb_behind},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
