/* crowd.h - several clients that begin at the same moment, as threads or as processes. */
#ifndef MOONSHIFT_BENCH_CROWD_H
#define MOONSHIFT_BENCH_CROWD_H

#include "base/error.h"
#include <stdatomic.h>
#include <stdint.h>

enum { CROWD_MOST = 64 };

/* Memory that threads and child processes share. */
struct crowd {
    int count;
    int64_t share; /* jobs each */
    int64_t span;  /* microseconds at most, from `began` */
    _Atomic int ready, over;
    _Atomic bool go, stop;
    int64_t began; /* monotonic microseconds */
    /* Called by who runs them once they are there, before they begin; or NULL. */
    bool (*meanwhile)(void *arg, struct error *error);
    struct mate {
        int64_t done, ended;
        bool fine;
        struct error error;
    } mates[CROWD_MOST];
};

/* What each of them does: gets ready, calls crowd_ready, works while crowd_goes_on. */
typedef bool crowd_work(struct crowd *crowd, int index, void *arg, struct error *error);

struct crowd *crowd_new(int count, struct error *error);
void crowd_free(struct crowd *crowd); /* NULL is fine */

/* Runs them all to their end; the first error. */
bool crowd_thread(struct crowd *crowd, crowd_work *work, void *arg, struct error *error);
/* No store may be open in this process, and no other thread may run. */
bool crowd_fork(struct crowd *crowd, crowd_work *work, void *arg, struct error *error);

int64_t crowd_done(const struct crowd *crowd);
/* When the last one had ended. */
int64_t crowd_ended(const struct crowd *crowd);

/* ---- for those in it ---- */

/* Waits until all are ready. */
void crowd_ready(struct crowd *crowd);
/* False: time is up, or all are to stop. */
bool crowd_goes_on(struct crowd *crowd);

#endif
