/* cycle.h - when a repeating job runs: an ISO 8601 repetition or a cron expression, in a zone
 * (rules §14). Pure.
 *
 *   R3/PT1H                            three firings, the first an hour after the origin
 *   R/PT5M                             without end
 *   R3/2026-01-01T00:00:00Z/PT1H       the first at the start
 *   R3/PT1H/2026-01-02T00:00:00Z       from the origin on, none after the end
 *   R3/2026-01-01/2026-01-02           the first at the start, the two give the period (elapsed)
 *   0 8 * * MON-FRI                    cron, see cron.h; @daily
 *
 * Its grid is fixed when the cycle is created: start, or origin + period; then each point counted
 * from the start or origin, so that months do not drift (31 January, 28 February, 31 March).
 * Firings that were missed are consumed. P1D and P1M are calendar steps in the zone, PT24H is
 * elapsed time. A start or end without zone is local time of the cycle's zone. R0 is refused. */
#pragma once

#include "time/cron.h"

enum misfire {
    MISFIRE_ONCE, /* of the missed occurrences one runs late */
    MISFIRE_ALL,  /* all run, in order */
    MISFIRE_SKIP  /* none runs: an occurrence that is a minute late, or overtaken by the next */
};

struct cycle {
    bool is_cron;
    struct cron cron;
    const struct zone *zone;
    int32_t times; /* firings in all; INT32_MAX: without end */
    struct span period;
    time_ms anchor; /* start or origin: firing n is anchor + n periods, from n = lead on */
    int lead;       /* 0: the anchor is the first firing; 1: it is the origin and no firing */
    time_ms first;  /* of the grid; TIME_NEVER: there is none */
    time_ms end;    /* inclusive; TIME_NEVER: none */
};

/* `origin`: when the cycle was created. Errors name the text, the position and what was expected; a
 * period of zero is refused. */
bool cycle_parse(const char *text, const struct zone *zone, time_ms origin, struct cycle *cycle,
                 struct error *error);

/* The first firing after `after` (never at it); TIME_NEVER: it is over. Costs a few steps, however
 * far away. */
time_ms cycle_next(const struct cycle *cycle, time_ms after);

/* "once", "all" or "skip". */
bool misfire_parse(const char *text, enum misfire *misfire, struct error *error);
const char *misfire_name(enum misfire misfire);
