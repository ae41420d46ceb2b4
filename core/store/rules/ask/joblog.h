/* joblog.h - the job log, for those who follow it. */
#pragma once

#include "store/rules/record/log_filters.h"

/* Where entries are told from. */
enum log_arm {
    ARM_ENDED,       /* all of them */
    ARM_ENDED_FILED, /* those that ended_by_job knows … */
    ARM_ENDED_TAIL,  /* … and those it does not know yet */
    ARM_FAILED,
    ARM_SNOOZED,
    ARM_CREATED,       /* of jobs that are there */
    ARM_CREATED_FILED, /* of jobs that have ended, as above */
    ARM_CREATED_TAIL,
    ARMS
};

#define JOBLOG_TAIL 10000 /* entries of each arm at once, at most */
#define JOBLOG_KEY ""     /* of an entry on its way: [arm, nth, edge, at, job, place] */

/* From where on entries may be new. */
struct joblog_tail {
    int64_t seq, upto; /* of what has ended: behind seq, up to upto */
    time_ms failed;    /* of failures and snoozes: at this instant or later */
    int64_t id;        /* of creations: of jobs above */
};

/* The entries since then, oldest first, each with its JOBLOG_KEY. NULL: error. */
json_t *joblog_since(struct store *store, const json_t *filters, const struct joblog_tail *tail,
                     struct error *error);
