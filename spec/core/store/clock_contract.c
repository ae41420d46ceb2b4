/* clock_contract.c - the clock goes back behind jobs that were due: none of them runs before its
 * date. */
#include "contract.h"

enum { JOBS = 12 };

#define DUE (NOW + 60000)

/* Jobs that were due, with a lane each if `lane` says how it is called, and are not yet at NOW. */
static bool were_due(struct contract *c, const char *lane) {
    int promoted = 0;
    for (int i = 0; i < JOBS; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s%d", lane ? lane : "", i);
        if (!create(c, c->store, (struct job){.due = DUE, .lane = lane ? name : NULL, .retries = 3},
                    NOW))
            return false;
    }
    return store_promote(c->store, DUE, JOBS, &promoted, &c->error) && promoted == JOBS;
}

static void none_runs(struct contract *c, const char *lane) {
    EXPECT(were_due(c, lane));
    EXPECT(acquire_count(c, c->store, NOW) == 0);
    EXPECT(store_promote(c->store, DUE, JOBS, &(int){0}, &c->error));
    EXPECT(acquire_count(c, c->store, DUE) == JOBS);
}

static void without_lanes(struct contract *c) {
    none_runs(c, NULL);
}

static void with_lanes(struct contract *c) {
    none_runs(c, "lane ");
}

/* Gives all of them back unrun, in one transaction. */
static bool give_back(struct contract *c, struct job *jobs) {
    struct outcome list[JOBS] = {0};
    enum settled settled = SETTLED;
    int count = 0;
    for (; jobs && count < JOBS; jobs = jobs->next, count++)
        list[count] = (struct outcome){.job = jobs,
                                       .kind = OUTCOME_RETURNED,
                                       .next = jobs->next ? &list[count + 1] : NULL,
                                       .lane_ends = true,
                                       .lane_token = jobs->token,
                                       .started = TIME_NONE,
                                       .ended = NOW,
                                       .due = TIME_NONE};
    bool done = count == JOBS && store_begin(c->store, STORE_TURN, &c->error) &&
                store_settle_bulk(c->store, list, &c->error);
    for (int i = 0; done && i < count; i++)
        done = store_settle(c->store, &list[i], NOW, &settled, &c->error) && settled == SETTLED;
    return done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
}

static void given_back(struct contract *c) {
    struct job *jobs = NULL;
    int count = 0;
    bool more = false;
    EXPECT(were_due(c, NULL));
    EXPECT(store_acquire(c->store, &everything, DUE, &jobs, &count, &more, &c->error));
    bool given = count == JOBS && give_back(c, jobs);
    job_free_list(jobs);
    EXPECT(given && contract_number(c, "SELECT count(*) FROM timer") == JOBS);
    EXPECT(acquire_count(c, c->store, NOW) == 0);
}

static const struct check checks[] = {
    {"jobs that were due before the clock went back wait for their date again", without_lanes},
    {"… also those of lanes", with_lanes},
    {"… and those that are given back unrun", given_back},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
