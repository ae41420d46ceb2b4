/* yield.c - jobs that wait in the queue and are given back unrun (rules §4). */
#include "run/pool/estimate.h"
#include "run/runner_state.h"

enum { YIELD_WAIT = 1000 }; /* late jobs are given back that often at most */

/* ---- those that have waited for too long ---- */

bool yield_probes(struct runner *runner, time_ms now) {
    if (runner->stage != WORKING || runner->paused || now < runner->yield_at)
        return false;
    bool late = client_late(runner->client);
    runner->yield_at = now + (late ? YIELD_WAIT : HORIZON);
    return late;
}

struct yielding {
    const struct runner *runner;
    const struct turn *turn;
    time_ms now;
};

/* To another executor, or for a job of higher priority that is ready. */
static bool yields(void *arg, const struct job *job) {
    const struct yielding *yielding = arg;
    const struct runner *runner = yielding->runner;
    const struct turn *turn = yielding->turn;
    bool better = runner->settings.by_priority && turn->left && turn->best.priority > job->priority;
    return better || store_shared(runner->store, job, yielding->now);
}

void yield_late(struct runner *runner, const struct turn *turn) {
    struct yielding yielding = {runner, turn, clock_now(runner->options.clock)};
    client_yield(runner->client, yields, &yielding);
}

/* ---- those that a limit or a rate bounds since a moment ago ---- */

static bool is_bounded(void *arg, const struct job *job) {
    const struct runner *runner = arg;
    return store_bounded(runner->store, job);
}

void yield_bounded(struct runner *runner) {
    int64_t definitions = store_definitions_number(runner->store);
    if (definitions != runner->definitions && runner->definitions)
        client_return(runner->client, is_bounded, runner);
    runner->definitions = definitions;
}
