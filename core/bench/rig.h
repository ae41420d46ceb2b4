/* rig.h - one phase of a bench: a fresh store, the jobs in it, an executor on it, and the proof
 * that each job ran exactly once. */
#pragma once

#include "bench/bench.h"
#include "bench/meter.h"
#include "bench/place.h"
#include "engine/driver.h"
#include "run/executor.h"
#include <stdatomic.h>

/* What all phases share. */
struct bench {
    const struct bench_options *options;
    struct place place;
    json_t *report;
    uint32_t random; /* priorities are the same in every run */
};

struct rig {
    struct bench *bench;
    struct settings settings;
    bool dropped; /* its store is on a server and was made here: it is dropped at the end */
    struct folder *folder;
    struct engine *engine;     /* what creates jobs here; NULL: closed */
    struct executor *executor; /* NULL: nothing runs */
    struct attached_engine *attached;
    struct runner_status status; /* when it last ended */
    json_t *payload;
    int64_t failing, dying;      /* runs that are to fail; jobs whose only run is one of them */
    _Atomic unsigned char *seen; /* by id: runs */
    int64_t room;
    _Atomic int64_t begun, first;              /* handlers; when the first one was (microseconds) */
    _Atomic int64_t strays;                    /* jobs beyond what there is room for */
    void (*begins)(void *arg, int64_t number); /* each handler, from 0; or NULL */
    void *begins_arg;
};

/* Makes the store, with room for `jobs` of them. Any rig: rig_close in any case. */
bool rig_open(struct rig *rig, struct bench *bench, int64_t jobs, struct error *error);
void rig_close(struct rig *rig);

/* The engine that creates jobs: another connection, as any program has one. */
bool rig_engine(struct rig *rig, struct error *error);
void rig_release(struct rig *rig);
/* A connection for a client of its own. NULL: error. */
struct engine *rig_connect(const struct rig *rig, struct error *error);

/* One job as it is asked for: { handler, payload, priority }, with a payload of its own: several
 * threads may ask. NULL: no memory. */
json_t *rig_spec(const struct rig *rig, const char *handler, json_t *payload, int priority);
/* The next one, from 0 up. */
int rig_priority(const struct rig *rig, uint32_t *random);
/* Creates jobs a thousand a call. */
bool rig_feed(struct rig *rig, const char *handler, json_t *payload, int64_t count,
              struct error *error);

bool rig_start(struct rig *rig, int workers, struct error *error);
/* Until so many jobs have ended since the start. `doing` is told. */
bool rig_await(struct rig *rig, const char *doing, int64_t count, struct error *error);
/* Ends the executor and proves: `jobs` ran, each once but for the runs that were to fail, all
 * others succeeded, and only what had to die is left. */
bool rig_finish(struct rig *rig, const char *what, int64_t jobs, struct error *error);
/* All three, from the first handler's start to the last commit. */
bool rig_drain(struct rig *rig, const char *what, int workers, int64_t jobs, struct meter *used,
               struct error *error);

/* The level of history as settings have it. */
const char *rig_history(const struct bench_options *options);

void rig_tell(const struct rig *rig, const char *doing, int64_t done, int64_t of);
void rig_pause(int64_t microseconds);
