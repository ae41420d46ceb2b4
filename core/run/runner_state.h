/* runner_state.h - what a runner is made of; private to runner.c (its work),
 * yield.c (what it gives back), adopt.c (its next folder), runner_life.c (its beginning and its
 * end) and the account. */
#pragma once

#include "base/thread.h"
#include "engine/driver.h"
#include "engine/job_services.h"
#include "run/gap_watch.h"
#include "run/pool/client.h"
#include "run/relay.h"
#include "run/reload.h"
#include "run/runner.h"
#include "run/turn.h"
#include <stdatomic.h>

enum { FILE_STEP = 1000 };   /* ended jobs that are filed by the first step */
enum { FILE_TAIL = 100000 }; /* ended jobs that wait until the executor is idle */
enum { REST_STEP = 10000 };  /* so many are filed at once as a drain ends, fewer not, … */
enum { REST_STEPS = 50 };    /* … so many times */

enum stage { WORKING, STOPPING, CUTTING, ENDED };

struct runner {
    struct runner_options options;
    struct settings settings; /* our own: a handler that does not end keeps using them */
    json_t *paths;
    struct engine *engine;
    struct store *store; /* the engine's */
    struct job_requests *requests;
    struct job_services *services;
    struct gap_watch *gap_watch;
    struct relay *relay;
    struct turns *turns; /* NULL after the end */
    struct client *client;
    struct reload *reload;           /* NULL: none under way */
    bool reload_again, reload_later; /* at once; with the next tick */
    struct generations *left;        /* by the last reload, until a tick; NULL: none */
    bool heard; /* a bell, a turn that wrote, or time: the followed deployment is looked for */
    int64_t asked_for; /* of the deployments that are followed: the last that was asked for */
    enum stage stage;
    time_ms end_by;      /* monotonic; once stopping: when the last write has to be done */
    time_ms stage_until; /* monotonic; of STOPPING and CUTTING */
    time_ms tick_at, look_at, left_at, retry_at, deadline; /* monotonic */
    time_ms retire_at;  /* monotonic: old deployments are looked for */
    time_ms strays_at;  /* monotonic: what nothing moves is looked for; */
    time_ms strays_for; /* turned_at of when that was over last */
    struct store_strays strays;
    time_ms turned_at;  /* monotonic: the last turn that wrote */
    time_ms yield_at;   /* monotonic: waiting items are looked at */
    time_ms away_since; /* monotonic: the store's server does not answer; 0: it does */
    time_ms away_told;
    double commit;        /* ms: what a commit takes, an average */
    time_ms gather_until; /* monotonic: outcomes come together; 0: none */
    time_ms next;         /* wall clock: when something falls due */
    bool rang;            /* look at the store: the doorbell rang, or it is time to make sure */
    bool again;           /* work was left behind */
    bool gathers;         /* a turn is put off until then */
    bool keeps;           /* a worker is kept free for a job with a rate */
    bool drained;         /* the last turn found nothing to take */
    bool paused;          /* the store is full */
    bool written;         /* since the last full checkpoint */
    bool changed;         /* something was looked at since the gap watch asked */
    bool untidy;          /* jobs may have ended that are not filed by number, or purged, yet */
    int file_step;        /* so many at the next step */
    int64_t unfiled;      /* runs that were settled and are not filed yet, at most */
    int errors;           /* turns that failed, in a row */
    time_ms failing;      /* wall clock: since then, and the lists say so; 0: they do not */
    int64_t cuts;         /* the answer of store_cuts seen last */
    int64_t definitions;  /* the same of store_definitions_number */
    int64_t executors;    /* the same of store_executors_number */
    struct error refused; /* of the turn that failed last */
    struct error fatal;
    struct error exhausted; /* why it ended itself: too many runs do not end */
    _Atomic int stops;      /* how often the end was asked for */
    _Atomic bool finishes;  /* end once drained */
    _Atomic bool tells;     /* say in the log what it does */
    _Atomic bool reloads;   /* load the folder again */
    struct mutex mutex;     /* guards the status */
    struct runner_status status;
};

/* Brings the status up to date. */
void runner_publish(struct runner *runner);

/* ---- yield.c ---- */

/* True if the turn is to say what is ready: a job has waited for too long. */
bool yield_probes(struct runner *runner, time_ms now);
/* Gives such jobs back, to another executor or for a job of higher priority that is ready. */
void yield_late(struct runner *runner, const struct turn *turn);
/* Gives what waits of definitions with a limit or a rate back, if definitions have changed since
 * the last turn: it was taken by the older ones. */
void yield_bounded(struct runner *runner);

/* ---- adopt.c ---- */

/* Begins to load the folder again where that was asked for, and serves one that is loaded. */
void adopt_round(struct runner *runner);
/* What can wait behind a reload is done a tick later each, so that jobs go on in between. */
void adopt_tick(struct runner *runner);
/* Frees what the last reload has left, if a tick has not done so. */
void adopt_let_go(struct runner *runner);

/* ---- runner_life.c ---- */

/* True for an error after which nothing can be written: the disk, the database, or a schema newer
 * than the program. */
bool runner_lost(const struct error *error);
/* Notes the error that ends the work; the first one counts. */
void runner_give_up(struct runner *runner, const struct error *error);
/* Files what ended as a drain ends, REST_STEPS * REST_STEP at most. */
void runner_file_rest(struct runner *runner);
/* Goes on towards the end, once it was asked for or has become necessary. */
void runner_advance(struct runner *runner, time_ms now);

/* An older folder counts once no live executor has the newer one. */
void runner_take_back(struct runner *runner);
