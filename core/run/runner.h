/* runner.h - runs one engine's jobs: what a loop does for the engine between two waits (rules §15).
 *
 * The runner takes turns, hands work items to the pool, looks after runs and the store once a
 * second, reloads the folder, and ends. It knows no libev and never waits itself: the loop calls a
 * round whenever something has happened or `runner_wait` has passed. All of it is called on the
 * loop's thread unless it says otherwise. */
#pragma once

#include "run/durations.h"
#include "run/pool/pool.h"

struct runner;

struct runner_options {
    struct pool *pool;
    const struct settings *settings; /* copied; `store` says which, `name` as whom */
    struct clock *clock;             /* retained */
    struct folder *folder;           /* the first generation; retained */
    /* Reads the folder again, in a thread of its own that may outlive the runner; `paths` is
     * copied. NULL: it is not loaded again. */
    struct folder *(*read)(const json_t *paths, struct error *error);
    const json_t *paths;
    /* The folder is read again whenever another deployment of this name counts in the store; NULL:
     * only when that is asked for. Outlives the runner. */
    const char *follows;
    bool
        program; /* it ends itself when it is drained but for stuck runs, or has too many of them */
    bool watched; /* its folder counts always, what handlers print is in the log at once */
    struct durations *durations; /* of its runs, see durations.h; outlives it; NULL: none kept */
    bool drain;                  /* handlers that no executor serves are told of at once */
    void (*wake)(void *arg);     /* any thread: a round has something to do */
    void *wake_arg;
};

struct runner_status { /* as it is at the call, for terminals and executor:status() */
    int64_t done, failed, stale, acquired;
    int running, waiting; /* in memory */
    int stuck;            /* runs that were given up and have not ended */
    bool exhausted;       /* more of them than workers can be replaced: nothing is taken */
    bool paused;          /* the store is full */
    bool away;            /* its server does not answer */
    bool draining;        /* told to take nothing more */
    bool stopping;
    char name[256]; /* lock owner as users see it */
};

/* Opens the store (makes it if there is none), loads and deploys the folder, joins. Any thread may
 * call it; the runner then belongs to its loop's thread. NULL: error. */
struct runner *runner_new(const struct runner_options *options, struct error *error);
/* Frees it after its last round, or before its first. Any thread. False: a handler does not end;
 * what its thread can reach is left behind. NULL is fine. */
bool runner_free(struct runner *runner);

/* Returns the doorbell's file descriptor, or -1. Call runner_rang once it is readable. */
int runner_bell(const struct runner *runner);
void runner_rang(struct runner *runner);

/* ---- any thread ---- */

/* Ends it as TERM does; the second call ends it at once. */
void runner_stop(struct runner *runner);
/* Ends it as soon as it is drained. */
void runner_finish(struct runner *runner);
/* Has the folder loaded again. */
void runner_reload(struct runner *runner);
/* Has it say in the log what it does. */
void runner_tell(struct runner *runner);
void runner_status(struct runner *runner, struct runner_status *status);

/* ---- the loop's thread ---- */

/* Does all there is to do now. False: it was the last round; nothing is locked any more. */
bool runner_round(struct runner *runner);
/* Milliseconds until the next round unless something wakes the loop before; 0: at once. */
time_ms runner_wait(struct runner *runner);
/* True if nothing runs and the last round found nothing that this executor could take. Without the
 * option `drain`: true if the program's executor was told to take nothing more and has only runs
 * that were given up, which end with the process. */
bool runner_drained(const struct runner *runner);

/* Says after the last round how it ended. False: by the error ERROR_IO, ERROR_DAMAGED or
 * ERROR_STUCK, or by what kept results from being written: ERROR_FULL, ERROR_BUSY, ERROR_FAILED.
 * Its locks are then freed by other executors or at the next start. */
bool runner_verdict(const struct runner *runner, struct error *error);
