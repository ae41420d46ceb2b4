/* foreman.h - what a loop does for one engine between two waits: turn, hand out items, tick,
 * reload, stop (rules §15). Knows no libev and never waits itself. Everything on its loop's thread
 * unless it says otherwise. */
#ifndef MOONSHIFT_RUN_FOREMAN_H
#define MOONSHIFT_RUN_FOREMAN_H

#include "run/pool.h"

struct foreman;

struct foreman_options {
    struct pool *pool;
    const struct settings *settings; /* copied; `store` says which, `name` as whom */
    struct clock *clock;             /* retained */
    struct folder *folder;           /* the first generation; retained */
    /* Reads the folder again, in a thread of its own that may outlive the foreman; `paths` is
     * copied. NULL: it is not loaded again. */
    struct folder *(*read)(const json_t *paths, struct error *error);
    const json_t *paths;
    bool program; /* it ends itself once more runs do not end than workers can be replaced */
    bool watched; /* its folder counts always, what handlers print is in the log at once */
    bool drain;   /* handlers that nobody serves are told of at once */
    void (*wake)(void *arg); /* any thread: a round has something to do */
    void *wake_arg;
};

struct foreman_status { /* as it is at the call, for terminals and executor:status() */
    int64_t done, failed, stale, acquired;
    int running, waiting; /* in memory */
    int stuck;            /* runs that were given up and have not ended */
    bool exhausted;       /* more of them than workers can be replaced: nothing is taken */
    bool paused;          /* the store is full */
    bool draining;        /* told to take nothing more */
    bool stopping;
    char name[256]; /* lock owner as users see it */
};

/* Opens the store (makes it if there is none), loads and deploys the folder, joins. Any thread: the
 * foreman then belongs to its loop's. NULL: error. */
struct foreman *foreman_new(const struct foreman_options *options, struct error *error);
/* After its last round, or before its first: any thread. False: a handler does not end; what its
 * thread can reach is left behind. NULL is fine. */
bool foreman_free(struct foreman *foreman);

/* The doorbell's file descriptor, or -1; foreman_rang once it is readable. */
int foreman_bell(const struct foreman *foreman);
void foreman_rang(struct foreman *foreman);

/* Any thread: the first call ends it as TERM does, the second at once. */
void foreman_stop(struct foreman *foreman);
/* Any thread: it ends as soon as it is drained. */
void foreman_finish(struct foreman *foreman);
/* Any thread: load the folder again. */
void foreman_reload(struct foreman *foreman);

/* Any thread: say in the log what it does. */
void foreman_tell(struct foreman *foreman);

/* Everything there is to do now. False: it was the last round; nothing is locked any more. */
bool foreman_round(struct foreman *foreman);
/* Milliseconds until the next round unless something wakes the loop before; 0: at once. */
time_ms foreman_wait(struct foreman *foreman);
/* The last round found nothing that this executor could take, and nothing runs. */
bool foreman_drained(const struct foreman *foreman);

/* After the last round: true, or false with the error that ended it: ERROR_IO, ERROR_DAMAGED,
 * ERROR_STUCK, or what kept results from being written to the end: ERROR_FULL, ERROR_BUSY,
 * ERROR_FAILED. Dead locks are then freed by others or the next start. */
bool foreman_verdict(const struct foreman *foreman, struct error *error);
/* Any thread. */
void foreman_status(struct foreman *foreman, struct foreman_status *status);

#endif
