/* foreman_state.h - what a foreman is made of; private to the foreman, turning and watch. */
#ifndef MOONSHIFT_RUN_FOREMAN_STATE_H
#define MOONSHIFT_RUN_FOREMAN_STATE_H

#include "run/client.h"
#include "run/desk.h"
#include "run/executor.h"
#include "run/foreman.h"
#include "run/gaps.h"
#include "run/generations.h"
#include "run/reload.h"
#include "run/thread.h"
#include "store/tidy.h"
#include <stdatomic.h>

enum { FILE_STEP = 1000 }; /* ended jobs that are filed at once at most */

enum stage { WORKING, STOPPING, CUTTING, ENDED };

struct foreman {
    struct foreman_options options;
    struct settings settings; /* our own: a handler that does not end keeps using them */
    json_t *paths;
    struct store *store;
    struct generations *generations;
    struct notes *notes;
    struct desk *desk;
    struct gaps *gaps;
    struct executor *executor; /* NULL after the end */
    struct client *client;
    struct reload *reload; /* NULL: none under way */
    bool reload_again;
    enum stage stage;
    time_ms end_by;      /* monotonic; once stopping: when the last write has to be done */
    time_ms stage_until; /* monotonic; of STOPPING and CUTTING */
    time_ms tick_at, look_at, left_at, retry_at, deadline; /* monotonic */
    time_ms retire_at;    /* monotonic: old deployments are looked for */
    time_ms turned_at;    /* monotonic: the last turn that wrote */
    time_ms yield_at;     /* monotonic: what waits is looked at */
    time_ms gather_until; /* monotonic: outcomes come together; 0: none */
    time_ms next;         /* wall clock: when something falls due */
    bool rang;            /* look at the store: somebody rang, or it is time to make sure */
    bool again;           /* work was left behind */
    bool gathers;         /* a turn is put off until then */
    bool keeps;           /* a worker is kept free for a job with a rate */
    bool drained;         /* the last turn found nothing to take */
    bool paused;          /* the store is full */
    bool written;         /* since the last full checkpoint */
    bool stirred;         /* something was looked at since the gap watch asked */
    bool untidy;          /* jobs may have ended that are not filed by number, or swept, yet */
    int file_step;        /* so many at the next step */
    int errors;           /* turns that failed, in a row */
    int64_t cuts;         /* of store_cuts: what was seen last */
    struct error refused; /* why the last turn failed that did */
    struct error fatal;
    struct error exhausted; /* why it ended itself: too many runs do not end */
    _Atomic int stops;      /* how often the end was asked for */
    _Atomic bool finishes;  /* end once drained */
    _Atomic bool tells;     /* say in the log what it does */
    _Atomic bool reloads;   /* load the folder again */
    struct mutex mutex;     /* guards the status */
    struct foreman_status status;
};

/* Nothing more can be written: the disk, the database, or a schema newer than the program. */
bool foreman_lost(const struct error *error);
/* The first error that cannot be outlived ends the work. */
void foreman_give_up(struct foreman *foreman, const struct error *error);
/* Nothing runs, nothing is known to wait. */
bool foreman_idle(const struct foreman *foreman);

#endif
