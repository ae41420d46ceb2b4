/* way_contract.c - in which way the end of a run is written: with others only if nothing but the
 * job as it was taken says what becomes of it. */
#include "contract.h"
#include "store/rules/work/work.h"

/* A run, and how it differs from one that may end with others. */
struct ending {
    enum way way;
    enum outcome_kind kind;
    struct job job;
    struct outcome end;
    bool alone; /* the way has been asked for too late to end with others */
};

static enum way way_of(struct contract *c, const struct ending *one) {
    struct job job = one->job;
    struct outcome outcome = one->end;
    job.id = job.id ? 0 : 5; /* 5, unless the row says 1: no job */
    job.handler = "work";
    job.owner += c->store->self.id;
    job.retries = job.retries ? 0 : 3; /* 3, unless the row says 1: none */
    outcome.job = &job;
    outcome.kind = one->kind;
    return settle_way(c->store, &outcome, !one->alone);
}

static struct job_spec plain = {.job.handler = "work"}, keyed = {.job.unique_key = "k"},
                       refusing = {.job.unique_key = "k", .on_conflict = ON_CONFLICT_REFUSE};
static struct outcome_line line;
static char text[] = "at line 1";

static bool as_they_say(struct contract *c, const struct ending *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (way_of(c, &list[i]) != list[i].way) {
            printf("# ending %zu\n", i);
            return false;
        }
    return true;
}

static void successes(struct contract *c) {
    const struct ending list[] = {
        {.way = WAY_OTHERS},
        {.way = WAY_OTHERS, .end.created = &plain},
        {.way = WAY_OTHERS, .end.lines = &line},
        {.way = WAY_ALONE, .alone = true},
        {.way = WAY_ALONE, .job.crashes = 1},
        {.way = WAY_ALONE, .job.suspect = 1},
        {.way = WAY_ALONE, .job.owner = 1},
        {.way = WAY_ALONE, .job.batch = 7},
        {.way = WAY_ALONE, .job.repeat = "R/PT1H"},
        {.way = WAY_ALONE, .end.refused = true},
        {.way = WAY_ASKS, .end.created = &keyed},
        {.way = WAY_CAREFUL, .end.created = &refusing},
        {.way = WAY_COMMAND, .job.id = 1},
    };
    EXPECT(as_they_say(c, list, sizeof list / sizeof *list));
}

/* Where rows are written as sets, what goes back does so with others. */
static void goes_back(struct contract *c) {
    const enum outcome_kind kinds[] = {OUTCOME_FAILURE, OUTCOME_RETURNED};
    const enum way others = c->store->engine->sets ? WAY_OTHERS : WAY_ALONE;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct ending list[] = {
            {.way = others, .kind = kinds[i]},
            {.way = WAY_ALONE, .kind = kinds[i], .job.retries = 1},
            {.way = WAY_ALONE, .kind = kinds[i], .job.suspended = 1},
            {.way = WAY_ALONE, .kind = kinds[i], .job.conflicts = 1},
            {.way = WAY_ALONE, .kind = kinds[i], .job.crashes = 1},
            {.way = WAY_ALONE, .kind = kinds[i], .end.created = &plain},
            {.way = WAY_ALONE, .kind = kinds[i], .end.stuck = text},
            {.way = WAY_ALONE, .kind = kinds[i], .end.warning = text},
            {.way = WAY_ALONE, .kind = kinds[i], .end.lines = &line},
        };
        EXPECT(as_they_say(c, list, sizeof list / sizeof *list));
    }
    c->store->meta.fair = 1;
    enum way fair = way_of(c, &(struct ending){.kind = OUTCOME_FAILURE});
    c->store->meta.fair = 0;
    EXPECT(fair == WAY_ALONE);
}

/* In a turn that looks for what runs next, what asks for no other row is kept until its end. */
static void kept(struct contract *c) {
    struct capacity capacity = {0};
    const struct ending list[] = {
        {.way = WAY_KEPT, .alone = true},
        {.way = WAY_KEPT, .job.crashes = 1},
        {.way = WAY_ALONE, .alone = true, .job.unique_key = "k"},
        {.way = WAY_ALONE, .alone = true, .kind = OUTCOME_FAILURE},
    };
    c->store->open.capacity = &capacity;
    bool done = as_they_say(c, list, sizeof list / sizeof *list);
    c->store->open.capacity = NULL;
    EXPECT(done);
}

static const struct check checks[] = {
    {"a run that has succeeded ends with others, if it and what it created is plain", successes},
    {"a job goes back with others where they are a set, if nothing else is said of it", goes_back},
    {"what asks for no other row is kept", kept},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
