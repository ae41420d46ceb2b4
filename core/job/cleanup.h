/* cleanup.h - what one run of history cleanup has to do, as its job carries it, and when the next
 * is due (rules §18). Pure. */
#pragma once

#include "job/settings.h"
#include "time/window.h"

#define CLEANUP_HANDLER "moonshift/history_cleanup"
enum { CLEANUP_PARTS = 8, CLEANUP_ROWS = 1000 }; /* jobs at once; rows of one run at most */

/* Ended jobs come with their attempts and lines. */
enum history_kind {
    HISTORY_JOBS,
    HISTORY_INCIDENTS,
    HISTORY_BATCHES,
    HISTORY_OPERATIONS,
    HISTORY_INSTANCES, /* with their trail; when one goes was decided as it ended */
    HISTORY_KINDS
};
const char *history_kind_name(enum history_kind kind);

struct cleanup {
    int part, parts; /* this one of so many share the work */
    int batch_size;  /* rows of one run */
    int empty;       /* runs in a row that had little to do */
    bool on_demand;  /* the window does not matter, and it ends when nothing is left */
    int64_t priority;
    time_ms ttl[HISTORY_KINDS]; /* 0: kept for ever */
    struct window window;
    /* How far a pass has come; anew with each pass. */
    int64_t ended;      /* seq of an ended job */
    int64_t attempt[3]; /* at, job, n of a failure */
};

/* How long each kind is kept; 0: for ever. */
void cleanup_ttl(const struct settings *settings, time_ms ttl[HISTORY_KINDS]);

/* What the settings ask for; `on_demand` is all that the window does not decide. A new reference;
 * NULL: no memory. */
json_t *cleanup_plan(const struct settings *settings, bool on_demand);
/* The same for one part, as far as `cleanup` has come. */
json_t *cleanup_part(const json_t *plan, const struct cleanup *cleanup);
bool cleanup_read(struct cleanup *cleanup, const json_t *plan, struct error *error);

/* May it clean at `now`? */
bool cleanup_may(const struct cleanup *cleanup, time_ms now);

/* When it runs again, TIME_NEVER: no more. `more`: there is work left, then it is at once; else
 * after 10 s, 20 s … 1 h while the window is open, then when it opens. Counts `empty`. */
time_ms cleanup_next(struct cleanup *cleanup, bool more, time_ms now);
