/* executor.h - the yardstick's threads: one with the database, workers with a Lua state each. */
#ifndef SPEC_BENCH_YARDSTICK_EXECUTOR_H
#define SPEC_BENCH_YARDSTICK_EXECUTOR_H

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

enum { WORKERS_MAX = 64 };

/* A producer's call; `synced` is made and kept by it. */
struct request {
    struct request *next;
    int count;
    sem_t synced;
};

struct executor_options {
    int workers;
    const char *payload; /* of every job */
    int payload_size;
    int64_t ids; /* there will be no more jobs */
};

/* Creates jobs and runs none until executor_go. */
void executor_start(const struct executor_options *options);
void executor_go(void);
/* Until nothing is left to do. */
void executor_await(void);
void executor_end(void);

/* Creates jobs; returns once they are synced. */
void executor_create(struct request *request, int count);

/* Runs and transactions so far. */
int64_t executor_runs(void);
int64_t executor_turns(void);

/* From now on one job at a time: when its handler began, in nanoseconds, once it has run. */
void executor_sample(void);
int64_t executor_sampled(void);

int64_t now_ns(void);

#endif
