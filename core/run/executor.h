/* executor.h - an executor as users know it (rules §13): one name, one pool of workers, the engines
 * attached to it, and one loop thread for each named acquisition that they share. Engines come and
 * go while it runs. */
#pragma once

#include "run/runner.h"

struct executor;
struct attached_engine;

struct executor_options {
    const struct settings *settings; /* workers, queue, keep_alive */
    bool program;    /* TERM and INT stop, HUP reloads; what is fatal for one engine ends
                        all; the first loop runs in the thread that calls executor_run */
    bool interrupts; /* SIGURG is ours, as in the program (which it goes without saying) */
    bool watched;    /* its folders count always, what handlers print is in the log at once */
    bool drain;      /* end when nothing can be taken any more and nothing runs in any engine */
    void (*tick)(void *arg);   /* once a second, or NULL */
    void (*reload)(void *arg); /* HUP came; or NULL */
    void (*stop)(void *arg);   /* TERM or INT came; or NULL */
    void *arg;
    void (*begins)(void *arg, const struct job *job); /* see pool.h; may be NULL */
    void *begins_arg;
};

struct attached_engine_options {
    const struct settings *settings; /* as the engine has them here; copied */
    struct clock *clock;
    struct folder *folder;                                            /* its first generation */
    struct folder *(*read)(const json_t *paths, struct error *error); /* see runner.h */
    const json_t *paths;
    const char *follows;         /* see runner.h */
    struct durations *durations; /* see runner.h */
};

/* Starts nothing yet. NULL: error. */
struct executor *executor_new(const struct executor_options *options, struct error *error);
/* Frees an executor that does not run. A thread whose handler does not end is left behind, with the
 * memory it uses. NULL is fine. */
void executor_free(struct executor *executor);

/* Opens the engine's store, loads and deploys its folder, joins; if the executor runs, work begins.
 * One thread at a time calls this and all below, but none of the executor's own. NULL: error. */
struct attached_engine *executor_attach(struct executor *executor,
                                        const struct attached_engine_options *options,
                                        struct error *error);
/* Ends the work of one engine as TERM does: jobs that have not begun are given back, running ones
 * get shutdown_wait. The other engines go on. Waits for it and frees it. False: the error that had
 * ended it. */
bool executor_detach(struct executor *executor, struct attached_engine *engine,
                     struct error *error);

/* Starts a thread for every loop; false: error. executor_stop ends them. */
bool executor_start(struct executor *executor, struct error *error);
/* Stops every engine as TERM does, and waits; they stay attached, to be asked for their status. */
void executor_stop(struct executor *executor);
/* The program: starts the executor and returns when every engine has ended. False: the first fatal
 * error (runner_verdict). */
bool executor_run(struct executor *executor, struct error *error);

/* Adds up the figures of all its engines, the detached ones included. */
void executor_status(struct executor *executor, struct runner_status *status);
void attached_engine_status(struct attached_engine *engine, struct runner_status *status);
/* False: it has ended with this error. */
bool attached_engine_fine(struct attached_engine *engine, struct error *error);
/* Loads the engine's folder again. */
void attached_engine_reload(struct attached_engine *engine);
