/* loop.h - libev around the turn: sleeps until the next due date, a doorbell, an outcome or a
 * signal; turns; hands the items to the pool. The only part that includes ev.h is loop.c. */
#ifndef MOONSHIFT_RUN_LOOP_H
#define MOONSHIFT_RUN_LOOP_H

#include "run/executor.h"
#include "script/script.h"

struct loop;

struct loop_status { /* a snapshot, for terminals and executor:status() */
    int64_t done, failed, stale, acquired;
    int running, waiting; /* in memory */
    bool paused;          /* the store is full */
    bool draining;        /* told to take nothing more */
    bool stopping;
    char name[256]; /* lock owner as users see it */
};

struct loop_options {
    const char *store_url;
    const struct settings *settings;
    struct clock *clock;
    struct folder *folder; /* the first generation */
    bool signals;          /* TERM, INT stop; HUP reloads: the program only */
    bool drain;            /* end when nothing is due and nothing runs */
    struct folder *(*reload)(void *arg,
                             struct error *error); /* reads the folder again (own thread) */
    void (*tick)(void *arg,
                 const struct loop_status *status); /* once a second and at the end, or NULL */
    void *arg;
};

/* Opens the store (makes it if there is none), loads and deploys the folder, joins. Settings and
 * URL are copied. NULL: error. */
struct loop *loop_new(const struct loop_options *options, struct error *error);
/* Blocks until stopped or drained. False: a fatal error (ERROR_IO, ERROR_DAMAGED, or ERROR_FULL if
 * results could not be written to the end); then dead locks are freed by others or the next start.
 * On return nothing is locked by this executor otherwise. */
bool loop_run(struct loop *loop, struct error *error);
/* Any thread, async-signal-safe: the first call stops as TERM does, the second at once. */
void loop_stop(struct loop *loop);
/* Any thread: load the folder again. */
void loop_reload(struct loop *loop);
/* Any thread: the latest status. */
void loop_status(struct loop *loop, struct loop_status *status);
/* A thread whose handler does not end is left behind, with the memory it uses. NULL is fine. */
void loop_free(struct loop *loop);

#endif
