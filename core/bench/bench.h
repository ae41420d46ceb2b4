/* bench.h - what this machine reaches: the executor of `run` and real Lua handlers on a temporary
 * store, every commit synced. docs/performance.md says what each figure is. */
#pragma once

#include "engine/engine.h"

struct bench_options {
    int64_t jobs;
    int workers;
    enum history_level history;
    int priorities;        /* so many different ones, random; 10 as the yardstick has them */
    int64_t payload;       /* bytes of JSON, 0: none */
    const char *only;      /* phases or kinds to measure, separated by commas; NULL: all */
    int64_t sync;          /* milliseconds that each sync takes longer than the disk needs */
    const char *directory; /* where the temporary store lies */
    const char *store;     /* URL of a server that has it instead; NULL: a file */
    /* How far it is; `of` 0: unknown. */
    void (*tell)(void *arg, const char *doing, int64_t done, int64_t of);
    void *arg;
    /* Creates the jobs of a file as `enqueue --from` does. */
    bool (*enqueue_from)(struct engine *engine, const char *path, struct error *error);
};

enum { BENCH_PAYLOAD_MAX = 1 << 20 };

/* True if the list of names, separated by commas, has it; no list has all. */
bool bench_wants(const char *only, const char *name);

/* All figures as one object; a new reference. NULL: error, such as a job that was lost or ran
 * twice. INT and TERM end it with ERROR_INTERRUPTED; nothing stays behind either way. */
json_t *bench_run(const struct bench_options *options, struct error *error);

/* What the network face reaches, and beside it what the same run reaches without one: an object of
 * figures as bench_run has it. */
json_t *bench_http(const struct bench_options *options, struct error *error);

/* What jobs of each kind of work cost: { work: [{ kind, what, … }] }. */
json_t *bench_work(const struct bench_options *options, struct error *error);

/* What instances of each kind of process cost: { processes: [{ kind, what, … }] }. */
json_t *bench_processes(const struct bench_options *options, struct error *error);

/* What an acquisition costs beside so many rows: { scale: [{ rows, … }], ratio }. */
json_t *bench_scale(const struct bench_options *options, const int64_t *rows, size_t count,
                    struct error *error);
