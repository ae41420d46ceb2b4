/* asleep_contract.c - who sleeps has missed nothing: turns on random histories, taken only when an
 * executor would take one. Both clocks are the contract's own, so no look once in a while hides a
 * job that nobody told of. */
#include "../store/give.h"
#include "site.h"
#include <stdatomic.h>

enum { STEPS = 150, HELD = 64, ENOUGH = 200 };

static const char *const lanes[] = {NULL, "a", "b", "c"};
static const char *const handlers[] = {"work", "work", "few", "paced"};

/* What the workers have, item by item. */
static struct work_item *held[HELD];
static int held_count, workers;
static struct store *outside; /* of a process that runs nothing */
static bool creates;

static int random_below(int most) {
    return rand() % most;
}

static struct job some_job(time_ms now) {
    const char *lane = lanes[random_below(4)];
    return (struct job){.handler = handlers[random_below(4)],
                        .lane = lane,
                        .lane_id = lane ? job_lane_id(lane) : 0,
                        .priority = random_below(4),
                        .due = random_below(4) ? TIME_NONE : now + random_below(3000),
                        .retries = 1000};
}

/* Two runs of `few` at a time, three starts of `paced` in a second. */
static bool deploy(struct contract *c) {
    static char few[] = "few", paced[] = "paced", work[] = "work", file[] = "x.lua",
                rate[] = "3/PT1S";
    struct definition list[] = {
        {.name = few, .file = file, .limit = 2},
        {.name = paced, .file = file, .rate_text = rate, .rate = {3, 1000}},
        {.name = work, .file = file},
    };
    struct definitions all = {.count = 3, .list = list};
    struct store_deployment deployment = {.name = "x", .hash = "h", .definitions = &all};
    int64_t id = 0;
    for (size_t i = 0; i < all.count; i++)
        list[i].properties = json_object();
    bool done = store_deploy(c->store, &deployment, NULL, NOW, &id, &c->error);
    for (size_t i = 0; i < all.count; i++)
        json_decref(list[i].properties);
    return done;
}

static void keep(struct work_item *items) {
    while (items) {
        struct work_item *next = items->next;
        items->next = NULL;
        held[held_count++] = items;
        items = next;
    }
}

/* One turn as the loop of an executor asks for it. */
static bool take(struct contract *c, struct site *site, struct outcome *outcomes) {
    const int idle = held_count < workers ? workers - held_count : 0;
    site->turn = (struct turn){
        .outcomes = outcomes, .room = idle, .idle = idle, .acquiring = true, .quiet = true};
    if (!turns_take(site->turns, &site->turn, &c->error))
        return false;
    keep(site->turn.items);
    site->turn.items = NULL;
    return true;
}

/* Turns until one says that there is nothing to do, or nobody to do it. */
static bool turn(struct contract *c, struct site *site, struct outcome *outcomes) {
    bool done = take(c, site, outcomes);
    for (int i = 0; done && i < ENOUGH && site->turn.again && held_count < workers; i++)
        done = take(c, site, NULL);
    return done;
}

static struct outcome *end_of(struct outcome *outcome, time_ms now) {
    outcome->started = outcome->ended = now;
    outcome->due = TIME_NONE;
    if (outcome->kind == OUTCOME_RETURNED)
        outcome->started = TIME_NONE;
    if (outcome->kind == OUTCOME_FAILURE) {
        outcome->decided = true;
        outcome->retries = 1000;
        outcome->due = random_below(2) ? TIME_NONE : now + random_below(2000);
    }
    for (int i = random_below(3); creates && outcome->kind == OUTCOME_SUCCESS && i > 0; i--) {
        struct job_spec spec = completed((struct job_spec){.job = some_job(now)});
        struct job_spec *copy = job_spec_copy(&spec);
        copy->next = outcome->created;
        outcome->created = copy;
    }
    return outcome;
}

/* The next job of one of the items ends. */
static bool end_one(struct contract *c, struct site *site) {
    static const enum outcome_kind kinds[] = {OUTCOME_SUCCESS, OUTCOME_SUCCESS, OUTCOME_FAILURE,
                                              OUTCOME_RETURNED};
    int at = random_below(held_count);
    struct work_item *item = held[at];
    struct job *job = work_item_take(item);
    bool refused = atomic_load(&item->refused) > 0;
    struct outcome *outcome =
        end_of(outcome_new(job, refused ? OUTCOME_RETURNED : kinds[random_below(4)]),
               clock_now(site->clock));
    outcome->lane_ends = !item->jobs;
    outcome->lane_token = item->lane_token;
    outcome->followed = item->followed;
    if (!item->jobs) {
        held[at] = held[--held_count];
        work_item_free(item);
    }
    return turn(c, site, outcome);
}

/* An id of a job that is there; 0: there is none. */
static int64_t some_id(struct contract *c) {
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT coalesce(max(id), 0) FROM job WHERE id%%%d=0",
             1 + random_below(5));
    return contract_number(c, sql);
}

static bool create_some(struct contract *c, time_ms now) {
    bool done = true;
    for (int i = random_below(5); done && i >= 0; i--)
        done = create(c, outside, some_job(now), now);
    return done;
}

/* What another process does; its bell rings. */
static bool happens(struct contract *c, struct site *site) {
    const time_ms now = clock_now(site->clock);
    const int dice = random_below(8);
    int64_t id = dice < 4 ? 0 : some_id(c);
    bool done = id >= 0;
    if (!id)
        done = !creates || create_some(c, now);
    else if (dice == 4)
        done = give_set_suspended(outside, IDS(id), random_below(2), now, &c->error);
    else if (dice == 5)
        done = give_set_priority(outside, IDS(id), random_below(4), now, &c->error);
    else if (dice == 6)
        done = give_set_due(outside, IDS(id), now + random_below(500), false, now, &c->error);
    else
        done = give_cancel(outside, IDS(id), now, &c->error);
    if (!done && c->error.code != ERROR_CONFLICT && c->error.code != ERROR_NOT_FOUND)
        return false; /* else it has ended since, or has no such date */
    c->error = (struct error){0};
    return turn(c, site, NULL);
}

/* Time goes on to what the last turn has said, or not so far. */
static bool wait(struct contract *c, struct site *site) {
    const time_ms now = clock_now(site->clock), next = site->turn.next;
    const time_ms until = now + 1 + random_below(400);
    clock_advance(site->clock, (next > now && next < until ? next : until) - now);
    return turn(c, site, NULL);
}

/* With a worker idle nothing is left that one could begin, and what has a date is told of. */
static const char *missed(struct contract *c, const struct site *site) {
    char sql[256];
    const time_ms now = clock_now(site->clock);
    if (held_count >= workers)
        return NULL;
    int64_t ready = contract_number(
        c, "SELECT count(*) FROM ready r JOIN stream s ON s.id=r.stream JOIN definition d ON"
           " d.id=s.definition WHERE d.name='work'");
    if (ready)
        return "nothing is ready that a worker could begin";
    snprintf(sql, sizeof sql, "SELECT count(*) FROM timer WHERE due<=%lld", (long long)now);
    if (contract_number(c, sql))
        return "no date has passed unseen";
    int64_t next = contract_number(c, "SELECT coalesce(min(due), 0) FROM timer");
    return next && site->turn.next > next ? "the next date is told of" : NULL;
}

static bool step(struct contract *c, struct site *site) {
    const int dice = random_below(10);
    if (held_count && dice < 5)
        return end_one(c, site);
    return dice < 8 ? happens(c, site) : wait(c, site);
}

/* Nobody calls any more: what is left ends by itself. */
static const char *drain(struct contract *c, struct site *site) {
    static const char suspended[] = "SELECT coalesce(max(id), 0) FROM job WHERE suspended<>0";
    const char *wrong = NULL;
    int64_t id;
    creates = false;
    while ((id = contract_number(c, suspended)) > 0)
        if (!give_set_suspended(outside, IDS(id), false, clock_now(site->clock), &c->error))
            return "jobs are activated";
    bool done = turn(c, site, NULL);
    for (int i = 0; done && !wrong && i < ENOUGH * 20; i++) {
        const bool waits = site->turn.next != TIME_NEVER;
        if (!held_count && !waits)
            break;
        done = held_count && (!waits || random_below(2)) ? end_one(c, site) : wait(c, site);
        wrong = missed(c, site);
    }
    if (wrong || !done)
        return wrong ? wrong : "turns work";
    return contract_number(c, "SELECT count(*) FROM job") ? "every job comes to its end" : NULL;
}

static void forget_held(void) {
    while (held_count)
        work_item_free(held[--held_count]);
}

static const char *history(struct contract *c, struct site *site) {
    const char *wrong = NULL;
    creates = true;
    for (int i = 0; !wrong && i < STEPS; i++)
        wrong = step(c, site) ? missed(c, site) : "turns work";
    return wrong ? wrong : drain(c, site);
}

static void histories(struct contract *c) {
    const unsigned from = (unsigned)contract_count("SEED", 1);
    const unsigned count = (unsigned)contract_count("HISTORIES", 25);
    for (unsigned seed = from; !c->failure && seed < from + count; seed++) {
        struct site site;
        srand(seed);
        c->settings.lane_run = 1 + random_below(4);
        workers = 1 + random_below(6);
        EXPECT((outside = store_open(c->url, STORE_WRITE, &c->settings, &c->error)));
        EXPECT(site_open(c, &site) && deploy(c));
        c->failure = history(c, &site);
        if (c->failure)
            printf("# seed %u\n", seed);
        forget_held();
        site_close(&site);
        store_close(outside);
        contract_verify(c);
    }
}

static const struct check checks[] = {
    {"a worker that is idle leaves nothing that it could begin, on random histories", histories},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
