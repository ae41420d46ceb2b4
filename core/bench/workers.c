/* workers.c - the same work by one worker and by two, beside what the machine makes of two
 * processes that share nothing. */
#include "base/clamp.h"
#include "base/embedded.h"
#include "bench/client_group.h"
#include "bench/phases.h"
#include "lua/lua_program.h"

enum { SPINS = 200000, CALIBRATED = 100, ROUNDS = 2 };

/* What was measured with one and with two, in microseconds. */
struct pair {
    int64_t one, two;
};

static bool put_pair(struct bench *bench, const char *key, const struct pair *pair) {
    return meter_put(bench->report, key, (double)pair->one / (double)(pair->two ? pair->two : 1));
}

/* ---- the machine ---- */

struct load {
    int64_t rounds, times;
};

/* The handler without an executor: microseconds of CPU for so many runs of it; 0: error. */
static int64_t spin_alone(const struct load *load, struct error *error) {
    const struct embedded *handler = embedded_find("core/bench/handlers/spin.lua");
    json_t *asked =
        handler ? json_pack("{ss% sI sI}", "handler", handler->text, (size_t)handler->size,
                            "rounds", (json_int_t)load->rounds, "times", (json_int_t)load->times)
                : NULL;
    struct lua_program program = {.path = "core/bench/alone.lua", .asked = asked};
    json_t *took = asked ? lua_program_run(&program, error) : NULL;
    int64_t span = json_integer_value(took);
    if (!asked)
        error_no_memory(error);
    json_decref(took);
    json_decref(asked);
    return span;
}

static bool spin_client(struct client_group *group, int index, void *arg, struct error *error) {
    client_group_ready(group);
    bool fine = spin_alone(arg, error) > 0;
    group->clients[index].ended = clock_monotonic_us();
    return fine;
}

/* As many processes share the work. */
static bool spin_group(int count, const struct load *load, int64_t *span, struct error *error) {
    struct load part = {load->rounds, load->times / count};
    struct client_group *group = client_group_new(count, error);
    bool fine = group && client_group_fork(group, spin_client, &part, error);
    *span += fine ? client_group_ended(group) - group->began : 0;
    client_group_free(group);
    return fine;
}

/* ---- the executor ---- */

static bool spin_jobs(struct bench *bench, int workers, const struct load *load, int64_t *span,
                      struct error *error) {
    struct rig rig;
    struct meter used;
    json_t *payload = json_integer(load->rounds);
    bool fine = rig_open(&rig, bench, load->times, error) &&
                rig_feed(&rig, "spin", payload, load->times, error);
    rig_release(&rig);
    fine = fine && rig_drain(&rig, "two workers", workers, load->times, &used, error);
    rig_close(&rig);
    json_decref(payload);
    *span += fine ? used.at : 0;
    return fine;
}

/* CPU, not time: others may use the machine as well. */
static bool calibrate(struct load *load, struct error *error) {
    struct load first = {SPINS, CALIBRATED};
    int64_t span = spin_alone(&first, error);
    if (span <= 0)
        return false;
    load->rounds = (int64_t)SPINS * CALIBRATED * 1000 / span; /* a millisecond's */
    return true;
}

bool phase_workers(struct bench *bench, struct error *error) {
    int64_t jobs = bench->options->jobs / 400;
    struct load load = {.times = clamp(jobs, 20, 500)};
    struct pair machine = {0}, executor = {0};
    bool fine = calibrate(&load, error);
    for (int i = 0; fine && i < ROUNDS; i++) {
        fine =
            spin_group(1, &load, &machine.one, error) && spin_group(2, &load, &machine.two, error);
        fine = fine && spin_jobs(bench, 1, &load, &executor.one, error) &&
               spin_jobs(bench, 2, &load, &executor.two, error);
    }
    return fine && ((put_pair(bench, "workers_speedup", &executor) &&
                     put_pair(bench, "workers_ceiling", &machine)) ||
                    error_no_memory(error));
}
