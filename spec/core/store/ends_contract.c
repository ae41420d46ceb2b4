/* ends_contract.c - runs that end in one turn: each entry of the history says what its own job and
 * run have to say, and nothing of another. */
#include "contract.h"

enum { TOGETHER = 4 }; /* fewer end one by one */

/* What a job belongs to, and what its run returns. NULL: nothing. */
struct kind {
    const char *lane, *tenant;
    char *result;
    time_ms due; /* 0: none */
};

static char five[] = "5";

static const struct kind kinds[] = {
    {NULL, NULL, NULL, 0},    {"red", NULL, NULL, 0}, {NULL, "acme", NULL, 0},
    {"red", "acme", five, 1}, {NULL, NULL, five, 0},  {"red", NULL, five, 0},
    {NULL, NULL, NULL, 1},    {"red", NULL, NULL, 1},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Two of one lane do not run at once, so each has its own. */
static struct job *take(struct contract *c, const struct kind *kind, int number) {
    char lane[16];
    snprintf(lane, sizeof lane, "%s %d", kind->lane ? kind->lane : "", number);
    struct job job = {.lane = kind->lane ? lane : NULL,
                      .tenant = (char *)kind->tenant,
                      .due = kind->due ? NOW - kind->due : 0};
    int promoted = 0;
    return create(c, c->store, job, NOW) &&
                   store_promote(c->store, NOW, TOGETHER, &promoted, &c->error)
               ? acquire_one(c, c->store, NOW)
               : NULL;
}

/* Ends all in one turn; takes them over. */
static bool end_all(struct contract *c, struct job *jobs[TOGETHER],
                    const struct kind *const of[TOGETHER]) {
    struct outcome ends[TOGETHER];
    enum settled settled = SETTLED;
    for (int i = 0; i < TOGETHER; i++) {
        if (!jobs[i])
            return false;
        ends[i] = (struct outcome){.job = jobs[i],
                                   .started = NOW,
                                   .ended = NOW,
                                   .due = TIME_NONE,
                                   .result = of[i]->result,
                                   .lane_ends = true,
                                   .lane_token = jobs[i]->token,
                                   .next = i + 1 < TOGETHER ? &ends[i + 1] : NULL};
    }
    bool done = store_begin(c->store, STORE_TURN, &c->error) &&
                store_settle_bulk(c->store, ends, &c->error);
    for (int i = 0; done && i < TOGETHER; i++)
        done = store_settle(c->store, &ends[i], NOW, &settled, &c->error) && settled == SETTLED;
    done = done && store_settle_end(c->store, &c->error) && store_commit(c->store, &c->error);
    for (int i = 0; i < TOGETHER; i++)
        job_free(jobs[i]);
    return done;
}

static int64_t entries(struct contract *c, const char *column) {
    char sql[80];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM ended WHERE %s IS NOT NULL", column);
    return contract_number(c, sql);
}

static void pairs(struct contract *c) {
    int64_t lanes = 0, tenants = 0, results = 0, dues = 0;
    for (int n = 0; n < KINDS * KINDS; n++) {
        const struct kind *a = &kinds[n / KINDS], *b = &kinds[n % KINDS];
        const struct kind *const of[TOGETHER] = {a, b, a, b};
        struct job *jobs[TOGETHER];
        for (int i = 0; i < TOGETHER; i++) {
            jobs[i] = take(c, of[i], i);
            lanes += of[i]->lane != NULL;
            tenants += of[i]->tenant != NULL;
            results += of[i]->result != NULL;
            dues += of[i]->due != 0;
        }
        EXPECT(end_all(c, jobs, of));
        EXPECT(entries(c, "lane_key") == lanes && entries(c, "tenant") == tenants);
        EXPECT(entries(c, "result") == results && entries(c, "due") == dues);
    }
}

static const struct check checks[] = {
    {"of runs that end together each entry says what its own job has to say", pairs},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, true);
}
