/* durations_contract.c - which runs are counted, how, and under which names. */
#include "../store/contract.h"
#include "run/durations.h"

enum { DUE = 5000000 };

static struct durations *durations;
static char name[16] = "mail";
static struct job job;
static struct outcome outcome;

static void fresh(void) {
    durations_free(durations);
    durations = durations_new();
    job = (struct job){
        .handler = name, .definition = 7, .due = TIME_NONE, .created = DUE, .attempt = 1};
    outcome =
        (struct outcome){.job = &job, .kind = OUTCOME_SUCCESS, .started = DUE + 3, .took = 0.15};
    snprintf(name, sizeof name, "mail");
}

/* Of a histogram; -1: there is none. */
static int64_t count_of(const struct histogram *histogram) {
    int64_t count = 0;
    for (int i = 0; histogram && i <= HISTOGRAM_BOUNDS; i++)
        count += histogram->counts[i];
    return histogram ? count : -1;
}

static int64_t runs(size_t at) {
    const char *handler;
    return count_of(durations_runs(durations, at, &handler));
}

static int64_t delays(void) {
    return count_of(durations_start_delay(durations));
}

static void counted(struct contract *c) {
    const char *handler;
    fresh();
    durations_run(durations, &outcome);
    EXPECT(runs(0) == 1 && runs(1) == -1 && runs(DURATIONS_HANDLERS) == -1);
    EXPECT(durations_runs(durations, 0, &handler)->counts[1] == 1);
    EXPECT(strcmp(handler, "mail") == 0);
    EXPECT(durations_runs(durations, 0, &handler)->sum == 150);
    EXPECT(durations_start_delay(durations)->sum == 3000);
    durations_commit(durations, 2.5);
    EXPECT(durations_commits(durations)->sum == 2500);
}

static void from_due(struct contract *c) {
    fresh();
    job.due = DUE + 1;
    durations_run(durations, &outcome);
    EXPECT(durations_start_delay(durations)->sum == 2000);
    job.attempt = 2;
    durations_run(durations, &outcome);
    EXPECT(delays() == 2);
    job.due = TIME_NONE;
    durations_run(durations, &outcome);
    EXPECT(delays() == 2 && runs(0) == 3);
}

static void not_run(struct contract *c) {
    fresh();
    outcome.started = TIME_NONE;
    durations_run(durations, &outcome);
    outcome.started = DUE;
    outcome.took = -1;
    durations_run(durations, &outcome);
    outcome.took = 1;
    outcome.kind = OUTCOME_SKIPPED;
    durations_run(durations, &outcome);
    outcome.kind = OUTCOME_SUCCESS;
    outcome.outlived = true;
    durations_run(durations, &outcome);
    EXPECT(runs(0) == -1 && delays() == 0);
    durations_run(NULL, &outcome);
    durations_commit(NULL, 1);
}

static void bounded(struct contract *c) {
    fresh();
    for (int i = 1; i <= DURATIONS_HANDLERS + 3; i++) {
        job.definition = i;
        snprintf(name, sizeof name, "h%d", i);
        durations_run(durations, &outcome);
    }
    EXPECT(runs(0) == 1 && runs(DURATIONS_HANDLERS - 1) == 1 && runs(DURATIONS_HANDLERS) == 3);
    job.definition = DURATIONS_HANDLERS;
    durations_run(durations, &outcome);
    EXPECT(runs(DURATIONS_HANDLERS - 1) == 2 && delays() == DURATIONS_HANDLERS + 4);
}

static void called_other(struct contract *c) {
    fresh();
    snprintf(name, sizeof name, "other");
    durations_run(durations, &outcome);
    EXPECT(runs(0) == -1 && runs(DURATIONS_HANDLERS) == 1);
    durations_free(durations);
    durations = NULL;
}

static const struct check checks[] = {
    {"a run is counted under its handler, with its delay", counted},
    {"a delay counts from the date, and without one from the creation of a first attempt",
     from_due},
    {"what did not run is not counted, nor anything where nothing is kept", not_run},
    {"two hundred handlers have their names, the rest is one", bounded},
    {"a handler that is called as the rest is of the rest", called_other},
};

int main(void) {
    return contract_run(checks, sizeof checks / sizeof *checks, false);
}
