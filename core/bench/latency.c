/* latency.c - how long a job waits when nothing else is to be done. */
#include "base/clamp.h"
#include "bench/client_group.h"
#include "bench/phases.h"
#include <stdio.h>
#include <sys/mman.h>

enum { SAMPLES = 500, APART = 2000, LOOK_EVERY = 100, PATIENCE = 10000000 }; /* microseconds */

/* Shared with the process that creates the jobs. */
struct samples {
    _Atomic int64_t begun;
    int64_t asked[SAMPLES], known[SAMPLES], begins[SAMPLES]; /* monotonic microseconds */
    struct rig *rig;
};

static void begins(void *arg, int64_t number) {
    struct samples *samples = arg;
    if (number > 0 && number <= SAMPLES) /* the first one is for warming up */
        samples->begins[number - 1] = clock_monotonic_us();
    atomic_store(&samples->begun, number + 1);
}

static bool await(struct client_group *group, struct samples *samples, int64_t begun,
                  struct error *error) {
    int64_t until = clock_monotonic_us() + PATIENCE;
    while (atomic_load(&samples->begun) < begun) {
        if (!client_group_goes_on(group))
            return error_set(error, ERROR_INTERRUPTED, "interrupted");
        if (clock_monotonic_us() > until)
            return error_set(error, ERROR_FAILED, "latency: a job has not begun for 10 s");
        rig_pause(LOOK_EVERY);
    }
    return true;
}

static bool create(const struct rig *rig, struct engine *engine, struct error *error) {
    struct created created;
    struct engine_spec spec = {.object = rig_spec(rig, "noop", rig->payload, 0)};
    bool fine = spec.object ? engine_enqueue(engine, &spec, 1, &created, NULL, error)
                            : error_no_memory(error);
    json_decref(spec.object);
    return fine;
}

/* The creator of the jobs: the next one when the last one has begun, and a little later. */
static bool work(struct client_group *group, int index, void *arg, struct error *error) {
    struct samples *samples = arg;
    struct engine *engine = rig_connect(samples->rig, error);
    client_group_ready(group);
    bool fine = engine && create(samples->rig, engine, error) && await(group, samples, 1, error);
    for (int64_t i = 0; fine && i < group->share; i++) {
        rig_pause(APART);
        samples->asked[i] = clock_monotonic_us();
        fine = create(samples->rig, engine, error);
        samples->known[i] = clock_monotonic_us();
        fine = fine && await(group, samples, i + 2, error);
        group->clients[index].done += fine;
    }
    engine_close(engine);
    return fine;
}

static bool put(struct bench *bench, const char *prefix, const char *what, int64_t *spans,
                int64_t count) {
    static const struct {
        const char *name;
        double part;
    } parts[] = {{"p50", 0.5}, {"p99", 0.99}, {"max", 1}};
    bool fine = true;
    for (size_t i = 0; fine && i < sizeof parts / sizeof *parts; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s_%s%s_ms", prefix, what, parts[i].name);
        fine = meter_put(bench->report, key, meter_part(spans, (size_t)count, parts[i].part));
    }
    return fine;
}

/* A handler may begin before the creator has been told of the sync: that counts as 0. */
static bool report(struct bench *bench, const char *prefix, const struct samples *samples,
                   int64_t count, struct error *error) {
    int64_t told[SAMPLES], asked[SAMPLES];
    for (int64_t i = 0; i < count; i++) {
        int64_t span = samples->begins[i] - samples->known[i];
        told[i] = span > 0 ? span : 0;
        asked[i] = samples->begins[i] - samples->asked[i];
    }
    return (put(bench, prefix, "", told, count) && put(bench, prefix, "call_", asked, count)) ||
           error_no_memory(error);
}

/* The executor of this process, before the creator begins. */
static bool run(void *arg, struct error *error) {
    struct samples *samples = arg;
    struct rig *rig = samples->rig;
    rig->begins = begins;
    rig->begins_arg = samples;
    return rig_start(rig, rig->bench->options->workers, error);
}

static bool measure(struct rig *rig, struct client_group *group, struct samples *samples,
                    bool process, struct error *error) {
    const char *prefix = process ? "latency_process" : "latency";
    int64_t jobs = rig->bench->options->jobs / 20;
    group->share = clamp(jobs, 50, SAMPLES);
    group->span = INT64_MAX / 2;
    group->meanwhile = run;
    samples->rig = rig;
    rig_tell(rig, "latency", 0, 0);
    bool fine = process ? client_group_fork(group, work, samples, error)
                        : client_group_thread(group, work, samples, error);
    int64_t count = client_group_done(group);
    return fine && rig_await(rig, prefix, count + 1, error) &&
           rig_finish(rig, prefix, count + 1, error) &&
           report(rig->bench, prefix, samples, count, error);
}

static bool sample(struct bench *bench, bool process, struct error *error) {
    struct rig rig;
    struct client_group *group = client_group_new(1, error);
    struct samples *samples =
        mmap(NULL, sizeof *samples, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool fine = rig_open(&rig, bench, SAMPLES, error);
    rig_release(&rig);
    if (samples == MAP_FAILED)
        fine = fine && error_no_memory(error);
    else
        fine = fine && group && measure(&rig, group, samples, process, error);
    rig_close(&rig);
    if (samples != MAP_FAILED)
        munmap(samples, sizeof *samples);
    client_group_free(group);
    return fine;
}

bool phase_latency(struct bench *bench, struct error *error) {
    return sample(bench, false, error) && sample(bench, true, error);
}
