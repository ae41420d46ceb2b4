/* client_group.h - several clients that begin at the same moment, as threads or as processes. */
#pragma once

#include "base/error.h"
#include <stdatomic.h>
#include <stdint.h>

enum { CLIENTS_MOST = 64 };

/* Memory that threads and child processes share. */
struct client_group {
    int count;
    int64_t share; /* jobs each */
    int64_t span;  /* microseconds at most, from `began` */
    _Atomic int ready, over;
    _Atomic bool go, stop;
    int64_t began; /* monotonic microseconds */
    /* Called by the caller's thread once the clients exist, before they begin; or NULL. */
    bool (*meanwhile)(void *arg, struct error *error);
    struct client {
        int64_t done, ended;
        bool fine;
        struct error error;
    } clients[CLIENTS_MOST];
};

/* Does the work of one client: prepares, calls client_group_ready, works while
 * client_group_goes_on. */
typedef bool client_group_work(struct client_group *group, int index, void *arg,
                               struct error *error);

struct client_group *client_group_new(int count, struct error *error);
void client_group_free(struct client_group *group); /* NULL is fine */

/* Runs all clients as threads, to their end. False: the first error of a client. */
bool client_group_thread(struct client_group *group, client_group_work *work, void *arg,
                         struct error *error);
/* Runs all clients as child processes, to their end. No store may be open in this process, and no
 * other thread may run. */
bool client_group_fork(struct client_group *group, client_group_work *work, void *arg,
                       struct error *error);

/* Runs this work in a child process of its own: what it leaves open ends with it, and its memory is
 * its own. */
bool client_group_alone(bool (*work)(void *arg, struct error *error), void *arg,
                        struct error *error);

/* Adds up the jobs that all clients did. */
int64_t client_group_done(const struct client_group *group);
/* Returns when the last client ended, in monotonic microseconds. */
int64_t client_group_ended(const struct client_group *group);

/* ---- called by a client ---- */

/* Waits until all clients are ready. */
void client_group_ready(struct client_group *group);
/* False: the time is up, or all clients must stop. */
bool client_group_goes_on(struct client_group *group);
