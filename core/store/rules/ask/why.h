/* why.h - the answer to "why has this job not run yet", built up by several files. */
#pragma once

#include "base/text.h"
#include "store/rules/fleet/executor_list.h"
#include "store/rules/ground/row.h"

#define AHEAD_MAX 10000 /* jobs that stand before another are counted so far */

struct why {
    struct store *store;
    time_ms now;
    struct job_row row;
    const struct catalog_stream *stream;
    bool suspect; /* a machine vanished while it was locked there */
    struct executor_list executors;
    json_t *answer;   /* the object */
    struct text text; /* the sentence */
};

/* The reason's name and, as printf does, the words behind "job 7 ". True. */
bool why_say(struct why *why, const char *reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Of a job that could be taken this moment: by whom, behind how many, or why by nobody. */
bool why_ready(struct why *why, struct error *error);

/* The words for what keeps every executor from this stream and priority: "no live executor serves
 * category \"mail\" (node/3 serves \"fax\")". NULL: some executor serves it. *reason names it. */
const char *why_unserved(struct why *why, struct text *words, const char **reason);
